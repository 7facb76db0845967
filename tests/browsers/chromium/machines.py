"""Simulated machines in a folder: files at a distribution's paths, and programs written by a test."""

from __future__ import annotations

from pathlib import Path

from browsers.chromium.locate import InstallRoots

DEBIAN_LIGHT = "usr/lib/chromium/chromium-headless-shell"
DEBIAN_FULL = "usr/lib/chromium/chromium"


def machine(folder: Path, *, platform: str = "linux", **environ: str) -> InstallRoots:
    """Create an empty machine below the folder, with a home."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    return InstallRoots(root=folder, home=home, platform=platform, environ=environ)


def program(path: Path, script: str = "echo Chromium 156.0.8078.79") -> Path:
    """Create an executable file. By default it answers like Chromium's `--version`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def playwright_revision(folder: Path, name: str, binary: str, *, complete: bool = True) -> Path:
    """Create one revision in Playwright's layout, with the marker that Playwright writes last."""
    path = program(folder / name / binary)
    if complete:
        (folder / name / "INSTALLATION_COMPLETE").touch()
    return path

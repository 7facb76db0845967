"""Machines made of a folder: files where a distribution puts them, programs that a test wrote."""

from __future__ import annotations

from pathlib import Path

from browsers.chromium.locate import InstallRoots

DEBIAN_LIGHT = "usr/lib/chromium/chromium-headless-shell"
DEBIAN_FULL = "usr/lib/chromium/chromium"


def machine(folder: Path, *, platform: str = "linux", **environ: str) -> InstallRoots:
    """An empty machine below the folder, with a home."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    return InstallRoots(root=folder, home=home, platform=platform, environ=environ)


def program(path: Path, script: str = "echo Chromium 156.0.8078.79") -> Path:
    """A file that can be run; by default it answers as Chromium answers `--version`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def playwright_revision(folder: Path, name: str, binary: str, *, complete: bool = True) -> Path:
    """One revision as Playwright lays it out; the marker is what it writes last."""
    path = program(folder / name / binary)
    if complete:
        (folder / name / "INSTALLATION_COMPLETE").touch()
    return path

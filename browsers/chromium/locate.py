"""Where this machine's Chromium is: found by looking at files, so that nothing has to be configured."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from browsers.model import Tier

UNKNOWN_VERSION = "unknown"
VERSION_LIMIT_S = 10.0
"""`--version` takes 0.15 s warm; a cold disk has to read 300 MB."""

_VERSION = re.compile(r"(?<!\d)\d{1,9}(?:\.\d{1,9}){3}(?!\d)")

# The binaries themselves, never what stands in /usr/bin: those are scripts that do not `exec`, so a signal
# reaches the script and the browser lives on; and Ubuntu's is a door to a snap, which cannot be driven.
_SYSTEM_LINUX: Mapping[Tier, tuple[str, ...]] = {
    Tier.LIGHT: (
        "usr/lib/chromium/chromium-headless-shell",  # Debian
        "usr/lib64/chromium-browser/headless_shell",  # Fedora
        "usr/lib/chromium-browser/headless_shell",
    ),
    Tier.FULL: (
        "usr/lib/chromium/chromium",  # Debian, Arch, Alpine
        "usr/lib64/chromium-browser/chromium-browser",  # Fedora
        "usr/lib64/chromium/chromium",  # openSUSE
        "usr/lib/chromium/chrome",  # Alpine before 3.19
        "usr/lib/chromium-browser/chromium-browser",  # Raspberry Pi OS
        "opt/google/chrome/chrome",
    ),
}
_SYSTEM_MAC: Mapping[Tier, tuple[str, ...]] = {
    Tier.LIGHT: (),
    Tier.FULL: (
        "Applications/Chromium.app/Contents/MacOS/Chromium",
        "Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ),
}

# Inside Playwright's folder of one revision. Before 1.57 the folders were called chrome-linux and chrome-mac.
_PLAYWRIGHT_FOLDERS: Mapping[Tier, str] = {
    Tier.LIGHT: "chromium_headless_shell-",
    Tier.FULL: "chromium-",
}
_PLAYWRIGHT_BINARIES: Mapping[Tier, tuple[str, ...]] = {
    Tier.LIGHT: (
        "chrome-headless-shell-*/chrome-headless-shell",
        "chrome-linux*/headless_shell",
        "chrome-mac*/headless_shell",
    ),
    Tier.FULL: ("chrome-linux*/chrome", "chrome-mac*/*.app/Contents/MacOS/*"),
}
_PLAYWRIGHT_DONE = "INSTALLATION_COMPLETE"


@dataclass(frozen=True, slots=True)
class ChromiumInstall:
    """One browser that can be started."""

    executable: str
    tier: Tier
    source: str
    """`setting`, `system` or `playwright`."""


@dataclass(frozen=True, slots=True)
class InstallRoots:
    """What the search depends on; tests make one of a folder."""

    root: Path = Path("/")
    home: Path = field(default_factory=lambda: _home())
    platform: str = sys.platform
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def cache(self) -> Path:
        """The user's cache folder, where Playwright keeps its browsers too."""
        if self.platform == "darwin":
            return self.home / "Library" / "Caches"
        return Path(self.environ.get("XDG_CACHE_HOME") or self.home / ".cache")

    @property
    def playwright(self) -> Path | None:
        """Playwright's folder of browsers; None where it was told to keep them inside its own package."""
        chosen = self.environ.get("PLAYWRIGHT_BROWSERS_PATH")
        if chosen == "0":
            return _inside_playwright()
        return Path(chosen) if chosen else self.cache / "ms-playwright"


def find_chromium(
    tier: Tier, explicit: str | None, machine: InstallRoots | None = None
) -> ChromiumInstall | None:
    """The Chromium of a tier, or None; a path that was given is the only one looked at."""
    machine = machine or InstallRoots()
    if explicit is not None:
        path = Path(os.path.expanduser(explicit))  # which leaves the name of no user as it is
        return ChromiumInstall(str(path), tier, "setting") if _runnable(path) else None
    for source, path in _candidates(tier, machine):
        if _runnable(path):
            return ChromiumInstall(str(path), tier, source)
    return None


def read_version(chromium: ChromiumInstall, machine: InstallRoots | None = None) -> str:
    """Its version, such as 156.0.8078.79."""
    found = _VERSION.search(read_product(chromium, machine))
    return found.group() if found else UNKNOWN_VERSION


def read_product(chromium: ChromiumInstall, machine: InstallRoots | None = None) -> str:
    """What it calls itself, such as "Google Chrome 156.0.8078.79"; asked once for each file and kept in the
    user's cache."""
    notes = (machine or InstallRoots()).cache / "search-mcp" / "chromium-products.json"
    try:
        stat = os.stat(chromium.executable)
    except OSError:
        return UNKNOWN_VERSION
    key = f"{chromium.executable}|{stat.st_mtime_ns}|{stat.st_size}"
    known = _read_notes(notes)
    if key not in known:
        asked = _ask_product(chromium.executable)
        if asked == UNKNOWN_VERSION:
            return asked
        known = {key: asked, **_others(known, chromium.executable)}
        _write_notes(notes, known)
    return known[key]


def _candidates(tier: Tier, machine: InstallRoots) -> Iterator[tuple[str, Path]]:
    if machine.platform == "darwin":
        for folder in (machine.root, machine.home):
            yield from (("system", folder / path) for path in _SYSTEM_MAC[tier])
    else:
        yield from (("system", machine.root / path) for path in _SYSTEM_LINUX[tier])
    if machine.playwright is not None:
        yield from (("playwright", path) for path in _of_playwright(machine.playwright, tier))


def _of_playwright(folder: Path, tier: Tier) -> Iterator[Path]:
    prefix = _PLAYWRIGHT_FOLDERS[tier]
    revisions = [path for path in folder.glob(prefix + "*") if path.name.removeprefix(prefix).isdigit()]
    for revision in sorted(revisions, key=lambda path: int(path.name.removeprefix(prefix)), reverse=True):
        # Playwright writes this file last: without it the folder is a download that was cut short.
        if (revision / _PLAYWRIGHT_DONE).exists():
            for pattern in _PLAYWRIGHT_BINARIES[tier]:
                yield from sorted(revision.glob(pattern))


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a container's user may have neither HOME nor an entry in /etc/passwd
        return Path(tempfile.gettempdir())


def _inside_playwright() -> Path | None:
    # Only this rare setting needs the package, whose import alone costs half a second.
    try:
        import playwright
    except ImportError:
        return None
    return Path(playwright.__file__).parent / "driver" / "package" / ".local-browsers"


def _runnable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _ask_product(executable: str) -> str:
    try:
        answer = subprocess.run(
            [executable, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=VERSION_LIMIT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN_VERSION
    said = answer.stdout.decode(errors="replace").strip()
    found = _VERSION.search(said)
    return said[: found.end()] if found else UNKNOWN_VERSION


def _others(known: Mapping[str, str], executable: str) -> dict[str, str]:
    return {key: value for key, value in known.items() if not key.startswith(f"{executable}|")}


def _read_notes(path: Path) -> dict[str, str]:
    try:
        notes = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(notes, dict):
        return {}
    return {key: value for key, value in notes.items() if isinstance(value, str)}


def _write_notes(path: Path, notes: Mapping[str, str]) -> None:
    """Best effort: a home that cannot be written to only costs the question again."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(notes, indent=1), encoding="utf-8")
        draft.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink()

"""Find the installed Chromium of each tier in its usual locations, read its version, and see if sockets are allowed."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path

from browsers.model import Tier

UNKNOWN_VERSION = "unknown"
VERSION_LIMIT_S = 10.0
"""Seconds. `--version` takes 0.15 s warm, but a cold disk has to read 300 MB."""

_VERSION = re.compile(r"(?<!\d)\d{1,9}(?:\.\d{1,9}){3}(?!\d)")

_PLACES = tomllib.loads(files(__package__).joinpath("locations.toml").read_text(encoding="utf-8"))
_PLAYWRIGHT_DONE = "INSTALLATION_COMPLETE"


@dataclass(frozen=True, slots=True)
class ChromiumInstall:
    """An installed browser."""

    executable: str
    tier: Tier
    source: str
    """`setting`, `system` or `playwright`."""
    version: str = UNKNOWN_VERSION
    """Set by `find_working`."""


@dataclass(frozen=True, slots=True)
class InstallRoots:
    """Folders and environment for the search. Tests create one for a folder."""

    root: Path = Path("/")
    home: Path = field(default_factory=lambda: _home())
    platform: str = sys.platform
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def cache(self) -> Path:
        """The user's cache folder, which also contains Playwright's browsers."""
        if self.platform == "darwin":
            return self.home / "Library" / "Caches"
        return Path(self.environ.get("XDG_CACHE_HOME") or self.home / ".cache")

    @property
    def playwright(self) -> Path | None:
        """Playwright's folder of browsers, or None if it is inside a package that is not installed."""
        configured = self.environ.get("PLAYWRIGHT_BROWSERS_PATH")
        if configured == "0":
            try:
                import playwright
            except ImportError:
                return None
            return Path(playwright.__file__).parent / "driver" / "package" / ".local-browsers"
        return Path(configured) if configured else self.cache / "ms-playwright"


def find_chromium(tier: Tier, explicit: str | None, machine: InstallRoots | None = None) -> ChromiumInstall | None:
    """Return the Chromium of a tier, or None. If a path is configured (`explicit`), only that path is checked."""
    machine = machine or InstallRoots()
    if explicit is not None:
        path = Path(os.path.expanduser(explicit))  # an unknown user name stays unchanged
        return ChromiumInstall(str(path), tier, "setting") if _is_executable(path) else None
    for source, path in _list_candidates(tier, machine):
        if _is_executable(path):
            return ChromiumInstall(str(path), tier, source)
    return None


def find_working(paths: Mapping[Tier, str | None], machine: InstallRoots | None = None) -> tuple[ChromiumInstall, ...]:
    """Return the Chromium of each tier, at its configured path if any, that prints its version: its libraries exist."""
    located = (find_chromium(tier, path, machine) for tier, path in paths.items())
    found = (replace(chromium, version=read_version(chromium, machine)) for chromium in located if chromium)
    return tuple(chromium for chromium in found if chromium.version != UNKNOWN_VERSION)


def read_version(chromium: ChromiumInstall, machine: InstallRoots | None = None) -> str:
    """Return the version of a browser, such as 156.0.8078.79, or "unknown" if it does not start."""
    found = _VERSION.search(read_product(chromium, machine))
    return found.group() if found else UNKNOWN_VERSION


def read_product(chromium: ChromiumInstall, machine: InstallRoots | None = None) -> str:
    """Return the product, such as "Google Chrome 156.0.8078.79", cached by file, or "unknown" if it does not start."""
    cache_file = (machine or InstallRoots()).cache / "search-mcp" / "chromium-products.json"
    try:
        stat = os.stat(chromium.executable)
    except OSError:
        return UNKNOWN_VERSION
    key = f"{chromium.executable}|{stat.st_mtime_ns}|{stat.st_size}"
    products = _read_products(cache_file)
    if key not in products:
        product = _query_product(chromium.executable)
        if product == UNKNOWN_VERSION:
            return product
        others = {k: v for k, v in products.items() if not k.startswith(f"{chromium.executable}|")}
        products = {key: product, **others}
        # If the folder is not writable, the next call queries again.
        draft = cache_file.with_name(f"{cache_file.name}.{os.getpid()}")
        try:
            cache_file.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(json.dumps(products, indent=1), encoding="utf-8")
            draft.replace(cache_file)
        except OSError:
            with contextlib.suppress(OSError):
                draft.unlink()
    return products[key]


def _list_candidates(tier: Tier, machine: InstallRoots) -> Iterator[tuple[str, Path]]:
    if machine.platform == "darwin":
        for folder in (machine.root, machine.home):
            yield from (("system", folder / path) for path in _PLACES["mac"][tier.value])
    else:
        yield from (("system", machine.root / path) for path in _PLACES["linux"][tier.value])
    if machine.playwright is not None:
        yield from (("playwright", path) for path in _list_playwright_paths(machine.playwright, tier))


def _list_playwright_paths(folder: Path, tier: Tier) -> Iterator[Path]:
    prefix = _PLACES["playwright_folders"][tier.value]
    revisions = [path for path in folder.glob(prefix + "*") if path.name.removeprefix(prefix).isdigit()]
    for revision in sorted(revisions, key=lambda path: int(path.name.removeprefix(prefix)), reverse=True):
        # Playwright writes this file last. Without it the download is incomplete.
        if (revision / _PLAYWRIGHT_DONE).exists():
            for pattern in _PLACES["playwright"][tier.value]:
                yield from sorted(revision.glob(pattern))


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a container's user may have no HOME and no entry in /etc/passwd
        return Path(tempfile.gettempdir())


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _query_product(executable: str) -> str:
    try:
        command, nothing = [executable, "--version"], subprocess.DEVNULL
        answer = subprocess.run(
            command, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing, timeout=VERSION_LIMIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN_VERSION
    output = answer.stdout.decode(errors="replace").strip()
    found = _VERSION.search(output)
    return output[: found.end()] if found else UNKNOWN_VERSION


def _read_products(path: Path) -> dict[str, str]:
    with contextlib.suppress(OSError, ValueError):
        products = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(products, dict):
            return {key: value for key, value in products.items() if isinstance(value, str)}
    return {}


ALLOW_SOCKETS = (
    "A sandbox around this process forbids sockets, and Chromium needs them. Run the command outside the sandbox: in "
    "Claude Code add `search-mcp *` to sandbox.excludedCommands, in Codex approve it (docs/clients.md, Sandboxes)."
)


def are_sockets_forbidden() -> bool:
    """Return True if this process may not create, bind or use sockets that never leave this machine.

    Sandboxes differ: Claude Code forbids to create Unix sockets, Codex to bind, configure and write to any.
    """
    try:
        first, second = socket.socketpair()
        with first, second, socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET) as listener:
            first.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            first.send(b"x")
            listener.bind(("127.0.0.1", 0))
            listener.listen()
    except OSError as error:
        # Others have another cause: out of files or addresses.
        return isinstance(error, PermissionError)
    return False

"""Build what a release publishes into dist/, and check it: wheel, bundle for desktop clients, registry entry, image.

python -m devtools.release [--without-image]
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

from devtools.client_files import FILES, ROOT, manifest_json, server_json, write_bundle

DIST = ROOT / "dist"
_LIMIT_S = 3_600.0
_SCRIPTS = Path(sys.executable).parent


class ReleaseError(Exception):
    """A part of the release is wrong; the message says which, and what to do."""


def main() -> int:
    """Build and check all parts; return 0 if all are right."""
    parser = argparse.ArgumentParser(prog="python -m devtools.release", description=__doc__)
    parser.add_argument("--without-image", action="store_true", help="leave the container image out")
    chosen = parser.parse_args()
    try:
        version = check_versions()
        shutil.rmtree(DIST, ignore_errors=True)
        wheel = build_wheel(DIST)
        check_wheel(wheel, version)
        check_bundle(DIST / "search-mcp.mcpb")
        shutil.copy(ROOT / "server.json", DIST)
        print(f"ok  server.json of {version}", flush=True)
        if not chosen.without_image:
            build_image()
    except ReleaseError as error:
        print(f"release failed: {error}", file=sys.stderr)
        return 1
    is_listed = f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    before = "" if is_listed else "make changelog, commit, "
    print(f"{DIST} is complete. Next: {before}git tag v{version} && git push origin v{version}")
    return 0


def check_versions() -> str:
    """Return the version, which all files name. Raises ReleaseError."""
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    for name, make in FILES.items():
        if json.loads((ROOT / name).read_text("utf-8")) != make():
            raise ReleaseError(f"{name} is out of date. Run: make docs")
    return version


def build_wheel(folder: Path) -> Path:
    """Build the wheel into a folder and return its path. Raises ReleaseError."""
    _run([_SCRIPTS / "hatchling", "build", "-t", "wheel", "-d", folder])
    (wheel,) = folder.glob("*.whl")
    return wheel


def check_wheel(wheel: Path, version: str) -> None:
    """Check that a wheel has all files, no relative link in its description, and a program that starts."""
    tracked = _run(["git", "ls-files", "browsers", "scraper"]).split()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    if missing := set(tracked) - set(names):
        raise ReleaseError(f"{wheel.name} lacks {sorted(missing)[:5]}.")
    if links := re.findall(r"\]\((?![a-z]+:)([^)]+)\)", metadata):
        raise ReleaseError(f"Relative links lead nowhere on the page of a registry: {links[:3]}. Correct README.md.")
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        python = Path(name) / "bin" / "python"
        _run([sys.executable, "-m", "venv", name])
        _run([python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", ROOT / "requirements/runtime.txt"])
        _run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel])
        if (said := _run([Path(name) / "bin" / "search-mcp", "--version"])) != f"search-mcp {version}\n":
            raise ReleaseError(f"The program of {wheel.name} says {said!r}.")
    print(f"ok  {wheel.name}", flush=True)


def check_bundle(file: Path) -> None:
    """Write the bundle for desktop clients, and check that it has the program of its manifest."""
    write_bundle(file)
    with zipfile.ZipFile(file) as bundle:
        names, manifest = set(bundle.namelist()), json.loads(bundle.read("manifest.json"))
    if manifest != manifest_json() or manifest["version"] != server_json()["version"]:
        raise ReleaseError(f"The manifest of {file.name} is out of date. Run: make docs")
    if manifest["server"]["entry_point"] not in names:
        raise ReleaseError(f"{file.name} lacks {manifest['server']['entry_point']}.")
    print(f"ok  {file.name}", flush=True)


def build_image() -> None:
    """Build the image with docker if it runs; else build and test it without (Debian, root)."""
    docker = shutil.which("docker")
    if docker and subprocess.run([docker, "info"], capture_output=True, timeout=60, check=False).returncode == 0:
        _run([docker, "build", "--tag", "search-mcp", ROOT], shows_output=True)
        _run([docker, "run", "--rm", "search-mcp", "--version"], shows_output=True)
    else:
        _run([sys.executable, "-m", "devtools.image.check"], shows_output=True)
    print("ok  image", flush=True)


def _run(command: Sequence[str | Path], *, shows_output: bool = False) -> str:
    words = [str(word) for word in command]
    stream = None if shows_output else subprocess.PIPE
    done = subprocess.run(words, cwd=ROOT, stdout=stream, stderr=stream, text=True, timeout=_LIMIT_S, check=False)
    if done.returncode:
        raise ReleaseError(f"{' '.join(words)}\n{((done.stdout or '') + (done.stderr or ''))[-3000:]}")
    return done.stdout or ""


if __name__ == "__main__":
    sys.exit(main())

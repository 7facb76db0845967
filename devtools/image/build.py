"""Build the Dockerfile with debootstrap and buildah, so that the image can be tested without a container engine.

What this machine needs to reach its package sources (mirror, certificates, index) is lent to the build by
mounts and is in no layer and no file of the project.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RELEASE = "bookworm"
TOOLS = ("buildah", "debootstrap")
BUILD_LIMIT_S = 3600.0
COMMAND_LIMIT_S = 600.0

_PIP_SETTINGS = ("index-url", "extra-index-url", "proxy", "trusted-host", "timeout")
_LENT_CERTIFICATES = "/run/lent-certificates.crt"


class ImageError(Exception):
    """The image could not be built, or failed a check."""


@dataclass(frozen=True, slots=True)
class Image:
    """A built image, unpacked."""

    container: str
    root: Path
    config: dict[str, Any]


@dataclass(frozen=True, slots=True)
class BuildFolder:
    """A folder with the storage of buildah."""

    folder: Path

    def buildah(self, *arguments: str) -> list[str]:
        """Return a buildah command whose storage is in this folder."""
        storage = ["--root", f"{self.folder}/storage", "--runroot", f"{self.folder}/run"]
        return ["env", f"TMPDIR={self.folder}", "buildah", *storage, *arguments]

    def build(self, project: Path) -> Image:
        """Build the project's Dockerfile on a base image made on this machine."""
        base = self._base()
        lent = [f"--volume={source}:{target}:ro" for source, target in self._lend()]
        options = ["--isolation=chroot", "--format=docker", "--pull-never", f"--build-arg=BASE={base}"]
        tag = "localhost/search-mcp:test"
        run(self.buildah("build", *options, *lent, f"--tag={tag}", str(project)), BUILD_LIMIT_S, shown="STEP ")
        container = answer(self.buildah("from", "--pull-never", tag))
        inspected = json.loads(answer(self.buildah("inspect", "--type=image", tag)))
        return Image(
            container=container,
            root=Path(answer(self.buildah("mount", container))),
            config=inspected["Docker"]["config"],
        )

    def clear(self) -> None:
        """Unmount the mounts of buildah and remove the folder."""
        for arguments in (("umount", "--all"), ("rm", "--all")):
            subprocess.run(self.buildah(*arguments), check=False, capture_output=True, timeout=COMMAND_LIMIT_S)
        for mounted in reversed(_mounts_below(self.folder)):
            subprocess.run(["umount", "--lazy", mounted], check=False, timeout=COMMAND_LIMIT_S)
        if left := _mounts_below(self.folder):
            raise ImageError(f"still mounted, so {self.folder} was left in place: {', '.join(left)}")
        shutil.rmtree(self.folder)

    def _base(self) -> str:
        print_progress(f"Base image: Debian {RELEASE} by debootstrap ...")
        unpacked = self.folder / "base"
        run(["debootstrap", "--variant=minbase", RELEASE, str(unpacked), *_mirror()], BUILD_LIMIT_S)
        container = answer(self.buildah("from", "scratch"))
        run(self.buildah("add", "--quiet", container, str(unpacked), "/"))
        tag = f"localhost/debian:{RELEASE}"
        run(self.buildah("commit", "--quiet", "--rm", container, tag), BUILD_LIMIT_S)
        shutil.rmtree(unpacked)
        return tag

    def _lend(self) -> Iterator[tuple[Path, str]]:
        """Return pairs of a file on this machine and its path in the build."""
        if _release_here() == RELEASE:
            yield Path("/etc/apt"), "/etc/apt"
        settings = _pip_settings()
        certificates = settings.get("cert")
        if certificates and Path(certificates).is_file():
            yield Path(certificates), _LENT_CERTIFICATES
            settings["cert"] = _LENT_CERTIFICATES
        lines = ["[global]", *(f"{key} = {value}" for key, value in settings.items())]
        written = self.folder / "pip.conf"
        written.write_text("\n".join(lines) + "\n", encoding="utf-8")
        yield written, "/etc/pip.conf"


@contextlib.contextmanager
def build_folder(*, keep: bool) -> Iterator[BuildFolder]:
    """Open a build folder and remove it on exit unless `keep` is set."""
    _get_tools()
    # Not in /tmp, which may be in memory: the build needs three gigabytes.
    made = BuildFolder(Path(tempfile.mkdtemp(prefix="search-mcp-image-", dir="/var/tmp")))
    try:
        yield made
    finally:
        if keep:
            print_progress(f"Left in place: {made.folder}")
        else:
            made.clear()


def print_progress(line: str) -> None:
    """Print a line of progress at once."""
    print(line, flush=True)


def run(command: Sequence[str], limit_s: float = COMMAND_LIMIT_S, *, shown: str = "\0") -> None:
    """Run a command; print the lines of its output that start with `shown`, and the end of all of it if it fails.

    Raises:
        ImageError: it failed, or did not end within `limit_s`.
    """
    lines: list[str] = []
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        killer = threading.Timer(limit_s, process.kill)
        killer.start()
        for line in process.stdout or ():
            lines.append(line)
            if line.startswith(shown):
                print_progress(f"  {line.rstrip()}")
        killer.cancel()
    if process.returncode != 0:
        raise ImageError(f"{' '.join(command)}\n{''.join(lines)[-6000:]}")


def answer(command: Sequence[str]) -> str:
    """Return the output of a command without the final newline."""
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=COMMAND_LIMIT_S, check=True)
    return done.stdout.decode().strip()


def _get_tools() -> None:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if os.geteuid() != 0:
        raise ImageError("Building an image without a container engine needs root. Run: sudo make image-test")
    if missing and shutil.which("apt-get") is None:
        raise ImageError(f"Not installed: {', '.join(missing)}.")
    if missing:
        print_progress(f"Installing {' '.join(missing)} ...")
        run(["apt-get", "-qq", "update"])
        run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", *missing], BUILD_LIMIT_S)


def _release_here() -> str:
    for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip("\"'")
    return ""


def _mirror() -> list[str]:
    """Return the mirror of this machine for the release, or an empty result to use debootstrap's default."""
    wanted = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        for line in answer(wanted).splitlines():
            uri, _, release = line.rpartition(" ")
            if release == RELEASE:
                return [uri]
    return []


def _pip_settings() -> dict[str, str]:
    """Return the pip settings of this machine that reach its index; local folders do not exist in the build."""
    try:
        lines = answer([sys.executable, "-m", "pip", "config", "list"]).splitlines()
    except subprocess.CalledProcessError:  # an environment that uv made has no pip
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line)
    known = {name.rpartition(".")[2]: str(ast.literal_eval(value)) for name, _, value in pairs}
    chosen = {key: value for key in _PIP_SETTINGS if (value := known.get(key, "")) and "file:" not in value}
    return chosen | ({"cert": known["cert"]} if "cert" in known else {})


def _mounts_below(folder: Path) -> list[str]:
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return [target for line in lines if (target := line.split()[1]).startswith(f"{folder}/")]

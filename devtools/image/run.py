"""Start the image's own command with two methods: like a container engine, and with buildah's chroot isolation."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devtools.image.build import BuildFolder, Image, ImageError, print_progress

UID = "10001"
STOP_LIMIT_S = 30.0
"""Seconds. Longer than the server's drain time."""

_CONTAIN = Path(__file__).with_name("contain.sh")


@dataclass(frozen=True, slots=True)
class Started:
    """A running image."""

    process: subprocess.Popen[bytes]
    log: Path

    def output(self) -> str:
        """Return the output so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> int:
        """Send SIGTERM to its first process, like `docker stop`; return the exit code."""
        os.kill(_first_inside(self.process.pid), signal.SIGTERM)
        return self.process.wait(STOP_LIMIT_S)


def contained(image: Image, data: Path, environ: Mapping[str, str], *arguments: str) -> list[str]:
    """Return the command of the entry point with a read-only root and without capabilities."""
    return inside(image, data, environ, [*image.config["Entrypoint"], *(arguments or image.config["Cmd"])])


def inside(image: Image, data: Path, environ: Mapping[str, str], command: Sequence[str]) -> list[str]:
    """Return a command in the image with the same restrictions."""
    variables = [*image.config["Env"], *(f"{name}={value}" for name, value in environ.items())]
    return [
        *("unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"),
        *("sh", str(_CONTAIN), str(image.root), str(data), UID),
        *("env", "-i", *variables, *command),
    ]


def chrooted(build_folder: BuildFolder, image: Image, data: Path, environ: Mapping[str, str]) -> list[str]:
    """Return the command with buildah's chroot isolation, which allows no user namespaces."""
    # tini is not process 1 there, and reaps children only with this variable.
    variables = [f"--env={name}={value}" for name, value in {**environ, "TINI_SUBREAPER": ""}.items()]
    command = [*image.config["Entrypoint"], *image.config["Cmd"]]
    return [
        *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
        *build_folder.buildah("run", "--isolation=chroot", f"--user={UID}", f"--volume={data}:/data"),
        *(*variables, image.container, "--", *command),
    ]


@contextlib.contextmanager
def started(command: list[str]) -> Iterator[Started]:
    """Run a command; end it and all its children on exit."""
    with tempfile.NamedTemporaryFile(prefix="search-mcp-image-", suffix=".log") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            yield Started(process, Path(log.name))
        except ImageError:
            print_progress(Path(log.name).read_text(encoding="utf-8", errors="replace")[-4000:])
            raise
        finally:
            # Killing unshare ends its child, and with it the whole process namespace.
            process.kill()
            process.wait(STOP_LIMIT_S)


def _first_inside(outer: int) -> int:
    """Return the process id of process 1 in the namespace of `unshare`."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        children = Path(f"/proc/{outer}/task/{outer}/children").read_text(encoding="ascii").split()
        if children:
            return int(children[0])
        time.sleep(0.05)
    raise ImageError("the command ended before it could be stopped")

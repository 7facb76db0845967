"""Starts the image's own command, in two ways: as an engine would, and in the plainest of sandboxes."""

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

from devtools.image.build import Image, ImageError, Workshop, say

UID = "10001"
STOP_LIMIT_S = 30.0
"""Longer than the server lets running calls take to end."""

_CONTAIN = Path(__file__).with_name("contain.sh")


@dataclass(frozen=True, slots=True)
class Started:
    """A running image."""

    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        """Return the output so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> int:
        """Ask its first process to end, as `docker stop` does; the exit code."""
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


def chrooted(workshop: Workshop, image: Image, data: Path, environ: Mapping[str, str]) -> list[str]:
    """Return the command with buildah's chroot isolation, which allows no user namespaces."""
    # tini is not process 1 there, and reaps only when told so.
    variables = [f"--env={name}={value}" for name, value in {**environ, "TINI_SUBREAPER": ""}.items()]
    command = [*image.config["Entrypoint"], *image.config["Cmd"]]
    return [
        *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
        *workshop.buildah("run", "--isolation=chroot", f"--user={UID}", f"--volume={data}:/data"),
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
            say(Path(log.name).read_text(encoding="utf-8", errors="replace")[-4000:])
            raise
        finally:
            # unshare's child dies with it, and its whole process namespace with that child.
            process.kill()
            process.wait(STOP_LIMIT_S)


def _first_inside(outer: int) -> int:
    """Process 1 of the namespace that `unshare` made."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        children = Path(f"/proc/{outer}/task/{outer}/children").read_text(encoding="ascii").split()
        if children:
            return int(children[0])
        time.sleep(0.05)
    raise ImageError("the command ended before it could be told to stop")

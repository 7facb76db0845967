"""Commands of a coding agent that share one warm server, in folders of their own."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sys
import tempfile
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from scraper.cli import warm_client
from tests.scraper.process import REPOSITORY, START_S, Output, alive, until

ENTRY = ("-c", "from scraper.cli.entry import main; main()")


@dataclass(frozen=True)
class Warm:
    """Folders and variables of an agent."""

    folder: Path
    variables: dict[str, str]

    async def start(self, *words: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> Process:
        """Start a command."""
        return await create_subprocess_exec(
            sys.executable,
            *ENTRY,
            *words,
            cwd=cwd or self.folder / "work",
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), **self.variables, **(env or {})},
            stdout=PIPE,
            stderr=PIPE,
        )

    async def run(self, *words: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> Output:
        """Run a command to its end."""
        process = await self.start(*words, env=env, cwd=cwd)
        out, err = await process.communicate()
        assert process.returncode is not None
        return Output(process.returncode, out.decode(), err.decode())

    def status(self) -> dict[str, Any]:
        """Return what the server says about itself; empty if none runs."""
        for path in (self.folder / "run" / "search-mcp").glob("*.sock"):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as peer:
                peer.connect(str(path))
                found: dict[str, Any] = warm_client.ask(peer, {"words": ["status"], "folder": "/"})
                return found
        return {}

    async def start_hanging(self, *words: str, env: dict[str, str] | None = None) -> Process:
        """Start a command, and wait until its call runs in the server."""
        command = await self.start(*words, env=env)
        await until(lambda: self.status().get("commands"), limit_s=START_S)
        return command

    def servers(self) -> list[psutil.Process]:
        """Return the running servers."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if "scraper.cli.warm_server" in process.cmdline() and str(self.folder) in process.cmdline()[-1]:
                    found.append(process)
        return alive(found)

    def processes(self) -> list[psutil.Process]:
        """Return the servers and all that they have started."""
        return [one for server in self.servers() for one in (server, *server.children(recursive=True))]


@contextlib.contextmanager
def warm_commands(variables: dict[str, str]) -> Iterator[Warm]:
    """Create the folders of an agent; end its servers after the block."""
    # The path of a socket has 104 characters at most.
    folder = Path(tempfile.mkdtemp(prefix="warm-", dir="/tmp"))
    for name in ("work", "run"):
        (folder / name).mkdir(mode=0o700)
    own = {"XDG_RUNTIME_DIR": str(folder / "run"), "SEARCH_MCP_DATA": str(folder / "data"), "CLAUDECODE": "1"}
    warm = Warm(folder, variables | own)
    try:
        yield warm
    finally:
        processes = warm.processes()
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(processes, START_S)
        shutil.rmtree(folder, ignore_errors=True)

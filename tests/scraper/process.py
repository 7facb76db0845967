"""A program under test in a separate process, with access to its stderr."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import psutil

from tests.forked_python import MODULES
from tests.warm_processes import WarmProcesses

REPOSITORY = Path(__file__).parents[2]
_MAX_LINE_BYTES = 4 * 1024 * 1024
"""A message over stdio is one line; an answer holds its text twice."""
LIMIT_S = 30.0
"""Seconds. Longer than any step on a loaded machine: distinguishes a hang from a slow machine."""

START_S = 120.0
"""Seconds. Limit for the start of a program with its browsers, and for a whole command."""

SOON_S = 15.0
"""Seconds. One second is guaranteed and measured; the rest is a margin for shared cores. A process that is
not stopped would run much longer than this."""
_LAST_WORDS_S = 10.0
"""Seconds. Limit for reading the rest of stderr; a child that outlives the program keeps it open."""

_OF_PYTHON = ("PYTHON", "LANG", "LC_", "TZ")
"""Beginnings of variables that Python reads when it starts."""

_IS_MEASURED = any(name.startswith("COVERAGE_PROCESS") for name in os.environ)
"""True in `make coverage`, which counts the lines of processes that start with Python, but not those of forks."""

_ADDRESS = re.compile(r"serving MCP at (http://\S+)/mcp")


@dataclass(frozen=True, slots=True)
class Output:
    """Exit code and output of a program."""

    code: int
    out: str
    err: str


class Program:
    """One running process."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.base = ""
        self.said: list[str] = []
        self._new_line = asyncio.Event()
        self._listening = asyncio.create_task(self._listen())

    @property
    def url(self) -> str:
        """URL of the MCP endpoint."""
        return self.base + "/mcp"

    async def until(self, pattern: str, *, limit_s: float = LIMIT_S) -> re.Match[str]:
        """Wait for a pattern on stderr and return its first match."""
        async with asyncio.timeout(limit_s):
            while True:
                self._new_line.clear()
                if found := re.search(pattern, "".join(self.said)):
                    return found
                if self._listening.done():
                    raise AssertionError(f"it ended without saying {pattern!r}: {''.join(self.said)}")
                waits = [asyncio.ensure_future(self._new_line.wait()), self._listening]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                waits[0].cancel()

    async def ended(self) -> int:
        """Wait for the end of the program and of its stderr; return the exit code."""
        async with asyncio.timeout(LIMIT_S):
            code = await self.process.wait()
            await asyncio.wait({self._listening}, timeout=_LAST_WORDS_S)
            return code

    async def close(self) -> None:
        """Kill the program if it still runs."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        self._listening.cancel()
        await asyncio.wait({self._listening})
        # A browser that briefly outlives the process keeps its stderr open; asyncio has no other way.
        self.process._transport.close()  # type: ignore[attr-defined]

    async def _listen(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.said.append(line.decode())
            self._new_line.set()


async def _start(*command: str, env: dict[str, str] | None, stdin: int | None, stdout: int | None) -> Process:
    """Start `python` with these arguments, as a fork if a warm process may run them."""
    environment = {**os.environ, **(env or {})}
    if command[0] == "-m" and command[1] in MODULES and not any(name.startswith(_OF_PYTHON) for name in env or ()):
        warm = WarmProcesses.current
        if warm is not None and not warm.is_paused and not _IS_MEASURED:
            files = (stdin, stdout, PIPE)
            return await warm.python.start(*command[1:], env=environment, files=files, limit=_MAX_LINE_BYTES)
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        cwd=REPOSITORY,
        env=environment,
        stdin=stdin,
        stdout=stdout,
        stderr=PIPE,
        limit=_MAX_LINE_BYTES,
    )


@contextlib.asynccontextmanager
async def running(
    *command: str, env: dict[str, str] | None = None, stdin: int | None = None, stdout: int | None = None
) -> AsyncIterator[Program]:
    """Start `python` with these arguments; stop it when the block ends."""
    process = await _start(*command, env=env, stdin=stdin, stdout=stdout)
    program = Program(process)
    try:
        yield program
    finally:
        await program.close()


async def output_of(*command: str, env: dict[str, str] | None = None, stdin: bytes = b"") -> Output:
    """Run `python` with these arguments to its end and return its output."""
    process = await _start(*command, env=env, stdin=PIPE, stdout=PIPE)
    try:
        async with asyncio.timeout(START_S):
            out, err = await process.communicate(stdin)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    assert process.returncode is not None
    return Output(process.returncode, out.decode(), err.decode())


@contextlib.asynccontextmanager
async def serving(*command: str, env: dict[str, str] | None = None, limit_s: float = START_S) -> AsyncIterator[Program]:
    """Run a server over HTTP and wait for its address."""
    async with running(*command, env=env) as program:
        program.base = (await program.until(_ADDRESS.pattern, limit_s=limit_s))[1]
        yield program


async def browsers_say(base: str, field: str, wanted: object, *, limit_s: float) -> None:
    """Wait until a field of the browsers in `/health` has a value; raise TimeoutError after `limit_s`."""
    async with asyncio.timeout(limit_s), aiohttp.ClientSession() as client:
        while True:
            async with client.get(base + "/health") as answer:
                browsers = (await answer.json())["browsers"]
                if browsers is not None and browsers[field] == wanted:
                    return
            await asyncio.sleep(0.02)


async def until(condition: Callable[[], object], *, limit_s: float = LIMIT_S) -> None:
    """Wait until a condition holds; raise TimeoutError after `limit_s`."""
    async with asyncio.timeout(limit_s):
        while True:
            if condition():
                return
            await asyncio.sleep(0.05)


def chromium_of(root: psutil.Process) -> list[psutil.Process]:
    """Return the Chromium processes below a process, at any depth."""
    found = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in root.children(recursive=True):
            # A process may end during the loop; the others are still returned.
            with contextlib.suppress(psutil.NoSuchProcess):
                if "chrom" in child.name().lower():
                    found.append(child)
    return found


def alive(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that still run, without zombies."""
    return [process for process in processes if _runs(process)]


def _runs(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False

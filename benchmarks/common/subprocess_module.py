"""A module of the benchmarks in a process of its own, so that what it takes of the processor is not ours."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[2]
_START_LIMIT_S = 60.0
_STOP_LIMIT_S = 5.0


@asynccontextmanager
async def apart(module: str) -> AsyncIterator[tuple[int, Process]]:
    """Run a module that prints its port as JSON and ends with its input: the port, and the process."""
    command = (sys.executable, "-m", module)
    process = await asyncio.create_subprocess_exec(*command, cwd=_REPOSITORY, stdin=PIPE, stdout=PIPE)
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), _START_LIMIT_S)
        yield int(json.loads(line)["port"]), process
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), _STOP_LIMIT_S)

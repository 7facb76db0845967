"""Run a module of the benchmarks in a separate process, so that its CPU is not charged to the contender."""

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
async def run_module(module: str) -> AsyncIterator[tuple[int, Process]]:
    """Run a module that prints its port as JSON and ends when its stdin closes; yield port and process."""
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

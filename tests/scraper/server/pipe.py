"""Messages over the pipes of a program that serves stdio."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.scraper.process import START_S, Program


async def ask(program: Program, message: dict[str, Any]) -> dict[str, Any]:
    """Write one message and read one."""
    await write(program, message)
    return await read(program)


async def begin(program: Program, message: dict[str, Any]) -> None:
    """Write a call that tells of its progress, and wait until it has told the first."""
    params = {**message["params"], "_meta": {"progressToken": "begun"}}
    output = await ask(program, {**message, "params": params})
    assert output["method"] == "notifications/progress"


async def answer(program: Program) -> dict[str, Any]:
    """Read one message that answers something, past what is told of a call under way."""
    while "id" not in (message := await read(program)):
        pass
    return message


async def write(program: Program, message: dict[str, Any]) -> None:
    """Write one message."""
    assert program.process.stdin is not None
    program.process.stdin.write(json.dumps(message).encode() + b"\n")
    await program.process.stdin.drain()


async def read(program: Program, *, limit_s: float = START_S) -> dict[str, Any]:
    """Read one message."""
    assert program.process.stdout is not None
    async with asyncio.timeout(limit_s):
        message: dict[str, Any] = json.loads(await program.process.stdout.readline())
        return message

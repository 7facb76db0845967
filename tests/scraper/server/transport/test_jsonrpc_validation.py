"""A line that is no message is answered, and the conversation goes on."""

from __future__ import annotations

import json
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.scraper.process import Program, running
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.pipe import ask, read, write
from tests.scraper.server.wire import call, initialize


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def begun() -> AsyncIterator[Program]:
    """Begin one conversation, which goes on through all damaged lines."""
    async with running(*STAND_IN, "stdio", stdin=PIPE, stdout=PIPE) as program:
        await ask(program, initialize())
        yield program


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (rb"a \ud800 b", "a \ufffd b"),
        (rb"\udfff\ud800", "\ufffd\ufffd"),
        (rb"\uD83D\uDE00", "\U0001f600"),
        (rb"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (rb"\\ud800", "\\ud800"),
        (rb"\\\ud800", "\\\ufffd"),
    ],
)
async def test_half_a_surrogate_pair_is_replaced(begun: Program, escaped: bytes, text: str) -> None:
    assert begun.process.stdin is not None
    message = json.dumps(call("echo", {"text": "TEXT"}, number=9)).encode().replace(b"TEXT", escaped)
    begun.process.stdin.write(message + b"\n")
    output = await read(begun)
    assert output["id"] == 9
    assert json.loads(output["result"]["content"][0]["text"])["arguments"] == {"text": text}


@pytest.mark.parametrize(
    ("line", "code", "name"),
    [
        (b"no json", -32700, None),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "pi', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b"null", -32600, None),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', -32600, 7),
        (b'{"jsonrpc": "2.0", "id": "a", "method": 5}', -32600, "a"),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}', -32600, 7),
        (b'{"jsonrpc": "2.0", "id": true, "method": 5}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": [1], "method": "tools/list"}', -32600, None),
    ],
)
async def test_an_invalid_message_gets_an_error(begun: Program, line: bytes, code: int, name: object) -> None:
    assert begun.process.stdin is not None
    begun.process.stdin.write(line + b"\n\n")
    output = await read(begun)
    assert (output["error"]["code"], output["id"]) == (code, name)
    assert (await ask(begun, call("echo", number=3)))["id"] == 3


async def test_a_notification_with_an_empty_id_is_still_one(begun: Program) -> None:
    await write(begun, {"jsonrpc": "2.0", "id": None, "method": "notifications/initialized"})
    assert (await ask(begun, call("echo", number=3)))["id"] == 3


async def test_the_first_line_may_be_the_damaged_one() -> None:
    async with running(*STAND_IN, "stdio", stdin=PIPE, stdout=PIPE) as program:
        assert program.process.stdin is not None
        program.process.stdin.write(b"\xff\xfe\n")
        assert (await read(program))["error"]["code"] == -32700
        assert "result" in await ask(program, initialize())

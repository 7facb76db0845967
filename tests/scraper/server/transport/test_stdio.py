"""The conversation over standard input and output."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
from asyncio.subprocess import PIPE
from pathlib import Path

import psutil
import pytest

from scraper.server.transport.stdio import StdinReader
from tests.scraper.process import LIMIT_S, output_of, running
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.pipe import answer, ask, begin, read, write
from tests.scraper.server.wire import call, initialize, modern_call

STDIO = (*STAND_IN, "stdio")


async def test_nothing_but_the_protocol_reaches_stdout() -> None:
    # Of whoever runs the tests: with it, nothing that is printed would wait in memory.
    env = {"PYTHONUNBUFFERED": ""}
    async with running(*STDIO, env=env, stdin=PIPE, stdout=PIPE) as program:
        assert program.process.stdin is not None
        assert program.process.stdout is not None
        await write(program, initialize())
        first = await program.process.stdout.readexactly(1)
        assert first == b"{"
        await program.process.stdout.readline()
        assert (await ask(program, call("noisy")))["result"]["content"][0]["text"] == "quiet"
        program.process.stdin.close()
        assert await program.process.stdout.read() == b""
        assert await program.ended() == 0
    for noise in ("noise by print", "noise by write", "noise by a child"):
        assert noise in "".join(program.said)


@pytest.mark.parametrize("end", ["unread", "signal"])
async def test_a_client_that_hangs_up_ends_everything(end: str) -> None:
    reading, writing = os.pipe()
    async with running(*STDIO, stdin=PIPE, stdout=writing) as program:
        os.close(writing)
        assert program.process.stdin is not None
        await write(program, initialize())
        assert await asyncio.to_thread(os.read, reading, 1)
        await write(program, call("slow", {"seconds": 60}))
        program.process.stdin.close()
        if end == "signal":
            program.process.terminate()
        else:
            os.close(reading)
        assert await program.ended() == 0  # long before the call would
        assert program.said[-1] == "app closed\n"
    if end == "signal":
        os.close(reading)


async def test_calls_are_answered_after_the_end_of_input() -> None:
    messages = (initialize(), {"jsonrpc": "2.0", "method": "notifications/initialized"}, call("slow", {"seconds": 1}))
    lines = b"\xef\xbb\xbf" + "\n".join(map(json.dumps, messages)).encode()
    output = await output_of(*STDIO, stdin=lines)
    answers = [json.loads(line) for line in output.out.splitlines()]
    assert [one["id"] for one in answers if "id" in one] == [1, 2]
    assert answers[-1]["result"]["content"][0]["text"] == "done 10" and output.code == 0


async def test_a_canceled_call_gets_no_response_and_the_session_continues() -> None:
    async with running(*STDIO, stdin=PIPE, stdout=PIPE) as program:
        await ask(program, initialize())
        await begin(program, call("slow", {"seconds": 60}, number=2))
        await write(program, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
        await program.until("outcome=cancelled")
        await write(program, call("echo", number=3))
        assert (await answer(program))["id"] == 3


async def test_an_idle_conversation_ends_on_sigterm() -> None:
    async with running(*STDIO, stdin=PIPE, stdout=PIPE) as program:
        await ask(program, initialize())
        program.process.send_signal(signal.SIGTERM)
        assert await program.ended() == 0


async def test_a_client_that_does_not_read_cannot_keep_the_process() -> None:
    reading, writing = os.pipe()
    try:
        async with running(*STDIO, stdin=PIPE, stdout=writing) as program:
            os.close(writing)
            await write(program, initialize())
            for number in range(2, 40):  # more than a pipe holds, and nobody reads it
                await write(program, call("echo", {"text": "x" * 10_000}, number=number))
            await program.until("request=5 ")
            program.process.terminate()
            assert await program.ended() == 0
            assert program.said[-1] == "app closed\n"
    finally:
        os.close(reading)


async def test_a_client_that_dies_ends_the_process() -> None:
    reading, writing = os.pipe()
    async with running(*STDIO, stdin=PIPE, stdout=writing) as program:
        os.close(writing)
        await write(program, initialize())
        os.close(reading)
        await write(program, call("echo"))
        assert await program.ended() == 0
        assert program.said[-1] == "app closed\n"
        assert "Traceback" not in "".join(program.said)


async def test_invalid_lines_get_an_error_and_are_skipped() -> None:
    async with running(*STDIO, stdin=PIPE, stdout=PIPE) as program:
        assert program.process.stdin is not None
        program.process.stdin.write(b'hello\n\n[]\n\xff\xfe\n{"jsonrpc":"2.0"}\n' + b"[" * 5_000_000 + b"\n")
        refused = [(await read(program))["error"]["code"] for _ in range(5)]
        assert refused == [-32700, -32600, -32700, -32600, -32600]
        await ask(program, initialize())
        assert (await ask(program, call("echo")))["id"] == 2


async def test_a_message_above_four_mebibytes_is_dropped_with_an_error_of_its_id() -> None:
    async with running(*STDIO, stdin=PIPE, stdout=PIPE) as program:
        await ask(program, initialize())
        large = call("echo", {"text": "x" * 5 * 1024 * 1024, "id": 9}, number=4_300_000)
        for names in (list(large), ["method", "params", "jsonrpc", "id"], ["method", "id", "jsonrpc", "params"]):
            await write(program, {name: large[name] for name in names})
            refused = await answer(program)
            assert refused["id"] == 4_300_000 and "4,194,304 bytes" in refused["error"]["message"]
        await write(program, {"jsonrpc": "2.0", "params": large["params"]})
        assert (await read(program))["id"] is None
        assert "result" in await ask(program, call("echo", number=3))


async def test_messages_may_come_from_a_file(tmp_path: Path) -> None:
    script = tmp_path / "messages"
    script.write_text(json.dumps(initialize()) + "\n" + json.dumps({**initialize(2), "method": "ping"}))
    with script.open("rb") as file:
        async with running(*STDIO, stdin=file.fileno(), stdout=PIPE) as program:
            assert (await read(program))["result"]["serverInfo"]["name"] == "search-mcp"
            assert await program.ended() == 0


async def test_a_file_and_what_cannot_be_polled_are_read_to_their_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(descriptor: int, *_: object) -> None:
        raise OSError(errno.EINVAL, "as macOS says of /dev/null")

    # On macOS a file can be polled, and its end is never told.
    monkeypatch.setattr(asyncio.get_running_loop(), "add_reader", refuses)
    script = tmp_path / "messages"
    script.write_text("one\ntwo\n")
    for path, text in ((script, ["one", "two"]), (Path(os.devnull), [])):
        with path.open("rb") as opened:
            assert [line async for line in StdinReader(opened.fileno())] == text


async def test_a_conversation_may_begin_in_the_new_era() -> None:
    async with running(*STDIO, stdin=PIPE, stdout=PIPE) as program:
        _, message = modern_call("echo", {})
        assert (await ask(program, message))["result"]["resultType"] == "complete"


async def test_an_idle_server_costs_nothing() -> None:
    async with running(*STDIO, stdin=PIPE, stdout=PIPE) as program:
        await ask(program, initialize())
        await ask(program, call("echo"))
        process = psutil.Process(program.process.pid)
        # One that looks again and again has no such while; one that still ends its work soon has.
        async with asyncio.timeout(LIMIT_S):
            spent = 1.0
            while spent >= 0.1:
                before = sum(process.cpu_times()[:2])
                await asyncio.sleep(1.5)
                spent = sum(process.cpu_times()[:2]) - before

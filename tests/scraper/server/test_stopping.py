"""SIGTERM, SIGINT and SIGHUP: what runs may finish, what comes is told, and the exit code is 0."""

from __future__ import annotations

import asyncio
import signal
from asyncio.subprocess import PIPE
from pathlib import Path

import aiohttp
import pytest
from mcp import Client, MCPError

from tests.growth import full_size
from tests.scraper.process import LIMIT_S, Program, browsers_say, running, serving
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.pipe import answer, ask, begin, read, write
from tests.scraper.server.wire import ERAS, HEADERS, call, initialize, modern_call, open_session, text_of, tool_result

LONG_DRAIN = f"--drain_s={3 * LIMIT_S}"
"""Longer than is waited for anything here: what ends before it was not ended by it."""
SHUTTING_DOWN = "The server is shutting down. Try again in a few seconds."


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.full_size)])
async def test_an_idle_server_stops_at_once(number: signal.Signals) -> None:
    async with serving(*STAND_IN, "http") as program:
        program.process.send_signal(number)
        assert await program.ended() == 0
        assert program.said[-1] == "app closed\n"
        assert "Traceback" not in "".join(program.said)


WITH_HANG_UPS = (
    "import os, signal, sys\n"
    "signal.signal(signal.SIGHUP, getattr(signal, sys.argv[1]))\n"
    "os.execv(sys.executable, [sys.executable, *sys.argv[2:]])\n"
)


@pytest.mark.full_size
async def test_a_server_whose_terminal_is_closed_stops_in_order() -> None:
    async with serving("-c", WITH_HANG_UPS, "SIG_DFL", *STAND_IN, "http") as program:
        program.process.send_signal(signal.SIGHUP)
        assert await program.ended() == 0
        assert program.said[-1] == "app closed\n"


@pytest.mark.full_size
async def test_a_server_that_is_to_outlive_its_terminal_does(http: aiohttp.ClientSession) -> None:
    async with serving("-c", WITH_HANG_UPS, "SIG_IGN", *STAND_IN, "http") as program:
        program.process.send_signal(signal.SIGHUP)
        await asyncio.sleep(0.1)
        async with http.get(program.base + "/ready") as output:
            assert output.status == 200
        program.process.terminate()
        assert await program.ended() == 0


@pytest.mark.parametrize("era", [ERAS[0], *(full_size(era, id=era) for era in ERAS[1:])])
async def test_during_shutdown_a_running_call_finishes_and_a_new_one_is_rejected(era: str, word: Path) -> None:
    async with serving(*STAND_IN, "http", LONG_DRAIN) as program, Client(program.url, mode=era) as client:
        await client.list_tools()
        slow = asyncio.create_task(client.call_tool("slow", {"until": str(word)}))
        await browsers_say(program.base, "active", 1, limit_s=LIMIT_S)
        program.process.terminate()
        await program_drains(program)
        with pytest.raises(MCPError, match=SHUTTING_DOWN):
            await client.call_tool("echo", {})
        word.touch()
        assert text_of(await slow) == "done as told"
        assert await program.ended() == 0
        assert program.said[-1] == "app closed\n"


async def program_drains(program: Program) -> None:
    """Return once `/ready` says that the server is shutting down."""
    async with asyncio.timeout(LIMIT_S), aiohttp.ClientSession() as client:
        while True:
            async with client.get(program.base + "/ready") as answer:
                if answer.status == 503:
                    assert (await answer.json())["reason"] == "shutting down"
                    return
            await asyncio.sleep(0.02)


async def test_new_work_is_left_to_another_server_while_what_runs_can_be_cancelled(http: aiohttp.ClientSession) -> None:
    async with serving(*STAND_IN, "http", LONG_DRAIN) as program:
        session = await open_session(http, program.url)
        headers = {**HEADERS, "Mcp-Session-Id": session}
        posting = asyncio.create_task(http.post(program.url, headers=headers, json=call("slow", {"seconds": 50})))
        await browsers_say(program.base, "active", 1, limit_s=LIMIT_S)
        program.process.terminate()
        await program_drains(program)
        modern = {**modern_call("echo", {})[1], "id": 7}
        for message in (call("echo", number=5), initialize(5), modern):
            sent = headers if message["method"] == "tools/call" else HEADERS
            async with http.post(program.url, headers=sent, json=message) as answer:
                assert answer.status == 503
                assert answer.headers["Retry-After"] == "5"
                assert answer.headers["Connection"] == "close"
                error = {"code": -32000, "message": SHUTTING_DOWN}
                assert await answer.json() == {"jsonrpc": "2.0", "id": message["id"], "error": error}
        listing = {"jsonrpc": "2.0", "id": 6, "method": "tools/list"}
        async with http.post(program.url, headers=headers, json=listing) as answer:
            assert answer.status == 200
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
        async with http.post(program.url, headers=headers, json=note) as answer:
            assert answer.status == 202
        assert await program.ended() == 0  # long before the drain ends
        (await posting).close()


async def test_a_call_longer_than_the_drain_is_canceled_with_an_error(http: aiohttp.ClientSession) -> None:
    async with serving(*STAND_IN, "http", "--drain_s=0.3") as program:
        headers, message = modern_call("slow", {"seconds": 30})
        posting = asyncio.create_task(http.post(program.url, headers=headers, json=message))
        await browsers_say(program.base, "active", 1, limit_s=LIMIT_S)
        program.process.terminate()
        async with await posting as answer:
            assert SHUTTING_DOWN in await answer.text()
        assert await program.ended() == 0
        assert program.said[-1] == "app closed\n"


@pytest.mark.full_size
async def test_a_second_signal_does_not_wait_for_running_calls(http: aiohttp.ClientSession) -> None:
    async with serving(*STAND_IN, "http", LONG_DRAIN) as program:
        headers, message = modern_call("slow", {"seconds": 3 * LIMIT_S})
        posting = asyncio.create_task(http.post(program.url, headers=headers, json=message))
        await browsers_say(program.base, "active", 1, limit_s=LIMIT_S)
        program.process.send_signal(signal.SIGINT)
        await program_drains(program)
        program.process.send_signal(signal.SIGINT)
        assert await program.ended() == 0  # long before the drain would
        assert program.said[-1] == "app closed\n"
        (await posting).close()


HURRIED = """
from scraper.server import application
from tests.scraper.server import stand_in

application.last_bytes_s = lambda waited_s: 2 if waited_s >= 0.4 else 600
stand_in.main()
"""


@pytest.mark.full_size
async def test_silent_connections_are_closed_after_the_drain(http: aiohttp.ClientSession) -> None:
    async with serving("-c", HURRIED, "http", "--drain_s=0.5") as program:
        port = int(program.base.rpartition(":")[2])
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for (_, writer), path in zip(opened, ("/mcp", "/try"), strict=False):
            writer.write(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n".encode())
            writer.write(b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
        headers, message = modern_call("slow", {"seconds": 600})
        posting = asyncio.create_task(http.post(program.url, headers=headers, json=message))
        await browsers_say(program.base, "active", 1, limit_s=LIMIT_S)
        program.process.terminate()
        assert await program.ended() == 0
        assert "Traceback" not in "".join(program.said)
        (await posting).close()
        for _, writer in opened:
            writer.close()


LINGERING = """
from scraper.server import application
from tests.scraper.server import stand_in

application._LINGER_S = 600
stand_in.main()
"""


@pytest.mark.full_size
async def test_who_has_just_been_answered_may_come_back_with_a_question(
    http: aiohttp.ClientSession, word: Path
) -> None:
    async with serving("-c", LINGERING, "http", LONG_DRAIN) as program:
        headers = {**HEADERS, "Mcp-Session-Id": await open_session(http, program.url)}
        message = call("slow", {"until": str(word)})
        posting = asyncio.create_task(http.post(program.url, headers=headers, json=message))
        await browsers_say(program.base, "active", 1, limit_s=LIMIT_S)
        program.process.terminate()
        await program_drains(program)
        word.touch()
        async with await posting as answer:
            assert await tool_result(answer) == "done as told"
        await asyncio.sleep(1)  # in which a server that does not linger would be gone
        listing = {"jsonrpc": "2.0", "id": 6, "method": "tools/list"}
        async with http.post(program.url, headers=headers, json=listing) as answer:
            assert answer.status == 200


@pytest.mark.full_size
async def test_an_open_stream_of_an_idle_client_does_not_hold_the_server(http: aiohttp.ClientSession) -> None:
    async with serving(*STAND_IN, "http") as program:
        headers = {**HEADERS, "Mcp-Session-Id": await open_session(http, program.url)}
        async with http.get(program.url, headers=headers) as stream:
            assert stream.status == 200
            program.process.terminate()
            assert await program.ended() == 0
        assert "Traceback" not in "".join(program.said)
        assert "ERROR" not in "".join(program.said)


@pytest.mark.full_size
async def test_a_revived_call_finishes_too(http: aiohttp.ClientSession, word: Path) -> None:
    async with serving(*STAND_IN, "http", LONG_DRAIN) as program:
        headers = {**HEADERS, "Mcp-Session-Id": "of-another-life"}
        posting = asyncio.create_task(http.post(program.url, headers=headers, json=call("slow", {"until": str(word)})))
        await browsers_say(program.base, "active", 1, limit_s=LIMIT_S)
        program.process.terminate()
        await program_drains(program)
        word.touch()
        async with await posting as answer:
            assert await tool_result(answer) == "done as told"
        assert await program.ended() == 0


async def test_stdio_finishes_its_running_call_although_the_client_stays(word: Path) -> None:
    async with running(*STAND_IN, "stdio", LONG_DRAIN, stdin=PIPE, stdout=PIPE) as program:
        await ask(program, initialize())
        await begin(program, call("slow", {"until": str(word)}, number=2))
        program.process.terminate()
        # The signal may be heard after a message that was written later.
        refused = None
        while refused is None:
            await write(program, call("echo", number=3))
            refused = (await answer(program)).get("error")
        assert refused == {"code": -32000, "message": SHUTTING_DOWN}
        word.touch()
        assert (await answer(program))["result"]["content"][0]["text"] == "done as told"
        assert await program.ended() == 0
        assert program.said[-1] == "app closed\n"


PATIENT = """
from scraper.server.transport import stdio
from tests.scraper.server import stand_in

stdio._LAST_BYTES_S = 60
stand_in.main()
"""


@pytest.mark.full_size
async def test_what_was_answered_before_the_end_reaches_a_client_that_reads_late() -> None:
    numbers = range(2, 10)
    async with running("-c", PATIENT, "stdio", stdin=PIPE, stdout=PIPE) as program:
        await ask(program, initialize())
        for number in numbers:  # more than a pipe holds
            await write(program, call("echo", {"text": "x" * 60_000}, number=number))
            await program.until(f"request={number} ")
        program.process.terminate()
        await asyncio.sleep(1)  # in which one that did not wait would be gone
        assert [(await read(program))["id"] for _ in numbers] == list(numbers)
        assert await program.ended() == 0

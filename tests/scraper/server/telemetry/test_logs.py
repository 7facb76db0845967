"""One line a call, and nothing in it that a page or a caller said."""

from __future__ import annotations

import json
import logging
from asyncio.subprocess import PIPE

import pytest
from mcp import Client

from scraper.server.calls.dispatcher import CallLine
from scraper.server.telemetry.logs import RepeatFilter
from tests.scraper.process import output_of, running, serving
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.pipe import ask
from tests.scraper.server.wire import modern


async def test_a_call_is_one_line_without_its_arguments() -> None:
    async with serving(*STAND_IN, "http") as program, Client(program.url) as client:
        await client.call_tool("echo", {"url": "https://example.org/?q=secret"})
        await client.call_tool("fails", {})
        line = await program.until(r".* call tool=echo .*")
        assert "outcome=ok" in line[0] and "principal=local" in line[0] and "chars=" in line[0]
        assert "outcome=error" in (await program.until(r".* call tool=fails .*"))[0]
        assert "secret" not in "".join(program.said)


@pytest.mark.full_size
@pytest.mark.parametrize(("level", "shown"), [("debug", True), ("info", True), ("warning", False)])
async def test_the_level_selects_the_lines(level: str, shown: bool) -> None:
    command = (*STAND_IN, "stdio", f"--log_level={level}")
    async with running(*command, stdin=PIPE, stdout=PIPE) as program:
        answer = await ask(program, modern("tools/call", {"name": "echo", "arguments": {}})[1])
        assert answer["result"]["isError"] is False
        assert program.process.stdin is not None
        program.process.stdin.close()
        assert await program.ended() == 0
        assert ("call tool=echo" in "".join(program.said)) is shown


async def test_lines_are_json_if_configured() -> None:
    async with serving(*STAND_IN, "http", "--log_format=json") as program, Client(program.url) as client:
        await client.call_tool("echo", {})
        line = json.loads((await program.until(r'\{.*"event": "call".*\}'))[0])
    assert (line["tool"], line["outcome"], line["level"]) == ("echo", "ok", "info")
    assert isinstance(line["ms"], int)


def test_a_name_cannot_forge_a_line(caplog: pytest.LogCaptureFixture) -> None:
    from scraper.server.telemetry.logs import TextFormatter

    with caplog.at_level(logging.INFO), CallLine('x\n2026 INFO "forged', "local", "1"):
        pass
    (line,) = TextFormatter().format(caplog.records[0]).splitlines()
    assert r'tool="x\n2026 INFO \"forged"' in line


def test_a_call_that_breaks_leaves_its_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), pytest.raises(KeyError), CallLine("echo", "local", "1"):
        raise KeyError
    assert caplog.records[0].fields["outcome"] == "KeyError"  # type: ignore[attr-defined]


SCRIPT = """
import logging
from scraper.server.calls.dispatcher import CallLine
from scraper.server.telemetry import logs
logs.configure("error", "text")
listener, heard = logging.Handler(), []
listener.emit = lambda record: heard.append(record.msg)
with logs.attach_handler("scraper", listener), CallLine("fetch", "local", "1") as line:
    line.set_outcome("ok", 3)
print(heard)
"""


async def test_hidden_events_reach_the_metrics_handler() -> None:
    output = await output_of("-c", SCRIPT)
    assert (output.code, output.out, output.err) == (0, "['call']\n", "")


OTHERS = """
import logging
from scraper.server.telemetry import logs
logs.configure("debug", "text")
for name in ("mcp.server.lowlevel.server", "uvicorn.error", "sse_starlette.sse", "asyncio"):
    for level in (logging.DEBUG, logging.INFO, logging.WARNING):
        logging.getLogger(name).log(level, "said at %s", level)
"""


async def test_libraries_log_warnings_only() -> None:
    output = await output_of("-c", OTHERS)
    assert (output.code, output.err.count("said at")) == (0, 4)
    assert output.err.count("said at 30") == 4


@pytest.mark.parametrize("message", ["socket.accept() out of system resource", "Invalid HTTP request received."])
def test_a_message_that_clients_can_repeat_is_logged_once_a_minute(message: str) -> None:
    def record(text: str) -> logging.LogRecord:
        return logging.LogRecord("asyncio", logging.ERROR, "", 0, text, (), (OSError, OSError(), None))

    limited, first = RepeatFilter(), record(message)
    assert limited.filter(first) and first.getMessage() != message and first.exc_info is None
    assert not limited.filter(record(message))
    assert limited.filter(record("something else"))

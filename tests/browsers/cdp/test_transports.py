"""The pipe of a browser: its messages, its output and its end."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from browsers.cdp import pipe_transport
from browsers.cdp.pipe_transport import Message, PipeTransport
from tests.browsers.chromium.machines import program


def listening(transport: PipeTransport) -> list[Message]:
    arrived: list[Message] = []
    transport.bind(lambda _, message, size: arrived.append(message), lambda: None)
    return arrived


async def test_message_beyond_the_limit_is_discarded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe_transport, "MAX_MESSAGE_BYTES", 1_000)
    transport = PipeTransport()
    arrived = listening(transport)
    long = b'{"long":"' + b"x" * 900
    for piece in (b'{"id":1}\0' + long, b"x" * 900, b"x" * 900, b'"}\0{"id":2}\0{"i', b'd":3}\0'):
        transport.pipe_data_received(1, piece)
    assert arrived == [{"id": 1}, {"id": 2}, {"id": 3}]


async def test_error_in_a_handler_does_not_stop_later_messages(caplog: pytest.LogCaptureFixture) -> None:
    transport, arrived = PipeTransport(), []

    def receive(session_id: str | None, message: Message, size: int) -> None:
        arrived.append(message["method"])
        if message["method"] == "odd":
            raise ValueError("an odd one")

    transport.bind(receive, lambda: None)
    names = ("first", "odd", "between", "odd", "last")
    with caplog.at_level(logging.CRITICAL, "asyncio"):
        with pytest.raises(ValueError, match="odd one"):
            transport.pipe_data_received(1, b"".join(b'{"method":"%s"}\0' % name.encode() for name in names))
        for _ in names:
            await asyncio.sleep(0)
    assert arrived == ["first", "odd", "between", "odd", "last"]


async def test_messages_of_a_muted_session_are_discarded_until_it_ends() -> None:
    transport = PipeTransport()
    arrived = listening(transport)
    transport.mute("LOUD")
    transport.pipe_data_received(1, b'{"method":"a","sessionId":"LOUD"}\0{"method":"b","sessionId":"CALM"}\0')
    ended = b'{"method":"Target.detachedFromTarget","params":{"sessionId":"LOUD"}}\0'
    transport.pipe_data_received(1, ended + b'{"method":"c","sessionId":"LOUD"}\0')
    assert [message["method"] for message in arrived] == ["b", "Target.detachedFromTarget", "c"]


async def test_a_program_reads_commands_and_answers_through_its_pipe_until_it_ends(tmp_path: Path) -> None:
    echo = program(tmp_path / "echo", "echo noise; echo trouble >&2; head -c 32 <&3 >&4")
    transport = await PipeTransport.start((str(echo),), {"PATH": "/usr/bin:/bin"})
    arrived, lost = [], asyncio.Event()
    transport.bind(lambda session_id, message, size: arrived.append((session_id, message, size)), lost.set)
    transport.send("ONE", {"id": 1})
    transport.send(None, {"id": 22})
    assert await transport.wait_exited(20)
    assert lost.is_set() and transport.output == b"trouble\n"
    assert arrived == [("ONE", {"id": 1, "sessionId": "ONE"}, 26)]

"""The handshake of a browser's launcher with the process that receives its pipe."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
from contextlib import closing
from pathlib import Path

import pytest

from browsers.cdp import transports
from browsers.cdp.session import Event
from browsers.cdp.transports import PipeHandshake, PipeTransport, _Reader


async def test_handshake_canceled_during_a_connection_ends_cleanly(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    handshake = PipeHandshake(tmp_path, "/bin/true")
    assert handshake.open()
    (address,) = tmp_path.glob("*.sock")
    connecting = asyncio.ensure_future(handshake.wait_connected())
    await asyncio.sleep(0)
    with socket.socket(socket.AF_UNIX) as launcher, caplog.at_level(logging.ERROR, "asyncio"):
        launcher.connect(str(address))
        # The event loop has noticed the connection and reports it after the next step of this task.
        await asyncio.sleep(0)
        connecting.cancel()
        handshake.close()
        with contextlib.suppress(asyncio.CancelledError):
            await connecting
    assert connecting.cancelled()
    assert caplog.messages == []


async def test_message_beyond_the_limit_is_discarded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transports, "MAX_MESSAGE_BYTES", 1_000)
    arrived: list[bytes] = []
    reader = _Reader(arrived.append, lambda: None)
    for piece in (b"first\0" + b"x" * 900, b"x" * 900, b"x" * 900, b"x\0second\0thi", b"rd\0"):
        reader.data_received(piece)
    assert arrived == [b"first", b"second", b"third"]


async def test_error_in_a_handler_does_not_stop_later_messages(caplog: pytest.LogCaptureFixture) -> None:
    from_playwright, playwright = os.pipe()
    answers, chromium = os.pipe()
    to_playwright, commands = os.open(os.devnull, os.O_WRONLY), os.open(os.devnull, os.O_WRONLY)
    transport = await PipeTransport.open(from_playwright, to_playwright, commands, answers)
    arrived: list[str] = []
    done = asyncio.Event()

    def receive(session_id: str | None, message: Event, size: int) -> None:
        arrived.append(message["method"])
        if message["method"] == "odd":
            raise ValueError("an odd one")
        if message["method"] == "last":
            done.set()

    transport.bind(receive, lambda: None)
    with closing(transport), caplog.at_level(logging.CRITICAL, "asyncio"):
        attaching = asyncio.ensure_future(transport.attach())
        await asyncio.sleep(0)
        os.write(chromium, b'{"id":%d,"result":{"sessionId":"OURS"}}\0' % (1 << 30))
        await asyncio.wait_for(attaching, 10)
        result = [
            json.dumps({"method": name, "params": {}, "sessionId": "OURS"}, separators=(",", ":")).encode()
            for name in ("first", "odd", "between", "odd", "last")
        ]
        # The last message arrives in two pieces; the first is read together with the odd ones.
        whole = b"\0".join(result) + b"\0"
        os.write(chromium, whole[:-9])
        await asyncio.sleep(0.05)
        os.write(chromium, whole[-9:])
        await asyncio.wait_for(done.wait(), 10)
    os.close(chromium)
    os.close(playwright)
    assert arrived == ["first", "odd", "between", "odd", "last"]

"""The meeting of a browser's launcher with the process that wants its pipe."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from pathlib import Path

import pytest

from browsers.wires.pipe import Rendezvous


async def test_who_gives_up_just_when_somebody_knocks_leaves_without_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rendezvous = Rendezvous(tmp_path, "/bin/true")
    assert rendezvous.open()
    (address,) = tmp_path.glob("*.sock")
    meeting = asyncio.ensure_future(rendezvous.meet())
    await asyncio.sleep(0)
    with socket.socket(socket.AF_UNIX) as launcher, caplog.at_level(logging.ERROR, "asyncio"):
        launcher.connect(str(address))
        # From here on the loop knows of the knock, and tells of it after the next step of ours.
        await asyncio.sleep(0)
        meeting.cancel()
        rendezvous.close()
        with contextlib.suppress(asyncio.CancelledError):
            await meeting
    assert meeting.cancelled()
    assert caplog.messages == []

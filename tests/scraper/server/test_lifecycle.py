"""One App for all connections, opened late and closed in order."""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from scraper.server import entrypoints
from scraper.server.access import ServerStartError
from scraper.server.lifecycle import LAST_BYTES_S, ServicesOpenError, hold_services, last_bytes_s
from scraper.settings import Settings
from tests.scraper.process import LIMIT_S, until


class Life:
    """Counts what happens to an App."""

    def __init__(self, *failures: Exception, delay_s: float = 0) -> None:
        self.opened = self.closed = self.given_up = 0
        self._failures = list(failures)
        self._delay_s = delay_s

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        """Open, or fail as told."""
        self.opened += 1
        try:
            await asyncio.sleep(self._delay_s)
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        if self._failures:
            raise self._failures.pop(0)
        try:
            yield "app"
        finally:
            self.closed += 1


async def test_services_open_on_first_use() -> None:
    life = Life()
    async with hold_services(life.open) as holder:
        await asyncio.sleep(0.02)
        assert holder.present() is None
    assert (life.opened, life.closed) == (0, 0)


async def test_all_who_want_it_get_the_same_one() -> None:
    life = Life(delay_s=0.02)
    async with hold_services(life.open) as holder:
        assert await asyncio.gather(*(holder.services() for _ in range(20))) == ["app"] * 20
        assert holder.present() == "app"
        assert life.closed == 0
    assert (life.opened, life.closed) == (1, 1)


async def test_one_who_stops_waiting_does_not_stop_the_opening() -> None:
    life = Life(delay_s=0.3)
    async with hold_services(life.open) as holder:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(holder.services(), 0.01)
        assert await holder.services() == "app"
    assert life.opened == 1


async def test_an_opening_that_failed_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    life = Life(RuntimeError("the disk is full"))
    async with hold_services(life.open) as holder:
        with pytest.raises(ServicesOpenError, match="the disk is full"):
            await holder.services()
        assert holder.present() is None
        assert await holder.services() == "app"
    assert (life.opened, life.closed) == (2, 1)
    assert "Traceback" in caplog.text


async def test_an_invalid_setting_is_reported_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async with hold_services(Life(ValueError("PROXY has no port")).open) as holder:
        with pytest.raises(ServicesOpenError, match="PROXY has no port"):
            await holder.services()
    assert caplog.messages == ["the services do not open: PROXY has no port"]
    assert "Traceback" not in caplog.text


async def test_an_os_error_is_reported_without_its_number() -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "/data/pages")
    async with hold_services(Life(full).open) as holder:
        with pytest.raises(ServicesOpenError, match=r"start its services: No space left on device: pages$"):
            await holder.services()


async def test_an_unawaited_failure_is_not_reported_by_asyncio() -> None:
    async with hold_services(Life(RuntimeError("x")).open) as holder:
        holder.open()
        await asyncio.sleep(0.05)
    assert holder.present() is None


async def test_closing_gives_up_an_opening_under_way() -> None:
    life = Life(delay_s=2 * LIMIT_S)
    async with asyncio.timeout(LIMIT_S), hold_services(life.open) as holder:
        holder.open()
        await until(lambda: life.opened)
    assert (life.opened, life.given_up, life.closed) == (1, 1, 0)


async def test_a_server_whose_app_does_not_open_does_not_start() -> None:
    life = Life(ValueError("PROXY has no port"))
    with pytest.raises(ServerStartError, match="PROXY has no port"):
        await entrypoints.serve_http(Settings.load({}, {"port": 0}), (), cast(Any, life.open), version="1")
    assert (life.opened, life.closed) == (1, 0)


ALL_TOGETHER_S = 12.0
FORCE_AND_BROWSERS_S = 2.1
"""What was measured at most between the last bytes and the end of the process."""


def test_after_a_long_drain_silent_clients_get_less_time() -> None:
    assert last_bytes_s(0) == last_bytes_s(7) == LAST_BYTES_S
    drain_s = Settings().drain_s
    assert 0 < last_bytes_s(60) <= last_bytes_s(drain_s) < 0.5
    for tenths in range(round(10 * drain_s) + 1):
        assert tenths / 10 + last_bytes_s(tenths / 10) < ALL_TOGETHER_S - FORCE_AND_BROWSERS_S

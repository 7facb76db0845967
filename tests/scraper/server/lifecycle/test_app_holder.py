"""One App for all connections, opened late and closed in order."""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections.abc import AsyncIterator

import pytest

from scraper.server import entrypoints
from scraper.server.access.rules import ServerStartError
from scraper.server.lifecycle.app_holder import AppOpenError, household
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


async def test_nothing_is_opened_before_it_is_wanted() -> None:
    life = Life()
    async with household(life.open) as house:
        await asyncio.sleep(0.02)
        assert house.present() is None
    assert (life.opened, life.closed) == (0, 0)


async def test_all_who_want_it_get_the_same_one() -> None:
    life = Life(delay_s=0.02)
    async with household(life.open) as house:
        assert await asyncio.gather(*(house.app() for _ in range(20))) == ["app"] * 20
        assert house.present() == "app"
        assert life.closed == 0
    assert (life.opened, life.closed) == (1, 1)


async def test_one_who_stops_waiting_does_not_stop_the_opening() -> None:
    life = Life(delay_s=0.3)
    async with household(life.open) as house:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(house.app(), 0.01)
        assert await house.app() == "app"
    assert life.opened == 1


async def test_an_opening_that_failed_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    life = Life(RuntimeError("the disk is full"))
    async with household(life.open) as house:
        with pytest.raises(AppOpenError, match="the disk is full"):
            await house.app()
        assert house.present() is None
        assert await house.app() == "app"
    assert (life.opened, life.closed) == (2, 1)
    assert "Traceback" in caplog.text


async def test_a_setting_that_makes_no_sense_is_told_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async with household(Life(ValueError("PROXY has no port")).open) as house:
        with pytest.raises(AppOpenError, match="PROXY has no port"):
            await house.app()
    assert caplog.messages == ["the services do not open: PROXY has no port"]
    assert "Traceback" not in caplog.text


async def test_a_failure_of_the_system_is_told_without_its_number() -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "/data/pages")
    async with household(Life(full).open) as house:
        with pytest.raises(AppOpenError, match=r"start its services: No space left on device: /data/pages$"):
            await house.app()


async def test_a_failure_that_nobody_waits_for_is_no_noise() -> None:
    async with household(Life(RuntimeError("x")).open) as house:
        house.open()
        await asyncio.sleep(0.05)
    assert house.present() is None


async def test_closing_gives_up_an_opening_under_way() -> None:
    life = Life(delay_s=2 * LIMIT_S)
    async with asyncio.timeout(LIMIT_S), household(life.open) as house:
        house.open()
        await until(lambda: life.opened)
    assert (life.opened, life.given_up, life.closed) == (1, 1, 0)


async def test_a_server_whose_app_does_not_open_does_not_start() -> None:
    life = Life(ValueError("PROXY has no port"))
    with pytest.raises(ServerStartError, match="PROXY has no port"):
        await entrypoints.serve_http(Settings.load({}, {"port": 0}), (), life.open, version="1")
    assert (life.opened, life.closed) == (1, 0)

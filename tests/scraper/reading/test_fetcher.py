"""Visits of the fetcher: when a page is visited, in which mode and with which tier."""

from __future__ import annotations

import asyncio

import pytest

from browsers import errors as door_errors
from browsers.model import Mode, Request, Tier, Timing
from scraper import errors
from scraper.model import Reading
from scraper.settings import Settings
from tests.scraper.process import until
from tests.scraper.reading.house import URL, House, shortly
from tests.scraper.reading.standins import RENDERED, SERVED, SHELL, ScriptedDoor, for_ever


def held(house: House) -> asyncio.Event:
    """Hold all visits; return the event that releases them."""
    served = asyncio.Event()

    async def wait(request: Request) -> None:
        await served.wait()

    house.door.before = wait
    return served


class TestHowFar:
    async def test_a_page_that_is_enough_as_served_is_read_once(self) -> None:
        house = House()
        reading = await house.read()
        assert (reading.document.text, reading.method) == ("Served.", "http")
        assert (len(house.door.requests), house.workers.reads) == (1, 1)

    async def test_a_page_that_needs_its_scripts_is_rendered_in_the_same_visit(self) -> None:
        house = House(ScriptedDoor(SHELL))
        reading = await house.read()
        assert (reading.document.text, reading.method) == ("Rendered.", "browser")
        assert (len(house.door.requests), house.workers.reads) == (1, 2)

    async def test_http_never_renders_and_warns_about_missing_parts(self) -> None:
        house = House(ScriptedDoor(SHELL))
        reading = await house.read(render="http")
        assert (reading.document.text, reading.method) == ("THIN", "http")
        assert reading.warnings and house.modes == [Mode.PEEK]

    async def test_browser_always_renders(self) -> None:
        house = House()
        assert await house.text(render="browser") == "Rendered."
        assert house.modes == [Mode.RENDER]

    async def test_stages_that_were_not_reached_are_not_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        house = House(ScriptedDoor(timing=Timing(queued_s=0.001, response_s=0.02, total_s=0.03)))
        with caplog.at_level("INFO", "scraper"):
            await house.read()
        fields = next(vars(record)["fields"] for record in caplog.records if record.msg == "visit")
        told = {name: value for name, value in fields.items() if name.endswith("_ms")}
        assert told == {"queued_ms": 1, "response_ms": 20, "total_ms": 30}

    async def test_a_url_with_a_routing_fragment_is_rendered(self) -> None:
        house = House()
        assert await house.text(URL + "#/about") == "Rendered."
        assert house.door.requests[0].url == URL + "#/about"
        assert not (await house.read(URL + "#/contact")).cached

    async def test_an_error_page_is_not_rendered(self) -> None:
        house = House(ScriptedDoor(SHELL, status=404))
        assert isinstance(await house.error(), errors.HttpStatusError)
        assert house.workers.reads == 1

    async def test_an_empty_page_is_not_rendered(self) -> None:
        house = House(ScriptedDoor(" "))
        assert isinstance(await house.error(), errors.NoContentError)
        assert house.workers.reads == 0

    async def test_an_empty_page_with_a_refresh_header_is_rendered(self) -> None:
        house = House(ScriptedDoor("", headers={"refresh": "0; url=/there"}))
        assert await house.text() == "Rendered."

    async def test_a_file_is_not_read_as_a_page(self) -> None:
        house = House(ScriptedDoor(html="", media_type="application/pdf"))
        assert "read_doc" in (await house.error()).sentence()
        assert house.workers.reads == 0

    async def test_an_invalid_url_is_refused_before_any_request(self) -> None:
        house = House()
        assert isinstance(await house.error("best python books"), errors.InvalidUrlError)
        assert house.door.requests == []


class TestTogether:
    async def test_concurrent_fetches_of_one_page_share_a_visit(self) -> None:
        house = House()
        house.door.before = shortly
        readings = await asyncio.gather(*(house.read() for _ in range(5)))
        assert len(house.door.requests) == 1
        assert all(reading == readings[0] for reading in readings)

    async def test_other_options_or_principals_are_other_visits(self) -> None:
        house = House()
        house.door.before = shortly
        await asyncio.gather(house.read(), house.read(render="browser"), house.read(principal="anna"))
        assert len(house.door.requests) == 3

    async def test_a_cancelled_caller_does_not_cancel_a_shared_visit(self) -> None:
        house = House()
        served = held(house)
        leaving, staying = asyncio.create_task(house.read()), asyncio.create_task(house.read())
        await until(lambda: house.door.open)
        leaving.cancel()
        await asyncio.wait({leaving})
        served.set()
        assert (await staying).document.text == "Served."
        assert leaving.cancelled()

    async def test_cancelling_a_fetch_ends_its_visit_before_it_returns(self) -> None:
        house = House()
        house.door.before = for_ever
        task = asyncio.create_task(house.read())
        await until(lambda: house.door.open)
        assert house.door.open == 1 and house.fetcher.in_flight == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert house.door.open == 0 and house.fetcher.in_flight == 0

    async def test_a_caller_with_a_short_deadline_gets_a_timeout_and_the_other_the_page(self) -> None:
        house = House()
        served = held(house)
        patient = asyncio.create_task(house.read())
        await until(lambda: house.door.open)
        assert isinstance(await house.error(deadline_s=0.02), errors.FetchTimeoutError)
        served.set()
        assert (await patient).document.text == "Served."

    async def test_closing_cancels_running_reads(self) -> None:
        house = House()
        house.door.before = for_ever
        task = asyncio.create_task(house.read())
        await until(lambda: house.door.open)
        await house.fetcher.close()
        assert house.door.open == 0
        with pytest.raises(asyncio.CancelledError):
            await task


class TestTheFullBrowser:
    async def test_a_blocked_page_is_retried_with_the_full_browser_and_the_host_remembered(self) -> None:
        house = House(ScriptedDoor("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        house.door.served_to_full = SERVED
        assert await house.text() == "Served."
        assert await house.text("https://example.org/other") == "Served."
        assert house.tiers == [Tier.LIGHT, Tier.FULL, Tier.FULL]

    async def test_another_host_starts_with_the_usual_browser(self) -> None:
        house = House(ScriptedDoor("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        house.door.served_to_full = SERVED
        await house.read()
        await house.read("https://else.example/")
        assert house.tiers == [Tier.LIGHT, Tier.FULL, Tier.LIGHT, Tier.FULL]

    async def test_a_host_that_blocks_the_full_browser_too_is_not_remembered(self) -> None:
        house = House(ScriptedDoor("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        assert isinstance(await house.error(), errors.BlockedBySiteError)
        await house.error()
        assert house.tiers == [Tier.LIGHT, Tier.FULL] * 2

    async def test_a_block_page_for_every_browser_is_reported_at_once(self) -> None:
        house = House(ScriptedDoor("<p>LOGIN</p>", "<p>LOGIN</p>"))
        assert isinstance(await house.error(), errors.BlockedBySiteError)
        assert house.tiers == [Tier.LIGHT]

    async def test_a_missing_full_browser_is_requested_once(self) -> None:
        house = House(ScriptedDoor("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        house.door.installed = frozenset({Tier.LIGHT})
        await house.error()
        await house.error()
        assert house.tiers == [Tier.LIGHT, Tier.FULL, Tier.LIGHT]

    async def test_the_block_page_is_reported_if_the_full_browser_fails(self) -> None:
        async def fail(request: Request) -> None:
            if request.tier is Tier.FULL:
                raise door_errors.NoBrowserError("It does not start.")

        house = House(ScriptedDoor("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        house.door.before = fail
        assert isinstance(await house.error(), errors.BlockedBySiteError)

    async def test_an_operator_can_use_the_full_browser_always(self) -> None:
        house = House(ScriptedDoor("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"), Settings(tier="full"))
        await house.error()
        assert house.tiers == [Tier.FULL]


async def test_progress_names_the_steps() -> None:
    told: list[str | None] = []

    def tell(done: float, total: float | None = None, message: str | None = None) -> None:
        told.append(message)

    await House(ScriptedDoor(SHELL)).read(progress=tell)
    assert told == ["reading example.org", "rendering example.org", "read example.org"]


async def test_a_batch_reads_each_page_for_its_principal() -> None:
    house = House()
    outcomes = await house.fetcher.fetch_batch([URL, "nonsense", URL + "2"], principal="anna", render="browser")
    first, second, third = outcomes
    assert isinstance(first, Reading) and first.document.text == RENDERED[3:-4]
    assert isinstance(second, errors.InvalidUrlError)
    assert isinstance(third, Reading)
    assert {request.principal for request in house.door.requests} == {"anna"}

"""Visits of the fetcher: when a page is visited, in which mode and with which tier."""

from __future__ import annotations

import asyncio

import pytest

from browsers import errors as browser_errors
from browsers.model import Mode, Request, Tier, Timing
from scraper import errors
from scraper.model import Reading
from scraper.settings import Settings
from tests.scraper.process import until
from tests.scraper.reading.fakes import RENDERED, SERVED, SHELL, ScriptedBrowsers, for_ever
from tests.scraper.reading.harness import URL, Harness, shortly


def held(harness: Harness) -> asyncio.Event:
    """Hold all visits; return the event that releases them."""
    served = asyncio.Event()

    async def wait(request: Request) -> None:
        await served.wait()

    harness.client.before = wait
    return served


class TestHowFar:
    async def test_a_page_that_is_enough_as_served_is_read_once(self) -> None:
        harness = Harness()
        reading = await harness.read()
        assert (reading.document.text, reading.method) == ("Served.", "http")
        assert (len(harness.client.requests), harness.workers.reads) == (1, 1)

    async def test_a_page_that_needs_its_scripts_is_rendered_in_the_same_visit(self) -> None:
        harness = Harness(ScriptedBrowsers(SHELL))
        reading = await harness.read()
        assert (reading.document.text, reading.method) == ("Rendered.", "browser")
        assert (len(harness.client.requests), harness.workers.reads) == (1, 2)

    async def test_http_never_renders_and_warns_about_missing_parts(self) -> None:
        harness = Harness(ScriptedBrowsers(SHELL))
        reading = await harness.read(render="http")
        assert (reading.document.text, reading.method) == ("THIN", "http")
        assert reading.warnings and harness.modes == [Mode.PEEK]

    async def test_browser_always_renders(self) -> None:
        harness = Harness()
        assert await harness.text(render="browser") == "Rendered."
        assert harness.modes == [Mode.RENDER]

    async def test_stages_that_were_not_reached_are_not_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        harness = Harness(ScriptedBrowsers(timing=Timing(queued_s=0.001, response_s=0.02, total_s=0.03)))
        with caplog.at_level("INFO", "scraper"):
            await harness.read()
        fields = next(vars(record)["fields"] for record in caplog.records if record.msg == "visit")
        told = {name: value for name, value in fields.items() if name.endswith("_ms")}
        assert told == {"queued_ms": 1, "response_ms": 20, "total_ms": 30}

    async def test_a_url_with_a_routing_fragment_is_rendered(self) -> None:
        harness = Harness()
        assert await harness.text(URL + "#/about") == "Rendered."
        assert harness.client.requests[0].url == URL + "#/about"
        assert not (await harness.read(URL + "#/contact")).cached

    async def test_an_error_page_is_not_rendered(self) -> None:
        harness = Harness(ScriptedBrowsers(SHELL, status=404))
        assert isinstance(await harness.error(), errors.HttpStatusError)
        assert harness.workers.reads == 1

    async def test_an_empty_page_is_not_rendered(self) -> None:
        harness = Harness(ScriptedBrowsers(" "))
        assert isinstance(await harness.error(), errors.NoContentError)
        assert harness.workers.reads == 0

    async def test_an_empty_page_with_a_refresh_header_is_rendered(self) -> None:
        harness = Harness(ScriptedBrowsers("", headers={"refresh": "0; url=/there"}))
        assert await harness.text() == "Rendered."

    async def test_a_file_is_not_read_as_a_page(self) -> None:
        harness = Harness(ScriptedBrowsers(html="", media_type="application/pdf"))
        assert "read_doc" in (await harness.error()).sentence()
        assert harness.workers.reads == 0

    async def test_an_invalid_url_is_refused_before_any_request(self) -> None:
        harness = Harness()
        assert isinstance(await harness.error("best python books"), errors.InvalidUrlError)
        assert harness.client.requests == []


class TestTogether:
    async def test_concurrent_fetches_of_one_page_share_a_visit(self) -> None:
        harness = Harness()
        harness.client.before = shortly
        readings = await asyncio.gather(*(harness.read() for _ in range(5)))
        assert len(harness.client.requests) == 1
        assert all(reading == readings[0] for reading in readings)

    async def test_other_options_or_principals_are_other_visits(self) -> None:
        harness = Harness()
        harness.client.before = shortly
        await asyncio.gather(harness.read(), harness.read(render="browser"), harness.read(principal="anna"))
        assert len(harness.client.requests) == 3

    async def test_a_cancelled_caller_does_not_cancel_a_shared_visit(self) -> None:
        harness = Harness()
        served = held(harness)
        leaving, staying = asyncio.create_task(harness.read()), asyncio.create_task(harness.read())
        await until(lambda: harness.client.open)
        leaving.cancel()
        await asyncio.wait({leaving})
        served.set()
        assert (await staying).document.text == "Served."
        assert leaving.cancelled()

    async def test_cancelling_a_fetch_ends_its_visit_before_it_returns(self) -> None:
        harness = Harness()
        harness.client.before = for_ever
        task = asyncio.create_task(harness.read())
        await until(lambda: harness.client.open)
        assert harness.client.open == 1 and harness.fetcher.in_flight == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert harness.client.open == 0 and harness.fetcher.in_flight == 0

    async def test_a_caller_with_a_short_deadline_gets_a_timeout_and_the_other_the_page(self) -> None:
        harness = Harness()
        served = held(harness)
        patient = asyncio.create_task(harness.read())
        await until(lambda: harness.client.open)
        assert isinstance(await harness.error(deadline_s=0.02), errors.FetchTimeoutError)
        served.set()
        assert (await patient).document.text == "Served."

    async def test_closing_cancels_running_reads(self) -> None:
        harness = Harness()
        harness.client.before = for_ever
        task = asyncio.create_task(harness.read())
        await until(lambda: harness.client.open)
        await harness.fetcher.close()
        assert harness.client.open == 0
        with pytest.raises(asyncio.CancelledError):
            await task


class TestTheFullBrowser:
    async def test_a_blocked_page_is_retried_with_the_full_browser_and_the_host_remembered(self) -> None:
        harness = Harness(ScriptedBrowsers("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        harness.client.served_to_full = SERVED
        assert await harness.text() == "Served."
        assert await harness.text("https://example.org/other") == "Served."
        assert harness.tiers == [Tier.LIGHT, Tier.FULL, Tier.FULL]

    async def test_another_host_starts_with_the_usual_browser(self) -> None:
        harness = Harness(ScriptedBrowsers("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        harness.client.served_to_full = SERVED
        await harness.read()
        await harness.read("https://else.example/")
        assert harness.tiers == [Tier.LIGHT, Tier.FULL, Tier.LIGHT, Tier.FULL]

    async def test_a_host_that_blocks_the_full_browser_too_is_not_remembered(self) -> None:
        harness = Harness(ScriptedBrowsers("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        assert isinstance(await harness.error(), errors.BlockedBySiteError)
        await harness.error()
        assert harness.tiers == [Tier.LIGHT, Tier.FULL] * 2

    async def test_a_block_page_for_every_browser_is_reported_at_once(self) -> None:
        harness = Harness(ScriptedBrowsers("<p>LOGIN</p>", "<p>LOGIN</p>"))
        assert isinstance(await harness.error(), errors.BlockedBySiteError)
        assert harness.tiers == [Tier.LIGHT]

    async def test_a_missing_full_browser_is_requested_once(self) -> None:
        harness = Harness(ScriptedBrowsers("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        harness.client.installed = frozenset({Tier.LIGHT})
        await harness.error()
        await harness.error()
        assert harness.tiers == [Tier.LIGHT, Tier.FULL, Tier.LIGHT]

    async def test_the_block_page_is_reported_if_the_full_browser_fails(self) -> None:
        async def fail(request: Request) -> None:
            if request.tier is Tier.FULL:
                raise browser_errors.NoBrowserError("It does not start.")

        harness = Harness(ScriptedBrowsers("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        harness.client.before = fail
        assert isinstance(await harness.error(), errors.BlockedBySiteError)

    async def test_an_operator_can_use_the_full_browser_always(self) -> None:
        harness = Harness(ScriptedBrowsers("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"), Settings(tier="full"))
        await harness.error()
        assert harness.tiers == [Tier.FULL]


async def test_progress_names_the_steps() -> None:
    told: list[str | None] = []

    def tell(done: float, total: float | None = None, message: str | None = None) -> None:
        told.append(message)

    await Harness(ScriptedBrowsers(SHELL)).read(progress=tell)
    assert told == ["reading example.org", "rendering example.org", "read example.org"]


async def test_a_batch_reads_each_page_for_its_principal() -> None:
    harness = Harness()
    outcomes = await harness.fetcher.fetch_batch([URL, "nonsense", URL + "2"], principal="anna", render="browser")
    first, second, third = outcomes
    assert isinstance(first, Reading) and first.document.text == RENDERED[3:-4]
    assert isinstance(second, errors.InvalidUrlError)
    assert isinstance(third, Reading)
    assert {request.principal for request in harness.client.requests} == {"anna"}

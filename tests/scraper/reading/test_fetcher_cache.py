"""Cache use of the fetcher: when a page comes from the cache, and when it is stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from scraper import errors
from scraper.model import REFRESH, CachePolicy, Reuse
from scraper.settings import Settings
from scraper.urls import build_missing_url
from tests.scraper.reading.fakes import SHELL, ScriptedBrowsers
from tests.scraper.reading.harness import URL, Harness, refuse


class TestTheCache:
    async def test_a_cached_page_is_not_visited_again(self) -> None:
        harness = Harness()
        first, second = await harness.read(), await harness.read()
        assert (first.cached, second.cached) == (False, True)
        assert replace(second, cached=False) == first
        assert len(harness.client.requests) == 1

    async def test_a_refresh_visits_and_stores_the_page(self) -> None:
        harness = Harness()
        await harness.read()
        assert not (await harness.read(cache=REFRESH)).cached
        assert (await harness.read()).cached
        assert len(harness.client.requests) == 2

    async def test_the_maximum_age_is_of_the_caller_or_else_of_the_operator(self) -> None:
        harness = Harness(settings=Settings(cache_ttl_h=2))
        await harness.read()
        _grow_old(harness, hours=1)
        assert (await harness.read()).cached
        assert not (await harness.read(cache=CachePolicy(60))).cached
        _grow_old(harness, hours=3)
        assert not (await harness.read()).cached
        _grow_old(harness, hours=3)
        assert (await harness.read(cache=CachePolicy(4 * 3_600))).cached

    async def test_the_cache_is_queried_once(self) -> None:
        harness = Harness()
        await harness.read()
        assert len(harness.pages.asked) == 1

    async def test_render_browser_gets_no_cached_page_as_served(self) -> None:
        harness = Harness()
        await harness.read()
        assert await harness.text(render="browser") == "Rendered."

    async def test_render_http_gets_no_cached_rendered_page(self) -> None:
        harness = Harness(ScriptedBrowsers(SHELL))
        await harness.read()
        assert await harness.text(render="http") == "THIN"

    async def test_render_auto_gets_any_cached_page(self) -> None:
        harness = Harness()
        await harness.read(render="browser")
        assert (await harness.read()).cached

    async def test_a_cached_page_answers_urls_with_fragments(self) -> None:
        harness = Harness()
        await harness.read(URL + "#one")
        reading = await harness.read(URL + "#two")
        assert reading.cached and reading.requested_url == URL + "#two"

    async def test_the_next_part_is_of_the_same_reading_as_the_first(self) -> None:
        harness = Harness(ScriptedBrowsers(served="<p>DEGRADED</p>"))
        first = await harness.read()
        harness.client = harness.fetcher.visitor._browsers = ScriptedBrowsers(served="<p>Other.</p>")  # type: ignore[assignment]
        assert not first.cached
        more = await harness.read(cache=CachePolicy(0.0, Reuse.IN_MEMORY))
        assert more.cached and more.document == first.document
        assert await harness.text(cache=CachePolicy(reuse=Reuse.IN_MEMORY), principal="another") == "Other."
        assert await harness.text() == "Other."

    async def test_a_cached_page_is_not_returned_to_another_principal(self) -> None:
        harness = Harness()
        await harness.read(principal="anna")
        assert not (await harness.read(principal="bert")).cached
        assert [request.principal for request in harness.client.requests] == ["anna", "bert"]

    @pytest.mark.parametrize("served", ["<p>CAPTCHA</p>", "<p>LOGIN</p>", "<p>BLANK</p>"])
    async def test_blocked_and_empty_pages_are_not_stored(self, served: str) -> None:
        harness = Harness(ScriptedBrowsers(served, served))
        await harness.error()
        assert harness.pages.entries == {}

    @pytest.mark.parametrize("served", ["<p>DEGRADED</p>", SHELL])
    async def test_degraded_readings_are_not_stored(self, served: str) -> None:
        harness = Harness(ScriptedBrowsers(served))
        await harness.read(render="http")
        assert harness.pages.entries == {}

    async def test_an_error_status_is_not_stored(self) -> None:
        harness = Harness(ScriptedBrowsers(status=404))
        await harness.error()
        assert harness.pages.entries == {}

    async def test_a_page_that_only_probes_a_site_is_not_stored(self) -> None:
        harness = Harness()
        await harness.read(build_missing_url(URL.rstrip("/")))
        assert harness.pages.entries == {}

    async def test_a_private_page_is_refused_when_its_network_is_no_longer_allowed(self) -> None:
        open_house = Harness(settings=Settings(allow_nets=("10.0.0.0/8",)))
        await open_house.read("http://10.0.0.1/")
        strict_house = Harness()
        strict_house.pages.entries = open_house.pages.entries
        strict_house.client.before = refuse
        assert isinstance(await strict_house.error("http://10.0.0.1/"), errors.PrivateAddressError)


def _grow_old(harness: Harness, *, hours: float) -> None:
    """Set the age of all cached pages."""
    then = datetime.now(UTC) - timedelta(hours=hours)
    for place, entry in harness.pages.entries.items():
        harness.pages.entries[place] = replace(entry, reading=replace(entry.reading, retrieved_at=then))

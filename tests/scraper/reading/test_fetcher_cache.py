"""Cache use of the fetcher: when a page comes from the cache, and when it is stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from scraper import errors
from scraper.model import REFRESH, CachePolicy, Reuse
from scraper.settings import Settings
from tests.scraper.reading.house import URL, House, refuse
from tests.scraper.reading.standins import SHELL, ScriptedDoor


class TestTheCache:
    async def test_a_cached_page_is_not_visited_again(self) -> None:
        house = House()
        first, second = await house.read(), await house.read()
        assert (first.cached, second.cached) == (False, True)
        assert replace(second, cached=False) == first
        assert len(house.door.requests) == 1

    async def test_a_refresh_visits_and_stores_the_page(self) -> None:
        house = House()
        await house.read()
        assert not (await house.read(cache=REFRESH)).cached
        assert (await house.read()).cached
        assert len(house.door.requests) == 2

    async def test_the_maximum_age_is_of_the_caller_or_else_of_the_operator(self) -> None:
        house = House(settings=Settings(cache_ttl_h=2))
        await house.read()
        _grow_old(house, hours=1)
        assert (await house.read()).cached
        assert not (await house.read(cache=CachePolicy(60))).cached
        _grow_old(house, hours=3)
        assert not (await house.read()).cached
        _grow_old(house, hours=3)
        assert (await house.read(cache=CachePolicy(4 * 3_600))).cached

    async def test_the_cache_is_queried_once(self) -> None:
        house = House()
        await house.read()
        assert len(house.pages.asked) == 1

    async def test_render_browser_gets_no_cached_page_as_served(self) -> None:
        house = House()
        await house.read()
        assert await house.text(render="browser") == "Rendered."

    async def test_render_http_gets_no_cached_rendered_page(self) -> None:
        house = House(ScriptedDoor(SHELL))
        await house.read()
        assert await house.text(render="http") == "THIN"

    async def test_render_auto_gets_any_cached_page(self) -> None:
        house = House()
        await house.read(render="browser")
        assert (await house.read()).cached

    async def test_a_cached_page_answers_urls_with_fragments(self) -> None:
        house = House()
        await house.read(URL + "#one")
        reading = await house.read(URL + "#two")
        assert reading.cached and reading.requested_url == URL + "#two"

    async def test_the_next_part_is_of_the_same_reading_as_the_first(self) -> None:
        house = House(ScriptedDoor(served="<p>DEGRADED</p>"))
        first = await house.read()
        house.door = house.fetcher.visitor._browsers = ScriptedDoor(served="<p>Other.</p>")  # type: ignore[assignment]
        assert not first.cached
        more = await house.read(cache=CachePolicy(0.0, Reuse.IN_MEMORY))
        assert more.cached and more.document == first.document
        assert await house.text(cache=CachePolicy(reuse=Reuse.IN_MEMORY), principal="another") == "Other."
        assert await house.text() == "Other."

    async def test_a_cached_page_is_not_returned_to_another_principal(self) -> None:
        house = House()
        await house.read(principal="anna")
        assert not (await house.read(principal="bert")).cached
        assert [request.principal for request in house.door.requests] == ["anna", "bert"]

    @pytest.mark.parametrize("served", ["<p>CAPTCHA</p>", "<p>LOGIN</p>", "<p>BLANK</p>"])
    async def test_blocked_and_empty_pages_are_not_stored(self, served: str) -> None:
        house = House(ScriptedDoor(served, served))
        await house.error()
        assert house.pages.entries == {}

    @pytest.mark.parametrize("served", ["<p>DEGRADED</p>", SHELL])
    async def test_degraded_readings_are_not_stored(self, served: str) -> None:
        house = House(ScriptedDoor(served))
        await house.read(render="http")
        assert house.pages.entries == {}

    async def test_an_error_status_is_not_stored(self) -> None:
        house = House(ScriptedDoor(status=404))
        await house.error()
        assert house.pages.entries == {}

    async def test_a_private_page_is_refused_when_its_network_is_no_longer_allowed(self) -> None:
        open_house = House(settings=Settings(allow_nets=("10.0.0.0/8",)))
        await open_house.read("http://10.0.0.1/")
        strict_house = House()
        strict_house.pages.entries = open_house.pages.entries
        strict_house.door.before = refuse
        assert isinstance(await strict_house.error("http://10.0.0.1/"), errors.PrivateAddressError)


def _grow_old(house: House, *, hours: float) -> None:
    """Set the age of all cached pages."""
    then = datetime.now(UTC) - timedelta(hours=hours)
    for place, entry in house.pages.entries.items():
        house.pages.entries[place] = replace(entry, reading=replace(entry.reading, retrieved_at=then))

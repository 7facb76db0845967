"""When a page is visited, how far, how often, and what is told where it cannot be read."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from browsers import errors as door_errors
from browsers.model import Mode, Request, Tier
from scraper import errors
from scraper.model import Reading
from scraper.reading.fetcher import Fetcher
from scraper.reading.visits import READ_RESERVE_S
from scraper.settings import Settings
from scraper.workers import NoWorker, WorkerFailed, Workers

from .standins import RENDERED, SERVED, SHELL, CountingPages, ScriptedDoor, ScriptedWorkers, for_ever

URL = "https://example.org/page"


class House:
    """A fetcher with stand-ins around it."""

    def __init__(self, door: ScriptedDoor | None = None, settings: Settings | None = None) -> None:
        self.door = door or ScriptedDoor()
        self.workers = ScriptedWorkers()
        self.pages = CountingPages()
        self.fetcher = Fetcher(self.door, cast(Workers, self.workers), self.pages, settings or Settings())

    async def text(self, url: str = URL, **options: Any) -> str:
        return (await self.read(url, **options)).document.text

    async def read(self, url: str = URL, **options: Any) -> Reading:
        return await self.fetcher.fetch(url, **options)

    async def error(self, url: str = URL, **options: Any) -> errors.ScraperError:
        with pytest.raises(errors.ScraperError) as caught:
            await self.fetcher.fetch(url, **options)
        return caught.value

    @property
    def modes(self) -> list[Mode]:
        return [request.mode for request in self.door.requests]

    @property
    def tiers(self) -> list[Tier]:
        return [request.tier for request in self.door.requests]


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

    async def test_http_never_renders_and_says_what_is_missing(self) -> None:
        house = House(ScriptedDoor(SHELL))
        reading = await house.read(render="http")
        assert (reading.document.text, reading.method) == ("THIN", "http")
        assert reading.warnings and house.modes == [Mode.PEEK]

    async def test_browser_always_renders(self) -> None:
        house = House()
        assert await house.text(render="browser") == "Rendered."
        assert house.modes == [Mode.RENDER]

    async def test_a_page_that_a_script_routes_to_is_rendered_at_its_route(self) -> None:
        house = House()
        assert await house.text(URL + "#/about") == "Rendered."
        assert house.door.requests[0].url == URL + "#/about"
        assert not (await house.read(URL + "#/contact")).cached

    async def test_an_error_page_is_not_rendered(self) -> None:
        house = House(ScriptedDoor(SHELL, status=404))
        assert isinstance(await house.error(), errors.HttpError)
        assert house.workers.reads == 1

    async def test_an_empty_page_is_not_rendered(self) -> None:
        house = House(ScriptedDoor(" "))
        assert isinstance(await house.error(), errors.Empty)
        assert house.workers.reads == 0

    async def test_an_empty_page_that_sends_its_reader_on_is_rendered(self) -> None:
        house = House(ScriptedDoor("", headers={"refresh": "0; url=/there"}))
        assert await house.text() == "Rendered."

    async def test_a_file_is_not_read_as_a_page(self) -> None:
        house = House(ScriptedDoor(html="", media_type="application/pdf"))
        assert "read_doc" in (await house.error()).sentence()
        assert house.workers.reads == 0

    async def test_what_is_no_url_is_refused_before_anything_else(self) -> None:
        house = House()
        assert isinstance(await house.error("best python books"), errors.BadUrl)
        assert house.door.requests == []


class TestTheCache:
    async def test_a_page_that_was_read_is_not_visited_again(self) -> None:
        house = House()
        first, second = await house.read(), await house.read()
        assert (first.cached, second.cached) == (False, True)
        assert replace(second, cached=False) == first
        assert len(house.door.requests) == 1

    async def test_a_refresh_visits_and_keeps_what_it_found(self) -> None:
        house = House()
        await house.read()
        assert not (await house.read(force_refresh=True)).cached
        assert (await house.read()).cached
        assert len(house.door.requests) == 2

    async def test_the_caller_says_how_old_a_page_may_be_and_the_operator_where_it_does_not(self) -> None:
        house = House(settings=Settings(cache_ttl_h=2))
        await house.read()
        _grow_old(house, hours=1)
        assert (await house.read()).cached
        assert not (await house.read(max_age_s=60)).cached
        _grow_old(house, hours=3)
        assert not (await house.read()).cached
        _grow_old(house, hours=3)
        assert (await house.read(max_age_s=4 * 3_600)).cached

    async def test_one_look_into_the_cache_is_enough(self) -> None:
        house = House()
        await house.read()
        assert len(house.pages.asked) == 1

    async def test_who_wants_it_rendered_gets_no_page_as_served(self) -> None:
        house = House()
        await house.read()
        assert await house.text(render="browser") == "Rendered."

    async def test_who_wants_it_as_served_gets_no_rendered_page(self) -> None:
        house = House(ScriptedDoor(SHELL))
        await house.read()
        assert await house.text(render="http") == "THIN"

    async def test_either_will_do_for_who_does_not_care(self) -> None:
        house = House()
        await house.read(render="browser")
        assert (await house.read()).cached

    async def test_a_kept_page_answers_for_every_part_of_it(self) -> None:
        house = House()
        await house.read(URL + "#one")
        reading = await house.read(URL + "#two")
        assert reading.cached and reading.requested_url == URL + "#two"

    async def test_the_next_piece_is_cut_from_the_reading_that_the_first_came_from(self) -> None:
        house = House(ScriptedDoor(served="<p>DEGRADED</p>"))
        first = await house.read()
        house.door = house.fetcher._visits._browsers = ScriptedDoor(served="<p>Other.</p>")  # type: ignore[assignment]
        assert not first.cached
        more = await house.read(continuing=True, max_age_s=0.0)
        assert more.cached and more.document == first.document
        assert await house.text(continuing=True, principal="another") == "Other."
        assert await house.text() == "Other."

    async def test_another_principal_does_not_get_it(self) -> None:
        house = House()
        await house.read(principal="anna")
        assert not (await house.read(principal="bert")).cached
        assert [request.principal for request in house.door.requests] == ["anna", "bert"]

    @pytest.mark.parametrize("served", ["<p>CAPTCHA</p>", "<p>LOGIN</p>", "<p>BLANK</p>"])
    async def test_a_wall_or_nothing_is_not_kept(self, served: str) -> None:
        house = House(ScriptedDoor(served, served))
        await house.error()
        assert house.pages.entries == {}

    @pytest.mark.parametrize("served", ["<p>DEGRADED</p>", SHELL])
    async def test_what_was_read_badly_is_not_kept(self, served: str) -> None:
        house = House(ScriptedDoor(served))
        await house.read(render="http")
        assert house.pages.entries == {}

    async def test_an_error_status_is_not_kept(self) -> None:
        house = House(ScriptedDoor(status=404))
        await house.error()
        assert house.pages.entries == {}

    async def test_a_page_read_through_an_exception_is_refused_again_without_it(self) -> None:
        open_house = House(settings=Settings(allow_nets=("10.0.0.0/8",)))
        await open_house.read("http://10.0.0.1/")
        strict_house = House()
        strict_house.pages.entries = open_house.pages.entries
        strict_house.door.before = _refuse
        assert isinstance(await strict_house.error("http://10.0.0.1/"), errors.PrivateAddress)


class TestTogether:
    async def test_the_same_page_at_once_is_visited_once(self) -> None:
        house = House()
        house.door.before = _shortly
        readings = await asyncio.gather(*(house.read() for _ in range(5)))
        assert len(house.door.requests) == 1
        assert all(reading == readings[0] for reading in readings)

    async def test_other_options_or_principals_are_other_visits(self) -> None:
        house = House()
        house.door.before = _shortly
        await asyncio.gather(house.read(), house.read(render="browser"), house.read(principal="anna"))
        assert len(house.door.requests) == 3

    async def test_one_who_leaves_does_not_end_the_visit_of_the_other(self) -> None:
        house = House()
        house.door.before = _shortly
        leaving, staying = asyncio.create_task(house.read()), asyncio.create_task(house.read())
        await asyncio.sleep(0.01)
        leaving.cancel()
        assert (await staying).document.text == "Served."
        assert leaving.cancelled()

    async def test_cancelling_a_fetch_ends_its_visit_before_it_returns(self) -> None:
        house = House()
        house.door.before = for_ever
        task = asyncio.create_task(house.read())
        await asyncio.sleep(0.01)
        assert house.door.open == 1 and house.fetcher.under_way == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert house.door.open == 0 and house.fetcher.under_way == 0

    async def test_who_has_less_time_than_the_visit_is_told_so_and_the_other_gets_the_page(self) -> None:
        house = House()
        house.door.before = _shortly
        patient = asyncio.create_task(house.read())
        await asyncio.sleep(0.01)
        assert isinstance(await house.error(deadline_s=0.02), errors.TimedOut)
        assert (await patient).document.text == "Served."

    async def test_closing_ends_what_is_being_read(self) -> None:
        house = House()
        house.door.before = for_ever
        task = asyncio.create_task(house.read())
        await asyncio.sleep(0.01)
        await house.fetcher.close()
        assert house.door.open == 0
        with pytest.raises(asyncio.CancelledError):
            await task


class TestFaults:
    async def test_a_refusal_is_told_and_never_tried_another_way(self) -> None:
        house = House()
        house.door.before = _refuse
        assert isinstance(await house.error(), errors.PrivateAddress)
        assert len(house.door.requests) == 1

    async def test_a_refusal_while_rendering_does_not_fall_back_to_the_page_as_served(self) -> None:
        house = House(ScriptedDoor(SHELL))
        house.door.while_rendering = _refuse
        assert isinstance(await house.error(), errors.PrivateAddress)

    @pytest.mark.parametrize(
        "fault",
        [
            door_errors.DeadlineExceeded("Late."),
            door_errors.PageCrashed("Crashed."),
            door_errors.BrowserGone("Gone."),
            door_errors.Busy("Full.", retry_after_s=3),
        ],
    )
    async def test_where_rendering_fails_the_page_as_served_is_given_with_a_warning(
        self, fault: door_errors.BrowsersError
    ) -> None:
        async def fail(request: Request) -> None:
            raise fault

        house = House(ScriptedDoor(SHELL))
        house.door.while_rendering = fail
        reading = await house.read()
        assert (reading.document.text, reading.method) == ("THIN", "http")
        assert "could not be rendered" in reading.warnings[0]
        assert house.pages.entries == {}

    async def test_where_rendering_fails_and_nothing_was_served_the_fault_is_told(self) -> None:
        async def crash(request: Request) -> None:
            raise door_errors.PageCrashed("Crashed.")

        house = House(ScriptedDoor("<p>BLANK</p>"))
        house.door.while_rendering = crash
        assert isinstance(await house.error(), errors.Broken)

    async def test_a_page_that_was_rendered_to_nothing_is_given_as_served(self) -> None:
        reading = await House(ScriptedDoor(SHELL, "")).read()
        assert reading.document.text == "THIN" and "could not be rendered" in reading.warnings[0]

    async def test_a_page_that_came_to_nothing_at_all_is_late_or_empty_but_no_file(self) -> None:
        house = House(ScriptedDoor("<p>BLANK</p>", ""))
        assert isinstance(await house.error(), errors.Empty)

    async def test_a_visit_that_hangs_ends_at_the_deadline_with_what_was_served(self) -> None:
        house = House(ScriptedDoor(SHELL))
        house.door.while_rendering = for_ever
        reading = await house.read(deadline_s=2)
        assert reading.document.text == "THIN" and reading.warnings
        assert house.door.open == 0

    async def test_a_visit_that_hangs_without_an_answer_is_said_to_be_late(self) -> None:
        house = House()
        house.door.before = for_ever
        error = await house.error(deadline_s=0.2)
        assert isinstance(error, errors.TimedOut) and error.retryable
        assert house.door.open == 0

    async def test_the_visit_is_given_less_time_than_the_call(self) -> None:
        house = House()
        await house.read(deadline_s=50)
        assert 45 < house.door.requests[0].deadline_s <= 50 - READ_RESERVE_S

    async def test_a_reader_that_fails_on_the_page_as_served_means_not_enough(self) -> None:
        house = House()

        async def mend(request: Request) -> None:
            house.workers.failing = None

        house.workers.failing = WorkerFailed("took too long")
        house.door.while_rendering = mend
        assert await house.text() == "Rendered."

    async def test_a_reader_that_fails_on_the_rendered_page_leaves_the_page_as_served(self) -> None:
        house = House(ScriptedDoor(SHELL))

        async def break_it(request: Request) -> None:
            house.workers.failing = WorkerFailed("took too long")

        house.door.while_rendering = break_it
        reading = await house.read()
        assert reading.document.text == "THIN" and reading.warnings

    async def test_a_reader_that_always_fails_is_told_with_its_reason(self) -> None:
        house = House()
        house.workers.failing = WorkerFailed("took too long")
        error = await house.error()
        assert isinstance(error, errors.TooLarge) and "took too long" in str(error)

    async def test_that_nobody_can_read_is_no_fault_of_the_page(self) -> None:
        house = House()
        house.workers.failing = NoWorker("no worker process can be started")
        error = await house.error()
        assert isinstance(error, errors.Broken) and error.retryable


class TestPatience:
    @pytest.fixture(autouse=True)
    def _short_pauses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("scraper.reading.outcome.PAUSE_S", 0.01)

    async def test_a_failing_site_is_asked_once_more(self) -> None:
        house = House(ScriptedDoor(status=503))
        assert isinstance(await house.error(), errors.HttpError)
        assert len(house.door.requests) == 2

    async def test_a_site_that_recovers_is_read(self) -> None:
        house = House(ScriptedDoor(status=503))

        async def recover(request: Request) -> None:
            if len(house.door.requests) == 2:
                house.door._more = {}

        house.door.before = recover
        assert await house.text() == "Served."

    @pytest.mark.parametrize("status", [404, 410, 401, 429])
    async def test_where_asking_again_does_not_help_nobody_is_asked_again(self, status: int) -> None:
        house = House(ScriptedDoor(status=status))
        await house.error()
        assert len(house.door.requests) == 1

    async def test_a_site_that_asks_for_a_short_pause_gets_it(self) -> None:
        house = House(ScriptedDoor(status=429, headers={"retry-after": "0"}))
        await house.error()
        assert len(house.door.requests) == 2

    async def test_a_site_that_asks_for_a_long_pause_is_left_to_the_caller(self) -> None:
        house = House(ScriptedDoor(status=429, headers={"retry-after": "60"}))
        assert "60 s" in (await house.error()).sentence()
        assert len(house.door.requests) == 1


class TestTheFullBrowser:
    async def test_a_wall_is_tried_once_with_the_full_browser_and_remembered(self) -> None:
        house = House(ScriptedDoor("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        house.door.served_to_full = SERVED
        assert await house.text() == "Served."
        assert await house.text("https://example.org/other") == "Served."
        assert house.tiers == [Tier.LIGHT, Tier.FULL, Tier.FULL]

    async def test_another_host_begins_with_the_usual_browser(self) -> None:
        house = House(ScriptedDoor("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        house.door.served_to_full = SERVED
        await house.read()
        await house.read("https://else.example/")
        assert house.tiers == [Tier.LIGHT, Tier.FULL, Tier.LIGHT, Tier.FULL]

    async def test_a_wall_that_holds_is_told_and_not_remembered(self) -> None:
        house = House(ScriptedDoor("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        assert isinstance(await house.error(), errors.Walled)
        await house.error()
        assert house.tiers == [Tier.LIGHT, Tier.FULL] * 2

    async def test_a_wall_before_any_browser_is_told_at_once(self) -> None:
        house = House(ScriptedDoor("<p>LOGIN</p>", "<p>LOGIN</p>"))
        assert isinstance(await house.error(), errors.Walled)
        assert house.tiers == [Tier.LIGHT]

    async def test_where_no_full_browser_is_installed_it_is_asked_for_once(self) -> None:
        house = House(ScriptedDoor("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        house.door.installed = frozenset({Tier.LIGHT})
        await house.error()
        await house.error()
        assert house.tiers == [Tier.LIGHT, Tier.FULL, Tier.LIGHT]

    async def test_where_the_full_browser_fails_the_wall_is_told(self) -> None:
        async def fail(request: Request) -> None:
            if request.tier is Tier.FULL:
                raise door_errors.NoBrowser("It does not start.")

        house = House(ScriptedDoor("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"))
        house.door.before = fail
        assert isinstance(await house.error(), errors.Walled)

    async def test_an_operator_can_use_the_full_browser_always(self) -> None:
        house = House(ScriptedDoor("<p>CAPTCHA</p>", "<p>CAPTCHA</p>"), Settings(tier="full"))
        await house.error()
        assert house.tiers == [Tier.FULL]


async def test_progress_tells_what_is_being_done() -> None:
    told: list[str | None] = []

    def tell(done: float, total: float | None = None, message: str | None = None) -> None:
        told.append(message)

    await House(ScriptedDoor(SHELL)).read(progress=tell)
    assert told == ["reading example.org", "rendering example.org", "read example.org"]


async def test_a_batch_reads_each_page_for_its_principal() -> None:
    house = House()
    outcomes = await house.fetcher.fetch_batch(
        [URL, "nonsense", URL + "2"], principal="anna", render="browser"
    )
    first, second, third = outcomes
    assert isinstance(first, Reading) and first.document.text == RENDERED[3:-4]
    assert isinstance(second, errors.BadUrl)
    assert isinstance(third, Reading)
    assert {request.principal for request in house.door.requests} == {"anna"}


async def _refuse(request: Request) -> None:
    raise door_errors.BlockedAddress("That host is not on the public internet.", url=request.url)


async def _shortly(request: Request) -> None:
    await asyncio.sleep(0.1)


def _grow_old(house: House, *, hours: float) -> None:
    """Everything in the cache was read so long ago."""
    then = datetime.now(UTC) - timedelta(hours=hours)
    for place, entry in house.pages.entries.items():
        house.pages.entries[place] = replace(entry, reading=replace(entry.reading, retrieved_at=then))

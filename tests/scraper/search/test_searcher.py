"""The searcher: caching, shared searches, and errors of engines."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from browsers import Browsers
from browsers import errors as browser_errors
from browsers.model import Request
from scraper import errors
from scraper.engines.model import Engine
from scraper.model import REFRESH, CachePolicy
from scraper.search import searcher as searcher_module
from scraper.search.argument_validation import SearchRequest
from scraper.search.searcher import Searcher
from scraper.settings import Settings
from scraper.store.protocols import CacheScope
from tests.scraper.search.fakes import FakeBrowsers, InlineWorkers, engine
from tests.scraper.store.memory_search_cache import MemorySearchCache

ONE = "https://a.example/ Alpha\nhttps://b.example/ Beta"
TWO = "https://c.example/ Gamma"


class Harness:
    """A searcher over two fake engines, with fake browsers and an in-memory cache."""

    def __init__(self, *engines: Engine) -> None:
        self.client = FakeBrowsers(one=ONE, two=TWO)
        self.searches = MemorySearchCache()
        known = {each.name: each for each in engines or (engine("one"), engine("two"))}
        self.searcher = Searcher(
            cast(Browsers, self.client),
            InlineWorkers(),  # type: ignore[arg-type]
            self.searches,
            Settings(),
            engines=known,
            default_engines=tuple(known),
        )

    def fail(self, error: Exception, host: str = "") -> None:
        async def before(request: Request) -> None:
            if host in request.url:
                raise error

        self.client.before = before


async def test_a_cached_search_is_not_repeated() -> None:
    harness = Harness()
    first = await harness.searcher.search(SearchRequest("words"))
    second = await harness.searcher.search(SearchRequest("  words "))
    assert not first.cached and second.cached
    assert replace(second, cached=False) == first
    assert len(harness.client.requests) == 2


@pytest.mark.parametrize("given", [{"cache": REFRESH}, {"cache": CachePolicy(0)}])
async def test_a_refresh_queries_again_and_stores_the_answer(given: dict[str, float]) -> None:
    harness = Harness()
    await harness.searcher.search(SearchRequest("words"))
    harness.client.pages["two"] = "https://d.example/ Delta"
    fresh = await harness.searcher.search(SearchRequest("words", **given))  # type: ignore[arg-type]
    assert not fresh.cached and any(row.title == "Delta" for row in fresh.results)
    kept = await harness.searcher.search(SearchRequest("words"))
    assert kept.cached and any(row.title == "Delta" for row in kept.results)


@pytest.mark.parametrize(
    "other",
    [
        {"engines": ["one"]},
        {"max_results": 5},
        {"freshness": "week"},
        {"include_domains": ["a.example"]},
        {"exclude_text": "beta"},
        {"principal": "another"},
    ],
)
async def test_another_search_is_another_answer(other: dict[str, object]) -> None:
    harness = Harness()
    await harness.searcher.search(SearchRequest("words"))
    assert not (await harness.searcher.search(SearchRequest("words", **other))).cached  # type: ignore[arg-type]


async def test_answers_of_test_hosts_are_cached_separately() -> None:
    harness = Harness()
    await harness.searcher.search(SearchRequest("words"))
    led_elsewhere = Settings(test_hosts=(("one.example", "127.0.0.1", 8443),))
    searcher = Searcher(
        cast(Browsers, harness.client),
        InlineWorkers(),  # type: ignore[arg-type]
        harness.searches,
        led_elsewhere,
        engines={name: engine(name) for name in ("one", "two")},
        default_engines=("one", "two"),
    )
    assert not (await searcher.search(SearchRequest("words"))).cached


async def test_the_order_of_engines_does_not_matter() -> None:
    harness = Harness()
    await harness.searcher.search(SearchRequest("words", engines=["one", "two"]))
    assert (await harness.searcher.search(SearchRequest("words", engines=["two", "one"]))).cached


async def test_concurrent_equal_searches_query_once() -> None:
    harness = Harness()
    answers = await asyncio.gather(*(harness.searcher.search(SearchRequest("words")) for _ in range(4)))
    assert len(harness.client.requests) == 2
    assert all(answer.results for answer in answers)


async def test_equal_searches_of_two_principals_are_separate() -> None:
    harness = Harness()
    callers = ("ann", "ben")
    await asyncio.gather(*(harness.searcher.search(SearchRequest("words", principal=caller)) for caller in callers))
    assert sorted(request.principal for request in harness.client.requests) == ["ann", "ann", "ben", "ben"]


async def test_warnings_and_errors_are_cached_with_the_results() -> None:
    harness = Harness()
    harness.client.pages["two"] = "WALL"
    long = "word " * 150
    first = await harness.searcher.search(SearchRequest(long))
    kept = await harness.searcher.search(SearchRequest(long))
    assert kept.cached and dict(kept.errors) == {"two": "captcha"}
    assert kept.warnings == first.warnings
    assert "first 499 characters" in kept.warnings[0]


async def test_a_partial_answer_is_fresh_for_an_hour() -> None:
    harness = Harness()
    harness.client.pages["two"] = "WALL"
    answer = await harness.searcher.search(SearchRequest("words"))
    (key,) = (key for scope, key in harness.searches._answers)
    old = replace(answer, retrieved_at=datetime.now(UTC) - timedelta(hours=2))
    harness.searches.put(key, old, scope=CacheScope())
    assert not (await harness.searcher.search(SearchRequest("words"))).cached
    harness.searches.put(key, replace(old, errors={}), scope=CacheScope())
    assert (await harness.searcher.search(SearchRequest("words"))).cached


async def kept_for(harness: Harness, age_s: float, **asked: object) -> bool:
    """Return True if the only cached answer is used at that age."""
    ((scope, key),) = harness.searches._answers
    answer = harness.searches._answers[scope, key]
    harness.searches.put(key, replace(answer, retrieved_at=datetime.now(UTC) - timedelta(seconds=age_s)), scope=scope)
    try:
        return (await harness.searcher.search(SearchRequest("words", **asked))).cached  # type: ignore[arg-type]
    finally:
        harness.searches.put(key, answer, scope=scope)


async def test_an_answer_with_temporary_errors_is_fresh_for_a_minute() -> None:
    harness = Harness()
    harness.fail(browser_errors.RefusedConnectionError("refused"), "one")
    await harness.searcher.search(SearchRequest("words"))
    assert await kept_for(harness, 50)
    assert not await kept_for(harness, 70)


async def test_an_answer_that_advises_a_retry_is_fresh_for_a_minute() -> None:
    harness = Harness()
    harness.client.pages["one"] = "WALL"
    assert (await harness.searcher.search(SearchRequest("words"))).hint is not None
    assert await kept_for(harness, 50)
    assert not await kept_for(harness, 70)


async def test_the_maximum_age_of_the_caller_applies() -> None:
    harness = Harness()
    harness.client.pages["one"] = "WALL"
    await harness.searcher.search(SearchRequest("words"))
    assert await kept_for(harness, 7_000, cache=CachePolicy(7_200))
    assert not await kept_for(harness, 7_300, cache=CachePolicy(7_200))


async def test_an_answer_of_errors_only_is_not_stored() -> None:
    harness = Harness()
    harness.client.pages |= {"one": "WALL", "two": "WALL"}
    answer = await harness.searcher.search(SearchRequest("words"))
    assert not answer.results and dict(answer.errors) == {"one": "captcha", "two": "captcha"}
    assert not (await harness.searcher.search(SearchRequest("words"))).cached


async def test_a_filter_that_drops_everything_is_named() -> None:
    harness = Harness()
    answer = await harness.searcher.search(SearchRequest("words", include_domains=["z.example"]))
    assert not answer.results and answer.errors == {}
    assert answer.hint == ("Filters: include_domains dropped 3; nothing is left. Widen or leave out include_domains.")


async def test_max_results_is_respected() -> None:
    assert len((await Harness().searcher.search(SearchRequest("words", max_results=2))).results) == 2


async def test_progress_names_each_engine() -> None:
    told: list[tuple[float, str | None]] = []

    def progress(done: float, total: float | None = None, message: str | None = None) -> None:
        told.append((done, message))

    await Harness().searcher.search(SearchRequest("words"), progress=progress)
    assert told[0] == (0, "asking one, two")
    assert {message for _, message in told[1:]} == {"one: 2", "two: 1"}
    assert told[-1][0] == 2


class TestFaults:
    async def test_a_failing_engine_does_not_affect_others(self) -> None:
        harness = Harness()
        harness.fail(browser_errors.RefusedConnectionError("refused"), "one")
        answer = await harness.searcher.search(SearchRequest("words"))
        assert dict(answer.errors) == {"one": "unreachable"}
        assert [row.title for row in answer.results] == ["Gamma"]

    async def test_a_missing_network_is_an_error_and_no_failure_of_the_engines(self) -> None:
        harness = Harness()
        harness.fail(browser_errors.NoNetworkError("no network"))
        for _ in range(4):
            with pytest.raises(errors.OfflineError, match="no network"):
                await harness.searcher.search(SearchRequest("words"))
        harness.fail(browser_errors.NoNetworkError("no network"), "one")
        answer = await harness.searcher.search(SearchRequest("words"))
        assert dict(answer.errors) == {"one": "no_network"}

    async def test_a_full_queue_is_overloaded(self) -> None:
        harness = Harness()
        harness.fail(browser_errors.BusyError("full", retry_after_s=3))
        with pytest.raises(errors.OverloadedError):
            await harness.searcher.search(SearchRequest("words"))

    async def test_without_a_browser_the_search_fails(self) -> None:
        harness = Harness()
        harness.fail(browser_errors.NoBrowserError("none"))
        with pytest.raises(errors.BrowserFailedError, match=r"browser that queries the engines failed"):
            await harness.searcher.search(SearchRequest("words"))

    async def test_internal_errors_start_no_cooldown(self) -> None:
        harness = Harness()
        harness.fail(browser_errors.BrowserGoneError("gone"), "one")
        for number in range(5):
            await harness.searcher.search(SearchRequest(f"words {number}"))
        assert sum("one.example" in request.url for request in harness.client.requests) == 5

    async def test_waiting_for_another_search_starts_no_cooldown(self) -> None:
        harness = Harness(engine("one", spacing_s=60.0), engine("two"))
        await harness.searcher.search(SearchRequest("first"))
        answer = await harness.searcher.search(SearchRequest("second", deadline_s=30))
        assert dict(answer.errors) == {"one": "busy"}
        assert await harness.searches.get_cooldown("one", "direct") is None

    async def test_a_query_without_a_turn_in_time_is_busy_at_once(self) -> None:
        harness = Harness(engine("one", spacing_s=60.0))
        await harness.searcher.search(SearchRequest("first"))
        async with asyncio.timeout(30):
            with pytest.raises(errors.OverloadedError) as caught:
                await harness.searcher.search(SearchRequest("second"))
        assert caught.value.retry_after_s is not None and 55 < caught.value.retry_after_s < 80

    async def test_many_concurrent_searches_do_not_wait_without_a_turn(self) -> None:
        harness = Harness(engine("one", spacing_s=4.0))
        searches = [asyncio.create_task(harness.searcher.search(SearchRequest(f"words {n}"))) for n in range(20)]
        ended = list[bool]()
        # All searches except those that wait for the turns after four and after eight seconds.
        for search in itertools.islice(asyncio.as_completed(searches, timeout=30), 18):
            try:
                await search
                ended.append(True)
            except errors.OverloadedError:
                ended.append(False)
        assert (ended.count(True), ended.count(False)) == (1, 17)
        for task in searches:
            task.cancel()
        await asyncio.gather(*searches, return_exceptions=True)

    async def test_a_timeout_of_an_urgent_query_starts_no_cooldown(self) -> None:
        harness = Harness()

        async def hang(request: Request) -> None:
            await asyncio.Event().wait()

        harness.client.before = hang
        for number in range(4):
            await harness.searcher.search(SearchRequest(f"words {number}", deadline_s=0.2))
        assert await harness.searches.get_cooldown("one", "direct") is None

    async def test_a_hanging_engine_ends_at_the_deadline(self) -> None:
        async def hang(request: Request) -> None:
            if "one" in request.url:
                await asyncio.Event().wait()

        # The time of the other engine depends on the machine.
        for deadline_s in (0.5, 2.0, 8.0):
            harness = Harness()
            harness.client.before = hang
            async with asyncio.timeout(30):
                answer = await harness.searcher.search(SearchRequest("words", deadline_s=deadline_s))
            if answer.results:
                break
        assert dict(answer.errors) == {"one": "timeout"}
        assert [row.title for row in answer.results] == ["Gamma"]

    async def test_cancellation_cancels_the_search(self) -> None:
        harness = Harness()
        came, left = asyncio.Event(), asyncio.Event()

        async def hang(request: Request) -> None:
            came.set()
            try:
                await asyncio.Event().wait()
            finally:
                left.set()

        harness.client.before = hang
        task = asyncio.create_task(harness.searcher.search(SearchRequest("words")))
        async with asyncio.timeout(30):
            await came.wait()
            task.cancel()
            await left.wait()
        await asyncio.gather(task, return_exceptions=True)
        assert harness.searcher.in_flight == 0


async def test_the_start_of_the_browser_does_not_count_as_time_of_the_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searcher_module, "ENGINE_DEADLINE_S", 0.3)
    harness = Harness()
    harness.client.start_s = 0.6
    assert (await harness.searcher.search(SearchRequest("words"))).results
    harness = Harness()
    harness.client.start_s = 60.0
    with pytest.raises(errors.BrowserFailedError, match="did not start in time"):
        await harness.searcher.search(SearchRequest("other words", deadline_s=0.3))

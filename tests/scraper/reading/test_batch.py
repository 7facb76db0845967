"""A batch keeps its order and its deadline, and pages fail independently."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime

import pytest

from scraper import errors
from scraper.call_context import Deadline
from scraper.model import Document, Reading
from scraper.reading.batch import ReadUrl, read_all, repeated_hosts


def reading(url: str) -> Reading:
    return Reading(Document(url), url, url, 200, "http", False, datetime.now(UTC))


def page(number: int) -> str:
    return f"https://example.org/{number}"


async def at_once(url: str, left_s: float) -> Reading:
    return reading(url)


async def read(
    urls: list[str], how: ReadUrl = at_once, *, deadline_s: float = 5.0, width: int = 4
) -> list[Reading | errors.ScraperError]:
    return await read_all(how, urls, concurrency=width, deadline=Deadline.within(deadline_s), progress=None)


async def test_outcomes_are_in_the_order_of_the_urls() -> None:
    async def the_first_are_the_slowest(url: str, left_s: float) -> Reading:
        await asyncio.sleep(0.05 / (1 + int(url[-1])))
        return reading(url)

    urls = [page(number) for number in range(6)]
    assert [out.url for out in await read(urls, the_first_are_the_slowest) if isinstance(out, Reading)] == urls


async def test_a_failed_page_is_an_error_in_its_position() -> None:
    async def the_second_fails(url: str, left_s: float) -> Reading:
        if url == page(1):
            raise errors.NoContentError("Nothing there.")
        return reading(url)

    first, second, third = await read([page(0), page(1), page(2)], the_second_fails)
    assert isinstance(first, Reading) and isinstance(third, Reading)
    assert isinstance(second, errors.NoContentError)


async def test_an_internal_error_in_one_page_is_logged_and_does_not_affect_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def the_first_is_a_bug(url: str, left_s: float) -> Reading:
        if url == page(0):
            raise KeyError("bug")
        return reading(url)

    first, second = await read([page(0), page(1)], the_first_is_a_bug)
    assert isinstance(first, errors.InternalError) and "bug" not in first.sentence()
    assert isinstance(second, Reading)
    assert any(record.exc_info and "KeyError" in str(record.exc_info) for record in caplog.records)


async def test_an_invalid_url_is_an_error_in_its_position() -> None:
    first, second, third = await read(["best python books", page(0), "ftp://example.org/"])
    assert isinstance(first, errors.InvalidUrlError) and "`search`" in first.sentence()
    assert isinstance(second, Reading)
    assert isinstance(third, errors.InvalidUrlError)


async def test_a_repeated_url_is_read_once() -> None:
    visits: Counter[str] = Counter()

    async def counted(url: str, left_s: float) -> Reading:
        visits[url] += 1
        return reading(url)

    outcomes = await read([page(0), "HTTPS://EXAMPLE.ORG/0", page(1), page(0) + "#part"], counted)
    assert len(outcomes) == 4 and all(isinstance(out, Reading) for out in outcomes)
    assert visits == {page(0): 1, page(1): 1}


async def test_the_concurrency_of_a_batch_is_limited() -> None:
    running = most = 0

    async def counted(url: str, left_s: float) -> Reading:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1
        return reading(url)

    await read([page(number) for number in range(20)], counted, width=3)
    assert most == 3


async def test_late_pages_are_timeouts_and_the_others_are_returned() -> None:
    async def the_second_hangs(url: str, left_s: float) -> Reading:
        if url == page(1):
            await asyncio.Event().wait()
        return reading(url)

    first, second = await read([page(0), page(1)], the_second_hangs, deadline_s=0.2)
    assert isinstance(first, Reading)
    assert isinstance(second, errors.FetchTimeoutError) and second.target == page(1)


async def test_each_page_gets_slightly_less_than_the_time_left() -> None:
    given: list[float] = []

    async def noted(url: str, left_s: float) -> Reading:
        given.append(left_s)
        return reading(url)

    await read([page(0)], noted, deadline_s=10)
    assert 9.0 < given[0] < 9.6


async def test_cancelling_a_batch_cancels_its_pages() -> None:
    ended = 0

    async def hanging(url: str, left_s: float) -> Reading:
        nonlocal ended
        try:
            await asyncio.Event().wait()
        finally:
            ended += 1
        raise AssertionError

    task = asyncio.create_task(read([page(0), page(1), page(2)], hanging, width=2))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == 2


async def test_progress_counts_pages_and_names_their_hosts() -> None:
    told: list[tuple[float, float | None, str | None]] = []

    def tell(done: float, total: float | None = None, message: str | None = None) -> None:
        told.append((done, total, message))

    await read_all(
        at_once,
        ["https://a.example/", "https://b.example/", "nonsense"],
        concurrency=1,
        deadline=Deadline.within(5),
        progress=tell,
    )
    assert told == [(0, 2, "reading 2 pages"), (1, 2, "read 1 of 2: a.example"), (2, 2, "read 2 of 2: b.example")]


async def test_a_batch_of_invalid_urls_needs_no_visit() -> None:
    (only,) = await read(["nonsense"])
    assert isinstance(only, errors.InvalidUrlError)


def test_only_hosts_with_several_pages_are_repeated() -> None:
    urls = ["https://a.example/1", "https://b.example/1", "https://b.example/2", "no address", "https://a.example/1"]
    assert repeated_hosts(urls) == {"b.example"}

"""The best pages are read concurrently; others replace those that fail or are late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from scraper import errors
from scraper.call_context import Deadline
from scraper.model import Reading
from scraper.reading.batch import PageOutcome, read_with_replacements
from tests.scraper.process import until
from tests.scraper.render.readings import reading

URLS = [f"https://site{number}.example/" for number in range(6)]


class Web:
    """Pages that answer after a delay in seconds (None: never), or fail."""

    def __init__(self, delays: dict[str, float | None], failing: tuple[str, ...] = ()) -> None:
        self.asked: list[str] = []
        self.open = 0
        self._delays = delays
        self._failing = failing

    async def read(self, url: str, left_s: float) -> Reading:
        self.asked.append(url)
        self.open += 1
        try:
            delay = self._delays.get(url, 0.0)
            await (asyncio.Event().wait() if delay is None else asyncio.sleep(delay))
        finally:
            self.open -= 1
        if url in self._failing:
            raise errors.NoContentError("Nothing there.", target=url)
        return reading(url=url)


async def race(
    web: Web,
    wanted: int,
    deadline_s: float = 5.0,
    patience_s: float = 5.0,
    told: Callable[[int, str], None] = lambda count, host: None,
) -> dict[str, PageOutcome]:
    return await read_with_replacements(
        web.read, URLS, wanted, Deadline.within(deadline_s), patience_s=patience_s, on_read=told
    )


def read(outcomes: dict[str, PageOutcome]) -> set[str]:
    return {url for url, outcome in outcomes.items() if isinstance(outcome, Reading)}


async def test_only_the_requested_number_of_pages_is_read() -> None:
    web = Web({})
    assert read(await race(web, 3)) == set(URLS[:3]) == set(web.asked)


async def test_the_next_url_replaces_a_failed_one() -> None:
    web = Web({}, failing=(URLS[0], URLS[2]))
    outcomes = await race(web, 3)
    assert read(outcomes) == {URLS[1], URLS[3], URLS[4]}
    assert isinstance(outcomes[URLS[0]], errors.NoContentError) and URLS[5] not in outcomes


async def test_a_late_page_gets_a_competitor_and_is_cancelled_when_enough_is_read() -> None:
    web = Web({URLS[1]: None})
    outcomes = await race(web, 3, patience_s=0.1)
    assert read(outcomes) == {URLS[0], URLS[2], URLS[3]}
    assert web.open == 0 and URLS[1] not in outcomes


async def test_a_late_page_counts_if_it_is_read_before_its_competitors() -> None:
    web = Web({URLS[0]: 0.3, URLS[3]: None, URLS[4]: None, URLS[5]: None})
    assert read(await race(web, 3, patience_s=0.1)) == set(URLS[:3])
    assert web.open == 0


async def test_pages_read_before_the_deadline_are_returned() -> None:
    web = Web(dict.fromkeys(URLS[1:]))
    outcomes = await race(web, 2, deadline_s=0.4, patience_s=0.1)
    assert read(outcomes) == {URLS[0]}
    assert isinstance(outcomes[URLS[1]], errors.FetchTimeoutError)
    assert web.open == 0


async def test_each_failure_has_its_error() -> None:
    outcomes = await race(Web({}, failing=tuple(URLS)), 2)
    assert not read(outcomes) and set(outcomes) == set(URLS)


async def test_cancellation_cancels_every_page() -> None:
    web = Web(dict.fromkeys(URLS))
    task = asyncio.create_task(race(web, 3))
    await until(lambda: web.open == 3)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled() and web.open == 0


async def test_an_internal_error_affects_one_page() -> None:
    class Faulty(Web):
        async def read(self, url: str, left_s: float) -> Reading:
            if url == URLS[0]:
                raise RuntimeError("password=geheim")
            return await super().read(url, left_s)

    outcomes = await race(Faulty({}), 2)
    fault = outcomes[URLS[0]]
    assert read(outcomes) == set(URLS[1:3])
    assert isinstance(fault, errors.InternalError) and "geheim" not in fault.sentence()


async def test_progress_is_reported_for_each_page() -> None:
    told: list[tuple[int, str]] = []
    await race(Web({URLS[1]: 0.05}, failing=(URLS[0],)), 2, told=lambda count, host: told.append((count, host)))
    assert [count for count, _ in told] == [0, 1, 2]

"""One engine asked once: its turn, its other faces when it is walled, its later pages; never an exception."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from browsers.model import Request
from scraper.deadline import Deadline
from scraper.engines.model import Engine, EngineOutcome, EngineResponse, EngineResult, SearchQuery
from scraper.search.circuit_breakers import CircuitBreakers
from scraper.search.decoy_detection import are_decoys
from scraper.search.engine_page import (
    READ_RESERVE_S,
    EngineBrowserClient,
    EnginePageRequest,
    EnginePages,
    reason_of,
)
from scraper.search.engine_throttle import EngineThrottle
from scraper.workers import WorkerPool

log = logging.getLogger(__name__)

OTHER_FACE_S = 1.0
"""Between a wall and another face of the same engine: another host, and a person who tries again."""
PAGE_S = 1.0
"""Least time in which a later page can come."""
MAX_PAGES = 3
ONE_PAGE = 10
"""Rows for which no second page is asked, whether or not the first has as many."""

FAIR_S = 5.0
"""An engine that had less than this did not hang: others were before it, or the caller is in a hurry."""

OUR_OWN = frozenset({"busy", "browser_failed", "layout_changed"})
"""Reasons that say nothing of how the engine treats us."""


@dataclass(frozen=True, slots=True)
class EngineQuery:
    """What became of one engine."""

    engine: Engine
    results: tuple[EngineResult, ...] = ()
    error: str | None = None
    """Named reason; may stand beside rows when the layout changed or a later page was walled."""
    rests_s: float = 0.0
    """For how long it will not be asked; it was not asked now."""
    loosened: bool = False
    """The rows are of a looser query than was asked."""
    waits_s: float = 0.0
    """How long whoever asks now would wait for others, at least."""
    hurried: bool = False
    """The engine had hardly any time: that it did not answer says nothing of it."""


class EngineQueryRunner:
    """Asks engines."""

    def __init__(
        self,
        browsers: EngineBrowserClient,
        workers: WorkerPool,
        breakers: CircuitBreakers,
        spacing: EngineThrottle | None = None,
    ) -> None:
        self._pages = EnginePages(browsers, workers)
        self._breakers = breakers
        self._spacing = spacing or EngineThrottle()

    async def ask(
        self, engine: Engine, query: SearchQuery, *, rows: int, principal: str, deadline_s: float
    ) -> EngineQuery:
        """Ask one engine for about so many rows; comes back within `deadline_s`."""
        waits_s = self._spacing.least_wait_s(engine.name, engine.spacing_s)
        if waits_s >= deadline_s:
            # Who cannot have a turn in time is told at once: waiting would end in the same words.
            return await self._resting(engine) or EngineQuery(engine, error="busy", waits_s=waits_s)
        asked = EnginePageRequest(engine, query, principal, Deadline.within(deadline_s))
        error, had_s = "busy", 0.0
        try:
            async with asyncio.timeout(deadline_s):
                async with self._spacing.turn(engine.name, engine.spacing_s):
                    # Asked for in turn: the answer to whoever was before us may have put it to rest.
                    resting = await self._resting(engine)
                    if resting is not None:
                        return resting
                    await self._spacing.pause(engine.name)
                    error, had_s = "timeout", asked.deadline.left_s()
                    attempt = await self._asked(asked, rows)
        except TimeoutError:
            waits_s = self._spacing.least_wait_s(engine.name, engine.spacing_s)
            attempt = EngineQuery(engine, error=error, waits_s=waits_s)
        if had_s < FAIR_S and attempt.error == "timeout":
            attempt = replace(attempt, hurried=True)
        await self._note(attempt)
        return attempt

    async def _resting(self, engine: Engine) -> EngineQuery | None:
        resting = await self._breakers.resting(engine.name)
        return None if resting is None else EngineQuery(engine, error=resting[0], rests_s=resting[1])

    async def _note(self, attempt: EngineQuery) -> None:
        fields = {"engine": attempt.engine.name, "rows": len(attempt.results), "error": attempt.error or "-"}
        log.info("engine", extra={"fields": fields})
        if attempt.hurried:
            return
        if attempt.error is None or attempt.error not in OUR_OWN or attempt.results:
            await self._breakers.note(
                attempt.engine.name, None if attempt.error in OUR_OWN else attempt.error
            )

    async def _asked(self, asked: EnginePageRequest, rows: int) -> EngineQuery:
        response = await self._first_page(asked)
        if _is_decoy(asked, response) and self._pages.forget(asked) and _has_time(asked, OTHER_FACE_S):
            # Whoever was taken for a robot is known by the cookies that he got.
            await asyncio.sleep(OTHER_FACE_S)
            response = await self._read(asked, asked.engine.ask(asked.query, datetime.now(UTC)))
        if response.outcome is EngineOutcome.NONE:
            return EngineQuery(asked.engine)
        if response.outcome is not EngineOutcome.OK:
            return EngineQuery(asked.engine, error=reason_of(response))
        if _is_decoy(asked, response):
            return EngineQuery(asked.engine, error="off_topic")
        results, error = await self._later_pages(asked, response, rows)
        error = "layout_changed" if response.layout_changed else error
        return EngineQuery(asked.engine, results, error, loosened=response.loosened)

    async def _first_page(self, asked: EnginePageRequest) -> EngineResponse:
        """The first face of the engine that answers; a wall is remembered over a fault behind it."""
        now = datetime.now(UTC)
        response = await self._read(asked, asked.engine.ask(asked.query, now))
        for face in asked.engine.fallbacks:
            if not _is_worth_another(response) or not _has_time(asked, OTHER_FACE_S):
                break
            await asyncio.sleep(OTHER_FACE_S)
            other = await self._read(asked, face(asked.query, now))
            if other.outcome is not EngineOutcome.ERROR or response.outcome is EngineOutcome.ERROR:
                response = other
        entrance = asked.engine.entrance
        lost = response.outcome is EngineOutcome.ERROR and reason_of(response) == "layout_changed"
        if entrance is None or not lost or not _has_time(asked, OTHER_FACE_S):
            return response
        await asyncio.sleep(OTHER_FACE_S)
        return await self._pages.through_entrance(asked, entrance) or response

    async def _later_pages(
        self, asked: EnginePageRequest, first: EngineResponse, rows: int
    ) -> tuple[tuple[EngineResult, ...], str | None]:
        """The rows of as many pages as are wanted, and why there are no more where that was a wall."""
        results, following = list(first.results), first.next
        if rows <= ONE_PAGE:
            return first.results, None
        for _ in range(MAX_PAGES - 1):
            if following is None or len(results) >= rows or not _has_time(asked, asked.engine.spacing_s):
                break
            response = await self._later_page(asked, following)
            if response is None or response.outcome is not EngineOutcome.OK:
                walled = response is not None and response.outcome is EngineOutcome.WALL
                return tuple(results), reason_of(response) if response is not None and walled else None
            added = _added(results, response)
            results += added
            following = response.next if added else None
        return tuple(results), None

    async def _later_page(self, asked: EnginePageRequest, request: Request) -> EngineResponse | None:
        """A page after the first; None when it did not come in time, which takes nothing from the first."""
        try:
            async with asyncio.timeout(asked.deadline.left_s(reserve_s=READ_RESERVE_S / 2)):
                await self._spacing.pause(asked.engine.name)
                return await self._read(asked, request)
        except TimeoutError:
            return None

    async def _read(self, asked: EnginePageRequest, request: Request) -> EngineResponse:
        try:
            return await self._pages.read(asked, request)
        finally:
            self._spacing.asked(asked.engine.name, asked.engine.spacing_s)


def _is_decoy(asked: EnginePageRequest, response: EngineResponse) -> bool:
    return response.outcome is EngineOutcome.OK and are_decoys(asked.query.text, response.results)


def _is_worth_another(response: EngineResponse) -> bool:
    """Whether another face may do better: not where we have an answer, or the fault is ours."""
    if response.outcome in {EngineOutcome.OK, EngineOutcome.NONE}:
        return False
    return reason_of(response) not in {"busy", "browser_failed"}


def _has_time(asked: EnginePageRequest, pause_s: float) -> bool:
    return asked.deadline.left_s() > pause_s + PAGE_S


def _added(results: list[EngineResult], response: EngineResponse) -> list[EngineResult]:
    """The rows of a later page that are new, ranked on."""
    seen = {row.url for row in results}
    new = [row for row in response.results if row.url not in seen]
    return [replace(row, rank=len(results) + at) for at, row in enumerate(new, 1)]

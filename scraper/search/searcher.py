"""Searches: several engines at once, each under its own deadline, as one honest list."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType

from browsers.model import Tier
from scraper import errors
from scraper.caching.single_flight import SingleFlight
from scraper.coordination.local_state import LocalState
from scraper.coordination.protocols import SharedState
from scraper.deadline import Deadline
from scraper.engines.common.query_operators import CATEGORIES
from scraper.engines.common.query_operators import MAX_QUERY_CHARS as ENGINES_READ_CHARS
from scraper.engines.model import Engine, SearchQuery
from scraper.model import SearchAnswer, SearchResult
from scraper.progress import ProgressCallback
from scraper.search import query_parsing as checks
from scraper.search.circuit_breakers import CircuitBreakers, egress_name
from scraper.search.empty_result_hints import LITTLE, hint
from scraper.search.engine_page import EngineBrowserClient
from scraper.search.engine_query import EngineQuery, EngineQueryRunner
from scraper.search.engine_throttle import EngineThrottle
from scraper.search.filters import Filters
from scraper.search.fusion import MergedResults, RankedResult, fused, without_copies
from scraper.search.query_terms import content_words
from scraper.settings import Settings
from scraper.store.protocols import CacheScope
from scraper.store.search_cache import SearchCache
from scraper.workers import WorkerPool

ENGINE_DEADLINE_S = 10.0
"""Of each engine: what hangs costs this much, and not the search."""
MERGE_RESERVE_S = 0.3
PARTIAL_AGE_S = 3_600.0
"""An answer without rows, or without those of an engine that failed, is not given again after an hour, unless
the caller says how old it may be."""
PASSING_AGE_S = 60.0
"""Nor after a minute where asking again may well bring more: the shortest rest of an engine."""
PASSING = frozenset({"busy", "browser_failed", "timeout", "unreachable"})
HOUR_S = 3_600.0
SCORE_DIGITS = 6


class Searcher:
    """Asks engines and merges what they say."""

    def __init__(
        self,
        browsers: EngineBrowserClient,
        workers: WorkerPool,
        searches: SearchCache,
        settings: Settings,
        *,
        engines: Mapping[str, Engine],
        usual: Sequence[str],
        shared: SharedState | None = None,
    ) -> None:
        """`shared`: what other servers are told; without it there are none."""
        self.engines = tuple(engines)
        """Names that `engines` of a search may hold."""
        self._browsers = browsers
        self._engines = engines
        self._usual = usual
        self._searches = searches
        self._language = settings.language
        self._usual_age_s = settings.cache_ttl_h * HOUR_S
        self._way_out = _way_out(settings)
        shared = shared or LocalState()
        breakers = CircuitBreakers(shared.rests(searches), self._way_out)
        self._attempts = EngineQueryRunner(browsers, workers, breakers, spacing_of(settings, shared))
        self._flights: SingleFlight[tuple[str, str], SearchAnswer] = SingleFlight()

    @property
    def under_way(self) -> int:
        """Searches that are being made."""
        return len(self._flights)

    def make_ready(self) -> None:
        """Start the browser that asks engines: whoever wants to know their names is about to search."""
        self._browsers.start_soon(Tier.FULL)

    async def close(self) -> None:
        """End what is being searched."""
        await self._flights.close()

    async def search(
        self,
        text: str,
        *,
        engines: Sequence[str] | None = None,
        max_results: int = 10,
        freshness: str | None = None,
        include_domains: Sequence[str] = (),
        exclude_domains: Sequence[str] = (),
        category: str | None = None,
        include_text: str | None = None,
        exclude_text: str | None = None,
        use_cache: bool = True,
        max_age_s: float | None = None,
        principal: str = "local",
        deadline_s: float = ENGINE_DEADLINE_S,
        progress: ProgressCallback | None = None,
    ) -> SearchAnswer:
        """Ask the engines; who refuses or fails is named in `errors` of the answer.

        Raises:
            BadArgument: an argument makes no sense; the sentence names it.
            Overloaded: every engine would have to wait for others.
            Broken: there is no browser to ask with.
        """
        job = _Job(
            self._way_out,
            checks.text(text),
            tuple(engine.name for engine in checks.engines(engines, self._engines, self._usual)),
            checks.whole("max_results", max_results, 1, checks.MAX_RESULTS),
            Filters(
                checks.freshness_of(freshness),
                checks.domains("include_domains", include_domains),
                checks.domains("exclude_domains", exclude_domains),
                checks.one_of("category", category, CATEGORIES),
                include_text or None,
                exclude_text or None,
            ),
        )
        shelf = CacheScope(principal=principal, language=self._language)
        if use_cache and (kept := await self._kept(job, shelf, max_age_s)) is not None:
            return kept
        # A flight outlives its first caller's deadline only as long as another one waits for it.
        limit_s = min(deadline_s, ENGINE_DEADLINE_S)
        return await self._flights.join(
            (principal, job.key), lambda: self._search(job, shelf, limit_s, progress)
        )

    async def _kept(self, job: _Job, shelf: CacheScope, max_age_s: float | None) -> SearchAnswer | None:
        limit_s = self._usual_age_s if max_age_s is None else max_age_s
        kept = await self._searches.get(job.key, shelf=shelf, max_age_s=limit_s)
        if kept is None or kept.retrieved_at is None:
            return None
        age_s = (datetime.now(UTC) - kept.retrieved_at).total_seconds()
        if max_age_s is None and age_s > _usual_reuse_s(kept, job.max_results):
            return None
        return replace(kept, cached=True)

    async def _search(
        self, job: _Job, shelf: CacheScope, limit_s: float, progress: ProgressCallback | None
    ) -> SearchAnswer:
        attempts = await self._ask_all(job, shelf.principal, limit_s, progress)
        _raise_if_ours(attempts)
        answer = self._merged(job, attempts, datetime.now(UTC))
        if any(attempt.error is None or attempt.results for attempt in attempts):
            self._searches.put(job.key, answer, shelf=shelf)
        return answer

    async def _ask_all(
        self, job: _Job, principal: str, limit_s: float, progress: ProgressCallback | None
    ) -> list[EngineQuery]:
        deadline = Deadline.within(limit_s)
        query = SearchQuery(
            job.text,
            freshness=job.filters.freshness,
            include_domains=job.filters.include_domains,
            exclude_domains=job.filters.exclude_domains,
            category=job.filters.category,
            language=self._language,
        )
        rows = math.ceil(job.max_results / len(job.engines))
        done = 0

        async def ask(name: str) -> EngineQuery:
            nonlocal done
            attempt = await self._attempts.ask(
                self._engines[name],
                query,
                rows=rows,
                principal=principal,
                deadline_s=deadline.left_s(reserve_s=min(MERGE_RESERVE_S, limit_s / 10)),
            )
            done += 1
            if progress is not None:
                progress(done, len(job.engines), f"{name}: {attempt.error or len(attempt.results)}")
            return attempt

        if progress is not None:
            progress(0, len(job.engines), "asking " + ", ".join(job.engines))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask(name)) for name in job.engines]
        return [task.result() for task in tasks]

    def _merged(self, job: _Job, attempts: Sequence[EngineQuery], now: datetime) -> SearchAnswer:
        ranked = [RankedResult(one.engine.name, one.engine.family, one.results) for one in attempts]
        about = frozenset(content_words(job.text))
        fitting, dropped = job.filters.kept(fused(ranked), now)
        # Copies are merged last: the one that fits must not be hidden behind one that was filtered out.
        rows = without_copies(fitting, job.text)
        results = tuple(_result(row, about) for row in rows[: job.max_results])
        others = [name for name in self._engines if name not in job.engines]
        return SearchAnswer(
            query=job.text,
            results=results,
            engines=job.engines,
            errors=MappingProxyType({one.engine.name: one.error for one in attempts if one.error}),
            hint=hint(attempts, len(results), dropped, others, job.max_results),
            retrieved_at=now,
            warnings=_warnings(job, attempts),
        )


@dataclass(frozen=True, slots=True)
class _Job:
    """One search; two equal ones are one."""

    way_out: str
    text: str
    engines: tuple[str, ...]
    max_results: int
    filters: Filters

    @property
    def key(self) -> str:
        """What an answer is kept under."""
        said = [self.way_out, self.text, sorted(self.engines), self.max_results, astuple(self.filters)]
        return hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()


def spacing_of(settings: Settings, shared: SharedState) -> EngineThrottle:
    """Turns at engines, among all servers that look the same to them."""
    return EngineThrottle(None if shared.alone else shared.leases, egress_name(_way_out(settings)))


def _usual_reuse_s(kept: SearchAnswer, wanted: int) -> float:
    """For how long an answer serves callers who do not say how old it may be."""
    if kept.results and not kept.errors:
        return math.inf
    few = len(kept.results) < min(LITTLE, wanted)
    # Where little came back the answer itself says to try again: then that must not give the same answer.
    if PASSING.intersection(kept.errors.values()) or (kept.errors and few):
        return PASSING_AGE_S
    return PARTIAL_AGE_S


def _way_out(settings: Settings) -> str:
    """What engines see of us, and whether they are the true ones: others' answers and rests are not ours."""
    hosts = (f"{name}={address}:{port}" for name, address, port in settings.test_hosts)
    return " ".join(filter(None, (settings.proxy, *hosts)))


def _result(row: MergedResults, about: frozenset[str]) -> SearchResult:
    best = row.best
    dates = [result.date for _, result in row.rows if result.date is not None]
    sources = [result.source for _, result in row.rows if result.source]
    return SearchResult(
        title=row.title,
        url=best.url,
        snippet=row.snippet(about),
        engines=row.engines,
        score=round(row.score, SCORE_DIGITS),
        date=dates[0] if dates else None,
        source=sources[0] if sources else None,
        also=row.also,
    )


def _warnings(job: _Job, attempts: Sequence[EngineQuery]) -> tuple[str, ...]:
    told = []
    if len(job.text) > ENGINES_READ_CHARS:
        told.append(
            f"Engines read the first {ENGINES_READ_CHARS} characters of the query; the rest was not sent."
        )
    loosened = [attempt.engine.name for attempt in attempts if attempt.loosened]
    if loosened:
        told.append(
            f"{', '.join(loosened)} found nothing for the exact query and shows rows for a looser one."
        )
    return tuple(told)


def _raise_if_ours(attempts: Sequence[EngineQuery]) -> None:
    """Where no engine could be asked at all, that is our fault, and no answer."""
    found = {attempt.error for attempt in attempts}
    if found == {"busy"}:
        wait_s = math.ceil(min(attempt.waits_s for attempt in attempts))
        raise errors.OverloadedError(
            "Other searches are waiting for these engines.", retry_after_s=max(1, wait_s)
        )
    if found <= {"browser_failed", "busy"}:
        raise errors.BrowserFailedError(
            "The browser that asks the engines failed.",
            next_step="Try again; `search-mcp doctor` may say more.",
        )

"""Search with several engines at once and merge their results."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType

from browsers.client import Browsers
from browsers.errors import BrowsersError
from browsers.model import Tier
from scraper import errors
from scraper.caching import HOUR_S, LoadRequest, ReadThrough, StoreLookup
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.coordination.state import SharedState
from scraper.engines.model import CATEGORIES, SOURCE_CATEGORIES, Engine, SearchAnswer, SearchQuery, SearchResult
from scraper.engines.request_builder import MAX_QUERY_CHARS as ENGINE_QUERY_CHARS
from scraper.search import argument_validation, fusion
from scraper.search.argument_validation import SearchRequest
from scraper.search.engine_query import EngineQueryResult, EngineQueryRunner
from scraper.search.engine_throttle import BLOCKING_REASONS, CircuitBreakers, describe_route, open_engine_throttle
from scraper.search.fusion import MAX_RESULT_AGE, EngineRanking, MergedResult, ResultFilters
from scraper.settings import Settings
from scraper.store.protocols import CacheScope
from scraper.store.search_cache import SearchCache
from scraper.workers import WorkerPool

ENGINE_DEADLINE_S = 10.0
"""Seconds. Deadline of each engine after the start of the browser. One that hangs delays the search, but no more."""
_MERGE_RESERVE_S = 0.3
_PARTIAL_AGE_S = 3_600.0
"""Seconds. Default age limit of an answer without results, or in which an engine failed."""
_TEMPORARY_AGE_S = 60.0
"""Seconds. Default age limit of an answer that a new search may improve: the shortest cooldown."""
_TEMPORARY_ERRORS = frozenset({"busy", "browser_failed", "timeout", "unreachable", "no_network"})
"""Errors of engines after which the default age limit is `_TEMPORARY_AGE_S`."""


class Searcher:
    """Query engines and merge their results."""

    def __init__(
        self,
        browsers: Browsers,
        workers: WorkerPool,
        searches: SearchCache,
        settings: Settings,
        *,
        engines: Mapping[str, Engine],
        default_engines: Sequence[str],
        sources: Mapping[str, Engine] | None = None,
        shared: SharedState | None = None,
    ) -> None:
        """Create the service; `shared` is None if there are no other servers.

        `sources` are queried for their categories, or by name.
        """
        self._sources = sources or {}
        self.engines = (*engines, *self._sources)
        """Names that a request may use."""
        self._browsers = browsers
        self._engines = {**engines, **self._sources}
        self._default_engines = default_engines
        self._searches = searches
        self._language = settings.language
        self._default_age_s = settings.cache_ttl_h * HOUR_S
        self._route = describe_route(settings)
        shared = shared or SharedState()
        breakers = CircuitBreakers(shared.cooldowns(searches), self._route)
        self._contact = settings.contact or ""
        throttle = open_engine_throttle(settings, shared)
        self._runner = EngineQueryRunner(browsers, workers, breakers, throttle, shared.limits)
        self._service: ReadThrough[SearchAnswer] = ReadThrough(lambda answer: replace(answer, cached=True))

    @property
    def in_flight(self) -> int:
        """Number of searches in flight."""
        return self._service.in_flight

    def start_browser(self) -> None:
        """Start the browser in advance: a caller that lists the engines will search soon."""
        self._browsers.start_soon(Tier.FULL)

    async def close(self) -> None:
        """Cancel the searches in flight."""
        await self._service.close()

    async def search(self, request: SearchRequest, *, progress: ProgressCallback | None = None) -> SearchAnswer:
        """Return merged results, from the cache if they are fresh; engines that failed are in `errors` of the answer.

        Raises:
            InvalidArgumentError: An argument is not valid; the message names it.
            OverloadedError: Every engine is busy with other searches.
            BrowserFailedError: There is no browser to query with.
        """
        search = self._parse(request)
        scope = CacheScope(principal=request.principal, language=self._language)
        # A search in flight continues past the deadline of its first caller while another one waits for it.
        load: LoadRequest[SearchAnswer] = LoadRequest(
            (request.principal, search.key),
            run=lambda _: self._load(search, scope, request.deadline_s, progress or ignore_progress),
            find=lambda: self._find_stored(search, scope, request.cache.max_age_s),
        )
        return await self._service.read(load, request.cache)

    def _parse(self, request: SearchRequest) -> _Search:
        category = argument_validation.check_choice("category", request.category, CATEGORIES)
        engines = argument_validation.parse_engines(request.engines, self._engines, self._select_defaults(category))
        return _Search(
            self._route,
            argument_validation.parse_query(request.query),
            tuple(engine.name for engine in engines),
            argument_validation.check_range("max_results", request.max_results, 1, argument_validation.MAX_RESULTS),
            ResultFilters(
                argument_validation.check_choice("freshness", request.freshness, MAX_RESULT_AGE),
                argument_validation.parse_domains("include_domains", request.include_domains),
                argument_validation.parse_domains("exclude_domains", request.exclude_domains),
                category,
                request.include_text or None,
                request.exclude_text or None,
            ),
        )

    def _select_defaults(self, category: str | None) -> tuple[str, ...]:
        """Return the sources of a source category, if there are any; else the search engines and sources."""
        members = (source for source in self._sources.values() if category and source.category == category)
        sources = tuple(source.name for source in members if not source.is_by_name)
        return sources if category in SOURCE_CATEGORIES and sources else (*self._default_engines, *sources)

    def _list_alternatives(self, search: _Search) -> list[str]:
        """Return other sources of the category, or of the categories of the queried sources, else other engines."""
        others = [engine for name, engine in self._engines.items() if name not in search.engines]
        queried = {self._engines[name].category for name in search.engines}
        categories = {search.filters.category} if search.filters.category or None in queried else queried
        own = [engine for engine in others if engine.is_source and engine.category in categories]
        own.sort(key=lambda engine: engine.is_by_name)
        return [engine.name for engine in own] or [engine.name for engine in others if not engine.is_source]

    async def _find_stored(
        self, search: _Search, scope: CacheScope, max_age_s: float | None
    ) -> StoreLookup[SearchAnswer]:
        limit_s = self._default_age_s if max_age_s is None else max_age_s
        answer = await self._searches.get(search.key, scope=scope, max_age_s=limit_s)
        if answer is None or answer.retrieved_at is None:
            return StoreLookup()
        age_s = (datetime.now(UTC) - answer.retrieved_at).total_seconds()
        if max_age_s is None and age_s > _default_age_limit_s(answer, search.max_results):
            return StoreLookup()
        return StoreLookup(fresh=replace(answer, cached=True))

    async def _load(
        self, search: _Search, scope: CacheScope, limit_s: float, progress: ProgressCallback
    ) -> SearchAnswer:
        results = await self._query_all(search, scope.principal, Deadline.within(limit_s), progress)
        _raise_if_all_failed_here(results)
        now = datetime.now(UTC)
        rankings = [EngineRanking(one.engine.name, one.engine.family, one.results) for one in results]
        accepted, dropped = search.filters.apply(fusion.fuse_rankings(rankings), now)
        # Duplicates are merged after filtering: an accepted result must not be merged into a rejected one.
        merged = fusion.merge_duplicates(accepted, search.text)[: search.max_results]
        query_words = frozenset(fusion.extract_content_words(search.text))
        warnings = []
        if len(search.text) > ENGINE_QUERY_CHARS:
            warnings.append(
                f"Engines read the first {ENGINE_QUERY_CHARS} characters of the query; the rest was not sent."
            )
        relaxed = [result.engine.name for result in results if result.is_relaxed]
        if relaxed:
            warnings.append(
                f"{', '.join(relaxed)} found nothing for the exact query and shows results for a less exact one."
            )
        answer = SearchAnswer(
            query=search.text,
            results=tuple(_build_result(one, query_words) for one in merged),
            engines=tuple(one.engine.name for one in results),
            errors=MappingProxyType({one.engine.name: one.error for one in results if one.error}),
            hint=_build_hint(results, len(merged), dropped, self._list_alternatives(search), search.max_results),
            retrieved_at=now,
            warnings=tuple(warnings),
        )
        if any(result.error is None or result.results for result in results):
            self._searches.put(search.key, answer, scope=scope)
        return answer

    async def _query_all(
        self, search: _Search, principal: str, deadline: Deadline, progress: ProgressCallback
    ) -> list[EngineQueryResult]:
        query = SearchQuery(
            search.text,
            freshness=search.filters.freshness,
            include_domains=search.filters.include_domains,
            exclude_domains=search.filters.exclude_domains,
            category=search.filters.category,
            language=self._language,
            contact=self._contact,
        )
        rows = math.ceil(search.max_results / len(search.engines))
        done = 0

        async def run(name: str) -> EngineQueryResult:
            nonlocal done
            engine = self._engines[name]
            is_started = await self._start_browser(engine.build_request(query, datetime.now(UTC)).tier, deadline)
            limit_s = min(ENGINE_DEADLINE_S, deadline.left_s())
            limit_s -= min(_MERGE_RESERVE_S, limit_s / 10)
            result = (
                await self._runner.run(engine, query, rows=rows, principal=principal, deadline_s=limit_s)
                if is_started
                else EngineQueryResult(engine, error="browser_failed")
            )
            done += 1
            progress(done, len(search.engines), f"{name}: {result.error or len(result.results)}")
            return result

        progress(0, len(search.engines), "asking " + ", ".join(search.engines))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(name)) for name in search.engines]
        return [task.result() for task in tasks]

    async def _start_browser(self, tier: Tier, deadline: Deadline) -> bool:
        """Return False if the browser of a tier does not start before the deadline; visits report other failures."""
        try:
            async with asyncio.timeout(deadline.left_s()):
                await self._browsers.start(tier)
        except TimeoutError:
            return False
        except BrowsersError:
            pass
        return True


@dataclass(frozen=True, slots=True)
class _Search:
    route: str
    text: str
    engines: tuple[str, ...]
    max_results: int
    filters: ResultFilters

    @property
    def key(self) -> str:
        """Key of the stored answer."""
        parts = [self.route, self.text, sorted(self.engines), self.max_results, astuple(self.filters)]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def _default_age_limit_s(answer: SearchAnswer, max_results: int) -> float:
    if answer.results and not answer.errors:
        return math.inf
    has_few = len(answer.results) < min(_FEW_RESULTS, max_results)
    # The hint of an answer with few results advises to try again: that must not return the same answer.
    if _TEMPORARY_ERRORS.intersection(answer.errors.values()) or (answer.errors and has_few):
        return _TEMPORARY_AGE_S
    return _PARTIAL_AGE_S


_FEW_RESULTS = 3
"""Results. With fewer, the answer contains a hint."""


def _raise_if_all_failed_here(engine_results: Sequence[EngineQueryResult]) -> None:
    """Raise an error if every engine failed because of this server and not because of the engine."""
    found = {result.error for result in engine_results}
    if found == {"busy"}:
        wait_s = math.ceil(min(result.expected_wait_s for result in engine_results))
        raise errors.OverloadedError("Other searches are waiting for these engines.", retry_after_s=max(1, wait_s))
    if found == {"no_network"}:
        raise errors.OfflineError(
            "No search engine can be reached: this machine has no network, or its upstream proxy does not answer.",
            next_step="Check the network connection of this machine, then try again.",
        )
    if found <= {"browser_failed", "busy"}:
        raise errors.BrowserFailedError(
            "The browser that queries the engines failed or did not start in time.",
            next_step="Try again; `search-mcp doctor` may say more.",
        )


def _build_hint(
    engine_results: Sequence[EngineQueryResult],
    count: int,
    dropped: Mapping[str, int],
    other_engines: Sequence[str],
    max_results: int,
) -> str | None:
    """Return advice for `count` results if those are few or none, and name engines in a cooldown; None without both.

    `dropped` are the numbers of results that each filter removed; `other_engines` were not queried.
    """
    has_few = count < min(_FEW_RESULTS, max_results)
    others = "[" + ", ".join(f'"{name}"' for name in other_engines[:3]) + "]"
    parts = []
    if dropped and has_few:
        drops = ", ".join(f"{name} dropped {number}" for name, number in dropped.items())
        left = f"{count} left" if count else "nothing is left"
        parts.append(f"Filters: {drops}; {left}. Widen or leave out {' or '.join(dropped)}.")
    failed = [result for result in engine_results if result.error and not result.results]
    cooldowns = [
        f"{one.engine.name} for {max(1, round(one.cooldown_s / 60))} min" for one in failed if one.cooldown_s > 0
    ]
    if cooldowns:
        parts.append(f"Paused after a block: {', '.join(cooldowns)}.")
    if failed and has_few:
        parts.append(_advise_after_failures(failed, others if other_engines else ""))
    elif not count and not dropped:
        or_others = f", or engines={others}" if other_engines else ""
        parts.append(f"Nothing found: try fewer or other words{or_others}.")
    return " ".join(parts) or None


def _advise_after_failures(failed: Sequence[EngineQueryResult], others: str) -> str:
    if not others:
        return "Try again in some minutes."
    if any(result.error in BLOCKING_REASONS for result in failed):
        return f"Try engines={others}, or wait some minutes."
    if all(result.error == "layout_changed" for result in failed):
        # Another try returns the same page to the same parser.
        return f"Try engines={others}."
    return f"Try again, or engines={others}."


def _build_result(merged: MergedResult, query_words: frozenset[str]) -> SearchResult:
    return SearchResult(
        title=merged.title,
        url=merged.best.url,
        snippet=merged.select_snippet(query_words),
        engines=merged.engines,
        score=round(merged.score, 6),
        date=next((result.date for _, result in merged.rows if result.date is not None), None),
        source=next((result.source for _, result in merged.rows if result.source), None),
        also=merged.also,
        facts=merged.facts,
    )

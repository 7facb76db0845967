"""Build the answer to a search: merge and filter results, add advice and warnings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from scraper import errors
from scraper.engines.model import SearchAnswer, SearchResult
from scraper.engines.request_builder import MAX_QUERY_CHARS as ENGINE_QUERY_CHARS
from scraper.search.engine_query import EngineQueryResult
from scraper.search.engine_throttle import BLOCKING_REASONS
from scraper.search.filters import ResultFilters
from scraper.search.fusion import EngineRanking, MergedResult, fuse_rankings, merge_duplicates
from scraper.search.query_terms import extract_content_words

FEW_RESULTS = 3
"""Results. With fewer, the answer contains a hint."""
_SCORE_DIGITS = 6
"""Decimals of a score."""


def build_answer(
    text: str,
    engine_results: Sequence[EngineQueryResult],
    filters: ResultFilters,
    *,
    max_results: int,
    other_engines: Sequence[str],
    now: datetime,
) -> SearchAnswer:
    """Return the answer to a query; the hint may name the engines that were not queried."""
    rankings = [EngineRanking(one.engine.name, one.engine.family, one.results) for one in engine_results]
    query_words = frozenset(extract_content_words(text))
    accepted, dropped = filters.apply(fuse_rankings(rankings), now)
    # Duplicates are merged after filtering: an accepted result must not be merged into a rejected one.
    merged = merge_duplicates(accepted, text)
    results = tuple(_build_result(one, query_words) for one in merged[:max_results])
    return SearchAnswer(
        query=text,
        results=results,
        engines=tuple(one.engine.name for one in engine_results),
        errors=MappingProxyType({one.engine.name: one.error for one in engine_results if one.error}),
        hint=_build_hint(engine_results, len(results), dropped, other_engines, max_results),
        retrieved_at=now,
        warnings=_build_warnings(text, engine_results),
    )


def raise_if_all_failed_here(engine_results: Sequence[EngineQueryResult]) -> None:
    """Raise an error if every engine failed because of this server and not because of the engine.

    Raises:
        OverloadedError: Other searches are waiting for all of these engines.
        OfflineError: This machine has no network.
        BrowserFailedError: The browser failed.
    """
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
    """Return advice for few or no results, and name engines in a cooldown; None if neither applies.

    Args:
        engine_results: Results of the engines that were queried.
        count: Number of results in the answer.
        dropped: Number of results that each filter removed.
        other_engines: Engines that were not queried.
        max_results: Requested number of results.
    """
    has_few = count < min(FEW_RESULTS, max_results)
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
    """Return the next step after engines failed; `others` are engines that were not queried."""
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
        score=round(merged.score, _SCORE_DIGITS),
        date=next((result.date for _, result in merged.rows if result.date is not None), None),
        source=next((result.source for _, result in merged.rows if result.source), None),
        also=merged.also,
        facts=merged.facts,
    )


def _build_warnings(text: str, engine_results: Sequence[EngineQueryResult]) -> tuple[str, ...]:
    warnings = []
    if len(text) > ENGINE_QUERY_CHARS:
        warnings.append(f"Engines read the first {ENGINE_QUERY_CHARS} characters of the query; the rest was not sent.")
    relaxed = [result.engine.name for result in engine_results if result.is_relaxed]
    if relaxed:
        warnings.append(
            f"{', '.join(relaxed)} found nothing for the exact query and shows results for a less exact one."
        )
    return tuple(warnings)

"""Answer a question from several pages: search and read the best pages, or compare pages by URL."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.engines.model import SearchAnswer
from scraper.errors import InvalidArgumentError, ScraperError
from scraper.model import CachePolicy, Reading, ReadRequest
from scraper.reading.batch import PageOutcome, read_with_replacements
from scraper.render import research_report as render
from scraper.render.research_report import PAGE_TOKENS, ResearchReport
from scraper.retrieval import passage_selection
from scraper.retrieval.model import Excerpt, PageExcerpts
from scraper.retrieval.passage_selection import LINK_TOKENS, MAX_CHARACTERS, MIN_PAGE_SHARE, PassageSelection
from scraper.search.argument_validation import SearchRequest
from scraper.text import token_estimate
from scraper.text.markdown_structure import cut_markdown
from scraper.workers import WorkerFailedError, WorkerPool

if TYPE_CHECKING:
    # The list of tools is built before anything heavy is imported.
    from scraper.reading.fetcher import Fetcher
    from scraper.search.searcher import Searcher

log = logging.getLogger(__name__)

MAX_DEPTH = 8
MIN_COMPARED_URLS, MAX_COMPARED_URLS = 2, 5
_SELECT_LIMIT_S = 5.0
"""CPU seconds. Selection from eight long pages takes a tenth of a second; slower input is hostile."""
_SELECT_RESERVE_S = 2.0
_SELECT_RESERVE_SHARE = 0.1
"""Upper bound of `_SELECT_RESERVE_S` as a share of the time left."""
_SEARCH_SHARE = 0.4
"""Share of a short deadline for the search. With the usual 55 s, a search never takes that long."""
PASSAGE_TOKENS = 400
"""Default tokens of passages for each page. They are divided among the pages by the worth of their sentences."""
_COMPARE_LEAST_SHARE = 0.75
"""Minimum share of an equal part of the budget for each compared page."""


@dataclass(frozen=True, slots=True)
class ResearchQuery:
    """A question and the options for answering it."""

    question: str
    depth: int = 3
    """Number of pages to read."""
    engines: Sequence[str] | None = None
    fetch: bool = True
    """True to read pages; without them the answer is a list of sources."""
    cache: CachePolicy = field(default_factory=CachePolicy)
    """Policy for stored searches and pages."""
    tokens: int | None = None
    """Tokens of all passages; None for `PASSAGE_TOKENS` for each page."""


class Researcher:
    """Answer questions with sources and excerpts."""

    def __init__(self, searcher: Searcher, fetcher: Fetcher, workers: WorkerPool) -> None:
        """Search, fetch and rank with these services."""
        self._searcher = searcher
        self._fetcher = fetcher
        self._workers = workers

    async def research(
        self,
        query: ResearchQuery,
        *,
        budget: int,
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
    ) -> ResearchReport:
        """Return sources and excerpts within `budget` tokens; at the deadline, those found so far.

        Raises:
            InvalidArgumentError: The question or the name of an engine is not valid.
            OverloadedError: Every engine is busy with other searches.
            BrowserFailedError: There is no browser to query with.
        """
        deadline, progress = Deadline.within(deadline_s), progress or ignore_progress
        steps = 1 + query.depth if query.fetch else 1
        progress(0, steps, "searching")
        answer = await self._search(query, principal, deadline.left_s() * _SEARCH_SHARE)
        if not query.fetch or not answer.results:
            progress(steps, steps, "done")
            return ResearchReport(query.question, answer)
        outcomes = await self._read(query, answer, principal, deadline, progress)
        left = max(0, budget - render.sources_tokens(answer) - PAGE_TOKENS * len(outcomes))
        left = min(left, query.tokens or PASSAGE_TOKENS * len(outcomes))
        pages = await add_excerpts(
            self._workers, outcomes, query.question, left, deadline, least_share=MIN_PAGE_SHARE, skips_duplicates=True
        )
        progress(steps, steps, "done")
        return ResearchReport(query.question, answer, pages)

    async def _search(self, query: ResearchQuery, principal: str, limit_s: float) -> SearchAnswer:
        request = SearchRequest(
            query.question,
            engines=query.engines,
            # With reserves for pages that fail.
            max_results=max(2 * query.depth, query.depth + 3),
            cache=query.cache,
            principal=principal,
            deadline_s=limit_s,
        )
        try:
            return await self._searcher.search(request)
        except InvalidArgumentError as error:
            if error.target != "query":
                raise
            message = str(error).replace("query", "question", 1)
            raise InvalidArgumentError(message, target="question", next_step=error.next_step) from None

    async def _read(
        self, query: ResearchQuery, answer: SearchAnswer, principal: str, deadline: Deadline, progress: ProgressCallback
    ) -> list[tuple[str, PageOutcome]]:
        async def read(url: str, left_s: float) -> Reading:
            request = ReadRequest(url, cache=query.cache, principal=principal, deadline_s=left_s)
            return await self._fetcher.fetch(request)

        def on_read(count: int, host: str) -> None:
            progress(1 + count, 1 + query.depth, f"read {host}")

        reserve_s = min(_SELECT_RESERVE_S, deadline.left_s() * _SELECT_RESERVE_SHARE)
        limit = Deadline.within(deadline.left_s(reserve_s=reserve_s))
        urls = list(dict.fromkeys(result.url for result in answer.results))
        outcomes = await read_with_replacements(read, urls, query.depth, limit, on_read=on_read)
        # A late page and its replacement may both arrive.
        surplus = [url for url in urls if isinstance(outcomes.get(url), Reading)][query.depth :]
        return [(url, outcomes[url]) for url in urls if url in outcomes and url not in surplus]


def check_compared_urls(urls: Sequence[str]) -> tuple[str, ...]:
    """Return the URLs of a comparison without repetitions.

    Raises:
        InvalidArgumentError: There are too few or too many; the message names the right tool.
    """
    unique = tuple(dict.fromkeys(url.strip() for url in urls))
    if len(unique) < MIN_COMPARED_URLS:
        count = f"{len(urls)} times the same" if len(urls) > 1 else str(len(urls))
        raise InvalidArgumentError(
            f"compare takes {MIN_COMPARED_URLS} to {MAX_COMPARED_URLS} different URLs, not {count}.",
            target="urls",
            next_step="To read one page use `fetch`.",
        )
    if len(unique) > MAX_COMPARED_URLS:
        raise InvalidArgumentError(
            f"compare takes {MIN_COMPARED_URLS} to {MAX_COMPARED_URLS} URLs, not {len(unique)}.",
            target="urls",
            next_step="To read more pages use `fetch_batch`.",
        )
    return unique


async def find_excerpts_of_pages(
    fetcher: Fetcher,
    workers: WorkerPool,
    question: str,
    urls: Sequence[str],
    *,
    budget: int,
    principal: str = "local",
    deadline_s: float = 55.0,
    progress: ProgressCallback | None = None,
) -> tuple[PageExcerpts, ...]:
    """Return each page with excerpts for the question, or with the error of reading it.

    Raises:
        InvalidArgumentError: There are too few or too many URLs.
    """
    unique = check_compared_urls(urls)
    deadline = Deadline.within(deadline_s)
    reserve_s = min(_SELECT_RESERVE_S, deadline_s * _SELECT_RESERVE_SHARE)
    outcomes = await fetcher.fetch_batch(
        unique, principal=principal, deadline_s=deadline.left_s(reserve_s=reserve_s), progress=progress
    )
    left = max(0, min(budget - PAGE_TOKENS * len(unique), PASSAGE_TOKENS * len(unique)))
    pages = list(zip(unique, outcomes, strict=True))
    return await add_excerpts(
        workers, pages, question, left, deadline, least_share=_COMPARE_LEAST_SHARE, skips_duplicates=False
    )


async def add_excerpts(
    workers: WorkerPool,
    outcomes: Sequence[tuple[str, Reading | ScraperError]],
    question: str,
    budget: int,
    deadline: Deadline,
    *,
    least_share: float,
    skips_duplicates: bool,
    link_tokens: int = LINK_TOKENS,
) -> tuple[PageExcerpts, ...]:
    """Add excerpts to the pages that were read, together within `budget` tokens, and return all pages in order.

    The selection runs in a worker. If it fails, the excerpts are the beginnings of the pages. Each page gets at least
    `least_share` of an equal part of the budget, or nothing if it has the text of an earlier page and
    `skips_duplicates` is set. `link_tokens` is the cost of an excerpt in addition to its text.
    """
    readings = {at: outcome for at, (_, outcome) in enumerate(outcomes) if isinstance(outcome, Reading)}
    read, texts = list(readings), [one.document.markdown[:MAX_CHARACTERS] for one in readings.values()]
    selection = PassageSelection((), ())
    if texts:
        try:
            async with asyncio.timeout(deadline.left_s()):
                selection = await workers.run(
                    passage_selection.select_distinct_passages,
                    texts,
                    question,
                    budget,
                    least_share,
                    skips_duplicates,
                    link_tokens,
                    limit_s=_SELECT_LIMIT_S,
                )
        except (WorkerFailedError, TimeoutError) as error:
            log.warning("no passages were selected: %s", error)
            selection = _select_beginnings(texts, budget)
    pages = [PageExcerpts(url, outcome) for url, outcome in outcomes]
    for at, excerpts, same_as in zip(read, selection.excerpts, selection.same_as, strict=True):
        pages[at] = replace(pages[at], excerpts=excerpts, same_as=None if same_as is None else read[same_as])
    return tuple(pages)


def _select_beginnings(texts: list[str], budget: int) -> PassageSelection:
    share = budget // len(texts)
    cuts = [cut_markdown(text, 0, token_estimate.fit_prefix(text, 0, share), keep_whole=0) for text in texts]
    return PassageSelection(
        tuple((Excerpt(piece.shown.strip(), 0, 0.0, end=piece.end),) if piece.text.strip() else () for piece in cuts),
        (None,) * len(texts),
    )

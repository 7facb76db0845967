"""`research`: a search, the best of its pages read at once, and what of them bears on the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from scraper.deadline import Deadline
from scraper.errors import InvalidArgumentError
from scraper.model import Reading, ResearchReport, SearchAnswer
from scraper.progress import ProgressCallback
from scraper.reading.batch import Outcome
from scraper.render import research as render
from scraper.retrieval.passages import LEAST_SHARE
from scraper.search.hedged_reads import read_best
from scraper.search.page_excerpts import RESERVE_S, excerpted

if TYPE_CHECKING:
    # The list of tools is made before anything heavy is loaded.
    from scraper.reading.fetcher import Fetcher
    from scraper.workers import WorkerPool

MAX_DEPTH = 8
_SEARCH_SHARE = 0.4
"""Of a short deadline; the rest is for reading. Of the usual 55 s a search never takes as much."""
_RESERVE_SHARE = 0.1


class SearchFunction(Protocol):
    """The part of `Searcher` that is used."""

    async def search(
        self,
        text: str,
        *,
        engines: Sequence[str] | None = None,
        max_results: int = 10,
        use_cache: bool = True,
        max_age_s: float | None = None,
        principal: str = "local",
        deadline_s: float = 10.0,
    ) -> SearchAnswer: ...


@dataclass(frozen=True, slots=True)
class ResearchQuery:
    """What is to be found out, and how."""

    question: str
    depth: int = 3
    """How many pages to read."""
    engines: Sequence[str] | None = None
    fetch: bool = True
    """False: only the sources are wanted."""
    use_cache: bool = True
    max_age_s: float | None = None
    """Of kept searches and kept pages alike."""


class Researcher:
    """Answers questions with sources and what they say."""

    def __init__(self, searcher: SearchFunction, fetcher: Fetcher, workers: WorkerPool) -> None:
        self._searcher = searcher
        self._fetcher = fetcher
        self._workers = workers

    async def research(
        self,
        inquiry: ResearchQuery,
        *,
        budget: int,
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
    ) -> ResearchReport:
        """Sources and excerpts that together cost at most `budget` tokens; at the deadline, what there is.

        Raises:
            BadArgument: the question or an engine's name makes no sense.
            Overloaded, Broken: nothing could be asked.
        """
        deadline = Deadline.within(deadline_s)
        told = _Told(progress, inquiry.depth)
        told(0, "searching")
        answer = await self._search(inquiry, principal, deadline.left_s() * _SEARCH_SHARE)
        if not inquiry.fetch or not answer.results:
            return ResearchReport(inquiry.question, answer)
        outcomes = await self._read(inquiry, answer, principal, deadline, told)
        left = budget - render.sources_tokens(answer) - render.PAGE_TOKENS * len(outcomes)
        pages = await excerpted(
            self._workers,
            outcomes,
            inquiry.question,
            max(0, left),
            deadline,
            least_share=LEAST_SHARE,
            once=True,
        )
        return ResearchReport(inquiry.question, answer, pages)

    async def _search(self, inquiry: ResearchQuery, principal: str, limit_s: float) -> SearchAnswer:
        try:
            return await self._searcher.search(
                inquiry.question,
                engines=inquiry.engines,
                max_results=spare(inquiry.depth),
                use_cache=inquiry.use_cache,
                max_age_s=inquiry.max_age_s,
                principal=principal,
                deadline_s=limit_s,
            )
        except InvalidArgumentError as error:
            if error.target != "query":
                raise
            told = str(error).replace("query", "question", 1)
            raise InvalidArgumentError(told, target="question", next_step=error.next_step) from None

    async def _read(
        self, inquiry: ResearchQuery, answer: SearchAnswer, principal: str, deadline: Deadline, told: _Told
    ) -> list[tuple[str, Outcome]]:
        """The outcomes of the pages that were tried, in the order of the results, so many read as wanted."""

        async def read(url: str, left_s: float) -> Reading:
            return await self._fetcher.fetch(
                url,
                force_refresh=not inquiry.use_cache,
                max_age_s=inquiry.max_age_s,
                principal=principal,
                deadline_s=left_s,
            )

        reserve_s = min(RESERVE_S, deadline.left_s() * _RESERVE_SHARE)
        urls = list(dict.fromkeys(result.url for result in answer.results))
        outcomes = await read_best(
            read,
            urls,
            inquiry.depth,
            Deadline.within(deadline.left_s(reserve_s=reserve_s)),
            told=lambda count, host: told(count, f"read {host}"),
        )
        return _first_read([(url, outcomes[url]) for url in urls if url in outcomes], inquiry.depth)


def spare(depth: int) -> int:
    """How many results to ask for, so that others can stand in for pages that fail."""
    return max(2 * depth, depth + 3)


def _first_read(outcomes: list[tuple[str, Outcome]], depth: int) -> list[tuple[str, Outcome]]:
    """Without what came in beyond the depth, when a late page and its rival arrive together."""
    kept: list[tuple[str, Outcome]] = []
    for url, outcome in outcomes:
        if not isinstance(outcome, Reading) or depth > 0:
            kept.append((url, outcome))
        depth -= isinstance(outcome, Reading)
    return kept


class _Told:
    """Progress in steps: the search is one, each page another."""

    def __init__(self, progress: ProgressCallback | None, pages: int) -> None:
        self._progress = progress
        self._pages = pages

    def __call__(self, read: int, message: str) -> None:
        if self._progress is not None:
            done = 0 if message == "searching" else 1 + read
            self._progress(done, 1 + self._pages, message)

"""`compare`: two to five pages, and what of each bears on one question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scraper.deadline import Deadline
from scraper.errors import InvalidArgumentError
from scraper.model import ReadPage
from scraper.progress import ProgressCallback
from scraper.render.research import PAGE_TOKENS
from scraper.search.page_excerpts import RESERVE_S, excerpted

if TYPE_CHECKING:
    # The list of tools is made before anything heavy is loaded.
    from scraper.reading.fetcher import Fetcher
    from scraper.workers import WorkerPool

MIN_URLS, MAX_URLS = 2, 5
_LEAST_SHARE = 0.75
"""Of an equal share of the budget, for each page: both sides of a comparison must have their say."""
_RESERVE_SHARE = 0.1


def checked(urls: Sequence[str]) -> tuple[str, ...]:
    """The URLs, each once.

    Raises:
        BadArgument: too few or too many; the sentence names the tool for it.
    """
    unique = tuple(dict.fromkeys(url.strip() for url in urls))
    if len(unique) < MIN_URLS:
        given = f"{len(urls)} times the same" if len(urls) > 1 else str(len(urls))
        raise InvalidArgumentError(
            f"compare takes {MIN_URLS} to {MAX_URLS} different URLs, not {given}.",
            target="urls",
            next_step="To read one page use `fetch`.",
        )
    if len(unique) > MAX_URLS:
        raise InvalidArgumentError(
            f"compare takes {MIN_URLS} to {MAX_URLS} URLs, not {len(unique)}.",
            target="urls",
            next_step="To read more pages use `fetch_batch`.",
        )
    return unique


async def compare(
    fetcher: Fetcher,
    workers: WorkerPool,
    question: str,
    urls: Sequence[str],
    *,
    budget: int,
    principal: str = "local",
    deadline_s: float = 55.0,
    progress: ProgressCallback | None = None,
) -> tuple[ReadPage, ...]:
    """Each page with its excerpts, or with the error that reading it came to.

    Raises:
        BadArgument: too few or too many URLs.
    """
    wanted = checked(urls)
    deadline = Deadline.within(deadline_s)
    reserve_s = min(RESERVE_S, deadline_s * _RESERVE_SHARE)
    outcomes = await fetcher.fetch_batch(
        wanted, principal=principal, deadline_s=deadline.left_s(reserve_s=reserve_s), progress=progress
    )
    left = max(0, budget - PAGE_TOKENS * len(wanted))
    pages = list(zip(wanted, outcomes, strict=True))
    return await excerpted(workers, pages, question, left, deadline, least_share=_LEAST_SHARE, once=False)

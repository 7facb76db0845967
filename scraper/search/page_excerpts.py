"""Pages that were read become pages with excerpts, in a worker; where that fails, their beginnings serve."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from scraper.deadline import Deadline
from scraper.errors import ScraperError
from scraper.extract.text import token_estimate
from scraper.model import Excerpt, Reading, ReadPage
from scraper.render.paging import cut
from scraper.retrieval.passages import MAX_CHARACTERS, PassageSelection, select_distinct_passages
from scraper.workers import WorkerFailedError, WorkerPool

log = logging.getLogger(__name__)

LIMIT_S = 5.0
"""Eight long pages take a tenth of a second; what takes longer was made to."""
RESERVE_S = 2.0
"""To be kept back from the deadline for this."""


async def excerpted(
    workers: WorkerPool,
    outcomes: Sequence[tuple[str, Reading | ScraperError]],
    question: str,
    budget: int,
    deadline: Deadline,
    *,
    least_share: float,
    once: bool,
) -> tuple[ReadPage, ...]:
    """The pages in their order, those that were read with excerpts; `once`: a copy of an earlier has none."""
    read = [place for place, (_, outcome) in enumerate(outcomes) if isinstance(outcome, Reading)]
    texts = [_text(outcomes[place][1]) for place in read]
    choice = (
        await _chosen(workers, texts, question, budget, least_share, once, deadline)
        if texts
        else PassageSelection((), ())
    )
    pages = [ReadPage(url, outcome) for url, outcome in outcomes]
    for place, excerpts, same_as in zip(read, choice.excerpts, choice.same_as, strict=True):
        url, outcome = outcomes[place]
        pages[place] = ReadPage(url, outcome, excerpts, None if same_as is None else read[same_as])
    return tuple(pages)


def _text(outcome: Reading | ScraperError) -> str:
    return outcome.document.markdown[:MAX_CHARACTERS] if isinstance(outcome, Reading) else ""


async def _chosen(
    workers: WorkerPool,
    texts: list[str],
    question: str,
    budget: int,
    least_share: float,
    once: bool,
    deadline: Deadline,
) -> PassageSelection:
    limit_s = min(LIMIT_S, deadline.left_s())
    try:
        async with asyncio.timeout(deadline.left_s()):
            return await workers.run(
                select_distinct_passages, texts, question, budget, least_share, once, limit_s=limit_s
            )
    except (WorkerFailedError, TimeoutError) as error:
        log.warning("no passages were chosen: %s", error)
        return _beginnings(texts, budget)


def _beginnings(texts: list[str], budget: int) -> PassageSelection:
    """Each page's beginning, all of one length."""
    share = budget // len(texts)
    cuts = [cut(text, 0, token_estimate.fit_prefix(text, 0, share), keep_whole=0) for text in texts]
    return PassageSelection(
        tuple((Excerpt(piece.shown, 0, 0.0, end=piece.end),) if piece.shown else () for piece in cuts),
        (None,) * len(texts),
    )

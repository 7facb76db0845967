"""What of several pages answers a question: one trip to a worker, copies first, then passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scraper.model import Excerpt
from scraper.retrieval.passages import spread
from scraper.retrieval.shingles import copies


@dataclass(frozen=True, slots=True)
class Selection:
    """For each text its excerpts, and the place of an earlier one that it is a copy of."""

    excerpts: tuple[tuple[Excerpt, ...], ...]
    same_as: tuple[int | None, ...]


def choose(texts: Sequence[str], question: str, budget: int, least_share: float, once: bool) -> Selection:
    """The excerpts of some Markdown texts within a budget of tokens; `once`: of copies only the first's.

    `least_share`: what each text gets at least, as a part of an equal share.
    """
    same_as = copies(texts)
    asked = [text for text, earlier in zip(texts, same_as, strict=True) if earlier is None or not once]
    chosen = iter(spread(asked, question, budget, least_share))
    return Selection(
        tuple(tuple(next(chosen)) if earlier is None or not once else () for earlier in same_as),
        tuple(same_as),
    )

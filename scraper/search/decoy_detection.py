"""Pages of well-formed rows that answer something else: what some engines give whom they take for a robot.

Measured on 8 such pages and 169 genuine ones of ten engines: all 8 are known, one genuine page (in Japanese)
is taken for one.
"""

from __future__ import annotations

from collections.abc import Sequence

from scraper.engines.model import EngineResult
from scraper.search.query_terms import content_words, words

MIN_WORDS = 3
"""Of shorter queries nothing can be told."""
MIN_ROWS = 3
MEAN_COVERAGE = 0.45
"""Decoys: .22 to .35 in the mean."""
HALF_COVERED = 0.3
"""Share of rows with half of the words, at most."""
FIRST_WORD_ONLY = 0.5
"""Share of rows about the first word alone, at least: weak but honest pages have few."""


def are_decoys(query: str, results: Sequence[EngineResult]) -> bool:
    """Whether the rows are about the query's first word and nothing else of it."""
    wanted = content_words(query)
    if len(wanted) < MIN_WORDS or len(results) < MIN_ROWS:
        return False
    covered = [_covered(wanted, row) for row in results]
    shares = [len(found) / len(wanted) for found in covered]
    count = len(results)
    first_only = sum(wanted[0] in found and len(found) / len(wanted) <= 1 / 3 for found in covered)
    return (
        sum(shares) / count < MEAN_COVERAGE
        and sum(share >= 0.5 for share in shares) / count <= HALF_COVERED
        and first_only / count >= FIRST_WORD_ONLY
    )


def _covered(wanted: Sequence[str], row: EngineResult) -> frozenset[str]:
    """The query's words that a row has, or has longer ones of: TopCV is an answer to `top` alone."""
    told = words(f"{row.title} {row.snippet} {row.url}")
    return frozenset(word for word in wanted if any(one.startswith(word) for one in told))

"""Test the shape parser on each engine with weights chosen on all other engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import product

from benchmarks.serp.pages import WITH_ROWS, SerpPage
from benchmarks.serp.score import ReadPage, ReadRow, Score, mean, score
from scraper.engines import result_page, row_parsers
from scraper.engines.result_page import results_from_rows
from scraper.engines.row_parsers import ShapeWeights

_NOW = datetime(2026, 11, 1, tzinfo=UTC)
_GRID = [
    ShapeWeights(heading=heading, text=text, title=title)
    for heading, text, title in product((1.0, 2.0, 3.0), (0.75, 1.5, 3.0), (0.25, 0.5))
]


def scores_by_left_out_engine(pages: Sequence[SerpPage]) -> Mapping[str, list[Score]]:
    """Return the scores of each engine's pages with weights chosen on the other engines."""
    by_engine: dict[str, list[list[Score]]] = {}
    for one in pages:
        if one.kind in WITH_ROWS and one.file.suffix != ".xml":
            by_engine.setdefault(one.engine, []).append(_under_all_weights(one))
    return {
        engine: [
            scores[_best([s for other in by_engine if other != engine for s in by_engine[other]])] for scores in own
        ]
        for engine, own in by_engine.items()
    }


def _under_all_weights(saved: SerpPage) -> list[Score]:
    read = result_page.build_result_page(saved.snapshot())
    groups = row_parsers.group_links(read) if read is not None else []
    known: dict[int, Score] = {}
    scores = []
    for weights in _GRID:
        picked = row_parsers.choose_group(groups, weights)
        if id(picked) not in known:
            rows = results_from_rows(row_parsers.organic_rows(picked), _NOW)
            given = tuple(ReadRow(row.title, row.url, row.snippet) for row in rows)
            known[id(picked)] = score(saved, ReadPage("ok", given))
        scores.append(known[id(picked)])
    return scores


def _best(others: Sequence[Sequence[Score]]) -> int:
    """Return the best weights for the other engines; of equal ones, those nearest to the defaults."""

    def merit(index: int) -> tuple[float, bool]:
        worth = mean(scores[index].recall + scores[index].precision for scores in others)
        return round(worth, 6), _GRID[index] == row_parsers.DEFAULT_WEIGHTS

    return max(range(len(_GRID)), key=merit)

"""Rows cut where a gap is wider than between words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scraper.extract.documents.pdf.layout_model import LayoutRow, TextRun
from scraper.extract.documents.pdf.rows import text_of_runs

_GAP = 0.75
"""Of the letters' size. Justified words stand up to .6 apart; cells of dense tables from .8 on."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a row without a wide gap."""

    runs: tuple[TextRun, ...]
    x0: float
    x1: float

    @property
    def text(self) -> str:
        """What it says."""
        return text_of_runs(self.runs)


@dataclass(frozen=True, slots=True)
class TextLine:
    """A row and its segments."""

    row: LayoutRow
    segments: tuple[Segment, ...]
    x0: float
    x1: float
    y0: float
    y1: float
    size: float

    @property
    def gaps(self) -> list[tuple[float, float]]:
        """The free stretches between its segments."""
        return [(a.x1, b.x0) for a, b in zip(self.segments, self.segments[1:], strict=False)]


def line_of(row: LayoutRow) -> TextLine:
    """The segments of a row."""
    groups: list[list[TextRun]] = []
    end = 0.0
    for run in row.runs:
        if groups and run.x0 - end <= _GAP * min(run.size, groups[-1][-1].size):
            groups[-1].append(run)
            end = max(end, run.x1)
        else:
            groups.append([run])
            end = run.x1
    segments = tuple(_segment(group) for group in groups)
    return TextLine(row, segments, row.x0, row.x1, row.y0, row.y1, row.size)


def _segment(runs: Sequence[TextRun]) -> Segment:
    return Segment(tuple(runs), runs[0].x0, max(run.x1 for run in runs))

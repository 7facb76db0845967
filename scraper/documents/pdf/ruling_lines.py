"""Find ruling lines of a page: drawn, typed as dashes, or edges of boxes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from scraper.documents.pdf.layout_model import RulingLine, TextRun

_MAX_LINES = 4_000
"""Lines and shapes. A page with more of them is a map or a drawing without tables."""

_MAX_LINE_WIDTH = 2.5
"""Points. A filled box that is no thicker is a line."""
_MIN_BOX_SIDE = 6.0
_TYPED_LINE = re.compile(r"\s*[-=_\u2014\u2500]{8,}\s*")

_Rules = tuple[RulingLine, ...]


@dataclass(frozen=True, slots=True)
class RulingLines:
    """Drawn lines, and the edges of boxes, each sorted by position."""

    across: _Rules = ()
    """Horizontal lines."""
    down: _Rules = ()
    """Vertical lines."""
    box_across: _Rules = ()
    box_down: _Rules = ()


def extract_typed_lines(runs: tuple[TextRun, ...]) -> tuple[tuple[TextRun, ...], _Rules]:
    """Split text runs into text and lines typed as `--------`, `========` or `________`; return both."""
    lines = {run for run in runs if _TYPED_LINE.fullmatch(run.text)}
    if not lines:
        return runs, ()
    texts = tuple(run for run in runs if run not in lines)
    return texts, tuple(RulingLine(run.middle, run.x0, run.x1) for run in lines)


def find_lines(drawing: Any, width: float, height: float) -> RulingLines:
    """Return horizontal and vertical lines, and the edges of boxes small enough for a table.

    The result is empty if the page has more than `_MAX_LINES` shapes and lines.
    """
    shapes, strokes = (drawing.shapes, drawing.lines) if drawing is not None else ([], [])
    if len(shapes) + len(strokes) > _MAX_LINES:
        return RulingLines()
    across: list[RulingLine] = []
    down: list[RulingLine] = []
    boxes: list[tuple[float, float, float, float]] = []
    for shape in shapes:
        edges = shape.bbox
        x, y, w, h = edges.x, edges.y, edges.width, edges.height
        if not all(map(math.isfinite, (x, y, w, h))) or not (shape.stroke or shape.fill):
            continue
        if h <= _MAX_LINE_WIDTH < w:
            across.append(RulingLine(y + h / 2, x, x + w))
        elif w <= _MAX_LINE_WIDTH < h:
            down.append(RulingLine(x + w / 2, y, y + h))
        elif not shape.has_curve and _MIN_BOX_SIDE < w < width * 0.97 and _MIN_BOX_SIDE < h < height * 0.9:
            boxes.append((x, y, x + w, y + h))
    for line in strokes:
        (x0, x1), (y0, y1) = sorted((line.x1, line.x2)), sorted((line.y1, line.y2))
        if y1 - y0 <= _MAX_LINE_WIDTH < x1 - x0:
            across.append(RulingLine((y0 + y1) / 2, x0, x1))
        elif x1 - x0 <= _MAX_LINE_WIDTH < y1 - y0:
            down.append(RulingLine((x0 + x1) / 2, y0, y1))
    return RulingLines(
        _sorted(across),
        _sorted(down),
        _sorted(RulingLine(y, x0, x1) for x0, y0, x1, y1 in boxes for y in (y0, y1)),
        _sorted(RulingLine(x, y0, y1) for x0, y0, x1, y1 in boxes for x in (x0, x1)),
    )


def _sorted(rules: Iterable[RulingLine]) -> _Rules:
    return tuple(sorted(set(rules)))

"""Recognize the lines of a column as running text: each line continues the one above."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, median

from scraper.extract.documents.pdf.layout_model import LayoutRow
from scraper.extract.documents.pdf.text_assembly import text_of_row

_MIN_LINES, _MIN_WORDS = 5, 2.0
"""Lines of a column, and their mean words."""
_CONTINUED_SHARE, _LOWER_CASE_SHARE = 0.9, 0.5
"""Ratio of lines whose first word did not fit above, and of lines within a sentence that begin in lower case."""
_SPACE, _SAME_LEFT = 0.25, 2.0
"""Ratio of the font size, and points."""
_GAP = 1.3
"""Multiple of the usual distance of lines. A wider one separates paragraphs, or rows of a table."""
_SAME_HEIGHT = 0.5
"""Ratio of the font size."""
_SENTENCE_END = re.compile(r"[.!?:][\"'\u201d\u2019)]?$")
_SENTENCE = re.compile(r"\w[.!?][\"'\u201d\u2019)]?(?:\s|$)")


def are_running_texts(columns: Sequence[Sequence[LayoutRow]]) -> bool:
    """Return True if all columns are running text, and no gap between lines goes through all of them as in a table."""
    if not all(map(_is_running_text, columns)):
        return False
    first, *others = map(_gaps, columns)
    size = columns[0][0].size
    return not any(
        all(any(abs(gap - other) < _SAME_HEIGHT * size for other in found) for found in others) for gap in first
    )


def _is_running_text(column: Sequence[LayoutRow]) -> bool:
    texts = [text_of_row(line) for line in column]
    if len(column) < _MIN_LINES or fmean(len(text.split()) for text in texts) < _MIN_WORDS:
        return False
    if not any(map(_SENTENCE.search, texts)):
        return False
    right = max(line.x1 for line in column)
    inside = [
        (above, below, text)
        for (above, below), (before, text) in zip(pairwise(column), pairwise(texts), strict=True)
        if not _SENTENCE_END.search(before)
    ]
    if len(inside) < _MIN_LINES - 2:
        return False
    continued = sum(_did_not_fit(above, below, right) for above, below, _ in inside)
    lower = sum(text[:1].islower() for *_, text in inside)
    return continued >= _CONTINUED_SHARE * len(inside) and lower >= _LOWER_CASE_SHARE * len(inside)


def _did_not_fit(above: LayoutRow, below: LayoutRow, right: float) -> bool:
    """Return True if the first word of a line does not fit at the end of the line above."""
    run = below.runs[0]
    if run.words:
        width = run.words[0][1] - run.words[0][0]
    else:
        width = (run.x1 - run.x0) * len(run.text.split(" ", 1)[0]) / max(1, len(run.text))
    return abs(above.x0 - below.x0) < _SAME_LEFT and above.x1 + _SPACE * above.size + width > right


def _gaps(column: Sequence[LayoutRow]) -> list[float]:
    """Return the upper edges of lines that are further from the line above than usual."""
    steps = [below.y0 - above.y0 for above, below in pairwise(column)]
    usual = median(steps)
    return [below.y0 for step, below in zip(steps, column[1:], strict=True) if step > _GAP * usual]

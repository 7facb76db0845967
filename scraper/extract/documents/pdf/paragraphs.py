"""Rows of a flow to paragraphs, list items and blocks of code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from scraper.extract.documents.pdf.layout_model import BlockKind, LayoutBlock, LayoutRow
from scraper.extract.documents.pdf.lists import split_mark
from scraper.extract.documents.pdf.rows import text_of_row

_LARGER = 0.9
"""Points of size by which a heading differs from what follows."""
_LOOSE = 1.25
_USUAL_LEADING = 1.2
_SHORT = 0.75
"""Of the column's width: a shorter line that ends a sentence ends a paragraph."""
_INDENT = 0.9
_LEADER = re.compile(
    r"(?<![.\u2026\u00b7])(?<![.\u2026\u00b7]\s)(?:\s?[.\u2026\u00b7]){4,}+\s*(\d{1,4}|[ivxlc]{1,7})$"
)
"""Dots that lead to a page number."""
_ENDS = re.compile(r"[.!?:;\"\u201d\u3002]$")


def blocks_of(rows: Sequence[LayoutRow]) -> Iterator[LayoutBlock]:
    """The blocks of rows that follow each other without a table between."""
    if not rows:
        return
    left, right = min(row.x0 for row in rows), max(row.x1 for row in rows)
    leading = _leading(rows)
    group: list[LayoutRow] = []
    for row in rows:
        if group and _breaks(group, row, left, right, leading):
            yield _block(group, left)
            group = []
        group.append(row)
    yield _block(group, left)


def _leading(rows: Sequence[LayoutRow]) -> float:
    """From line to line, as a share of the letters' size; the lower quarter, since paragraphs stand apart.

    Code is set tighter than text and has its own.
    """
    shares = sorted(
        (b.y0 - a.y0) / max(1.0, b.size)
        for a, b in pairwise(rows)
        if b.y0 > a.y0 and not (a.mono or b.mono) and abs(a.size - b.size) <= _LARGER
    )
    return shares[len(shares) // 4] if shares else _USUAL_LEADING


def _breaks(group: Sequence[LayoutRow], row: LayoutRow, left: float, right: float, leading: float) -> bool:
    """Whether a row begins a new block; `leading`: from line to line, as a share of the letters' size."""
    above = group[-1]
    step = leading * row.size
    distance = row.y0 - above.y0
    if row.mono and above.mono:
        return distance > 1.6 * step or distance < 0
    if row.mono != above.mono and (row.mono or above.mono):
        return True
    if abs(row.size - above.size) > _LARGER or row.bold != above.bold or distance < 0:
        return True
    if distance > _LOOSE * step + 1.0 and distance > 1.3 * row.size:
        return True
    text, said = text_of_row(row), text_of_row(above)
    if _LEADER.search(said):
        return True
    if split_mark(text)[0] is not None:
        return True
    ended = _ENDS.search(said) is not None
    if ended and above.x1 < right - (1 - _SHORT) * (right - left) and distance > 1.08 * step:
        return True
    in_list = split_mark(text_of_row(group[0]))[0] is not None
    if in_list:
        return row.x0 < group[0].x0 - 1 or (row.x0 <= group[0].x0 + 1 and ended and len(group) > 1)
    return ended and row.x0 - above.x0 > _INDENT * row.size and above.x0 - left < 2


def _block(rows: Sequence[LayoutRow], left: float) -> LayoutBlock:
    lines = tuple(text_of_row(row) for row in rows)
    size = max(row.size for row in rows)
    if all(row.mono for row in rows) and is_code(rows):
        return LayoutBlock(BlockKind.CODE, laid_out(rows), size=size)
    if len(lines) == 1 and _LEADER.search(lines[0]):  # a line of a table of contents
        entry = _LEADER.sub(r" … \1", lines[0])
        return LayoutBlock(BlockKind.ITEM, (entry,), size=size, indent=rows[0].x0 - left)
    mark, rest = split_mark(lines[0])
    bold = all(row.bold for row in rows)
    if mark is not None and rest:
        return LayoutBlock(
            BlockKind.ITEM, (rest, *lines[1:]), size=size, bold=bold, label=mark, indent=rows[0].x0 - left
        )
    return LayoutBlock(BlockKind.TEXT, lines, size=size, bold=bold, indent=rows[0].x0 - left)


def is_code(rows: Sequence[LayoutRow]) -> bool:
    """Letters of one width are code unless a whole letter is typed in them."""
    return len(rows) > 1 or re.search(r"[{}();=<>\[\]$#|]", text_of_row(rows[0])) is not None


def laid_out(rows: Sequence[LayoutRow]) -> tuple[str, ...]:
    """Lines of code with the spaces that stood before and between them."""
    left = min(row.x0 for row in rows)
    letters = [(run.x1 - run.x0) / len(run.text) for row in rows for run in row.runs if len(run.text) > 2]
    width = sorted(letters)[len(letters) // 2] if letters else 5.0
    lines = []
    for row in rows:
        line = ""
        for run in row.runs:
            place = round((run.x0 - left) / max(width, 1.0))
            line += " " * max(0, place - len(line)) + run.text
        lines.append(line.rstrip())
    return tuple(lines)

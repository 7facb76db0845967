"""Build blocks from rows: paragraphs, list items, code and headings, also across page breaks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from scraper.extract.documents.pdf.layout_model import BlockKind, LayoutBlock, LayoutRow
from scraper.extract.documents.pdf.rows import split_mark, text_of_row

_LARGER = 0.9
"""Points of font size by which a heading differs from the text after it."""
_LOOSE = 1.25
_USUAL_LEADING = 1.2
_SHORT = 0.75
"""Ratio to the column width. A shorter line that ends a sentence ends the paragraph."""
_INDENT = 0.9
_LEADER = re.compile(r"(?<![.\u2026\u00b7])(?<![.\u2026\u00b7]\s)(?:\s?[.\u2026\u00b7]){4,}+\s*(\d{1,4}|[ivxlc]{1,7})$")
"""Leader dots before a page number."""
_ENDS = re.compile(r"[.!?:;\"\u201d\u3002]$")


def build_blocks(rows: Sequence[LayoutRow]) -> Iterator[LayoutBlock]:
    """Yield the blocks of consecutive rows without a table between them."""
    if not rows:
        return
    left, right = min(row.x0 for row in rows), max(row.x1 for row in rows)
    leading = _leading(rows)
    group: list[LayoutRow] = []
    for row in rows:
        if group and _starts_block(group, row, left, right, leading):
            yield _block(group, left)
            group = []
        group.append(row)
    yield _block(group, left)


def _leading(rows: Sequence[LayoutRow]) -> float:
    """Return the line distance as a multiple of the font size.

    The lower quartile, because paragraphs are further apart. Code is set tighter than text and has its own.
    """
    shares = sorted(
        (b.y0 - a.y0) / max(1.0, b.size)
        for a, b in pairwise(rows)
        if b.y0 > a.y0 and not (a.mono or b.mono) and abs(a.size - b.size) <= _LARGER
    )
    return shares[len(shares) // 4] if shares else _USUAL_LEADING


def _starts_block(group: Sequence[LayoutRow], row: LayoutRow, left: float, right: float, leading: float) -> bool:
    """Return True if a row begins a new block; `leading` is the line distance per font size."""
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
        return LayoutBlock(BlockKind.CODE, format_code(rows), size=size)
    if len(lines) == 1 and _LEADER.search(lines[0]):  # A line of a table of contents.
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
    """Return True if monospaced rows are code: several rows, or one with characters of code."""
    return len(rows) > 1 or re.search(r"[{}();=<>\[\]$#|]", text_of_row(rows[0])) is not None


def format_code(rows: Sequence[LayoutRow]) -> tuple[str, ...]:
    """Return lines of code with their indents and inner spaces."""
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


_HEADING_SIZE_RATIO = 0.9
"""Points by which a heading's font is larger than the body font."""
_LONGEST = 200
_LONGEST_BOLD = 120
_LEVELS = 5
_CAPTION = re.compile(r"(?:figure|fig\.|table|tab\.|abbildung|abb\.|tabelle|chart|exhibit|source)\s*[\dIVX]", re.I)
_STARTS = re.compile(r"[\d\W]*[^\W\d_]")
_SECTION = re.compile(r"(\d{1,2}(?:\.\d{1,2}){1,3})\.?\s+(?=[^\W\d_]\S*(?:\s\S+){0,9}$)(?=[^a-z])")
"""Section number and a short title, alone on a line."""
_UNFINISHED = re.compile(r"[.,;:]$")


def mark_headings(blocks: Sequence[LayoutBlock], body_size: float) -> list[LayoutBlock]:
    """Return the blocks with headings marked as such."""
    sizes = Counter(block.size for block in blocks if _is_large(block, body_size))
    ranked = sorted(sizes, reverse=True)
    merged: list[list[float]] = []
    for size in ranked:
        if merged and merged[-1][-1] - size <= 0.5:
            merged[-1].append(size)
        else:
            merged.append([size])
    levels = {size: min(index + 1, _LEVELS) for index, group in enumerate(merged) for size in group}
    below = min(len(merged), _LEVELS) + 1
    return [_judged(block, levels, body_size, below) for block in blocks]


def _judged(block: LayoutBlock, levels: dict[float, int], body_size: float, below: int) -> LayoutBlock:
    text = " ".join(block.lines)
    if block.kind not in (BlockKind.TEXT, BlockKind.ITEM) or not _STARTS.match(text):
        return block
    if _is_large(block, body_size):
        return _heading(block, levels[block.size])
    lone = block.bold and len(block.lines) <= 2 and 2 < len(text) <= _LONGEST_BOLD
    starts = text[:1].isupper() or text[:1].isdigit() or not text[:1].isascii() or not text[:1].isalpha()
    if lone and starts and block.size >= body_size - 0.6 and not _UNFINISHED.search(text) and not _CAPTION.match(text):
        return _heading(block, below)
    numbered = _SECTION.match(text)
    if numbered and len(block.lines) == 1 and block.kind is BlockKind.TEXT and not _UNFINISHED.search(text):
        return _heading(block, min(below + numbered[1].count(".") - 1, 6))
    return block


def _heading(block: LayoutBlock, level: int) -> LayoutBlock:
    lines = block.lines
    if block.kind is BlockKind.ITEM:
        if not block.label:
            return block
        lines = (f"{block.label} {lines[0]}", *lines[1:])
    return replace(block, kind=BlockKind.HEADING, lines=lines, level=level, label="")


def _is_large(block: LayoutBlock, body_size: float) -> bool:
    if block.kind is BlockKind.ITEM and not block.label:
        return False
    return (
        block.kind in (BlockKind.TEXT, BlockKind.ITEM)
        and block.size > body_size + _HEADING_SIZE_RATIO
        and sum(map(len, block.lines)) < _LONGEST
        and any(_STARTS.match(line) for line in block.lines)
        and not _CAPTION.match(block.lines[0])
    )


def join_tables(pages: Sequence[list[LayoutBlock]]) -> list[list[LayoutBlock]]:
    """Join tables that continue at the top of the next page, on the page where they begin.

    A page that is one whole table remains separate: a list over many pages would lose its page marks.
    """
    joined = [list(blocks) for blocks in pages]
    for above, below in pairwise(joined):
        if not above or len(below) < 2 or not _goes_on(above[-1], below[0]):
            continue
        rows = below[0].table
        if rows[0] == above[-1].table[0]:
            rows = rows[1:]
        above[-1] = replace(above[-1], table=above[-1].table + rows)
        del below[0]
    return joined


def _goes_on(table: LayoutBlock, more: LayoutBlock) -> bool:
    if table.kind is not BlockKind.TABLE or more.kind is not BlockKind.TABLE:
        return False
    return len(table.table[0]) == len(more.table[0])


def join_paragraphs(flows: Iterable[list[LayoutBlock]]) -> Iterator[LayoutBlock]:
    """Yield the blocks of a page; join a paragraph that continues in the next column."""
    last: LayoutBlock | None = None
    for blocks in flows:
        if last is not None and blocks and _is_unfinished(last, blocks[0]):
            blocks = [replace(last, lines=last.lines + blocks[0].lines), *blocks[1:]]
            last = None
        if last is not None:
            yield last
            last = None
        yield from blocks[:-1]
        if blocks:
            last = blocks[-1]
    if last is not None:
        yield last


def join_split_words(pages: Sequence[list[LayoutBlock]]) -> list[list[LayoutBlock]]:
    """Join a word that a page break has split, on the page where it begins."""
    joined = [list(blocks) for blocks in pages]
    for above, below in pairwise(joined):
        if not above or not below or not _is_unfinished(above[-1], below[0]):
            continue
        end = above[-1].lines[-1]
        first, _, rest = below[0].lines[0].partition(" ")
        if not end.endswith(("-", "\u2010")) or not first[:1].islower():
            continue
        above[-1] = replace(above[-1], lines=(*above[-1].lines, first))
        below[0] = replace(below[0], lines=(rest, *below[0].lines[1:]))
    return joined


def _is_unfinished(block: LayoutBlock, more: LayoutBlock) -> bool:
    """Return True if the paragraph's last line is incomplete and the next block continues it."""
    if block.kind not in (BlockKind.TEXT, BlockKind.ITEM) or more.kind is not BlockKind.TEXT:
        return False
    if abs(block.size - more.size) > 0.6 or block.bold != more.bold:
        return False
    end, start = block.lines[-1][-1:], more.lines[0][:1]
    return start.islower() and end not in ".!?:" and len(block.lines) + len(more.lines) > 2

"""Which blocks are headings, and of which level: by their size against the body's, over all pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from scraper.extract.documents.pdf.layout_model import BlockKind, LayoutBlock

_LARGER = 0.9
"""Points by which a heading's letters are larger than the body's."""
_LONGEST = 200
_LONGEST_BOLD = 120
_LEVELS = 5
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|tab\.|abbildung|abb\.|tabelle|chart|exhibit|source)\s*[\dIVX]", re.I
)
_STARTS = re.compile(r"[\d\W]*[^\W\d_]")
_SECTION = re.compile(r"(\d{1,2}(?:\.\d{1,2}){1,3})\.?\s+(?=[^\W\d_]\S*(?:\s\S+){0,9}$)(?=[^a-z])")
"""The number of a section and a short title, alone in a line."""
_UNFINISHED = re.compile(r"[.,;:]$")


def with_headings(blocks: Sequence[LayoutBlock], body_size: float) -> list[LayoutBlock]:
    """The blocks, those that are headings marked as such."""
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
    if (
        lone
        and starts
        and block.size >= body_size - 0.6
        and not _UNFINISHED.search(text)
        and not _CAPTION.match(text)
    ):
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
        and block.size > body_size + _LARGER
        and sum(map(len, block.lines)) < _LONGEST
        and any(_STARTS.match(line) for line in block.lines)
        and not _CAPTION.match(block.lines[0])
    )

"""What a page break has cut in two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from scraper.extract.documents.pdf.layout_model import BlockKind, LayoutBlock


def joined_tables(pages: Sequence[list[LayoutBlock]]) -> list[list[LayoutBlock]]:
    """Tables that go on at the top of the next page as one, on the page where they begin.

    A page that is nothing but the table stays as it is: a list over many pages would lose its page marks.
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


def joined_paragraphs(flows: Iterable[list[LayoutBlock]]) -> Iterator[LayoutBlock]:
    """The blocks of one page; a paragraph that goes on at the top of the next column as one."""
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


def joined_words(pages: Sequence[list[LayoutBlock]]) -> list[list[LayoutBlock]]:
    """A word that a page break has cut in two, whole on the page where it begins."""
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
    """Whether a paragraph's last line asks for more, and the next block's first one goes on."""
    if block.kind not in (BlockKind.TEXT, BlockKind.ITEM) or more.kind is not BlockKind.TEXT:
        return False
    if abs(block.size - more.size) > 0.6 or block.bold != more.bold:
        return False
    end, start = block.lines[-1][-1:], more.lines[0][:1]
    return start.islower() and end not in ".!?:" and len(block.lines) + len(more.lines) > 2

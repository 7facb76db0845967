"""Convert layout blocks to Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scraper.extract.code.blocks import fence
from scraper.extract.documents.pdf.layout_model import BlockKind, LayoutBlock
from scraper.extract.documents.pdf.rows import join_lines
from scraper.extract.documents.tables import pipe_table

_LIKE_A_MARK = re.compile(r"^(?:#{1,6}(?=\s)|[-+>](?=\s)|\d{1,9}[.)](?=\s)|```|~~~)")
_STEP = 12.0
"""Points of indent per list level."""


def write_markdown(blocks: Sequence[LayoutBlock], vocabulary: frozenset[str]) -> str:
    """Return the blocks as Markdown, with nested lists."""
    parts: list[str] = []
    previous: LayoutBlock | None = None
    for block in blocks:
        text = _text(block, vocabulary)
        if not text:
            continue
        together = previous is not None and previous.kind is BlockKind.ITEM and block.kind is BlockKind.ITEM and parts
        if together:
            parts[-1] += "\n" + text
        else:
            parts.append(text)
        previous = block
    return "\n\n".join(parts)


def _text(block: LayoutBlock, vocabulary: frozenset[str]) -> str:
    if block.kind is BlockKind.TABLE:
        return pipe_table(block.table, headed=block.headed)
    if block.kind is BlockKind.CODE:
        return fence("\n".join(block.lines), "")
    text = join_lines(block.lines, vocabulary)
    if not text:
        return ""
    if block.kind is BlockKind.HEADING:
        return f"{'#' * block.level} {text}"
    if block.kind is BlockKind.ITEM:
        return f"{'  ' * block.level}{_mark(block)} {text}"
    return _LIKE_A_MARK.sub(_escaped, text)


def _mark(block: LayoutBlock) -> str:
    """Return a bullet, or the number if Markdown supports it.

    From 100 on, numbers do not count a list but name exercises or sections of a law.
    """
    if not block.label:
        return "-"
    if re.fullmatch(r"\d{3,}[.)]", block.label):
        return f"**{block.label}**"
    return block.label if re.fullmatch(r"\d{1,9}\.", block.label) else f"- {block.label}"


def _escaped(match: re.Match[str]) -> str:
    mark = match.group()
    return f"{mark[:-1]}\\{mark[-1]}" if mark[0].isdigit() else f"\\{mark}"


def join_pages(texts: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Yield each page's text below its page mark, which citations use."""
    for number, text in texts:
        yield f"<!-- page {number} -->\n\n{text}".rstrip()

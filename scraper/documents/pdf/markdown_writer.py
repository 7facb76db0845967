"""Convert layout blocks to Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from scraper.documents.pdf.layout_model import BlockKind, LayoutBlock
from scraper.documents.pdf.text_assembly import join_lines
from scraper.documents.tables import pipe_table
from scraper.extract.code.fences import fence

_MARKDOWN_SYNTAX = re.compile(r"^(?:#{1,6}(?=\s)|[-+>](?=\s)|\d{1,9}[.)](?=\s)|```|~~~)")


def write_markdown(blocks: Sequence[LayoutBlock], vocabulary: frozenset[str]) -> str:
    """Return the blocks as Markdown, with nested lists.

    `vocabulary` has the words of the document, to decide about hyphens at line ends.
    """
    texts = ((block.kind is BlockKind.ITEM, text) for block in blocks if (text := _format_block(block, vocabulary)))
    groups = groupby(texts, key=itemgetter(0))
    return "\n\n".join(("\n" if is_list else "\n\n").join(text for _, text in group) for is_list, group in groups)


def _format_block(block: LayoutBlock, vocabulary: frozenset[str]) -> str:
    if block.kind is BlockKind.TABLE:
        return pipe_table(block.table)
    if block.kind is BlockKind.CODE:
        return fence("\n".join(block.lines), "")
    text = join_lines(block.lines, vocabulary)
    if not text:
        return ""
    if block.kind is BlockKind.HEADING:
        return f"{'#' * block.level} {text}"
    if block.kind is BlockKind.ITEM:
        return f"{'  ' * block.level}{_item_mark(block)} {text}"
    return escape_text(text)


def escape_text(text: str) -> str:
    """Escape Markdown syntax at the start of a paragraph."""
    return _MARKDOWN_SYNTAX.sub(_escape, text)


def _item_mark(block: LayoutBlock) -> str:
    """Return a bullet, or the number if Markdown supports it.

    Numbers from 100 on are usually numbers of exercises or sections of a law, not of list items.
    """
    if not block.label:
        return "-"
    if re.fullmatch(r"\d{3,}[.)]", block.label):
        return f"**{block.label}**"
    return block.label if re.fullmatch(r"\d{1,9}\.", block.label) else f"- {block.label}"


def _escape(match: re.Match[str]) -> str:
    mark = match.group()
    return f"{mark[:-1]}\\{mark[-1]}" if mark[0].isdigit() else f"\\{mark}"


def join_pages(texts: Sequence[tuple[int, str]]) -> str:
    """Join the texts, each below its page mark, which citations use; empty if no page has text."""
    pages = (f"<!-- page {number} -->\n\n{text}".rstrip() for number, text in texts)
    return "\n\n".join(pages) if any(text for _, text in texts) else ""

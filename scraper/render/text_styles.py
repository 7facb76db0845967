"""Convert the Markdown of a page: links as footnotes or without URLs, plain text, or HTML."""

from __future__ import annotations

import re
from dataclasses import replace

from scraper.retrieval.text_fragments import LINK_TARGET, visible_line
from scraper.text.markdown_structure import TextCut, find_atomic_blocks

LINK_STYLES = ("inline", "numbered", "no")
"""Links with their URLs, with numbers and the URLs at the end, or only their texts."""
FORMATS = ("markdown", "json", "text", "html")

_LINK = re.compile(rf"(\\.|`[^`\n]*`)|(!?)\[((?:[^\[\]\\\n]|\\.|\[[^\[\]\n]*\])*+)\]({LINK_TARGET})")
"""A link or picture. Escaped characters and code match too, so that nothing begins within them."""
_NO_TEXT = re.compile(r"(?:```|~~~).*|\|?(?:\s*:?-{3,}:?\s*\|)+|<!-- page \d+ -->")
"""Lines of marks alone: fences, the rule below a table head, the number of a page."""


def convert_piece(piece: TextCut, links: str, form: str) -> TextCut:
    """Return a piece of Markdown with links of another style, or as plain text or HTML; its offsets stay."""
    if form == "text":
        return replace(piece, text=_plain_text(convert_links(piece.shown, "no")), before="", after="")
    styled = piece if links == "inline" else replace(piece, text=convert_links(piece.text, links))
    if form == "html":
        # Imported late: few calls need it.
        from markdown_it import MarkdownIt

        return replace(styled, text=MarkdownIt("js-default").render(styled.shown).strip(), before="", after="")
    return styled


def convert_links(markdown: str, style: str) -> str:
    """Return a Markdown text without the URLs of links and pictures, or with them as numbered references at its end."""
    numbers: dict[str, int] = {}

    def convert(match: re.Match[str]) -> str:
        kept, mark, text, target = match.groups()
        if kept:
            return kept
        if style == "no" or not text:
            return text
        url = target[1:-1].partition(" ")[0]
        return f"{mark}[{text}][{numbers.setdefault(url, len(numbers) + 1)}]"

    parts, end = [], 0
    for block in find_atomic_blocks(markdown, len(markdown)):
        parts += [_LINK.sub(convert, markdown[end : block.start]), markdown[block.start : block.end]]
        end = block.end
    text = "".join([*parts, _LINK.sub(convert, markdown[end:])])
    references = "\n".join(f"[{number}]: {url}" for url, number in numbers.items())
    return f"{text.rstrip()}\n\n{references}" if references else text


def _plain_text(markdown: str) -> str:
    """Return a text without the marks of Markdown; code stays as it is."""
    parts, end = [], 0
    for block in find_atomic_blocks(markdown, len(markdown)):
        code = markdown[block.start : block.end].splitlines()
        parts += [*_plain_lines(markdown[end : block.start]), *(line for line in code if not _NO_TEXT.fullmatch(line))]
        end = block.end
    lines = [*parts, *_plain_lines(markdown[end:])]
    return "\n".join(line for at, line in enumerate(lines) if line or (at and lines[at - 1]))


def _plain_lines(markdown: str) -> list[str]:
    lines = (line.strip() for line in markdown.splitlines())
    return [visible_line(line).removesuffix("|").rstrip() for line in lines if not _NO_TEXT.fullmatch(line)]

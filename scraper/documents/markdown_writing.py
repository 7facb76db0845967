"""Write Markdown: pipe tables, tables of sheets, pages, and links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

_MAX_SPLIT_DEPTH = 12
_SYNTAX_AT_START = re.compile(r"^(?:#{1,6}(?=\s)|[-+>](?=\s)|\d{1,9}[.)](?=\s)|```|~~~)")
_WEB_ADDRESS = re.compile(r"(?:https?://|mailto:)\S{1,2000}", re.IGNORECASE)
_ESCAPES = str.maketrans({" ": "%20", "|": "%7C", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E"})


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table with the first row as header, padded to equal length."""
    if not rows:
        return ""
    width = max(map(len, rows))
    lines = ["| " + " | ".join([*map(_escape_cell, row), *[""] * (width - len(row))]) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _escape_cell(text: str) -> str:
    if "\n" in text:
        text = "<br>".join(line.strip() for line in text.split("\n") if line.strip())
    return text.replace("\\|", "|").replace("|", "\\|").strip()


def format_regions(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield each block of cells of a sheet as a table, or a single cell as a line of text."""
    width = max(map(len, rows), default=0)
    for block in _split_regions([[*row, *[""] * (width - len(row))] for row in rows]):
        yield block[0][0] if len(block) == len(block[0]) == 1 else pipe_table(block)


def _split_regions(rows: Sequence[Sequence[str]], depth: int = 0) -> Iterator[Sequence[Sequence[str]]]:
    """Yield the blocks of cells between empty rows and columns, top to bottom, then left to right."""
    blocks = _split_at_empty_rows(rows)
    if len(blocks) == 1:
        columns = _split_at_empty_rows(list(zip(*blocks[0], strict=True)))
        blocks = [list(zip(*block, strict=True)) for block in columns]
    if len(blocks) == 1 or depth >= _MAX_SPLIT_DEPTH:
        yield from blocks
        return
    for block in blocks:
        yield from _split_regions(block, depth + 1)


def _split_at_empty_rows(rows: Sequence[Sequence[str]]) -> list[Sequence[Sequence[str]]]:
    return [list(group) for is_filled, group in groupby(rows, key=any) if is_filled]


def escape_text(text: str) -> str:
    """Escape Markdown syntax at the start of a paragraph."""
    return _SYNTAX_AT_START.sub(
        lambda mark: f"{mark[0][:-1]}\\{mark[0][-1]}" if mark[0][0].isdigit() else f"\\{mark[0]}", text
    )


def join_pages(texts: Sequence[tuple[int, str]]) -> str:
    """Join the texts, each below its page mark, which citations use; empty if no page has text."""
    pages = (f"<!-- page {number} -->\n\n{text}".rstrip() for number, text in texts)
    return "\n\n".join(pages) if any(text for _, text in texts) else ""


def write_link(text: str, url: str) -> str:
    """Return a text as a link to a web or mail address; unchanged if it is empty or the address itself."""
    address = url.translate(_ESCAPES)
    is_same = text.translate(_ESCAPES).rstrip("/") in (address.rstrip("/"), address.removeprefix("mailto:"))
    if not text or is_same or not _WEB_ADDRESS.fullmatch(address):
        return text
    label = text.replace("[", "\\[").replace("]", "\\]")
    return f"[{label}]({address})"

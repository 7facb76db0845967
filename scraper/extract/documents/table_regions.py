"""Where the tables of a sheet begin and end: filled cells with empty rows or columns around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scraper.extract.documents.pipe_tables import pipe_table, trimmed

_DEPTH = 12


def regions(rows: Sequence[Sequence[str]], depth: int = 0) -> Iterator[list[list[str]]]:
    """The blocks of cells that empty rows and columns set apart, from top to bottom, then left to right."""
    block = trimmed(rows)
    if not block:
        return
    width = max(len(row) for row in block)
    block = [row + [""] * (width - len(row)) for row in block]
    pieces = _split(block)
    if len(pieces) == 1:
        turned = [list(column) for column in zip(*block, strict=True)]
        pieces = [[list(row) for row in zip(*piece, strict=True)] for piece in _split(turned)]
    if len(pieces) == 1 or depth >= _DEPTH:
        yield block
        return
    for piece in pieces:
        yield from regions(piece, depth + 1)


def block_text(block: Sequence[Sequence[str]]) -> str:
    """A block as a table; a single cell is a line of text."""
    filled = [text for row in block for text in row if text]
    return filled[0] if len(block) == 1 and len(filled) == 1 else pipe_table(block)


def _split(block: Sequence[list[str]]) -> list[list[list[str]]]:
    """Rows in groups between empty ones."""
    groups: list[list[list[str]]] = [[]]
    for row in block:
        if any(row):
            groups[-1].append(row)
        elif groups[-1]:
            groups.append([])
    return [group for group in groups if group]

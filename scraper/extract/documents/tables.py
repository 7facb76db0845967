"""Markdown pipe tables, and the separate tables within the cells of a sheet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def pipe_table(rows: Sequence[Sequence[str]], *, headed: bool = True) -> str:
    """Return rows as a Markdown table, padded to equal length; without a header it gets an empty one."""
    if not rows:
        return ""
    width = max(len(row) for row in rows)
    lines = [_line(row, width) for row in rows]
    head = [lines.pop(0)] if headed else [_line((), width)]
    return "\n".join([*head, "|" + " --- |" * width, *lines])


def trim_rows(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Remove empty rows at both ends and empty columns at both sides."""
    kept = [list(row) for row in rows]
    while kept and not any(kept[-1]):
        kept.pop()
    while kept and not any(kept[0]):
        kept.pop(0)
    last = max((_last(row) for row in kept), default=-1)
    first = min((_first(row) for row in kept if any(row)), default=0)
    return [row[first : last + 1] for row in kept]


def _line(row: Sequence[str], width: int) -> str:
    cells = [_cell(text) for text in row] + [""] * (width - len(row))
    return "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    if "\n" in text:
        text = "<br>".join(line.strip() for line in text.split("\n") if line.strip())
    return text.replace("\\|", "|").replace("|", "\\|").strip()


def _last(row: Sequence[str]) -> int:
    return max((index for index, cell in enumerate(row) if cell), default=-1)


def _first(row: Sequence[str]) -> int:
    return min((index for index, cell in enumerate(row) if cell), default=len(row))


_DEPTH = 12


def split_regions(rows: Sequence[Sequence[str]], depth: int = 0) -> Iterator[list[list[str]]]:
    """Yield the blocks of cells between empty rows and columns, top to bottom, then left to right."""
    block = trim_rows(rows)
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
        yield from split_regions(piece, depth + 1)


def format_region(block: Sequence[Sequence[str]]) -> str:
    """Return a block as a table, or a single cell as a line of text."""
    filled = [text for row in block for text in row if text]
    return filled[0] if len(block) == 1 and len(filled) == 1 else pipe_table(block)


def _split(block: Sequence[list[str]]) -> list[list[list[str]]]:
    """Return the groups of rows between empty rows."""
    groups: list[list[list[str]]] = [[]]
    for row in block:
        if any(row):
            groups[-1].append(row)
        elif groups[-1]:
            groups.append([])
    return [group for group in groups if group]

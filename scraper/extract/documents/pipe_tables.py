"""Rows of cells as a pipe table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def pipe_table(rows: Sequence[Sequence[str]], *, headed: bool = True) -> str:
    """Rows as a Markdown table, ragged ones filled up; without a head of its own it gets an empty one."""
    if not rows:
        return ""
    width = max(len(row) for row in rows)
    lines = [_line(row, width) for row in rows]
    head = [lines.pop(0)] if headed else [_line((), width)]
    return "\n".join([*head, "|" + " --- |" * width, *lines])


def trimmed(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Rows without the empty ones at either end and the empty columns at either side."""
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

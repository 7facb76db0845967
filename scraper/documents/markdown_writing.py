"""Write Markdown: pipe tables, tables of sheets, pages, and links."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, dropwhile, groupby

_Rows = Sequence[Sequence[str]]
_MAX_SPLIT_DEPTH = 12
_SAME_ROWS_SHARE = 0.8
"""Share of the filled rows. Groups of columns that have these in common are one table."""
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
    return "<br>".join(filter(None, map(str.strip, text.split("\n")))).replace("\\|", "|").replace("|", "\\|")


def format_regions(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield each table of a sheet, or a single cell as a line of text."""
    width = max(map(len, rows), default=0)
    for block in _split_regions([[*row, *[""] * (width - len(row))] for row in rows]):
        yield block[0][0] if len(block) == len(block[0]) == 1 else pipe_table(block)


def _split_regions(rows: _Rows, depth: int = 0) -> Iterator[_Rows]:
    """Yield the tables between empty rows and columns, top to bottom, then left to right."""
    blocks = _join_bands(_split_at_empty_rows(rows))
    if len(blocks) == 1:
        blocks = [_transpose(columns) for columns in _join_columns(_split_at_empty_rows(_transpose(blocks[0])))]
    if len(blocks) == 1 or depth >= _MAX_SPLIT_DEPTH:
        yield from blocks
        return
    for block in blocks:
        yield from _split_regions(block, depth + 1)


def _split_at_empty_rows(rows: _Rows) -> list[_Rows]:
    return [list(group) for is_filled, group in groupby(rows, key=any) if is_filled]


def _transpose(rows: _Rows) -> _Rows:
    return list(zip(*rows, strict=True))


def _join_bands(bands: Sequence[_Rows]) -> list[_Rows]:
    """Join the rows between empty rows that continue the table above them, with single labels before them."""
    joined: list[list[Sequence[str]]] = []
    waiting: list[_Rows] = []
    filled: set[int] = set()
    for band in bands:
        waiting.append(band)
        columns = _filled_columns(band)
        if joined and len(band) == 1 and columns == {min(filled)}:
            continue
        if joined and columns <= filled and band[0] != joined[-1][0] and _continues(band, columns):
            joined[-1].extend(chain.from_iterable(waiting))
        else:
            joined += map(list, waiting)
            filled = columns
        waiting = []
    return [*joined, *waiting]


def _continues(band: _Rows, columns: set[int]) -> bool:
    """Return True for rows that begin with values, not with a header of their own."""
    rows = list(dropwhile(lambda row: sum(map(bool, row)) < 2, band))  # Without labels over the rows.
    values = [(column[0], [cell for cell in column[1:] if cell]) for column in zip(*rows, strict=True) if column[0]]
    has_header = any(below and not _is_number(first) and all(map(_is_number, below)) for first, below in values)
    has_values = len(band) == 1 or (not has_header and any(_is_number(first) for first, _ in values))
    return has_values and len(columns) > 1


def _join_columns(groups: Sequence[_Rows]) -> list[_Rows]:
    """Join groups of columns of one table, which empty columns space; a group with labels of its own is another one."""
    joined: list[list[Sequence[str]]] = []
    filled: set[int] = set()
    for group in groups:
        rows = _filled_columns(group)
        if joined and not _is_own_table(filled, group, rows):
            joined[-1].extend(group)
            filled |= rows
        else:
            joined.append(list(group))
            filled = rows
    return [*joined]


def _is_own_table(rows_before: set[int], columns: _Rows, rows: set[int]) -> bool:
    if len(columns) == 1 and len(rows) == 1 < len(rows_before):  # A remark beside the table.
        return True
    labels = [cell for cell in columns[0] if cell][1:]
    has_labels = len(columns) > 1 and sum(map(_is_number, labels)) * 2 < len(labels)
    return has_labels and len(rows & rows_before) < _SAME_ROWS_SHARE * len(rows | rows_before)


def _filled_columns(rows: _Rows) -> set[int]:
    return {index for index, column in enumerate(zip(*rows, strict=True)) if any(column)}


def _is_number(cell: str) -> bool:
    return any(map(str.isdigit, cell)) and not any(map(str.isalpha, cell))


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

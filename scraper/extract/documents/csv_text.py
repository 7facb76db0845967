"""CSV and its relatives as a table."""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from collections.abc import Iterator

from scraper.errors import NoContentError
from scraper.extract.documents.decode import letters
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.pipe_tables import pipe_table

MAX_ROWS = 20_000
MAX_COLUMNS = 2_000
MAX_CELLS = 500_000
_SAMPLE_LINES = 100
_DELIMITERS = ",;\t|^~\x1f"
"""In the order of their likelihood; the last ones part nothing but cells."""


def read(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """The rows as a table, the first one as its head."""
    text, warnings = letters(data, asked)
    if not text.strip():
        raise NoContentError("The file holds no text.", next_step="There is nothing to read in it.")
    text = _without_hint(text)
    delimiter = _delimiter(text)
    rows = list(_rows(text, delimiter))
    notes = list(warnings)
    if len(rows) > MAX_ROWS:
        notes.append(f"Only the first {MAX_ROWS:,} rows are shown.")
    width = max(len(row) for row in rows)
    if width > MAX_COLUMNS:
        notes.append(f"Only the first {MAX_COLUMNS:,} of {width:,} columns are shown.")
    shown = [row[:MAX_COLUMNS] for row in rows[:MAX_ROWS]]
    fitting = max(1, MAX_CELLS // max(1, min(width, MAX_COLUMNS)))
    return ParsedDocument(
        "tsv" if delimiter == "\t" else "csv", pipe_table(shown[:fitting]), warnings=tuple(notes)
    )


def _without_hint(text: str) -> str:
    """Excel's own first line, `sep=;`, is no row."""
    return text.split("\n", 1)[1] if text[:4].lower() == "sep=" and "\n" in text[:10] else text


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """At most one row more than are shown. A quote that never closes would swallow the rest: then quotes are
    letters like others."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lenient = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    try:
        rows = list(itertools.islice((row for row in lenient if row), MAX_ROWS + 1))
        if any(cell.count("\n") > 500 for row in rows for cell in row):
            raise csv.Error("a quote that never closes")
    except csv.Error:
        plain = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        with_limit = itertools.islice((row for row in plain if row), MAX_ROWS + 1)
        try:
            rows = list(with_limit)
        except csv.Error:  # a field beyond the reader's limit: split by hand
            rows = [line.split(delimiter) for line in lines[: MAX_ROWS + 1] if line]
    for row in rows:
        yield [cell.strip() for cell in row]


def _delimiter(text: str) -> str:
    """The one that cuts most lines into the same number of cells, more than one."""
    lines = [line for line in text[:65_536].split("\n")[:_SAMPLE_LINES] if line.strip()]

    def evenness(delimiter: str) -> tuple[float, int]:
        try:
            widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if row)
        except csv.Error:
            widths = Counter(line.count(delimiter) + 1 for line in lines)
        (width, count), *_ = widths.most_common(1) or [(1, 0)]
        return (count / max(1, len(lines)) if width > 1 else 0.0, width)

    return max(_DELIMITERS, key=evenness)

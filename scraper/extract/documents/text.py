"""Readers of text formats: plain text, Markdown, XML, JSON, notebooks and CSV."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from browsers.http.charset import decode
from scraper.errors import NoContentError
from scraper.extract.code.blocks import fence, format_json
from scraper.extract.documents.model import CUT_OFF, MAX_CHARACTERS, ParsedDocument, ParseRequest
from scraper.extract.documents.tables import pipe_table
from scraper.extract.text import markdown_structure
from scraper.extract.text.sanitize import clean

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\s*\n", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:(.*\S)", re.MULTILINE)
_CODE_LINE = re.compile(r"^(?:[ \t]+\S.*[{};:]|.*[{};]|\s*(?:def|class|import|from|function|#include)\b.*)$")
_CODE_SHARE = 0.4
_SAMPLE_LINES = 200


def read_text(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return a plain text; a text that looks like code is fenced."""
    text, warnings = decode_text(data, request)
    body = text.strip("\n").rstrip()
    if not body.strip():
        raise NoContentError("The file holds no text.", next_step="There is nothing to read in it.")
    return ParsedDocument("text", fence(body, "") if _is_code(body) else body, warnings=warnings)


def read_markdown(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return Markdown unchanged, with its title."""
    text, warnings = decode_text(data, request)
    front = _FRONT_MATTER.match(text)
    titled = _FRONT_TITLE.search(front[1]) if front else None
    headings = markdown_structure.find_headings(text)
    title = _unquoted(titled[1].strip()) if titled else headings[0].text if headings else None
    return ParsedDocument("markdown", text.strip(), title=title, warnings=warnings)


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def read_xml(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return XML as a code block."""
    text, warnings = decode_text(data, request)
    return ParsedDocument("xml", fence(text.strip(), "xml"), warnings=warnings)


def _is_code(text: str) -> bool:
    lines = [line for line in text.split("\n")[:_SAMPLE_LINES] if line.strip()]
    return len(lines) > 3 and sum(bool(_CODE_LINE.match(line)) for line in lines) > _CODE_SHARE * len(lines)


def decode_text(data: bytes, request: ParseRequest) -> tuple[str, tuple[str, ...]]:
    """Return the text without invisible characters, and a warning if it was truncated."""
    text = decode(data[: 4 * MAX_CHARACTERS], request.media_type)
    text, _ = clean(text.removeprefix("\ufeff"))
    if len(text) > MAX_CHARACTERS or len(data) > 4 * MAX_CHARACTERS:
        return text[:MAX_CHARACTERS], (CUT_OFF,)
    return text, ()


_MAX_OUTPUT = 4_000


def read_json(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return JSON as a code block, indented if it is short and valid."""
    text, warnings = decode_text(data, request)
    return ParsedDocument("json", fence(format_json(text), "json"), warnings=warnings)


def read_notebook(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return a Jupyter notebook as text and code."""
    text, warnings = decode_text(data, request)
    try:
        notebook = json.loads(text)
        cells, language = notebook["cells"], _language(notebook)
        parts = [part for cell in cells for part in _cell(cell, language)]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return ParsedDocument("json", fence(text.strip(), "json"), warnings=warnings)
    return ParsedDocument("ipynb", "\n\n".join(parts), warnings=warnings)


def _language(notebook: Any) -> str:
    name = notebook.get("metadata", {}).get("kernelspec", {}).get("language", "python")
    return name if isinstance(name, str) and name.isalnum() else ""


def _cell(cell: Any, language: str) -> Iterator[str]:
    source = _joined(cell.get("source", "")).strip("\n")
    if not source:
        return
    if cell.get("cell_type") != "code":
        yield source
        return
    yield fence(source, language)
    for output in cell.get("outputs", []):
        shown = _joined(output.get("text") or output.get("data", {}).get("text/plain") or "").strip("\n")
        if shown:
            yield fence(shown[:_MAX_OUTPUT], "")


def _joined(lines: Any) -> str:
    return "".join(str(line) for line in lines) if isinstance(lines, list) else str(lines)


MAX_ROWS = 20_000
MAX_COLUMNS = 2_000
MAX_CELLS = 500_000
_CSV_SAMPLE_LINES = 100
_DELIMITERS = ",;\t|^~\x1f"
"""In order of likelihood; the last ones occur only as delimiters."""


def read_csv(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the rows as a table with the first row as header."""
    text, warnings = decode_text(data, request)
    if not text.strip():
        raise NoContentError("The file holds no text.", next_step="There is nothing to read in it.")
    text = _remove_separator_line(text)
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
    return ParsedDocument("tsv" if delimiter == "\t" else "csv", pipe_table(shown[:fitting]), warnings=tuple(notes))


def _remove_separator_line(text: str) -> str:
    """Remove Excel's hint `sep=;` in the first line, which is no row."""
    return text.split("\n", 1)[1] if text[:4].lower() == "sep=" and "\n" in text[:10] else text


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield at most one row more than the limit.

    A quote that is never closed would swallow the rest of the file; quotes are then plain characters.
    """
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
        except csv.Error:  # A field beyond the limit of the csv module: split by hand.
            rows = [line.split(delimiter) for line in lines[: MAX_ROWS + 1] if line]
    for row in rows:
        yield [cell.strip() for cell in row]


def _delimiter(text: str) -> str:
    """Return the delimiter that splits most lines into the same number of cells, more than one."""
    lines = [line for line in text[:65_536].split("\n")[:_CSV_SAMPLE_LINES] if line.strip()]

    def evenness(delimiter: str) -> tuple[float, int]:
        try:
            widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if row)
        except csv.Error:
            widths = Counter(line.count(delimiter) + 1 for line in lines)
        (width, count), *_ = widths.most_common(1) or [(1, 0)]
        return (count / max(1, len(lines)) if width > 1 else 0.0, width)

    return max(_DELIMITERS, key=evenness)

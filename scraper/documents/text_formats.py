"""Readers of text formats: plain text with contacts and calendars, Markdown, XML, feeds, JSON, notebooks and CSV."""

import csv
import itertools
import json
import quopri
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from browsers.http.charset import decode
from scraper.documents.markdown_writing import pipe_table
from scraper.documents.model import ParsedDocument, ParseRequest, decode_text
from scraper.documents.office_markup import convert_html
from scraper.errors import NoContentError
from scraper.extract import feeds
from scraper.extract.plaintext import read_front_matter
from scraper.text.markdown_structure import fence, find_headings, format_json

_CODE_LINE = re.compile(r"^(?:[ \t]+\S.*[{};:]|.*[{};]|\s*(?:def|class|import|from|function|#include)\b.*)$")
_CODE_SHARE = 0.4
_SAMPLE_LINES = 200
_MAX_OUTPUT_CHARS = 4_000
_CUT_OUTPUT = "\n\n(The rest of this output is left out.)"
_LONG_OUTPUT_WARNING = f"Only the first {_MAX_OUTPUT_CHARS:,} characters of each output are shown."
_TERMINAL_CODE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_DISPLAY_OBJECT = "<IPython.core.display."
"""Start of the plain text of outputs that have only another format, such as those of `display(Markdown(...))`."""
MAX_ROWS = 20_000
_MAX_COLUMNS = 2_000
MAX_CELLS = 500_000
"""Cells of a CSV file that are shown, like `MAX_ROWS` and `_MAX_COLUMNS`."""
_MAX_CELL_LINES = 500
_CSV_SAMPLE_LINES = 100
_DELIMITERS = ",;\t|^~\x1f"
"""Possible delimiters, the likeliest first; the last ones are never used otherwise."""

_CONTACTS_OR_CALENDAR = re.compile(r"\s*BEGIN:(?:VCARD|VCALENDAR)\s", re.IGNORECASE)
_CARD = re.compile(r"^(?=BEGIN:VCARD\b)", re.MULTILINE | re.IGNORECASE)
_OLD_VERSION = "\nVERSION:2.1"
"""vCard 2.1 folds lines at a space, which belongs to the text; later versions insert the space (RFC 6350, 3.2)."""
_CHARSET = "CHARSET="
_QUOTED = "ENCODING=QUOTED-PRINTABLE"
_BASE64 = re.compile(r"[A-Za-z0-9+/= ]{200,}")


def read_text(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return a plain text; a text that looks like code is fenced.

    Raises:
        NoContentError: There is no text.
    """
    text, warnings = decode_text(data, request)
    if _CONTACTS_OR_CALENDAR.match(text):
        text = "\n".join(line for card in _CARD.split(text.replace("\r\n", "\n")) for line in _unfold_card(card))
    body = text.strip("\n").rstrip()
    if not body.strip():
        raise NoContentError("The file contains no text.", next_step="There is nothing to read in it.")
    lines = [line for line in body.split("\n")[:_SAMPLE_LINES] if line.strip()]
    is_code = len(lines) > 3 and sum(bool(_CODE_LINE.match(line)) for line in lines) > _CODE_SHARE * len(lines)
    return ParsedDocument("text", fence(body, "") if is_code else body, warnings=warnings)


def _unfold_card(card: str) -> Iterator[str]:
    """Yield each property of a contact or calendar as one line: quoted-printable decoded, pictures as their size."""
    card = card.removesuffix("\n")
    for blank in " \t":
        card = card.replace(f"\n{blank}", blank if _OLD_VERSION in card else "")
    lines = iter(card.split("\n"))
    for line in lines:
        head, colon, value = line.partition(":")
        parameters = head.split(";")
        if colon and _QUOTED in map(str.upper, parameters):
            parts = [value]
            while parts[-1].endswith("=") and (more := next(lines, None)) is not None:
                parts.append(more)
            charset = next((one[len(_CHARSET) :] for one in parameters if one.upper().startswith(_CHARSET)), "utf-8")
            decoded = decode(quopri.decodestring("\n".join(parts).encode()), f"text/plain; charset={charset}")
            # A line break in the value is written as in the other values.
            decoded = decoded.replace("\r\n", "\n").replace("\n", "\\n")
            kept = [one for one in parameters if one.upper() != _QUOTED and not one.upper().startswith(_CHARSET)]
            yield f"{';'.join(kept)}:{decoded}"
        elif (data := _find_base64(head, value)) is not None:
            yield f"{line[: len(line) - len(data)]}({len(data) * 3 // 4:,} bytes)"
        else:
            yield line


def _find_base64(head: str, value: str) -> str | None:
    """Return a long value in base64, also behind the start of a `data:` URL, or None."""
    if value.startswith("data:"):
        data = value.partition(",")[2]
    elif not {"ENCODING=B", "ENCODING=BASE64"}.isdisjoint(head.upper().split(";")[1:]):
        data = value
    else:
        return None
    return data if _BASE64.fullmatch(data) else None


def read_markdown(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return Markdown unchanged, with its title."""
    text, warnings = decode_text(data, request)
    headings = find_headings(text)
    title = read_front_matter(text)[0].get("title") or (headings[0].text if headings else None)
    return ParsedDocument("markdown", text.strip(), title=title, warnings=warnings)


def read_xml(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return XML as a code block."""
    text, warnings = decode_text(data, request)
    return ParsedDocument("xml", fence(text.strip(), "xml"), warnings=warnings)


def read_feed(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the entries of a feed, or the XML if it is not a feed."""
    text, warnings = decode_text(data, request)
    feed = feeds.read(text, request.url or "http://feed.invalid/", whole=True)
    if feed is None:
        return read_xml(data, request)
    return ParsedDocument("feed", feed.markdown, title=feed.title, warnings=warnings)


def read_json(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return JSON as a code block, indented if it is short and valid."""
    text, warnings = decode_text(data, request)
    return ParsedDocument("json", fence(format_json(text), "json"), warnings=warnings)


def read_notebook(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return a Jupyter notebook as text and code, or its JSON if its structure is unknown.

    It is parsed as a whole: its pictures are often longer than the limit of the answer.
    """
    try:
        notebook = json.loads(decode(data, request.media_type).removeprefix("\ufeff"))
        name = notebook.get("metadata", {}).get("kernelspec", {}).get("language", "python")
        language = name if isinstance(name, str) and name.isalnum() else ""
        parts = [part for cell in notebook["cells"] for part in _notebook_cell(cell, language)]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        text, warnings = decode_text(data, request)
        return ParsedDocument("json", fence(text.strip(), "json"), warnings=warnings)
    has_long_output = any(part.endswith(_CUT_OUTPUT) for part in parts)
    return ParsedDocument("ipynb", "\n\n".join(parts), warnings=(_LONG_OUTPUT_WARNING,) if has_long_output else ())


def _notebook_cell(cell: Any, language: str) -> Iterator[str]:
    source = _join_lines(cell.get("source", ""))
    if cell.get("cell_type") != "code":
        if source:
            yield source
        return
    if source:
        yield fence(source, language)
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        text = _join_lines(output.get("text") or data.get("text/plain") or "")
        if output.get("output_type") == "error":
            text = f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
        text = _TERMINAL_CODE.sub("", text)
        if not text or text.startswith(_DISPLAY_OBJECT):
            formatted = _join_lines(data.get("text/markdown") or data.get("text/latex") or "")
            formatted = formatted or convert_html(_join_lines(data.get("text/html") or ""))[0].strip()
            text = formatted or (text and fence(text, ""))
            yield from [text] if text else []
        elif len(text) > _MAX_OUTPUT_CHARS:
            yield fence(text[:_MAX_OUTPUT_CHARS], "") + _CUT_OUTPUT
        else:
            yield fence(text, "")


def _join_lines(lines: Any) -> str:
    return "".join(map(str, lines if isinstance(lines, list) else [lines])).strip("\n")


def read_csv(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the rows as a table with the first row as header.

    Raises:
        NoContentError: There is no text.
    """
    text, warnings = decode_text(data, request)
    if not text.strip():
        raise NoContentError("The file contains no text.", next_step="There is nothing to read in it.")
    if text[:4].lower() == "sep=" and "\n" in text[:10]:  # Excel's hint `sep=;`, which is not a row.
        text = text.split("\n", 1)[1]
    delimiter = _find_delimiter(text)
    rows = _parse_rows(text, delimiter)
    width = max(map(len, rows))
    max_rows = min(MAX_ROWS, max(1, MAX_CELLS // max(1, min(width, _MAX_COLUMNS))))
    if len(rows) > max_rows:
        total = f" of {len(rows):,}" if len(rows) <= MAX_ROWS else ""
        warnings = (*warnings, f"Only the first {max_rows:,}{total} rows are shown.")
    if width > _MAX_COLUMNS:
        warnings = (*warnings, f"Only the first {_MAX_COLUMNS:,} of {width:,} columns are shown.")
    table = pipe_table([row[:_MAX_COLUMNS] for row in rows[:max_rows]])
    return ParsedDocument("tsv" if delimiter == "\t" else "csv", table, warnings=warnings)


def _parse_rows(text: str, delimiter: str) -> list[list[str]]:
    """Return the rows, at most one more than the limit."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lenient = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    try:
        rows = list(itertools.islice((row for row in lenient if row), MAX_ROWS + 1))
        if any(cell.count("\n") > _MAX_CELL_LINES for row in rows for cell in row):
            raise csv.Error("a quote that never closes")
    except csv.Error:
        plain = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        try:
            rows = list(itertools.islice((row for row in plain if row), MAX_ROWS + 1))
        except csv.Error:  # A field beyond the limit of the csv module: split by hand.
            rows = [line.split(delimiter) for line in lines[: MAX_ROWS + 1] if line]
    return [[cell.strip() for cell in row] for row in rows]


def _find_delimiter(text: str) -> str:
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

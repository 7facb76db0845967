"""Read lists of URLs from text, JSON lines, CSV or Parquet. Unusable lines become entries with a problem.

Empty lines, and lines of text that begin with #, are skipped.
"""

import codecs
import csv
import gzip
import hashlib
import io
import json
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from scraper.bulk.model import STDIN, MissingExtraError, UrlListError

_COLUMN = "url"
LINE_CHARS = 2_000
"""Characters of an unusable line that are written to the output."""
_MAX_FIELD = 1 << 24
"""Characters of a CSV field: another column may contain the whole text of a page."""
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Byte order marks of files that Windows saves as "Unicode"."""
_GZIP = b"\x1f\x8b"
_START_CHARS = 4_096
_SEPARATORS = {".csv": ",;\t", ".tsv": "\t"}
"""By suffix. The first with which the first line has the column is used; in half of Europe Excel has `;`."""


@dataclass(frozen=True, slots=True)
class ListLine:
    """One line of a list: a text that should be a URL, or the problem with it."""

    text: str
    problem: str = ""


def read_lines(source: str) -> Iterator[ListLine]:
    """Yield the lines of a file or of standard input; the file's extension determines its format. It may end with .gz.

    Raises:
        UrlListError: The list cannot be read, or has no column `url`.
        MissingExtraError: The list is Parquet, and pyarrow is not installed.
    """
    try:
        yield from _read_source(source)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise UrlListError(f"{_get_source_name(source)} cannot be read: {reason}.") from None


def _read_source(source: str) -> Iterator[ListLine]:
    if source == STDIN:
        yield from _read_text(_open_stdin())
        return
    path = Path(source)
    kind = path.with_suffix("").suffix.lower() if path.suffix == ".gz" else path.suffix.lower()
    if kind == ".parquet":
        yield from _read_parquet(path)
        return
    with _open_text(path) as stream:
        _check_has_lines(stream.read(_START_CHARS), source)
        stream.seek(0)
        yield from _read_csv(stream, source, kind) if kind in _SEPARATORS else _read_text(stream)


def compute_fingerprint(source: str) -> str:
    """Return the SHA-256 of the file; an empty string for standard input, which can be read only once.

    Raises:
        UrlListError: The list cannot be read.
    """
    if source == STDIN:
        return ""
    try:
        if Path(source).is_fifo():
            raise UrlListError(f"{source} is not a file: pass the output of another program as standard input (-).")
        with Path(source).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UrlListError(f"{source} cannot be read: {error.strerror}.") from None


def _open_text(path: Path) -> IO[str]:
    is_packed = path.suffix == ".gz"
    with gzip.open(path) if is_packed else path.open("rb") as file:
        encoding = _detect_encoding(file.read(2))
    if is_packed:
        return gzip.open(path, "rt", encoding=encoding, errors="replace", newline="")
    return path.open(encoding=encoding, errors="replace", newline="")


def _open_stdin() -> IO[str]:
    """Return standard input as text; its beginning is checked here, because it can be read only once."""
    source: io.BufferedReader | gzip.GzipFile = io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer))
    if source.peek(2).startswith(_GZIP):
        source = gzip.GzipFile(fileobj=source)
    start = source.peek(_START_CHARS)[:_START_CHARS]
    encoding = _detect_encoding(start[:2])
    _check_has_lines(start.decode(encoding, "ignore"), STDIN)
    return io.TextIOWrapper(cast(io.BufferedReader, source), encoding=encoding, errors="replace", newline="")


def _get_source_name(source: str) -> str:
    return "Standard input" if source == STDIN else source


def _detect_encoding(start: bytes) -> str:
    return "utf-16" if start in _UTF_16 else "utf-8-sig"


def _check_has_lines(start: str, source: str) -> None:
    """Raise UrlListError for input that is not a list, which would become thousands of rows with errors."""
    if "\0" in start:
        raise UrlListError(
            f"{_get_source_name(source)} is not text: a list is text, CSV, JSON lines or Parquet, by its extension."
        )
    if start.lstrip().startswith("[") and start.lstrip()[1:].lstrip()[:1] in {'"', "{", "]", ""}:
        command = "jq -c '.[]'" if source == STDIN else f"jq -c '.[]' {source}"
        raise UrlListError(
            f"{_get_source_name(source)} is one JSON array: write one URL per line, as `{command}` does."
        )


def _read_text(stream: Iterable[str]) -> Iterator[ListLine]:
    """Yield lines of text; lines that begin with a brace or a quotation mark are parsed as JSON."""
    for line in stream:
        text = line.strip()
        if text.startswith(("{", '"')):
            yield _parse_json(text)
        elif text and not text.startswith("#"):
            yield ListLine(text)


def _parse_json(text: str) -> ListLine:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return ListLine(text[:LINE_CHARS], "The line is not JSON.")
    return _make_line(found.get(_COLUMN) if isinstance(found, dict) else found, text)


def _read_csv(stream: Iterator[str], source: str, kind: str) -> Iterator[ListLine]:
    csv.field_size_limit(_MAX_FIELD)
    first = next(stream, "")
    separator = next((one for one in _SEPARATORS[kind] if _COLUMN in _parse_columns(first, one)), "")
    if not separator:
        names = _parse_columns(first, _SEPARATORS[kind][0])
        raise UrlListError(
            f"{source} has no column `{_COLUMN}`; its first line is {_format_names(names)}. "
            "If the columns have no names, give the URLs alone, as lines of a .txt file."
        )
    at = _parse_columns(first, separator).index(_COLUMN)
    rows = csv.reader(stream, delimiter=separator)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            # The header line is not counted by the reader.
            yield ListLine(f"line {rows.line_num + 1}", f"The line is not CSV: {error}.")
            continue
        if row:
            yield _make_line(row[at].strip() if len(row) > at else None, separator.join(row))


def _parse_columns(first: str, separator: str) -> list[str]:
    """Return the column names in the first line, or an empty list if it is not CSV."""
    try:
        return [name.strip().lower() for name in next(csv.reader([first], delimiter=separator), [])]
    except csv.Error:
        return []


def _format_names(names: list[str]) -> str:
    return repr(", ".join(names)[:200])


def _read_parquet(path: Path) -> Iterator[ListLine]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("A list in Parquet", "pyarrow") from None
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            column = next((name for name in names if name.strip().lower() == _COLUMN), None)
            if column is None:
                raise UrlListError(f"{path} has no column `{_COLUMN}`; its columns are {_format_names(names)}.")
            number = 0
            for batch in file.iter_batches(columns=[column]):
                for value in batch.column(0).to_pylist():
                    number += 1
                    # Programs that specify no text type write bytes.
                    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
                    yield _make_line(text, f"row {number}")
    except pyarrow.ArrowException as error:
        raise UrlListError(f"{path} is not Parquet: {error}.") from None


def _make_line(value: Any, line: str) -> ListLine:
    if isinstance(value, str) and value.strip():
        return ListLine(value.strip())
    return ListLine(line[:LINE_CHARS], f"The line has no `{_COLUMN}`.")

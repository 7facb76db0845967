"""Lists of URLs: lines of text or JSON, CSV, Parquet; a line that cannot be used is told, never lost."""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from scraper.bulk.errors import MissingExtraError, UrlListError
from scraper.bulk.model import STDIN

COLUMN = "url"
SHOWN_CHARS = 2_000
"""How much of a line that cannot be used stands in the output."""
_MAX_FIELD = 1 << 24
"""Of a CSV file: a page's whole text may stand beside its URL."""
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Begin what Windows saves as "Unicode"."""
_GZIP = b"\x1f\x8b"
_START_CHARS = 4_096
_ARRAY = re.compile(r"\s*\[\s*(?:[\"{\]]|$)")
_SEPARATORS = {".csv": ",;\t", ".tsv": "\t"}
"""The first with which the first line names the column; in half of Europe Excel writes semicolons."""


@dataclass(frozen=True, slots=True)
class ListLine:
    """One line of the list: a text that should be a URL, or why there is none in it."""

    text: str
    problem: str = ""


def read(source: str) -> Iterator[ListLine]:
    """The lines of a file, told apart by its name's end, or of standard input.

    Raises:
        UnusableList: it cannot be read, or no column `url` is in it.
        MissingExtra: it is Parquet, and pyarrow is not there.
    """
    if source == STDIN:
        try:
            yield from _texts(_standard_input())
        except (OSError, EOFError, zlib.error) as error:
            raise _unreadable(_named(STDIN), error) from None
        return
    path = Path(source)
    kind = path.with_suffix("").suffix.lower() if path.suffix == ".gz" else path.suffix.lower()
    try:
        if kind == ".parquet":
            yield from _parquet(path)
            return
        with _opened(path) as stream:
            _refuse_what_has_no_lines(stream.read(_START_CHARS), source)
            stream.seek(0)
            yield from _rows(stream, source, kind) if kind in _SEPARATORS else _texts(stream)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(source, error) from None


def _unreadable(source: str, error: Exception) -> UrlListError:
    return UrlListError(f"{source} cannot be read: {getattr(error, 'strerror', None) or error}.")


def fingerprint(source: str) -> str:
    """What tells one list from another; standard input, which is gone once read, has none.

    Raises:
        UnusableList: it cannot be read.
    """
    if source == STDIN:
        return ""
    try:
        if Path(source).is_fifo():
            raise UrlListError(
                f"{source} is no file: give what another program writes as standard input (-)."
            )
        with Path(source).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UrlListError(f"{source} cannot be read: {error.strerror}.") from None


def _opened(path: Path) -> IO[str]:
    is_packed = path.suffix == ".gz"
    with gzip.open(path) if is_packed else path.open("rb") as file:
        encoding = _encoding(file.read(2))
    if is_packed:
        return gzip.open(path, "rt", encoding=encoding, errors="replace", newline="")
    return path.open(encoding=encoding, errors="replace", newline="")


def _standard_input() -> IO[str]:
    """What another program writes; it can be read once, so that its beginning is looked at beforehand."""
    source: io.BufferedReader | gzip.GzipFile = io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer))
    if source.peek(2).startswith(_GZIP):
        source = gzip.GzipFile(fileobj=source)
    start = source.peek(_START_CHARS)[:_START_CHARS]
    encoding = _encoding(start[:2])
    _refuse_what_has_no_lines(start.decode(encoding, "ignore"), STDIN)
    return io.TextIOWrapper(cast(io.BufferedReader, source), encoding=encoding, errors="replace", newline="")


def _named(source: str) -> str:
    return "Standard input" if source == STDIN else source


def _encoding(start: bytes) -> str:
    return "utf-16" if start in _UTF_16 else "utf-8-sig"


def _refuse_what_has_no_lines(start: str, source: str) -> None:
    """Before each of thousands of its lines becomes a row that says so."""
    if "\0" in start:
        raise UrlListError(
            f"{_named(source)} is no text: a list is text, CSV, JSON lines or Parquet, told by its name."
        )
    if _ARRAY.match(start):
        command = "jq -c '.[]'" if source == STDIN else f"jq -c '.[]' {source}"
        raise UrlListError(
            f"{_named(source)} is one JSON array: make a line of each URL, as `{command}` does."
        )


def _texts(stream: Iterable[str]) -> Iterator[ListLine]:
    """Lines of text, or of JSON where one begins with a brace or a quotation mark."""
    for line in stream:
        text = line.strip()
        if text.startswith(("{", '"')):
            yield _of_json(text)
        elif text and not text.startswith("#"):
            yield ListLine(text)


def _of_json(text: str) -> ListLine:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return ListLine(text[:SHOWN_CHARS], "The line is not JSON.")
    return _line(found.get(COLUMN) if isinstance(found, dict) else found, text)


def _rows(stream: Iterator[str], source: str, kind: str) -> Iterator[ListLine]:
    csv.field_size_limit(_MAX_FIELD)
    first = next(stream, "")
    separator = next((one for one in _SEPARATORS[kind] if COLUMN in _names(first, one)), "")
    if not separator:
        names = _names(first, _SEPARATORS[kind][0])
        raise UrlListError(
            f"{source} has no column `{COLUMN}`; its first line is {_shown(names)}. "
            "Where no column has a name, give the URLs alone, as lines of a .txt file."
        )
    at = _names(first, separator).index(COLUMN)
    rows = csv.reader(stream, delimiter=separator)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            # The first line is not among those that were counted.
            yield ListLine(f"line {rows.line_num + 1}", f"The line is not CSV: {error}.")
            continue
        if row:
            yield _line(row[at].strip() if len(row) > at else None, separator.join(row))


def _names(first: str, separator: str) -> list[str]:
    """The columns that a first line names; none where it is no CSV."""
    try:
        return [name.strip().lower() for name in next(csv.reader([first], delimiter=separator), [])]
    except csv.Error:
        return []


def _shown(names: list[str]) -> str:
    return repr(", ".join(names)[:200])


def _parquet(path: Path) -> Iterator[ListLine]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("A list in Parquet", "pyarrow") from None
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            column = next((name for name in names if name.strip().lower() == COLUMN), None)
            if column is None:
                raise UrlListError(f"{path} has no column `{COLUMN}`; its columns are {_shown(names)}.")
            number = 0
            for batch in file.iter_batches(columns=[column]):
                for value in batch.column(0).to_pylist():
                    number += 1
                    # Programs that name no type for text write it as bytes.
                    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
                    yield _line(text, f"row {number}")
    except pyarrow.ArrowException as error:
        raise UrlListError(f"{path} is no Parquet: {error}.") from None


def _line(value: Any, whole: str) -> ListLine:
    if isinstance(value, str) and value.strip():
        return ListLine(value.strip())
    return ListLine(whole[:SHOWN_CHARS], f"The line has no `{COLUMN}`.")

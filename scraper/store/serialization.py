"""Convert readings, pages, structured data and search answers to compact JSON and back.

Unlike a pickle, JSON can be read by later versions and by other programs.
"""

import json
import logging
import zlib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar

from scraper.engines.model import SearchAnswer, SearchResult
from scraper.model import Document, Heading, Image, Link, Post, Reading, StructuredData, Verdict, VerdictKind, Wish
from scraper.store.protocols import CacheScope, PageEntry

log = logging.getLogger(__name__)

T = TypeVar("T", Document, Post, Reading, StructuredData, SearchAnswer)

ENTRY_BYTES = 8 * 1024 * 1024
"""Bytes of JSON before compression. A larger page is not stored: a few of them would evict all others."""
_INDEXED_CHARS = 1_000_000
"""Characters of a page's text in the full-text index; further text is stored but not indexed."""

_Codec = tuple[Callable[[Any], Any], Callable[[Any], Any]]
"""Functions that convert a field to JSON and from JSON."""


_PLAIN: _Codec = (lambda value: value, lambda data: data)
_TUPLE: _Codec = (list, tuple)


def _row_codec(kind: type[Any], codecs: Mapping[str, _Codec] = MappingProxyType({})) -> _Codec:
    """Return a codec that stores rows without field names, because a page has hundreds of links."""
    columns = [(field.name, *codecs.get(field.name, _PLAIN)) for field in fields(kind)]
    return (
        lambda items: [[dump(getattr(item, name)) for name, dump, _ in columns] for item in items],
        # Older rows may lack the last fields.
        lambda rows: tuple(kind(*(load(one) for one, (_, _, load) in zip(row, columns, strict=False))) for row in rows),
    )


_TIME: _Codec = (lambda moment: moment and moment.isoformat(), lambda text: text and datetime.fromisoformat(text))

_FACTS: _Codec = (list, lambda rows: tuple((name, value) for name, value in rows))

_POST: Mapping[str, _Codec] = {"published": _TIME}

_DOCUMENT: Mapping[str, _Codec] = {
    "published": _TIME,
    "verdict": (lambda verdict: [verdict.kind.value, verdict.reason], lambda row: Verdict(VerdictKind(row[0]), row[1])),
    "links": _row_codec(Link),
    "images": _row_codec(Image),
    "outline": _row_codec(Heading),
    "discussion": (
        lambda posts: [_dump(post, _POST) for post in posts],
        lambda data: tuple(_load(Post, one, _POST) for one in data),
    ),
    "ocr_pages": _TUPLE,
    "tools": _TUPLE,
    "wishes": _row_codec(Wish),
    "facts": _FACTS,
}

_READING: Mapping[str, _Codec] = {
    "document": (lambda document: _dump(document, _DOCUMENT), lambda data: _load(Document, data, _DOCUMENT)),
    "retrieved_at": _TIME,
    "warnings": _TUPLE,
}

_STRUCTURED: Mapping[str, _Codec] = dict.fromkeys(
    ("json_ld", "microdata", "opengraph", "rdfa", "xhr", "discussion", "warnings"), _TUPLE
)

_RESULT = {"engines": _TUPLE, "date": _TIME, "also": _TUPLE, "facts": _FACTS}

_ANSWER: Mapping[str, _Codec] = {
    "results": _row_codec(SearchResult, _RESULT),
    "engines": _TUPLE,
    "errors": (dict, MappingProxyType),
    "retrieved_at": _TIME,
    "warnings": _TUPLE,
}

_CODECS: Mapping[type, Mapping[str, _Codec]] = {Reading: _READING, StructuredData: _STRUCTURED, SearchAnswer: _ANSWER}


def serialize_result(item: Reading | StructuredData | SearchAnswer) -> bytes:
    """Return a result as JSON in UTF-8."""
    # Older versions expect every field of a search answer.
    data = _dump(item, _CODECS[type(item)], is_complete=isinstance(item, SearchAnswer))
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # A script can leave half a surrogate pair in a page's text, which UTF-8 cannot represent.
    return text.encode("utf-8", errors="replace")


def load(kind: type[T], data: bytes | str) -> T:
    """Return the result that `dump` wrote; raise ValueError if the data are not of this kind."""
    try:
        return _load(kind, json.loads(data), _CODECS[kind])
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        raise ValueError(f"not {kind.__name__}: {error}") from None


def _dump(item: Any, codecs: Mapping[str, _Codec], *, is_complete: bool = False) -> dict[str, Any]:
    """Return all fields, or those that differ from their defaults."""
    data = {}
    for field in fields(item):
        value = getattr(item, field.name)
        if not is_complete and field.default is not MISSING and value == field.default:
            continue
        codec = codecs.get(field.name)
        data[field.name] = codec[0](value) if codec else value
    return data


def _load(kind: type[T], data: Mapping[str, Any], codecs: Mapping[str, _Codec]) -> T:
    values = {}
    for field in fields(kind):
        if field.name in data:
            codec = codecs.get(field.name)
            values[field.name] = codec[1](data[field.name]) if codec else data[field.name]
    return kind(**values)


def compress_reading(reading: Reading, limit_bytes: int) -> bytes | None:
    """Return a reading as compressed JSON, or None if its JSON exceeds `limit_bytes` or `ENTRY_BYTES`."""
    data = serialize_result(reading)
    return None if len(data) > min(ENTRY_BYTES, limit_bytes) else zlib.compress(data, 1)


def decompress_reading(data: bytes) -> Reading | None:
    """Return a stored reading, or None if it is unreadable."""
    try:
        return load(Reading, zlib.decompress(data))
    except (ValueError, zlib.error) as error:
        log.warning("a cached page cannot be read: %s", error)
        return None


def load_entry(
    principal: str, profile: str, language: str, key: str, allowances_json: str, data: bytes
) -> PageEntry | None:
    """Return the page from the columns of a database row, or None if it is unreadable."""
    reading = decompress_reading(data)
    if reading is None:
        return None
    return PageEntry(CacheScope(principal, profile, language), key, reading, frozenset(json.loads(allowances_json)))


def searchable_text(document: Document) -> str:
    """Return the part of a document that full-text search finds."""
    return make_storable((document.text or document.markdown)[:_INDEXED_CHARS])


def make_storable(text: str) -> str:
    """Replace halves of surrogate pairs, which UTF-8 cannot represent, and NUL, which databases refuse or cut at."""
    return text.encode("utf-8", errors="replace").decode().replace("\0", " ")

"""What was read as compact JSON and back: readable by later versions and other programs, unlike a pickle."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from typing import Any, TypeVar

from scraper.model import Document, Heading, Image, Link, Reading, StructuredData, Verdict, VerdictKind

T = TypeVar("T", Document, Reading, StructuredData)

Codec = tuple[Callable[[Any], Any], Callable[[Any], Any]]
"""To JSON, and from JSON."""


def _rows(kind: type[Link] | type[Image] | type[Heading]) -> Codec:
    """Rows without names: a page has hundreds of links."""
    names = [field.name for field in fields(kind)]
    return (
        lambda items: [[getattr(item, name) for name in names] for item in items],
        lambda rows: tuple(kind(*row) for row in rows),
    )


_MOMENT: Codec = (
    lambda moment: moment and moment.isoformat(),
    lambda text: text and datetime.fromisoformat(text),
)

_DOCUMENT: Mapping[str, Codec] = {
    "published": _MOMENT,
    "verdict": (
        lambda verdict: [verdict.kind.value, verdict.reason],
        lambda row: Verdict(VerdictKind(row[0]), row[1]),
    ),
    "links": _rows(Link),
    "images": _rows(Image),
    "outline": _rows(Heading),
    "ocr_pages": (list, tuple),
}

_READING: Mapping[str, Codec] = {
    "document": (lambda document: _dump(document, _DOCUMENT), lambda data: _load(Document, data, _DOCUMENT)),
    "retrieved_at": _MOMENT,
    "warnings": (list, tuple),
}

_STRUCTURED: Mapping[str, Codec] = dict.fromkeys(
    ("json_ld", "microdata", "opengraph", "rdfa", "xhr", "warnings"), (list, tuple)
)


def dump_reading(reading: Reading) -> bytes:
    """The reading as JSON in UTF-8."""
    return _dumped(reading, _READING)


def load_reading(data: bytes) -> Reading:
    """The reading that `dump_reading` wrote.

    Raises:
        ValueError: the data are not one.
    """
    return _loaded(Reading, data, _READING)


def dump_structured(found: StructuredData) -> bytes:
    """Structured data as JSON in UTF-8."""
    return _dumped(found, _STRUCTURED)


def load_structured(data: bytes) -> StructuredData:
    """What `dump_structured` wrote.

    Raises:
        ValueError: the data are not that.
    """
    return _loaded(StructuredData, data, _STRUCTURED)


def _dumped(item: Reading | StructuredData, codecs: Mapping[str, Codec]) -> bytes:
    text = json.dumps(_dump(item, codecs), ensure_ascii=False, separators=(",", ":"))
    # A page's script can leave half a surrogate pair in its text, which no encoding can carry.
    return text.encode("utf-8", errors="replace")


def _loaded(kind: type[T], data: bytes, codecs: Mapping[str, Codec]) -> T:
    try:
        return _load(kind, json.loads(data), codecs)
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        raise ValueError(f"not {kind.__name__}: {error}") from None


def _dump(item: Document | Reading | StructuredData, codecs: Mapping[str, Codec]) -> dict[str, Any]:
    """The fields that differ from their defaults."""
    data = {}
    for field in fields(item):
        value = getattr(item, field.name)
        if field.default is not MISSING and value == field.default:
            continue
        codec = codecs.get(field.name)
        data[field.name] = codec[0](value) if codec else value
    return data


def _load(kind: type[T], data: Mapping[str, Any], codecs: Mapping[str, Codec]) -> T:
    """An object of `kind`; names that this version does not know are left out."""
    values = {}
    for field in fields(kind):
        if field.name in data:
            codec = codecs.get(field.name)
            values[field.name] = codec[1](data[field.name]) if codec else data[field.name]
    return kind(**values)

"""A reading as compact JSON and back: readable by later versions and other programs, unlike a pickle."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from typing import Any

from scraper.model import Document, Heading, Image, Link, Reading, Verdict, VerdictKind

__all__ = ["dump_reading", "load_reading"]

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


def dump_reading(reading: Reading) -> bytes:
    """The reading as JSON in UTF-8."""
    text = json.dumps(_dump(reading, _READING), ensure_ascii=False, separators=(",", ":"))
    # A page's script can leave half a surrogate pair in its text, which no encoding can carry.
    return text.encode("utf-8", errors="replace")


def load_reading(data: bytes) -> Reading:
    """The reading that `dump_reading` wrote.

    Raises:
        ValueError: the data are not one.
    """
    try:
        reading = _load(Reading, json.loads(data), _READING)
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        raise ValueError(f"not a reading: {error}") from None
    assert isinstance(reading, Reading)
    return reading


def _dump(item: Document | Reading, codecs: Mapping[str, Codec]) -> dict[str, Any]:
    """The fields that differ from their defaults."""
    data = {}
    for field in fields(item):
        value = getattr(item, field.name)
        if field.default is not MISSING and value == field.default:
            continue
        codec = codecs.get(field.name)
        data[field.name] = codec[0](value) if codec else value
    return data


def _load(kind: type[Document] | type[Reading], data: Mapping[str, Any], codecs: Mapping[str, Codec]) -> Any:
    """An object of `kind`; names that this version does not know are left out."""
    values = {}
    for field in fields(kind):
        if field.name in data:
            codec = codecs.get(field.name)
            values[field.name] = codec[1](data[field.name]) if codec else data[field.name]
    return kind(**values)

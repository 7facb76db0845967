"""Read OpenGraph properties and Twitter cards, which describe a page for link previews."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scraper.html.dom.xpath import Element
from scraper.urls import join_url

_MAX_PROPERTIES = 300

_TWITTER = "twitter:"
_PREFIXES = (*"og: article: book: profile: video: music: product: business: place: fb:".split(), _TWITTER)
_URL_PROPERTIES = ("url", "secure_url", "image", "src", "video", "audio", "player", "stream")
"""Last words of properties whose values are URLs."""


def read_properties(root: Element) -> list[tuple[str, str]]:
    """Return all properties in order. Some pages write `name` instead of `property`, and put metas into the body."""
    found: list[tuple[str, str]] = []
    for meta in root.iter("meta"):
        content = meta.get("content")
        for name in (meta.get("property"), meta.get("name")):
            if name and content and content.strip():
                found += [(word, content.strip()) for word in name.lower().split() if word.startswith(_PREFIXES)]
    return list(dict.fromkeys(found))[:_MAX_PROPERTIES]


def select_properties(metas: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the properties among the metas of a page, given as lower-case names and contents."""
    found = [(name, content.strip()) for name, content in metas if name.startswith(_PREFIXES) and content.strip()]
    return list(dict.fromkeys(found))[:_MAX_PROPERTIES]


def to_objects(found: Iterable[tuple[str, str]], base: str) -> tuple[dict[str, Any], ...]:
    """Return the OpenGraph properties and the Twitter properties as objects, without empty ones.

    The values of a repeated property become a list.
    """
    graph: dict[str, list[str]] = {}
    cards: dict[str, list[str]] = {}
    for name, content in found:
        part = cards if name.startswith(_TWITTER) else graph
        part.setdefault(name, []).append(_absolute(name, content, base))
    return tuple(
        {name: values if len(values) > 1 else values[0] for name, values in part.items()}
        for part in (graph, cards)
        if part
    )


def find_image(found: Iterable[tuple[str, str]], base: str) -> str | None:
    """Return the URL of the image that represents the page, or None."""
    return next((_absolute(name, content, base) for name, content in found if name == "og:image"), None)


def _absolute(name: str, content: str, base: str) -> str:
    if name.rpartition(":")[2] not in _URL_PROPERTIES or not content or ":" in content.partition("/")[0]:
        return content
    return join_url(base, content)

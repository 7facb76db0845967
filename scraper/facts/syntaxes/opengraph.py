"""Read OpenGraph properties and Twitter cards, which describe a page for link previews."""

from collections.abc import Iterable
from typing import Any

from scraper.html.dom.parsing import Element
from scraper.urls import join_url

_MAX_PROPERTIES = 300

_TWITTER = "twitter:"
_PREFIXES = (*"og: article: book: profile: video: music: product: business: place: fb:".split(), _TWITTER)
_ROOTS = ("og:image", "og:video", "og:audio")
_PARTS = tuple(f"{root}:" for root in _ROOTS)
_URL_PROPERTIES = ("url", "secure_url", "image", "src", "video", "audio", "player", "stream")
"""Last words of properties whose values are URLs."""


def read_properties(root: Element) -> list[tuple[str, str]]:
    """Return all properties in order. Some pages write `name` instead of `property`, and put metas into the body."""
    return select_properties(
        (word, meta.get("content") or "")
        for meta in root.iter("meta")
        for name in (meta.get("property"), meta.get("name"))
        for word in (name or "").lower().split()
    )


def select_properties(metas: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the properties among metas, given as lower-case names and contents; only parts of pictures may repeat."""
    kept: list[tuple[str, str]] = []
    seen: set[tuple[str, str]] = set()
    for one in ((name, content.strip()) for name, content in metas if name.startswith(_PREFIXES)):
        if one[1] and (one not in seen or one[0].startswith(_PARTS)):
            kept.append(one)
        seen.add(one)
    return kept[:_MAX_PROPERTIES]


def to_objects(found: Iterable[tuple[str, str]], base: str) -> tuple[dict[str, Any], ...]:
    """Return the OpenGraph properties and the Twitter properties as objects, without empty ones.

    The values of a repeated property become a list. Of several images, videos or sounds, each becomes an object with
    its properties: they belong to the one before them.
    """
    pairs = [(name, _absolute(name, content, base)) for name, content in found]
    repeated = {root for root in _ROOTS if sum(name == root for name, _ in pairs) > 1}
    graph: dict[str, list[Any]] = {}
    cards: dict[str, list[Any]] = {}
    for name, content in pairs:
        part = cards if name.startswith(_TWITTER) else graph
        root = ":".join(name.split(":")[:2])
        if name in repeated:
            part.setdefault(name, []).append({name: content})
        elif root in repeated and root in part:
            part[root][-1].setdefault(name, content)
        else:
            part.setdefault(name, []).append(content)
    for root in repeated:
        if all(len(one) == 1 for one in graph[root]):
            graph[root] = [one[root] for one in graph[root]]
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

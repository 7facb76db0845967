"""What is kept on this server as things with addresses: pages read before, documents of named indexes.

Addresses: `page://https://example.org/a` is the kept copy of that page, `index://NAME/ID` a document. Each
caller sees their own.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from scraper.errors import InvalidUrlError
from scraper.extract.text.sanitize import clean_line
from scraper.model import CachedPageSummary, PageHit
from scraper.render import fetch as render_page
from scraper.render import index_document as render_document
from scraper.search.query_terms import content_words
from scraper.store.indexes.model import IndexFaultError
from scraper.tools.common_parameters import body_budget, new_region
from scraper.urls import parse_target

if TYPE_CHECKING:
    from scraper.app import App

PAGE = "page://"
INDEX = "index://"

_TITLE_CHARS = 200
_URL_CHARS = 2_000
_FUSED = 60
"""The usual constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""
_PAGE_ADDRESS = re.compile(r"page://(https?)(?::|%3[Aa])?(?://?|%2[Ff]%2[Ff])(.+)", re.DOTALL)
_START = re.compile(r"\?start=(\d{1,9})$")


class InvalidCursorError(Exception):
    """A cursor that none of our answers gave."""


@dataclass(frozen=True, slots=True)
class CachedResource:
    """One thing that can be read at its address."""

    uri: str
    name: str
    about: str
    title: str | None = None
    size_bytes: int | None = None
    modified: str | None = None
    """ISO 8601."""
    snippet: str = ""
    """The passage that was asked for; text of the web."""


@dataclass(frozen=True, slots=True)
class ResourcePage:
    """Some of the things, and where the next part begins; None: that was all."""

    items: tuple[CachedResource, ...]
    cursor: str | None = None


async def listed(app: App, principal: str, cursor: str | None, limit: int) -> ResourcePage:
    """Pages, newest first, then the documents of each index in the order in which they came.

    Raises:
        BadCursor: none of our parts ended there.
    """
    place = _place(cursor)
    items: list[CachedResource] = []
    if "index" not in place:
        pages = await app.library.recent(principal=principal, limit=limit + 1, before=place.get("before"))
        items = [_page_item(facts) for facts in pages[:limit]]
        if len(pages) > limit:
            return ResourcePage(tuple(items), _cursor({"before": pages[limit - 1].number}))
        place = {"index": "", "after": 0}
    return await _with_documents(app, principal, items, place, limit)


async def found(
    app: App, principal: str, query: str, offset: int, limit: int
) -> tuple[list[CachedResource], bool]:
    """What holds the words of a query, best first, from a place on; and whether there is more."""
    wanted = offset + limit + 1
    ways = [await _found_pages(app, principal, query, wanted)]
    ways += [
        await _found_documents(app, principal, facts.name, query, wanted)
        for facts in await app.indexes.names(principal=principal)
    ]
    every = _fused(ways)
    return every[offset : offset + limit], len(every) > offset + limit


async def read(app: App, principal: str, uri: str) -> str | None:
    """The text at an address as Markdown, sealed and of bounded size; None: nothing is kept there."""
    if uri.startswith(PAGE):
        return await _read_page(app, principal, uri)
    return await _read_document(app, principal, uri) if uri.startswith(INDEX) else None


def address_of_page(url: str) -> str:
    """Where the kept copy of a page is read."""
    return PAGE + url.replace("#", "%23")


def address_of_document(index: str, doc_id: str) -> str:
    """Where a document of an index is read."""
    return f"{INDEX}{index}/{quote(doc_id, safe='', errors='replace')}"


async def _with_documents(
    app: App, principal: str, items: list[CachedResource], place: dict[str, Any], limit: int
) -> ResourcePage:
    name, after = str(place["index"]), int(place.get("after", 0))
    for facts in await app.indexes.names(principal=principal):
        if facts.name < name:
            continue
        begin = after if facts.name == name else 0
        room = limit - len(items)
        ids = await _ids(app, principal, facts.name, begin, room + 1)
        items += [_document_item(facts.name, doc_id) for doc_id in ids[:room]]
        if len(ids) > room:
            return ResourcePage(tuple(items), _cursor({"index": facts.name, "after": begin + room}))
    return ResourcePage(tuple(items))


async def _ids(app: App, principal: str, index: str, after: int, limit: int) -> Sequence[str]:
    try:
        return await app.indexes.documents(index, principal=principal, limit=limit, after=after)
    except IndexFaultError:
        return ()


async def _found_pages(app: App, principal: str, query: str, limit: int) -> list[CachedResource]:
    """Pages that hold every word; where none does, those that hold the words that matter."""
    hits = (await app.library.search(query, principal=principal, limit=limit)).hits
    words = content_words(query)
    if not hits and len(words) > 1:
        any_of = " OR ".join(f'"{word}"' for word in words)
        hits = (await app.library.search(any_of, principal=principal, limit=limit)).hits
    return [_hit_page(hit) for hit in hits]


async def _found_documents(
    app: App, principal: str, index: str, query: str, limit: int
) -> list[CachedResource]:
    try:
        hits = (await app.indexes.search(index, query, principal=principal, limit=limit)).hits
    except IndexFaultError:
        return []
    return [_hit_document(index, hit.doc_id, hit.highlights) for hit in hits]


def _fused(ways: Sequence[Sequence[CachedResource]]) -> list[CachedResource]:
    """Several ranked lists as one: scores of different measures do not compare, places do."""
    score: dict[str, float] = {}
    items: dict[str, CachedResource] = {}
    for way in ways:
        for rank, item in enumerate(way, 1):
            score[item.uri] = score.get(item.uri, 0.0) + 1 / (_FUSED + rank)
            items.setdefault(item.uri, item)
    return [items[uri] for uri in sorted(score, key=lambda uri: -score[uri])]


async def _read_page(app: App, principal: str, uri: str) -> str | None:
    for url in _urls_of(uri):
        reading = await app.library.page(url, principal=principal)
        if reading is not None:
            return render_page.as_markdown(
                reading, region=new_region(), now=datetime.now(UTC), budget=body_budget(app.settings)
            )
    return None


def _urls_of(uri: str) -> list[str]:
    """The page's address, as we wrote it and as clients that tidy addresses, or encode them, send it."""
    match = _PAGE_ADDRESS.fullmatch(uri)
    if match is None:
        return []
    scheme, rest = match.groups()
    written = f"{scheme}://{rest}"
    urls = []
    for text in (written, written.replace("%23", "#"), unquote(written)):
        try:
            urls.append(parse_target(text))
        except InvalidUrlError:
            continue
    return list(dict.fromkeys(urls))


async def _read_document(app: App, principal: str, uri: str) -> str | None:
    start = _START.search(uri)
    name, _, quoted = _START.sub("", uri).removeprefix(INDEX).partition("/")
    try:
        document = await app.indexes.document(name, unquote(quoted), principal=principal)
    except IndexFaultError:
        return None
    if document is None:
        return None
    return render_document.as_markdown(
        document.content,
        index=name,
        doc_id=document.doc_id,
        metadata=document.metadata,
        address=address_of_document(name, document.doc_id),
        region=new_region(),
        start=int(start[1]) if start else 0,
        budget=body_budget(app.settings),
    )


def _page_item(facts: CachedPageSummary) -> CachedResource:
    return _page(facts.url, facts.title, facts.retrieved_at, size=facts.size_bytes)


def _hit_page(hit: PageHit) -> CachedResource:
    return _page(hit.url, hit.title, hit.retrieved_at, snippet=hit.snippet)


def _page(
    url: str, title: str, moment: float, *, size: int | None = None, snippet: str = ""
) -> CachedResource:
    read_at = datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
    return CachedResource(
        address_of_page(url),
        clean_line(url, _URL_CHARS),
        f"Web page, read {read_at}.",
        clean_line(title, _TITLE_CHARS) or None,
        size,
        read_at,
        snippet,
    )


def _document_item(index: str, doc_id: str) -> CachedResource:
    return CachedResource(
        address_of_document(index, doc_id), clean_line(doc_id, _TITLE_CHARS), f"Document of index {index}."
    )


def _hit_document(index: str, doc_id: str, highlights: Sequence[str]) -> CachedResource:
    name, about = clean_line(doc_id, _TITLE_CHARS), f"Document of index {index}."
    return CachedResource(address_of_document(index, doc_id), name, about, snippet=" ".join(highlights))


def _cursor(place: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(place, separators=(",", ":")).encode()).decode()


def _place(cursor: str | None) -> dict[str, Any]:
    if cursor is None:
        return {}
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, binascii.Error, RecursionError):
        raise InvalidCursorError from None
    if _is_before(place) or _is_within(place):
        return dict(place)
    raise InvalidCursorError


def _is_before(place: object) -> bool:
    return isinstance(place, dict) and place.keys() == {"before"} and _is_count(place["before"])


def _is_within(place: object) -> bool:
    if not isinstance(place, dict) or place.keys() != {"index", "after"}:
        return False
    return isinstance(place["index"], str) and _is_count(place["after"])


def _is_count(value: object) -> bool:
    # What SQLite holds, and no bool.
    return type(value) is int and 0 <= value < 1 << 62

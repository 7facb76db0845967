"""List, search and read cached pages and indexed documents as MCP resources.

`page://https://example.org/a` is the cached copy of a page, `index://NAME/ID` a document of an index, `picture://ID` a
file from `see`. Callers see only their own resources.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from scraper.errors import InvalidUrlError
from scraper.model import CachedPageSummary, PageHit
from scraper.render.document import index_document_as_markdown
from scraper.render.page import as_markdown as page_as_markdown
from scraper.render.untrusted_text import display_url
from scraper.search.fusion import extract_content_words
from scraper.store.index_model import IndexFaultError
from scraper.text.sanitize import clean_line
from scraper.tools.model import body_budget, new_region
from scraper.urls import parse_target

if TYPE_CHECKING:
    from scraper.services import Services

PAGE = "page://"
_INDEX = "index://"
PICTURE = "picture://"

_TITLE_CHARS = 120
_PAGE_ADDRESS = re.compile(r"page://(https?)(?::|%3[Aa])?(?://?|%2[Ff]%2[Ff])(.+)", re.DOTALL)


class InvalidCursorError(Exception):
    """The cursor was not returned by this server."""


@dataclass(frozen=True, slots=True)
class CachedResource:
    """A cached page or a document of an index."""

    uri: str
    name: str
    about: str
    title: str | None = None
    modified: str | None = None
    """Time in ISO 8601."""
    snippet: str = ""
    """Passage that matches the query; text from the web."""


@dataclass(frozen=True, slots=True)
class ResourcePage:
    """Resources, and the cursor of the next page; None on the last page."""

    items: tuple[CachedResource, ...]
    cursor: str | None = None


async def list_resources(services: Services, principal: str, cursor: str | None, limit: int) -> ResourcePage:
    """List cached pages, newest first, then documents of each index; raise InvalidCursorError for a foreign cursor."""
    position = _parse_cursor(cursor)
    items: list[CachedResource] = []
    if "index" not in position:
        pages = await services.page_cache.recent(principal=principal, limit=limit + 1, before=position.get("before"))
        items = [_page_resource(page) for page in pages[:limit]]
        if len(pages) > limit:
            return ResourcePage(tuple(items), write_cursor({"before": pages[limit - 1].number}))
        position = {"index": "", "after": 0}
    # The documents of the indexes follow after the pages.
    name, after = str(position["index"]), int(position.get("after", 0))
    for index in await services.indexes.names(principal=principal):
        if index.name < name:
            continue
        begin = after if index.name == name else 0
        left = limit - len(items)
        ids: Sequence[str] = ()
        with contextlib.suppress(IndexFaultError):
            ids = await services.indexes.list_documents(index.name, principal=principal, limit=left + 1, after=begin)
        items += [_document_resource(index.name, doc_id) for doc_id in ids[:left]]
        if len(ids) > left:
            return ResourcePage(tuple(items), write_cursor({"index": index.name, "after": begin + left}))
    return ResourcePage(tuple(items))


async def search(
    services: Services, principal: str, query: str, offset: int, limit: int
) -> tuple[list[CachedResource], bool]:
    """Return up to `limit` resources for a query from `offset` on, best first, and True if there are more."""
    count = offset + limit + 1
    # Find pages with all words of a query; if there are none, find pages with at least one content word.
    hits = (await services.page_cache.search(query, principal=principal, limit=count)).hits
    words = extract_content_words(query)
    if not hits and len(words) > 1:
        any_word = " OR ".join(f'"{word}"' for word in words)
        hits = (await services.page_cache.search(any_word, principal=principal, limit=count)).hits
    rankings = [[_page_resource(hit, snippet=hit.snippet) for hit in hits]]
    rankings += [
        await _search_documents(services, principal, index.name, query, count)
        for index in await services.indexes.names(principal=principal)
    ]
    # Their scores are not comparable, and no resource is in two rankings, so rank fusion alternates between them.
    items = [item for rank in itertools.zip_longest(*rankings) for item in rank if item is not None]
    return items[offset : offset + limit], len(items) > offset + limit


async def read(services: Services, principal: str, uri: str) -> str | None:
    """Return a resource as Markdown in an untrusted region, cut to the answer size; None if it does not exist."""
    if uri.startswith(PAGE):
        match = _PAGE_ADDRESS.fullmatch(uri)
        url = f"{match[1]}://{match[2]}" if match else ""
        # Clients normalize or encode URIs.
        for text in dict.fromkeys((url, url.replace("%23", "#"), unquote(url))):
            with contextlib.suppress(InvalidUrlError):
                reading = await services.page_cache.page(parse_target(text), principal=principal)
                if reading is not None:
                    return page_as_markdown(reading, region=new_region(), budget=body_budget(services.settings))
        return None
    return await _read_document(services, principal, uri) if uri.startswith(_INDEX) else None


async def read_file(services: Services, principal: str, uri: str) -> tuple[bytes, str] | None:
    """Return the bytes and the media type of a file stored for this caller, or None."""
    picture = services.pictures.get_file(uri.removeprefix(PICTURE), principal) if uri.startswith(PICTURE) else None
    return None if picture is None else (picture.data, picture.media_type)


def _document_uri(index: str, doc_id: str) -> str:
    return f"{_INDEX}{index}/{quote(doc_id, safe='', errors='replace')}"


async def _search_documents(
    services: Services, principal: str, index: str, query: str, limit: int
) -> list[CachedResource]:
    with contextlib.suppress(IndexFaultError):
        hits = (await services.indexes.search(index, query, principal=principal, limit=limit)).hits
        return [_document_resource(index, hit.doc_id, hit.highlights) for hit in hits]
    return []


async def _read_document(services: Services, principal: str, uri: str) -> str | None:
    base, _, start = uri.rpartition("?start=")
    has_start = bool(base) and start.isdecimal() and len(start) < 10
    name, _, quoted = (base if has_start else uri).removeprefix(_INDEX).partition("/")
    document = None
    with contextlib.suppress(IndexFaultError):
        document = await services.indexes.document(name, unquote(quoted), principal=principal)
    if document is None:
        return None
    return index_document_as_markdown(
        document.content,
        index=name,
        doc_id=document.doc_id,
        metadata=document.metadata,
        address=_document_uri(name, document.doc_id),
        region=new_region(),
        start=int(start) if has_start else 0,
        budget=body_budget(services.settings),
    )


def _page_resource(page: CachedPageSummary | PageHit, *, snippet: str = "") -> CachedResource:
    read_at = datetime.fromtimestamp(page.retrieved_at, UTC).isoformat(timespec="seconds")
    return CachedResource(
        PAGE + page.url.replace("#", "%23"),
        # The site may have chosen the URL.
        display_url(page.url, requested=""),
        f"Web page, read {read_at}.",
        clean_line(page.title, _TITLE_CHARS) or None,
        modified=read_at,
        snippet=snippet,
    )


def _document_resource(index: str, doc_id: str, highlights: Sequence[str] = ()) -> CachedResource:
    name, about = clean_line(doc_id, _TITLE_CHARS), f"Document of index {index}."
    return CachedResource(_document_uri(index, doc_id), name, about, snippet=" ".join(highlights))


def write_cursor(position: Any) -> str:
    """Return a position in a list as a cursor for clients."""
    return base64.urlsafe_b64encode(json.dumps(position, separators=(",", ":")).encode()).decode()


def read_cursor(cursor: object) -> Any:
    """Return the position of a cursor, which may be any value; raise InvalidCursorError for another text."""
    try:
        return json.loads(base64.urlsafe_b64decode(str(cursor).encode()))
    except (ValueError, RecursionError):
        raise InvalidCursorError from None


def _parse_cursor(cursor: str | None) -> dict[str, Any]:
    if cursor is None:
        return {}
    position: dict[str, Any] = read_cursor(cursor)
    match position:
        case {"before": before} if len(position) == 1 and _is_count(before):
            return position
        case {"index": str(), "after": after} if len(position) == 2 and _is_count(after):
            return position
    raise InvalidCursorError


def _is_count(value: object) -> bool:
    # An integer that SQLite can store; not a bool.
    return type(value) is int and 0 <= value < 1 << 62

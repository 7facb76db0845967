"""Define a source as an engine whose result page is a JSON or Atom document."""

from __future__ import annotations

import functools
import html
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from lxml import etree

from browsers.model import Mode, Request, Snapshot, Tier, VisitLimits
from scraper.engines.common import dom_text
from scraper.engines.common.page_preparation import snapshot_text
from scraper.engines.common.redirect_unwrapping import is_web_url
from scraper.engines.common.request_builder import engine_profile
from scraper.engines.model import Engine, EngineKind, EngineOutcome, EngineResponse, EngineResult, SearchQuery
from scraper.extract.dom import parsing
from scraper.extract.dom.xpath import Element

ROWS = 10
"""Results that are requested from a source."""
MAX_BYTES = 5_000_000
_MAX_ROWS = 100
_MAX_FACT = 200
_MAX_AUTHORS = 3
_REFUSALS = {401: "refused", 403: "refused", 429: "rate_limited", 503: "rate_limited"}
_TAG = re.compile(r"<[^>]{0,500}>")
_ATOM = "{http://www.w3.org/2005/Atom}"

Parse = Callable[[Snapshot, datetime], EngineResponse]
ReadRow = Callable[[Any], EngineResult | None]
"""Return the result in one row, or None for a row without title or URL."""
BuildUrl = Callable[[SearchQuery], str]


def make_source(
    name: str,
    category: str,
    build_url: BuildUrl,
    parse: Parse,
    *,
    about: str,
    kind: EngineKind = EngineKind.JSON,
    spacing_s: float = 1.0,
    per_day: int = 0,
    identifies: bool = False,
    by_name: bool = False,
) -> Engine:
    """Return a source.

    Args:
        name: Name of the source.
        category: Category to which its results belong.
        build_url: Build the URL of a query.
        parse: Parse the answer. Like every function here it runs in another process, so it is no lambda.
        about: One line for people.
        kind: Format of the answer.
        spacing_s: Least seconds between two requests, as the source publishes it.
        per_day: Requests a day that the source allows; 0 for no published limit.
        identifies: True if the source requires a User-Agent that names the client.
        by_name: True if it is only asked by name.
    """
    return Engine(
        name=name,
        family=name,
        build_request=functools.partial(_build_request, name, build_url, identifies),
        parse=parse,
        spacing_s=spacing_s,
        about=about,
        kind=kind,
        category=category,
        is_by_name=by_name,
        per_day=per_day,
    )


def json_parser(read_row: ReadRow, *path: str, empty: Mapping[str, object] | None = None) -> Parse:
    """Return a parser of JSON answers whose rows are the list at a path of keys.

    An answer without the list is one without results if it has the values of `empty`.
    """
    return functools.partial(_parse_json, read_row, path, dict(empty) if empty is not None else None)


def atom_parser(read_entry: ReadRow) -> Parse:
    """Return a parser of Atom feeds."""
    return functools.partial(_parse_atom, read_entry)


def url_with(base: str, **parameters: str | int) -> str:
    """Return a URL with parameters; empty ones are left out."""
    return f"{base}?{urlencode({name: value for name, value in parameters.items() if value != ''})}"


def _build_request(name: str, build_url: BuildUrl, identifies: bool, query: SearchQuery, now: datetime) -> Request:
    headers = {"Accept": "application/json, application/atom+xml;q=0.9, */*;q=0.5"}
    if identifies:
        contact = f" ({query.contact})" if query.contact else ""
        headers["User-Agent"] = f"search-mcp{contact}"
    return Request(
        build_url(query),
        tier=Tier.LIGHT,
        mode=Mode.PEEK,
        site_profile=engine_profile(name),
        language=query.language,
        headers=headers,
        limits=VisitLimits(body_bytes=MAX_BYTES),
    )


def _parse_json(
    read_row: ReadRow, path: tuple[str, ...], empty: dict[str, object] | None, snapshot: Snapshot, now: datetime
) -> EngineResponse:
    """Parse a JSON answer; an answer of an unknown form is `layout_changed`."""
    if (refusal := find_refusal(snapshot)) is not None:
        return refusal
    rows: object = None
    try:
        rows = data = json.loads(snapshot.body or snapshot_text(snapshot))
        for key in path:
            rows = rows[key]  # type: ignore[index]
    except (ValueError, RecursionError):
        return EngineResponse(EngineOutcome.ERROR, detail="layout_changed")
    except (LookupError, TypeError):
        is_empty = empty is not None and isinstance(data, dict) and empty.items() <= data.items()
        rows = [] if is_empty and (empty or not data) else None
    if not isinstance(rows, list):
        return EngineResponse(EngineOutcome.ERROR, detail="layout_changed")
    return build_response(rows, read_row)


def _parse_atom(read_entry: ReadRow, snapshot: Snapshot, now: datetime) -> EngineResponse:
    """Parse an Atom feed, without resolving entities or loading anything."""
    if (refusal := find_refusal(snapshot)) is not None:
        return refusal
    text = snapshot_text(snapshot).strip()
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, remove_comments=True)
    try:
        feed = None if parsing.is_binary(text) else etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        feed = None
    if feed is None or feed.tag != f"{_ATOM}feed":
        return EngineResponse(EngineOutcome.ERROR, detail="layout_changed")
    return build_response(feed.findall(f"{_ATOM}entry"), read_entry)


def find_refusal(snapshot: Snapshot) -> EngineResponse | None:
    """Return the outcome of an answer with an error status, or None."""
    if snapshot.status in _REFUSALS:
        return EngineResponse(EngineOutcome.WALL, detail=_REFUSALS[snapshot.status])
    if snapshot.status >= 400:
        return EngineResponse(EngineOutcome.ERROR, detail=f"http_{snapshot.status}")
    return None


def build_response(rows: Iterable[Any], read_row: ReadRow) -> EngineResponse:
    """Return the results of all rows that can be read; rows of which none can are a changed layout."""
    results: list[EngineResult] = []
    count = 0
    for row in list(rows)[:_MAX_ROWS]:
        count += 1
        try:
            found = read_row(row)
        except (LookupError, TypeError, AttributeError, ValueError):
            found = None
        if found is not None:
            results.append(replace(found, rank=len(results) + 1))
    if count and not results:
        return EngineResponse(EngineOutcome.ERROR, detail="layout_changed")
    return EngineResponse(EngineOutcome.OK if results else EngineOutcome.NONE, tuple(results))


def make_row(
    title: object,
    url: object,
    snippet: object = "",
    *,
    date: object = None,
    source: str | None = None,
    key: str = "",
    facts: Mapping[str, object] | None = None,
) -> EngineResult | None:
    """Return a result with cleaned texts, or None without a title or a web URL.

    Args:
        title: Title; markup is removed.
        url: URL of the page for people.
        snippet: Description; markup is removed.
        date: ISO date, or seconds of the epoch.
        source: Publisher.
        key: Identity of the thing, such as `doi:10.1/x`, by which sources are merged.
        facts: Facts by name; empty ones are left out.
    """
    name, address = clean_text(title, dom_text.MAX_TITLE), str(url or "")
    if not name or not is_web_url(address):
        return None
    known = {fact: _clean_fact(value) for fact, value in (facts or {}).items() if value not in (None, "", [], ())}
    return EngineResult(
        rank=0,
        title=name,
        url=address,
        snippet=clean_text(snippet),
        date=parse_date(date),
        source=source,
        key=key.casefold(),
        facts=tuple((fact, value) for fact, value in known.items() if value != ""),
    )


def clean_text(value: object, limit: int = dom_text.MAX_SNIPPET) -> str:
    """Return a text on one line without markup."""
    if not isinstance(value, str):
        return ""
    return dom_text.one_line(html.unescape(_TAG.sub(" ", value)), limit)


def parse_date(value: object) -> datetime | None:
    """Return a moment from an ISO date, a year, or seconds of the epoch."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        text = str(value or "")[:40].replace("Z", "+00:00")
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def join_authors(names: Iterable[object]) -> str:
    """Return the first three authors."""
    known = [text for text in (clean_text(name, _MAX_FACT) for name in names) if text]
    return ", ".join(known[:_MAX_AUTHORS]) + (" et al." if len(known) > _MAX_AUTHORS else "")


def child_text(entry: Element, name: str) -> str:
    """Return the text of a child of an Atom entry."""
    return (entry.findtext(f"{_ATOM}{name}") or "").strip()


def children(entry: Element, name: str) -> list[Element]:
    """Return the children of an Atom entry with a name."""
    return list(entry.findall(f"{_ATOM}{name}"))


def _clean_fact(value: object) -> str | int | float:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return value
    return clean_text(str(value), _MAX_FACT)

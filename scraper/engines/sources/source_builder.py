"""Build sources: engines for one kind of result, most of them with JSON or Atom responses."""

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
from scraper.engines.common import result_page
from scraper.engines.common.request_builder import engine_profile
from scraper.engines.common.result_page import snapshot_text
from scraper.engines.model import Engine, EngineKind, EngineOutcome, EngineResponse, EngineResult, SearchQuery
from scraper.html.dom import parsing
from scraper.html.dom.xpath import Element
from scraper.text import date_parsing
from scraper.urls import is_web_url

RESULT_COUNT = 10
"""Results requested from each source."""
_MAX_BYTES = 5_000_000
"""Maximum bytes of a response."""
_MAX_ROWS = 100
_ERROR_BYTES = 2_000
_THROTTLED = (b"throttle_violation", b"limit requests to one")
"""Texts of too many requests: Stack Exchange sends its own with status 400 or 502, GDELT its own with status 200."""
_BUSY_CODES = frozenset({"maxlag", "ratelimited"})
"""Codes of the errors that MediaWiki sends, with status 200, if there are too many requests."""
_MAX_FACT = 200
_MAX_AUTHORS = 3
_REFUSALS = {401: "refused", 403: "refused", 429: "rate_limited", 503: "rate_limited"}
_TAG = re.compile(r"</?[a-zA-Z!][^<>]{0,500}>")
"""An HTML tag; a comparison such as `p < 0.05` is text."""
_INLINE_TAG = re.compile(r"</?(?:a|b|em|i|mark|scp|small|span|strong|sub|sup|u)(?:\s[^<>]{0,500})?>", re.IGNORECASE)
"""A tag within a word, such as the mark of a search match in `<span>Hello</span>-World`."""
_LAST_NAME_FIRST = re.compile(r"([^,]+), ([^,]+)")
_ATOM = "{http://www.w3.org/2005/Atom}"

Parse = Callable[[Snapshot, datetime], EngineResponse]
ReadRow = Callable[[Any], EngineResult | None]
"""Return the result of a row, or None if it has no title or URL."""
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
    """Return a source as an engine.

    Args:
        name: Name of the source.
        category: Category of its results.
        build_url: Return the URL of a query.
        parse: Parse the response. It must be picklable (no lambda), because it runs in another process.
        about: Description in one line.
        kind: Format of the response.
        spacing_s: Minimum seconds between two requests, as published by the source.
        per_day: Requests a day that the source allows; 0 if it publishes no limit.
        identifies: True if the source requires a User-Agent that names the client.
        by_name: True if the source is used only when a caller names it.
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
    """Return a parser of JSON responses whose rows are the list at a path of keys.

    A response without this list has no results if it contains the items of `empty`; otherwise its layout has changed.
    `empty={}` matches only an empty object.
    """
    return functools.partial(_parse_json, read_row, path, dict(empty) if empty is not None else None)


def xml_parser(read_row: ReadRow, root: str, path: str) -> Parse:
    """Return a parser of XML responses with this root element, whose rows are the elements at `path`."""
    return functools.partial(_parse_xml, read_row, root, path)


def atom_parser(read_entry: ReadRow) -> Parse:
    """Return a parser of Atom feeds."""
    return xml_parser(read_entry, f"{_ATOM}feed", f"{_ATOM}entry")


def url_with(base: str, **parameters: str | int) -> str:
    """Return a URL with these parameters, except empty ones."""
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
        limits=VisitLimits(body_bytes=_MAX_BYTES),
    )


def _parse_json(
    read_row: ReadRow, path: tuple[str, ...], empty: dict[str, object] | None, snapshot: Snapshot, now: datetime
) -> EngineResponse:
    """Parse a JSON response; the outcome of an unknown structure is `layout_changed`."""
    if (refusal := find_refusal(snapshot)) is not None:
        return refusal
    rows: object = None
    try:
        rows = data = json.loads(snapshot.body or snapshot_text(snapshot))
        for key in path:
            rows = rows[key]  # type: ignore[index]
    except (ValueError, RecursionError):
        return (
            _rate_limited() if _is_throttled(snapshot) else EngineResponse(EngineOutcome.ERROR, detail="layout_changed")
        )
    except (LookupError, TypeError):
        error = data.get("error") if isinstance(data, dict) else None
        if isinstance(error, dict) and error.get("code") in _BUSY_CODES:
            return _rate_limited()
        is_empty = empty is not None and isinstance(data, dict) and empty.items() <= data.items()
        rows = [] if is_empty and (empty or not data) else None
    if not isinstance(rows, list):
        return EngineResponse(EngineOutcome.ERROR, detail="layout_changed")
    response = build_response(rows, read_row)
    backoff = data.get("backoff") if isinstance(data, dict) else None
    # Stack Exchange names so the seconds until the next request.
    return replace(response, pause_s=float(backoff)) if isinstance(backoff, int) else response


def _parse_xml(read_row: ReadRow, root: str, path: str, snapshot: Snapshot, now: datetime) -> EngineResponse:
    """Parse an XML response without resolving entities or loading external files."""
    if (refusal := find_refusal(snapshot)) is not None:
        return refusal
    text = snapshot_text(snapshot).strip()
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, remove_comments=True)
    try:
        tree = None if parsing.is_binary(text) else etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        tree = None
    if tree is None or tree.tag != root:
        return EngineResponse(EngineOutcome.ERROR, detail="layout_changed")
    return build_response(tree.findall(path), read_row)


def find_refusal(snapshot: Snapshot) -> EngineResponse | None:
    """Return the response for an error status, or None."""
    headers = snapshot.headers
    if snapshot.status == 403 and (headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers):
        # GitHub answers so beyond its limits.
        return _rate_limited()
    if snapshot.status in _REFUSALS:
        return EngineResponse(EngineOutcome.BLOCKED, detail=_REFUSALS[snapshot.status])
    if snapshot.status >= 400 and _is_throttled(snapshot):
        return _rate_limited()
    if snapshot.status >= 400:
        return EngineResponse(EngineOutcome.ERROR, detail=f"http_{snapshot.status}")
    return None


def _is_throttled(snapshot: Snapshot) -> bool:
    return any(text in snapshot.body[:_ERROR_BYTES] for text in _THROTTLED)


def _rate_limited() -> EngineResponse:
    return EngineResponse(EngineOutcome.BLOCKED, detail="rate_limited")


def build_response(rows: Iterable[Any], read_row: ReadRow) -> EngineResponse:
    """Return the results of all valid rows; if no row is valid, the layout has changed."""
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
    """Return a result with cleaned texts, or None if it has no title or web URL.

    Args:
        title: Title; markup is removed.
        url: URL of the page for people.
        snippet: Description; markup is removed.
        date: ISO date, or seconds of the epoch.
        source: Publisher.
        key: Identity such as `doi:10.1/x`; results of several sources with equal keys are merged.
        facts: Facts by name; empty ones are dropped.
    """
    name, address = clean_text(title, result_page.MAX_TITLE), str(url or "")
    if not name or not is_web_url(address):
        return None
    known = {fact: _clean_fact(value) for fact, value in (facts or {}).items() if value not in (None, "", [], ())}
    return EngineResult(
        rank=0,
        title=name,
        url=address,
        snippet=clean_text(snippet),
        date=_parse_date(date),
        source=source,
        key=key.casefold(),
        facts=tuple((fact, value) for fact, value in known.items() if value != ""),
    )


def clean_text(value: object, limit: int = result_page.MAX_SNIPPET) -> str:
    """Return a text on one line, without markup and cut to `limit` characters."""
    if not isinstance(value, str):
        return ""
    return result_page.one_line(html.unescape(_TAG.sub(" ", _INLINE_TAG.sub("", value))), limit)


def _parse_date(value: object) -> datetime | None:
    """Return the time of a date in a text or of seconds of the epoch, or None."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return date_parsing.parse_date(str(value or ""), earliest=1)
    try:
        return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def join_authors(names: Iterable[object]) -> str:
    """Return the first three authors, with "et al." if there are more."""
    known = [text for text in (clean_text(name, _MAX_FACT) for name in names) if text]
    return ", ".join(known[:_MAX_AUTHORS]) + (" et al." if len(known) > _MAX_AUTHORS else "")


def given_name_first(name: object) -> str:
    """Return a name such as "Sea, Ann" as "Ann Sea"; other names are not changed."""
    text = clean_text(name, _MAX_FACT)
    found = _LAST_NAME_FIRST.fullmatch(text)
    return f"{found[2]} {found[1]}" if found else text


def child_text(entry: Element, name: str) -> str:
    """Return the text of a child element of an Atom entry, or an empty string."""
    return (entry.findtext(f"{_ATOM}{name}") or "").strip()


def children(entry: Element, name: str) -> list[Element]:
    """Return the child elements of an Atom entry with this name."""
    return list(entry.findall(f"{_ATOM}{name}"))


def _clean_fact(value: object) -> str | int | float:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return value
    return clean_text(str(value), _MAX_FACT)

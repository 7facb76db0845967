"""Sources for one kind of result: papers, code, packages, questions, forums, news, encyclopedias, books, videos.

`sources.toml` has their requests and the places of their results. All have documented APIs, except YouTube, whose
result page is parsed.
"""

import functools
import html
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from lxml import etree

from browsers.model import Mode, Request, Snapshot, Tier, VisitLimits
from scraper.engines import result_page
from scraper.engines.model import Engine, EngineKind, EngineOutcome, EngineResponse, EngineResult, SearchQuery
from scraper.engines.request_builder import engine_profile, parse_locale
from scraper.engines.response_parser import ReadRow, build_response, parse_xml
from scraper.engines.result_page import snapshot_text
from scraper.text import date_parsing
from scraper.text.terms import split_words
from scraper.urls import is_web_url
from scraper.values.text import format_clock, read_table

_MAX_BYTES = 5_000_000
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
_ARXIV_ID = re.compile(r"/abs/(.+?)(?:v\d+)?$")
_ARXIV_ERROR = "/api/errors"
"""Part of the address of the only entry with which arXiv answers a query that it rejects."""
_ARXIV_DOI = "10.48550/arxiv."
_MAX_PLACES = 1_000
_PLAIN_IN_TITLES = "/;:@$!*(),~"
"""Characters that wikis do not encode in the URL of a page."""
_INITIAL_DATA = re.compile(r"ytInitialData\s*=\s*(?=\{)")

_RATE_LIMITED = EngineResponse(EngineOutcome.BLOCKED, detail="rate_limited")
_LAYOUT_CHANGED = EngineResponse(EngineOutcome.ERROR, detail="layout_changed")


def clean_text(value: object, limit: int = result_page.MAX_SNIPPET) -> str:
    """Return a text on one line, without markup and cut to `limit` characters."""
    if not isinstance(value, str):
        return ""
    return result_page.one_line(html.unescape(_TAG.sub(" ", _INLINE_TAG.sub("", value))), limit)


def _parse_date(value: object) -> datetime | None:
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
    last, _, first = text.partition(", ")
    return f"{first} {last}" if last and first and "," not in last + first else text


def _paper_key(doi: object) -> str:
    """Return the key of a paper by its DOI; the DOI of an arXiv preprint gives the key of its arXiv ID."""
    text = str(doi or "").removeprefix("https://doi.org/").lower()
    return f"arxiv:{text.removeprefix(_ARXIV_DOI)}" if text.startswith(_ARXIV_DOI) else f"doi:{text}" if text else ""


def _arxiv_key(address: str) -> str:
    identifier = _ARXIV_ID.search(address)
    return f"arxiv:{identifier[1]}" if identifier else ""


def _join_abstract(places: object) -> str:
    """Return the abstract, which OpenAlex sends as the places of each word."""
    if not isinstance(places, dict):
        return ""
    words = sorted((at, word) for word, numbers in places.items() for at in numbers[:_MAX_PLACES])
    return " ".join(word for _, word in words)


def _join_runs(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    return value.get("simpleText") or "".join(str(run.get("text", "")) for run in value.get("runs") or [])


def _question_key(link: str) -> str:
    match link.split("/"):
        case [_, "", host, "questions", rest, *_]:
            number = rest.partition("?")[0].partition("#")[0]
            return f"question:{host}/{number}" if number.isdecimal() else ""
    return ""


_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "arxiv": _arxiv_key,
    "arxiv_page": lambda address: "" if _ARXIV_ERROR in address else address.replace("http://", "https://"),
    "clock": lambda seconds: format_clock(seconds) if isinstance(seconds, int) else "",
    "compact_date": lambda text: f"{text[:4]}-{text[4:6]}-{text[6:8]}" if len(text) >= 8 else None,
    "date_parts": lambda parts: "-".join(f"{part:02d}" for part in parts) if len(parts) == 3 and all(parts) else None,
    "docker": lambda name: f"r/{quote(name)}" if "/" in name else f"_/{quote(name)}",
    "doi": lambda text: text.removeprefix("https://doi.org/"),
    "given_first": given_name_first,
    "inverted": _join_abstract,
    "joined": lambda value: " ".join(value) if isinstance(value, list) else value,
    "arxiv_id": lambda identifier: f"arxiv:{identifier}",
    "comma": ", ".join,
    "no_dot": lambda text: text.removesuffix("."),
    "no_institute": lambda name: given_name_first(name.replace("[", "(").partition("(")[0].strip()),
    # dblp adds a number to one of several equal names.
    "no_number": lambda name: name[:-5] if name[-5:-4] == " " and name[-4:].isdecimal() else name,
    "paper": _paper_key,
    "person": lambda one: f"{one.get('given', '')} {one.get('family', one.get('name', ''))}",
    "present": lambda value: True,
    "question": _question_key,
    "repository": lambda url: f"repository:{url.removeprefix('https://').rstrip('/')}",
    "runs": _join_runs,
    "split": lambda names: names.rstrip(".").split(", "),
    "text": clean_text,
    "url": lambda value: quote(str(value)),
    "wiki": lambda title: quote(title.replace(" ", "_"), safe=_PLAIN_IN_TITLES),
    "year": lambda date: str(date)[:4],
}
_FIELD = re.compile(r"\{([^{}]+)\}")


def find_value(row: Any, place: str) -> Any:
    """Return the first value of a row that is not empty at one of several places, or the last value.

    A place is a path of keys, indexes and lists, such as `links[type=doi].url`, with a function after `!`, or a text
    with paths in braces. XML elements are found by their names, regardless of their namespace.
    """
    value = None
    for one in place.split(" | "):
        value = _fill(row, one) if "{" in one else _follow(row, one)
        if value not in (None, "", [], 0, False):
            return value
    return value


def _fill(row: Any, text: str) -> str | None:
    """Return a text whose fields are replaced by values of a row, or None if one has no value."""
    values = {field: _first(_follow(row, field)) for field in _FIELD.findall(text)}
    if any(value in (None, "") for value in values.values()):
        return None
    return _FIELD.sub(lambda field: str(values[field[1]]), text)


def _follow(row: Any, path: str) -> Any:
    keys, _, function = path.partition("!")
    values, is_list = [row], False
    for key in keys.split(".") if keys else ():
        name, is_filter, condition = key.partition("[")
        if is_filter:
            is_list = True
            field, _, expected = condition.removesuffix("]").partition("=")
            values = [
                one
                for value in values
                for one in _list(_step(value, name, every=True))
                if not field or (isinstance(one, dict) and str(one.get(field)).lower() == expected.lower())
            ]
        else:
            values = [_step(value, key) for value in values]
    values = [(one.text or "").strip() if isinstance(one, etree._Element) else one for one in values]
    if function:
        values = [_FUNCTIONS[function](value) for value in values if value is not None]
    values = [value for value in values if value is not None]
    return values if is_list else next(iter(values), None)


def _step(value: Any, key: str, *, every: bool = False) -> Any:
    if isinstance(value, etree._Element):
        return value.findall(f"{{*}}{key}") if every else value.find(f"{{*}}{key}")
    if isinstance(value, dict):
        return value.get(key) if key else value
    if isinstance(value, list) and key.isdecimal():
        return value[int(key)] if int(key) < len(value) else None
    return value if not key else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _first(value: Any) -> Any:
    return next(iter(value), None) if isinstance(value, list) else value


def _read_row(name: str, host: str, row: Any) -> EngineResult | None:
    """Return the result of a row, or None if it has no title or web URL. Empty facts are left out."""
    source = _TABLE[name]
    if isinstance(row, dict):
        row = {**row, "@host": host}
    parts = ("title", "link", "snippet", "date", "source", "key")
    texts = {part: _first(find_value(row, source[part])) for part in parts if part in source}
    title, url = clean_text(texts["title"], result_page.MAX_TITLE), str(texts["link"] or "")
    if not title or not is_web_url(url):
        return None
    facts: dict[str, Any] = {}
    if "authors" in source:
        facts["authors"] = join_authors(_list(find_value(row, source["authors"])))
    facts |= {fact: _first(find_value(row, place)) for fact, place in source.get("facts", {}).items()}
    known = {fact: _clean_fact(value) for fact, value in facts.items() if value not in (None, "", ())}
    return EngineResult(
        rank=0,
        title=title,
        url=url,
        snippet=clean_text(texts.get("snippet")),
        date=_parse_date(texts.get("date")),
        source=source.get("publisher") or clean_text(texts.get("source")) or source.get("default_publisher"),
        key=str(texts.get("key") or "").casefold(),
        facts=tuple((fact, value) for fact, value in known.items() if value != ""),
    )


def _parse(name: str, snapshot: Snapshot, now: datetime) -> EngineResponse:
    source = _TABLE[name]
    if (refusal := find_refusal(snapshot)) is not None:
        return refusal
    read_row = functools.partial(_read_row, name, urlsplit(snapshot.url).hostname or "")
    path = source.get("rows", "")
    if "root" in source:
        tree = parse_xml(snapshot_text(snapshot))
        is_known = tree is not None and tree.tag == source["root"]
        return build_response(tree.findall(path), read_row) if tree is not None and is_known else _LAYOUT_CHANGED
    if source.get("kind") == EngineKind.PAGE:
        return _parse_youtube(read_row, snapshot)
    return _parse_json(read_row, path, source.get("empty"), snapshot)


def _parse_json(read_row: ReadRow, path: str, empty: Mapping[str, object] | None, snapshot: Snapshot) -> EngineResponse:
    """Parse a JSON response; the outcome of an unknown structure is `layout_changed`."""
    try:
        rows = data = json.loads(snapshot.body or snapshot_text(snapshot))
        for key in path.split(".") if path else ():
            rows = rows[key]
    except (ValueError, RecursionError):
        return _RATE_LIMITED if _is_throttled(snapshot) else _LAYOUT_CHANGED
    except (LookupError, TypeError):
        error = data.get("error") if isinstance(data, dict) else None
        if isinstance(error, dict) and error.get("code") in _BUSY_CODES:
            return _RATE_LIMITED
        is_empty = empty is not None and isinstance(data, dict) and empty.items() <= data.items()
        rows = [] if is_empty and (empty or not data) else None
    if not isinstance(rows, list):
        return _LAYOUT_CHANGED
    response = build_response(rows, read_row)
    backoff = data.get("backoff") if isinstance(data, dict) else None
    # Stack Exchange names so the seconds until the next request.
    return replace(response, pause_s=float(backoff)) if isinstance(backoff, int) else response


def _parse_youtube(read_row: ReadRow, snapshot: Snapshot) -> EngineResponse:
    text = snapshot_text(snapshot)
    found = _INITIAL_DATA.search(text)
    if found is None:
        is_consent = "consent.youtube.com" in text
        outcome = EngineOutcome.BLOCKED if is_consent else EngineOutcome.ERROR
        return EngineResponse(outcome, detail="consent" if is_consent else "layout_changed")
    try:
        data, _ = json.JSONDecoder().raw_decode(text, found.end())
        columns = data["contents"]["twoColumnSearchResultsRenderer"]
        sections = columns["primaryContents"]["sectionListRenderer"]["contents"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return _LAYOUT_CHANGED
    return build_response(_follow(sections, "[].itemSectionRenderer.contents[].videoRenderer"), read_row)


def find_refusal(snapshot: Snapshot) -> EngineResponse | None:
    """Return the response for an error status, or None."""
    status, headers = snapshot.status, snapshot.headers
    if status < 400:
        return None
    # GitHub answers so beyond its limits.
    is_limited = status == 403 and (headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers)
    if is_limited or (status not in _REFUSALS and _is_throttled(snapshot)):
        return _RATE_LIMITED
    if status in _REFUSALS:
        return EngineResponse(EngineOutcome.BLOCKED, detail=_REFUSALS[status])
    return EngineResponse(EngineOutcome.ERROR, detail=f"http_{status}")


def _is_throttled(snapshot: Snapshot) -> bool:
    return any(text in snapshot.body[:_ERROR_BYTES] for text in _THROTTLED)


def _clean_fact(value: object) -> str | int | float:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return value
    return clean_text(str(value), _MAX_FACT)


def _build_request(name: str, query: SearchQuery, now: datetime) -> Request:
    source = _TABLE[name]
    values = {
        "text": query.text,
        "contact": query.contact,
        "language": parse_locale(query.language).language,
        "words": " AND ".join(f"all:{word}" for word in split_words(query.text)[:12]),
    }
    fields = {
        field: value if isinstance(value, list) else str(value).format(**values)
        for field, value in source["parameters"].items()
    }
    query_string = urlencode({field: value for field, value in fields.items() if value}, doseq=True)
    url = source["url"].format(**{name: quote(value, safe="") for name, value in values.items()})
    headers = {"Accept": "application/json, application/atom+xml;q=0.9, */*;q=0.5"}
    if source.get("identifies"):
        contact = f" ({query.contact})" if query.contact else ""
        headers["User-Agent"] = f"search-mcp{contact}"
    return Request(
        f"{url}?{query_string}",
        tier=Tier.LIGHT,
        mode=Mode.PEEK,
        site_profile=engine_profile(name),
        language=query.language,
        headers=headers,
        limits=VisitLimits(body_bytes=_MAX_BYTES),
    )


_TABLE: Mapping[str, dict[str, Any]] = read_table(__package__, "sources.toml")

SOURCES: Mapping[str, Engine] = {
    name: Engine(
        name=name,
        family=name,
        build_request=functools.partial(_build_request, name),
        parse=functools.partial(_parse, name),
        spacing_s=source.get("spacing_s", 1.0),
        about=source["about"],
        kind=EngineKind(source.get("kind", EngineKind.JSON)),
        category=source["category"],
        is_by_name=source.get("by_name", False),
        per_day=source.get("per_day", 0),
    )
    for name, source in _TABLE.items()
}

"""DuckDuckGo Instant Answer API: build the request and parse the response."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from browsers.model import Mode, Request, VisitLimits
from scraper.engines.model import InstantAnswer, RelatedTopic
from scraper.text.sanitize import clean_line
from scraper.urls import join_url

_ADDRESS = "https://api.duckduckgo.com/"
_SITE = "https://duckduckgo.com/"
_BODY_BYTES = 2_000_000
"""Maximum bytes of a response. The largest measured response has 60 kB."""

_MAX_TEXT = 3_000
"""Characters of an answer, abstract or definition."""
_MAX_SHORT = 300
"""Characters of a heading, label or name."""
_MAX_URL = 2_000
"""Characters."""
_MAX_TOPICS = 40
_MAX_FACTS = 30

_ANCHOR = re.compile(r"<a\b[^>]*>(.*?)</a>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(
    r"</?(?:a|b|i|u|p|br|em|strong|code|pre|span|sup|sub|img|div|ul|ol|li|h[1-6])\b[^<>]*>", re.IGNORECASE
)
"""HTML tags to remove. Only these names match, because `vector<int>` is text."""
_ABOUT_US = frozenset({"ip", "iploc"})
"""Answer types that describe the client, which is this server."""
_IDS = re.compile(r"^(?:instance.*|wikidata_\w+|wiki_maps_trigger|.*_profile|.*_id|.*_channel)$")
"""Infobox entries for machines, and ids without a URL."""


def build_request(query: str, language: str) -> Request:
    """Build the API request, without rendering."""
    parameters = {
        "q": query,
        "format": "json",
        "no_html": "1",
        "skip_disambig": "1",
        "no_redirect": "1",
        "t": "search-mcp",
    }
    return Request(
        f"{_ADDRESS}?{urlencode(parameters)}",
        mode=Mode.PEEK,
        language=language,
        limits=VisitLimits(body_bytes=_BODY_BYTES),
    )


def parse(text: str) -> InstantAnswer | None:
    """Parse the JSON response. Return None for any other text or JSON: it is a block page, not an empty answer."""
    try:
        data = json.loads(text)
    except ValueError:
        return None
    if not isinstance(data, dict) or "Abstract" not in data:
        return None
    abstract = _text(data.get("AbstractText")) or _text(data.get("Abstract"))
    return InstantAnswer(
        heading=_text(data.get("Heading"), _MAX_SHORT),
        abstract=abstract,
        source=_text(data.get("AbstractSource"), _MAX_SHORT) if abstract else "",
        url=_address(data.get("AbstractURL")) if abstract else "",
        answer=_answer(data),
        definition=_text(data.get("Definition")),
        definition_source=_text(data.get("DefinitionSource"), _MAX_SHORT),
        definition_url=_address(data.get("DefinitionURL")),
        redirect=_address(data.get("Redirect")),
        official=next((_address(item.get("FirstURL")) for item in _objects(data.get("Results"))), ""),
        facts=tuple(islice(_facts(data.get("Infobox")), _MAX_FACTS)),
        topics=tuple(islice(_topics(data.get("RelatedTopics")), _MAX_TOPICS)),
    )


def _answer(data: Mapping[str, Any]) -> str:
    """Return a text answer, or an empty string.

    Answers about the client are ignored, and objects, which a script of the site computes.
    """
    if data.get("AnswerType") in _ABOUT_US or not isinstance(data.get("Answer"), str):
        return ""
    return _text(data["Answer"])


def _topics(items: object, group: str = "") -> Iterator[RelatedTopic]:
    for item in _objects(items):
        if isinstance(item.get("Topics"), list):
            yield from _topics(item["Topics"], _text(item.get("Name"), _MAX_SHORT))
        elif (topic := _topic(item, group)) is not None:
            yield topic


def _topic(item: Mapping[str, Any], group: str) -> RelatedTopic | None:
    """Parse a topic. Only the link in `Result` separates the title from the text."""
    text = _text(item.get("Text"))
    anchor = _ANCHOR.search(str(item.get("Result") or ""))
    title = _text(anchor.group(1), _MAX_SHORT) if anchor else text.partition(" - ")[0]
    if not title:
        title, text = clean_line(text, _MAX_SHORT), ""
    if not title:
        return None
    rest = text[len(title) :] if text.startswith(title) else text
    return RelatedTopic(title, rest.lstrip(" -–—:"), _address(item.get("FirstURL")), group)


def _facts(infobox: object) -> Iterator[tuple[str, str]]:
    """Yield label and value of the infobox entries for people. An empty infobox is `""`."""
    for item in _objects(infobox.get("content")) if isinstance(infobox, dict) else ():
        label, value = _text(item.get("label"), _MAX_SHORT), _value(item.get("value"))
        if label and value and not _IDS.match(str(item.get("data_type"))):
            yield label, value


def _value(value: object) -> str:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return _text(str(value), _MAX_SHORT)
    if isinstance(value, list):
        return clean_line(", ".join(filter(None, (_value(item) for item in value))), _MAX_SHORT)
    return ""


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object, limit: int = _MAX_TEXT) -> str:
    """Return plain text without tags, with entities decoded."""
    return clean_line(html.unescape(_TAG.sub("", value)), limit) if isinstance(value, str) else ""


def _address(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        return ""
    url = join_url(_SITE, value)
    return clean_line(url, _MAX_URL) if url.startswith(("http://", "https://")) else ""

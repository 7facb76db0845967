"""Request instant answers from DuckDuckGo's API, one at a time, and parse them."""

import asyncio
import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from browsers import errors as browser_errors
from browsers.client import Browsers
from browsers.model import Mode, Request, VisitLimits
from scraper import errors
from scraper.call_context import Deadline
from scraper.engines.model import InstantAnswer, RelatedTopic
from scraper.reading.visit_outcome import map_browser_error
from scraper.search.argument_validation import parse_query
from scraper.search.engine_throttle import EngineThrottle
from scraper.settings import Settings
from scraper.text.sanitize import clean_line
from scraper.urls import join_url

_DEADLINE_S = 10.0
_SPACING_S = 0.5
_LANE = "instant_answer"
_NEXT_STEP = "Use `search` instead."


class InstantAnswerClient:
    """Client of DuckDuckGo's API of instant answers."""

    def __init__(self, browsers: Browsers, settings: Settings, throttle: EngineThrottle) -> None:
        """Create the client; `throttle` is the one of all servers if there are others."""
        self._browsers = browsers
        self._language = settings.language
        self._throttle = throttle

    async def answer(self, text: str, *, principal: str = "local", deadline_s: float = _DEADLINE_S) -> InstantAnswer:
        """Return the instant answer to a query, which may be empty.

        Raises:
            InvalidArgumentError: The query is not valid.
            ScraperError: The API did not answer.
        """
        query = parse_query(text)
        deadline = Deadline.within(min(deadline_s, _DEADLINE_S))
        try:
            async with asyncio.timeout(deadline.left_s()), self._throttle.turn(_LANE, _SPACING_S):
                await self._throttle.pause(_LANE)
                return await self._request(query, principal, deadline)
        except TimeoutError:
            raise errors.FetchTimeoutError(
                "DuckDuckGo's instant answers did not come in time.", target=query, next_step=_NEXT_STEP
            ) from None

    async def _request(self, query: str, principal: str, deadline: Deadline) -> InstantAnswer:
        page = build_request(query, self._language)
        request = replace(page, principal=principal, deadline_s=max(0.1, deadline.left_s()))
        try:
            snapshot = await self._browsers.visit(request)
        except browser_errors.BrowsersError as error:
            raise map_browser_error(error, request.url) from error
        finally:
            self._throttle.note_request(_LANE, _SPACING_S)
        answer = parse(snapshot.html or snapshot.body.decode("utf-8", "replace"))
        if answer is not None and snapshot.status < 400:
            return answer
        # Under load the API sends status 202 without a body. That is a refusal, not an empty answer.
        if snapshot.status in {200, 202, 429}:
            raise errors.BlockedBySiteError(
                "DuckDuckGo's instant answers are refused for now (rate_limited).",
                reason="rate_limited",
                target=query,
                next_step=f"Try again in some minutes. {_NEXT_STEP}",
            )
        raise errors.HttpStatusError(
            f"DuckDuckGo's instant answers failed with status {snapshot.status}.",
            status=snapshot.status,
            target=query,
            next_step=_NEXT_STEP,
        )


_ADDRESS = "https://api.duckduckgo.com/"
_SITE = "https://duckduckgo.com/"
_BODY_BYTES = 2_000_000
"""Maximum bytes of a response. The largest measured response has 60 kB."""

_MAX_TEXT = 3_000
"""Characters of an answer, abstract or definition."""
_MAX_SHORT = 300
"""Characters of a heading, label or name."""
_MAX_URL = 2_000
_MAX_TOPICS = 40
_MAX_FACTS = 30

_ANCHOR = re.compile(r"<a\b[^>]*>(.*?)</a>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(
    r"</?(?:a|b|i|u|p|br|em|strong|code|pre|span|sup|sub|img|div|ul|ol|li|h[1-6])\b[^<>]*>", re.IGNORECASE
)
"""HTML tags to remove. Only these names match, because `vector<int>` is text."""
_ABOUT_US = frozenset({"ip", "iploc"})
"""Answer types that describe the client, which is this server."""
_MACHINE_PREFIXES = ("instance", "wikidata_", "wiki_maps_trigger")
_MACHINE_SUFFIXES = ("_profile", "_id", "_channel")
"""Types of infobox entries for machines, and of ids without a URL."""


def build_request(query: str, language: str) -> Request:
    """Build the API request, without rendering."""
    options = {"format": "json", "no_html": "1", "skip_disambig": "1", "no_redirect": "1", "t": "search-mcp"}
    url = f"{_ADDRESS}?{urlencode({'q': query, **options})}"
    return Request(url, mode=Mode.PEEK, language=language, limits=VisitLimits(body_bytes=_BODY_BYTES))


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
        # An answer that is an object is computed by a script of the site.
        answer="" if data.get("AnswerType") in _ABOUT_US else _text(data.get("Answer")),
        definition=_text(data.get("Definition")),
        definition_source=_text(data.get("DefinitionSource"), _MAX_SHORT),
        definition_url=_address(data.get("DefinitionURL")),
        redirect=_address(data.get("Redirect")),
        official=next((_address(item.get("FirstURL")) for item in _objects(data.get("Results"))), ""),
        facts=tuple(islice(_facts(data.get("Infobox")), _MAX_FACTS)),
        topics=tuple(islice(_topics(data.get("RelatedTopics")), _MAX_TOPICS)),
    )


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
        kind = str(item.get("data_type"))
        is_for_machines = kind.startswith(_MACHINE_PREFIXES) or kind.endswith(_MACHINE_SUFFIXES)
        if label and value and not is_for_machines:
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
    return clean_line(html.unescape(_TAG.sub("", value)), limit) if isinstance(value, str) else ""


def _address(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        return ""
    url = join_url(_SITE, value)
    return clean_line(url, _MAX_URL) if url.startswith(("http://", "https://")) else ""

"""Tools `search` and `fetch` for ChatGPT connectors: one string argument, and one compact JSON text as answer.

The ID of a result is its URL. So IDs stay valid after a restart and on other servers, and `fetch` accepts any other URL
too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scraper import errors
from scraper.model import Reading, ReadRequest
from scraper.render.json_truncation import compact_json
from scraper.render.page import MAX_LENGTH, piece_of, published
from scraper.render.search import REASON_TEXTS
from scraper.render.untrusted_text import UNTRUSTED_NOTICE
from scraper.search.request import SearchRequest
from scraper.text.sanitize import clean_line
from scraper.tools.model import Parameter, Parameters, Tool, ToolAnswer, ToolCall, make_tool
from scraper.tools.search_tools import is_blocked
from scraper.values.types import StringValue

if TYPE_CHECKING:
    from scraper.services import Services

_MAX_RESULTS = 10
_TITLE_CHARS = 300
_WEB = ("http://", "https://")


def openai_tools() -> tuple[Tool, Tool]:
    """Return `search` and `fetch`."""
    query = Parameter("query", StringValue(), "Search words.", required=True)
    page_id = Parameter("id", StringValue(), "An id from search, or any http(s) URL.", required=True)
    return (
        make_tool("search", "Search the web", Parameters(query), _search, description="openai_search"),
        make_tool("fetch", "Read a search result", Parameters(page_id), _fetch, description="openai_fetch"),
    )


async def _search(services: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    request = SearchRequest(
        arguments["query"], max_results=_MAX_RESULTS, principal=call.principal, deadline_s=call.deadline_s
    )
    answer = await services.searcher.search(request, progress=call.progress)
    if is_blocked(answer):
        reasons = ", ".join(f"{name} {REASON_TEXTS.get(why, 'failed')}" for name, why in answer.errors.items())
        raise errors.BlockedBySiteError(
            f"No engine answered ({reasons}); this is not an empty result.",
            reason="blocked",
            target=answer.query,
            next_step="Try again in some minutes.",
        )
    results = [
        {"id": result.url, "title": clean_line(result.title, _TITLE_CHARS) or result.url, "url": result.url}
        for result in answer.results
        if result.url.startswith(_WEB)
    ]
    return ToolAnswer(compact_json({"results": results}))


async def _fetch(services: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
    request = ReadRequest(arguments["id"], principal=call.principal, deadline_s=call.deadline_s)
    reading = await services.fetcher.fetch(request, progress=call.progress)
    piece = piece_of(reading.document, 0, MAX_LENGTH)
    is_cut = piece.next_start is not None
    page = {
        "id": arguments["id"],
        "title": clean_line(reading.document.title or "", _TITLE_CHARS) or reading.url,
        "text": piece.shown,
        "url": reading.url,
        "metadata": _metadata(reading, truncated=is_cut or reading.truncated),
    }
    return ToolAnswer(compact_json(page))


def _metadata(reading: Reading, *, truncated: bool) -> dict[str, str]:
    """Return further metadata of a page; all values are strings, as the contract requires."""
    document = reading.document
    facts = {
        "retrieved_at": reading.retrieved_at.isoformat(timespec="seconds"),
        "method": reading.method,
        "truncated": "true" if truncated else "false",
        "author": clean_line(document.author or "", _TITLE_CHARS),
        "published_date": published(document),
        "site_name": clean_line(document.site_name or "", _TITLE_CHARS),
        "warnings": " ".join(clean_line(warning, _TITLE_CHARS) for warning in reading.warnings),
        "notice": UNTRUSTED_NOTICE,
    }
    return {name: value for name, value in facts.items() if value}

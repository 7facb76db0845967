"""`search` and `fetch` as ChatGPT's connectors know them: one string in, one compact JSON text out.

An id is the address itself, so every id that was ever given out can be fetched after a restart, on another
server, and so can any address that somebody else found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scraper import errors
from scraper.extract.text.sanitize import clean_line
from scraper.model import Reading
from scraper.render.fetch import MAX_LENGTH, piece_of, published
from scraper.render.search import REASONS
from scraper.render.untrusted_region import NOTICE
from scraper.settings import Settings
from scraper.tools.arguments import Parameter, Parameters, StringArgument
from scraper.tools.common_parameters import compact
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall
from scraper.tools.search import blocked

if TYPE_CHECKING:
    from scraper.app import App

MAX_RESULTS = 10
_TITLE_CHARS = 300
_WEB = ("http://", "https://")

_QUERY = Parameters(Parameter("query", StringArgument(), "What to look for, in words.", required=True))
_ID = Parameters(Parameter("id", StringArgument(), "An id of search, or any http(s) URL.", required=True))


def pair(settings: Settings) -> tuple[Tool, Tool]:
    """The two tools."""
    return (
        Tool(
            "search",
            "Search the web",
            described("openai_search"),
            _QUERY.schema(),
            guarded("search", _QUERY, _search),
        ),
        Tool(
            "fetch",
            "Read a search result",
            described("openai_fetch"),
            _ID.schema(),
            guarded("fetch", _ID, _fetch),
        ),
    )


async def _search(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    answer = await app.searcher.search(
        given["query"],
        max_results=MAX_RESULTS,
        principal=call.principal,
        deadline_s=call.deadline_s,
        progress=call.progress,
    )
    if blocked(answer):
        told = ", ".join(f"{name} {REASONS.get(why, 'failed')}" for name, why in answer.errors.items())
        raise errors.BlockedBySiteError(
            f"No engine answered ({told}); this is not an empty result.",
            reason="blocked",
            target=answer.query,
            next_step="Try again in some minutes.",
        )
    results = [
        {"id": result.url, "title": clean_line(result.title, _TITLE_CHARS) or result.url, "url": result.url}
        for result in answer.results
        if result.url.startswith(_WEB)
    ]
    return ToolAnswer(compact({"results": results}))


async def _fetch(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
    reading = await app.fetcher.fetch(
        given["id"], principal=call.principal, deadline_s=call.deadline_s, progress=call.progress
    )
    piece = piece_of(reading.document, 0, MAX_LENGTH)
    text = reading.document.markdown if piece.next_start is None else piece.shown
    return ToolAnswer(
        compact(
            {
                "id": given["id"],
                "title": clean_line(reading.document.title or "", _TITLE_CHARS) or reading.url,
                "text": text,
                "url": reading.url,
                "metadata": _metadata(reading, truncated=piece.next_start is not None or reading.truncated),
            }
        )
    )


def _metadata(reading: Reading, *, truncated: bool) -> dict[str, str]:
    """What else is known, all as strings: key and value pairs are what the contract speaks of."""
    document = reading.document
    known = {
        "retrieved_at": reading.retrieved_at.isoformat(timespec="seconds"),
        "method": reading.method,
        "truncated": "true" if truncated else "false",
        "author": clean_line(document.author or "", _TITLE_CHARS),
        "published_date": published(document),
        "site_name": clean_line(document.site_name or "", _TITLE_CHARS),
        "warnings": " ".join(clean_line(warning, _TITLE_CHARS) for warning in reading.warnings),
        "notice": NOTICE,
    }
    return {name: value for name, value in known.items() if value}

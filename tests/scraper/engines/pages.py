"""Helpers for engine tests: rows, pages built from them, and a fixed current time."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime

from browsers.model import RedirectHop, Snapshot
from scraper.engines.model import EngineResponse
from scraper.engines.registry import ENGINES
from tests.site.engine_pages import EngineRow, hosts, result_page

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

FACES = (
    ("duckduckgo", "html"),
    ("duckduckgo", "lite"),
    ("duckduckgo", "drawn"),
    ("mojeek", ""),
    ("startpage", ""),
    ("brave", ""),
    ("bing", "desktop"),
    ("bing", "mobile"),
    ("baidu", "web"),
    ("baidu", "news"),
)
"""All HTML variants of the engines."""

ROWS = tuple(
    EngineRow(
        f"Title number {number} of the page",
        f"https://site{number}.example/page/{number}?a=b&c=d",
        f"Snippet {number} is a sentence long enough to be told from a label or an address.",
    )
    for number in range(1, 8)
)

_CLASS = re.compile(r"class='([^']*)'")


def snapshot(
    engine: str, html: str, *, status: int = 200, path: str = "/x", hops: tuple[RedirectHop, ...] = ()
) -> Snapshot:
    """Return a page of an engine as a snapshot."""
    url = f"https://{hosts[engine][0]}{path}"
    return Snapshot(url, url, status, media_type="text/html", html=html, hops=hops)


def read(engine: str, html: str, *, status: int = 200) -> EngineResponse:
    """Parse a page with an engine."""
    return ENGINES[engine].parse(snapshot(engine, html, status=status), NOW)


def renamed(html: str) -> str:
    """Return the page with every class renamed."""
    chance = random.Random(7)
    names: dict[str, str] = {}

    def other(match: re.Match[str]) -> str:
        for name in match.group(1).split():
            names.setdefault(name, "".join(chance.choices("abcdefgh", k=8)))
        return f"class='{' '.join(names[name] for name in match.group(1).split())}'"

    return _CLASS.sub(other, html)


def page(engine: str, face: str = "", rows: tuple[EngineRow, ...] = ROWS) -> str:
    """Return a page of results."""
    return result_page(engine, rows, face=face)

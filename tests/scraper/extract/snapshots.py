"""Helpers that build snapshots of pages from HTML in a test."""

from __future__ import annotations

from typing import Any

from browsers.model import Snapshot
from scraper.extract import reader
from scraper.extract.verdict.verdict import PageSignals, judge_signals
from scraper.html.page.page_tree import build_page_tree
from scraper.model import Document, Verdict

URL = "https://example.com/dir/page"
WORDS = "These are words that a person came to this page to read and that fill it up. " * 12


def page(html: str, url: str = URL, status: int = 200, **more: Any) -> Snapshot:
    return Snapshot(url, url, status, media_type="text/html", html=html, **more)


def served(media_type: str, text: str, url: str = URL) -> Snapshot:
    return Snapshot(url, url, 200, media_type=media_type, html=text, body=text.encode())


def read(html: str, **more: Any) -> Document:
    return reader.read(page(html, **more))


def markdown_of(html: str, **more: Any) -> str:
    """Return the Markdown of the HTML as main content of a page."""
    return read(f"<body><main>{html}</main></body>", **more).markdown


def verdict_of(snapshot: Snapshot) -> Verdict:
    """Return the verdict on a page that is not read."""
    return judge_signals(snapshot, PageSignals(build_page_tree(snapshot)))

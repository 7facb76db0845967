"""Markdown of a piece of a page, as the converter alone gives it."""

from __future__ import annotations

from scraper.extract import markdown, markup
from scraper.extract.markdown import Converted

URL = "https://example.com/dir/page"


def converted(html: str, base: str = URL) -> Converted:
    root = markup.parse(f"<html><body>{html}</body></html>").root
    assert root is not None
    return markdown.convert(root, base)


def markdown_of(html: str, base: str = URL) -> str:
    return converted(html, base).markdown

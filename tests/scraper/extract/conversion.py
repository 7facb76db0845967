"""Helpers that convert a part of a page to Markdown with the converter alone."""

from __future__ import annotations

from scraper.extract.markdown import converter
from scraper.extract.markdown.converter import ConvertedMarkdown
from scraper.html.dom import parsing

URL = "https://example.com/dir/page"


def converted(html: str, base: str = URL) -> ConvertedMarkdown:
    root = parsing.parse_html(f"<html><body>{html}</body></html>").root
    assert root is not None
    return converter.convert(root, base)


def markdown_of(html: str, base: str = URL) -> str:
    return converted(html, base).markdown

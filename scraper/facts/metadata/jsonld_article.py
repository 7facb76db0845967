"""Find the text of an article in the structured data of its page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

from lxml import etree

from scraper.facts.syntaxes.jsonld import JsonLdItem, type_names
from scraper.html.dom import parsing
from scraper.html.dom.parsing import Element
from scraper.html.page.segmentation import segment_body
from scraper.text.likeness import containment, split_runs
from scraper.text.sanitize import name_key
from scraper.text.terms import split_words

_ARTICLES = ("Article", "Posting", "Report", "Review")
_MIN_CHARACTERS, _MAX_CHARACTERS = 600, 500_000
"""Minimum characters of an article, and the characters that are read of it."""
_MIN_RATIO = 2.0
"""A stated text that is less than this many times longer differs by boxes and captions, not by missing parts."""

_SHORT = 300
"""Characters. Shorter content may be a notice, which shares no words with the article."""

_MIN_SHARED = 0.5
_RUN = 3
_MAX_TITLE = 40
"""Characters of a title that are compared, because the site's name may follow."""
_TAG = re.compile(r"<(?:p|br|div|h[1-6]|li|a|strong|em|b|i|span)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JsonLdArticle:
    """Text of an article in the structured data of its page."""

    paragraphs: tuple[str, ...]
    headline: str
    is_free: bool
    """False if the page declares that readers must pay for it."""

    @property
    def characters(self) -> int:
        """Length of the text."""
        return sum(map(len, self.paragraphs))


def find_jsonld_article(items: Iterable[JsonLdItem]) -> JsonLdArticle | None:
    """Return the longest `articleBody` of the articles in the JSON-LD of a page, or None below `_MIN_CHARACTERS`."""
    best, headline, is_free = "", "", True
    for item in items:
        body = item.get("articleBody")
        if isinstance(body, list):
            body = "\n".join(part for part in body if isinstance(part, str))
        if not isinstance(body, str) or len(body) <= max(len(best), _MIN_CHARACTERS - 1):
            continue
        if any(name.endswith(_ARTICLES) for name in type_names(item)):
            headline = str(item.get("headline") or item.get("name") or "")
            best, is_free = body, str(item.get("isAccessibleForFree", True)).lower() not in ("false", "0", "no")
    return JsonLdArticle(_paragraphs(best[:_MAX_CHARACTERS]), headline, is_free) if best else None


def _paragraphs(body: str) -> tuple[str, ...]:
    """Return the lines of a text, which may be escaped HTML."""
    text = html.unescape(body)
    root = parsing.parse_html(f"<body>{text}</body>").root if _TAG.search(text) else None
    if root is not None:
        return tuple(segment_body(root).texts)
    return tuple(line.strip() for line in text.split("\n") if line.strip())


def exceeds(article: JsonLdArticle, text: str, title: str | None) -> bool:
    """Return True if the article is `_MIN_RATIO` times longer than the text of the page, and belongs to the page."""
    if article.characters < _MIN_RATIO * len(text):
        return False
    is_titled = bool(title) and name_key(article.headline)[:_MAX_TITLE] == name_key(title)[:_MAX_TITLE]
    return len(text) < _SHORT or is_titled or contains(article, text)


def contains(article: JsonLdArticle, text: str) -> bool:
    """Return True if the article contains at least half of a text, by runs of three words."""
    own, stated = (split_runs(split_words(one), _RUN) for one in (text, "\n".join(article.paragraphs)))
    return containment(own, stated) >= _MIN_SHARED


def build_article(article: JsonLdArticle) -> Element:
    """Return an element with the paragraphs of an article."""
    root = etree.Element("div")
    for paragraph in article.paragraphs:
        etree.SubElement(root, "p").text = paragraph
    return root

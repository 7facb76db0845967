"""Recognize pages of a site that are in another language than its start page."""

from __future__ import annotations

import contextlib
from urllib.parse import parse_qsl, quote, urlencode

from scraper.site.crawled_page import CrawledPage
from scraper.site.url_normalization import LANGUAGE_PARAMETERS, find_language, page_key

OTHER_LANGUAGE = 0.3
"""Factor for a URL that names another language."""


class SiteLanguages:
    """Language of a site, and its URLs in other languages."""

    def __init__(self) -> None:
        """Start without a language; the first learned page sets it."""
        self._own = ""
        self._is_other: dict[str, bool] = {}
        """True by code in URLs if its pages are in another language: `/it/` may also be a department."""
        self._translations: set[str] = set()

    def learn(self, key: str, page: CrawledPage) -> None:
        """Learn from the language of a visited page and from its `hreflang` links."""
        self._own = self._own or page.language
        for language, url in page.outlinks.alternates:
            self.add_translation(language, url)
        code = find_language(f"https://{key}")
        if code and page.language:
            self._is_other[code] = page.language != self._own

    def add_translation(self, language: str, url: str) -> None:
        """Record the `hreflang` language of a URL."""
        code = language.partition("-")[0]
        if self._own and code not in (self._own, "x", ""):
            with contextlib.suppress(ValueError):
                self._translations.add(page_key(url))

    def is_translation(self, key: str) -> bool:
        """Return True if a page declared this URL to be in another language."""
        return key in self._translations

    def find_originals(self, key: str) -> list[str]:
        """Return the keys that a page of another language has in the language of the site.

        Only languages of which a page was read count: `/it/` may also be a department.
        """
        code = find_language(f"https://{key}")
        if not self._is_other.get(code, False):
            return []
        path, mark, query = key.partition("?")
        parts = path.split("/")
        pairs = parse_qsl(query, keep_blank_values=True)
        without = [pair for pair in pairs if pair[0] not in LANGUAGE_PARAMETERS]
        originals = [f"{path}?{urlencode(without, quote_via=quote)}" if without else path] if without != pairs else []
        for at in range(1, min(3, len(parts) - 1)):
            if find_language(f"https://site/{parts[at]}/") == code:
                paths = ("/".join([*parts[:at], *own, *parts[at + 1 :]]) for own in ([], [self._own]))
                originals += [original + mark + query for original in paths]
        return originals

    def weigh(self, key: str) -> float:
        """Return 1, or `OTHER_LANGUAGE` for a URL that names another language."""
        code = find_language(f"https://{key}")
        is_other = self._is_other.get(code, code != (self._own or "en")) if code else False
        return OTHER_LANGUAGE if is_other else 1.0

"""Recognize pages of a site that are in another language than its start page."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from scraper.site.crawled_page import CrawledPage
from scraper.site.url_normalization import find_language, page_key, parse_language

_OTHER_LANGUAGE = 0.3
"""Factor for a URL that names another language."""


_NAMES = {
    name: pair.partition(":")[0]
    for pair in "ar:arabic,العربية bg:bulgarian,български ca:catalan,català cs:czech,čeština da:danish,dansk "
    "de:german,deutsch el:greek,ελληνικά en:english es:spanish,español,castellano et:estonian,eesti fa:persian,فارسی "
    "fi:finnish,suomi fr:french,français he:hebrew,עברית hr:croatian,hrvatski hu:hungarian,magyar id:indonesian "
    "it:italian,italiano ja:japanese,日本語 ko:korean,한국어 lt:lithuanian,lietuvių lv:latvian,latviešu nb:norwegian "
    "nl:dutch,nederlands no:norsk pl:polish,polski pt:portuguese,português ro:romanian,română ru:russian,русский "
    "sk:slovak,slovenčina sl:slovenian,slovenščina sv:swedish,svenska th:thai,ไทย tr:turkish,türkçe "
    "uk:ukrainian,українська vi:vietnamese zh:chinese,中文,简体中文,繁體中文".split()
    for name in pair.partition(":")[2].split(",")
}
"""Code of a language by its name in English and in the language itself."""
_MIN_CODES = 2
"""Links with codes as texts, such as `DE` and `FR`, that make a language menu: one alone may be a word (`IT`)."""


class SiteLanguages:
    """Language of a site, and its URLs in other languages."""

    def __init__(self, shorten: Callable[[str], str] = str) -> None:
        """Start without a language; the first learned page sets it.

        `shorten` removes from the key of a URL what makes no difference on this site.
        """
        self._shorten = shorten
        self._own = ""
        self._is_other: dict[str, bool] = {}
        """True by code in URLs if its pages are in another language: `/it/` may also be a department."""
        self._translations: set[str] = set()
        self._in_menu: set[str] = set()
        """Codes in the URLs to which language menus lead, except the language of the site."""

    def learn(self, key: str, page: CrawledPage) -> None:
        """Learn from the language of a visited page and from its `hreflang` links."""
        self._own = self._own or page.language
        for language, url in page.outlinks.alternates:
            self.add_translation(language, url)
        code = find_language(f"https://{key}")
        if code and page.language:
            self._is_other[code] = page.language != self._own
        self._learn_menu(page)

    def _learn_menu(self, page: CrawledPage) -> None:
        if not self._own or page.language != self._own:
            return
        found: dict[bool, set[str]] = {True: set(), False: set()}
        for link in page.outlinks.links:
            text = link.text.strip().casefold()
            code = _NAMES.get(text) or parse_language(text)
            with contextlib.suppress(ValueError):
                if code and find_language(link.url) == code:
                    found[text in _NAMES].add(code)
        self._in_menu |= found[True] | (found[False] if len(found[False]) >= _MIN_CODES else set())
        self._in_menu.discard(self._own)

    def add_translation(self, language: str, url: str) -> None:
        """Record the `hreflang` language of a URL."""
        code = language.partition("-")[0]
        if self._own and code not in (self._own, "x", ""):
            with contextlib.suppress(ValueError):
                self._translations.add(self._shorten(page_key(url)))

    def shorten_keys(self) -> None:
        """Shorten the keys of all translations again, after a new rule about URLs."""
        self._translations = set(map(self._shorten, self._translations))

    def is_translation(self, key: str) -> bool:
        """Return True if a page declared this URL to be in another language."""
        return key in self._translations

    def is_in_menu(self, key: str) -> bool:
        """Return True if the URL is in a language to which the menu of the site leads, and which is not its own."""
        code = find_language(f"https://{key}") if self._in_menu else ""
        return code in self._in_menu and self._is_other.get(code, True)

    def weigh(self, key: str) -> float:
        """Return 1, or `_OTHER_LANGUAGE` for a URL that names another language."""
        code = find_language(f"https://{key}")
        is_other = self._is_other.get(code, code != (self._own or "en")) if code else False
        return _OTHER_LANGUAGE if is_other else 1.0

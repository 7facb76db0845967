"""Decide which URLs a crawl may visit, recognize mazes, and count the excluded URLs by reason."""

from __future__ import annotations

import contextlib
import fnmatch
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import ada_url

from scraper.extract.outlinks import Outlink
from scraper.reading.robots import RobotsRules
from scraper.site.crawled_page import CrawledPage
from scraper.site.model import ExcludedUrls
from scraper.site.page_ranking import split_stems
from scraper.site.url_patterns import find_language, find_section, is_looping, parse_language
from scraper.urls import page_key
from scraper.words.matcher import load_once, read_topic

_OTHER_LANGUAGE = 0.3
"""Factor for a URL that names another language."""


@load_once
def _codes() -> dict[str, str]:
    """Return the code of a language by its name in English and in the language itself."""
    return {name: code for code, names in read_topic("language")["name"].items() for name in names}


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
            code = _codes().get(text) or parse_language(text)
            with contextlib.suppress(ValueError):
                if code and find_language(link.url) == code:
                    found[text in _codes()].add(code)
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


_MIN_MAZE_PAGES = 6
"""Pages of a section, and link texts, that are compared before it may be a maze."""
_MIN_NEW_LINKS = 3
"""New URLs of its own section to which a page of a maze leads on average."""
_MAX_NAMED = 0.2
"""Largest share of pages in a maze whose title has a word of the link text."""
_MIN_ENDLESS_DEPTH = 5
"""Pages of a section in a row, each found on the one before, without which it is not known to be endless."""
_MAX_CROSS_LINKS = 0.02
"""Largest share of links of an endless section that lead to pages which another page named first."""


_FILE = re.compile(
    r"\.(?:png|jpe?g|gif|webp|avif|svg|ico|css|m?js|map|woff2?|ttf|otf|eot|mp[34]|webm|ogg|wav|avi|mov|zip|gz|tgz|bz2|xz|"
    r"7z|rar|exe|dmg|iso|apk|deb|rpm|jar|whl|wasm|ics|asc|sig|sha256|torrent|xml|rss|atom)$",
    re.IGNORECASE,
)
_ACTION = re.compile(
    r"(?:^|/)(?:login|log-in|signin|sign-in|signup|register|logout|logoff|cart|basket|checkout|wp-login|wp-admin|"
    r"password|trackback|xmlrpc|cgi-bin)(?:/|\.|$)|add[-_]to[-_](?:cart|wishlist)|"
    r"[?&](?:action|do)=(?:edit|history|login|reply|print)|"
    r"[?&](?:replytocom|share|print|add-to-cart|oldid|diff|printable)=",
    re.IGNORECASE,
)

FORBIDDEN = "forbidden by robots.txt"
"""Reason of excluded URLs."""


@dataclass(frozen=True, slots=True)
class CrawlScope:
    """Start page, folder and path patterns of a crawl."""

    start: str
    folder: str = "/"
    include: tuple[str, ...] = ()
    """Path patterns such as `/docs/*`; a URL must match one of them if there are any. The start page is always
    allowed."""
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, start: str, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> CrawlScope:
        """Return the scope of a start page: its folder, or the whole site if there are patterns of paths to include."""
        path: str = ada_url.URL(start).pathname
        return cls(start, "/" if include else path.rpartition("/")[0] + "/", include, exclude)

    def follow(self, final_url: str, links: Iterable[Outlink]) -> CrawlScope:
        """Return the scope after the start page was read, with the folder that `find_folder` returns."""
        return self if self.include else replace(self, folder=find_folder(self.start, final_url, links))

    def find_reason(self, link: Outlink, key: str, rules: RobotsRules | None) -> str:
        """Return the reason why a URL of the site is excluded, or an empty string; `key` is its `page_key`."""
        parsed = ada_url.URL(link.url)
        if link.url != self.start and not self._contains(f"{parsed.pathname}{parsed.search}"):
            return "outside the scope"
        if is_file(link.url):
            return "file"
        if is_action(link.url):
            return "nofollow" if link.nofollow else "sign-in, basket or other action"
        if is_looping(key):
            return "repeated path"
        if rules is not None and not rules.allows(link.url):
            return FORBIDDEN
        return ""

    def _contains(self, path: str) -> bool:
        is_included = not self.include or any(fnmatch.fnmatchcase(path, pattern) for pattern in self.include)
        is_excluded = any(fnmatch.fnmatchcase(path, pattern) for pattern in self.exclude)
        return path.startswith(self.folder) and is_included and not is_excluded


def is_file(url: str) -> bool:
    """Return True if the path has the suffix of a file that is not a page: an image, archive, style sheet or feed."""
    return _FILE.search(ada_url.URL(url).pathname) is not None


def is_action(url: str) -> bool:
    """Return True if the URL signs in, buys, edits or prints instead of showing a page."""
    parsed = ada_url.URL(url)
    return _ACTION.search(f"{parsed.pathname}{parsed.search}") is not None


def find_folder(start: str, final_url: str, links: Iterable[Outlink]) -> str:
    """Return the folder of a start page after redirects, which limits a map or a crawl; `/` is the whole site.

    A page without a final slash, such as `/docs`, is a folder if it links to pages below it.
    """
    if ada_url.URL(start).pathname == "/":
        return "/"
    page = ada_url.URL(final_url)
    path: str = page.pathname
    if not path.endswith("/") and any(link.url.startswith(f"{page.origin}{path}/") for link in links):
        return f"{path}/"
    return path.rpartition("/")[0] + "/"


@dataclass(slots=True)
class ExclusionCounter:
    """Number of excluded URLs and one example, by reason."""

    counts: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, reason: str, url: str, count: int = 1) -> None:
        """Count excluded URLs; the first URL of a reason is its example."""
        known, example = self.counts.get(reason, (0, url))
        self.counts[reason] = known + count, example

    def summary(self) -> tuple[ExcludedUrls, ...]:
        """Return the counts by reason, in the order in which the reasons occurred."""
        return tuple(ExcludedUrls(reason, count, example) for reason, (count, example) in self.counts.items())


class MazeDetector:
    """Recognize sections of random pages that lead to ever more pages of their own, as in traps for robots.

    The titles of pages in a maze have no words of the links to them. In an endless section, each page leads only to new
    pages of the section, down to some depth: people link pages of one topic to each other. A section is a first folder,
    such as `/blog/`.
    """

    def __init__(self) -> None:
        """Start without sections."""
        self._sections: defaultdict[str, _Section] = defaultdict(_Section)

    def learn(
        self,
        key: str,
        title: str,
        texts: Iterable[str],
        links: Iterable[tuple[str, bool]],
        *,
        depth: int = 0,
        cross_links: int = 0,
    ) -> None:
        """Learn from a visited page.

        Args:
            key: Key of its URL.
            title: Its title.
            texts: Texts of links to it that are used for few pages.
            links: Keys of its links; True for URLs that were not known before.
            depth: Pages of its section in a row that led to it.
            cross_links: Its links to pages that another page of the section named first, except its ancestors.
        """
        name = find_section(key)
        section = self._sections[name]
        section.pages += 1
        known = section.new_links
        for link_key, is_new in links:
            if link_key != key and find_section(link_key) == name:
                section.links += 1
                section.new_links += is_new
        section.cross_links += cross_links
        section.has_leaf = section.has_leaf or section.new_links == known
        section.depth = max(section.depth, depth)
        section.is_endless = section.is_endless or (section.may_be_endless and section.depth >= _MIN_ENDLESS_DEPTH)
        words, named = {word for text in texts for word in split_stems(text)}, set(split_stems(title))
        if words and named:
            section.texts += 1
            section.named += not words.isdisjoint(named)

    def contains(self, key: str) -> bool:
        """Return True if a URL is in a maze."""
        section = self._sections.get(find_section(key))
        return section is not None and section.is_maze

    def is_endless(self, key: str) -> bool:
        """Return True if a URL is in an endless section."""
        section = self._sections.get(find_section(key))
        return section is not None and section.is_endless

    def may_be_endless(self, key: str) -> bool:
        """Return True if the section of a URL is endless, unless its deeper pages are different."""
        section = self._sections.get(find_section(key))
        return section is not None and section.may_be_endless and not section.is_endless


@dataclass(slots=True)
class _Section:
    pages: int = 0
    links: int = 0
    """Links within the section."""
    new_links: int = 0
    texts: int = 0
    """Pages whose title was compared with the texts of links to them."""
    named: int = 0
    """Pages whose title has a word of these texts."""
    cross_links: int = 0
    depth: int = 0
    """Largest depth of its pages."""
    has_leaf: bool = False
    """True if a page led to no new page of the section."""
    is_endless: bool = False
    """True if it was found to be endless. Its links are left out then, so its counts say nothing anymore."""

    @property
    def may_be_endless(self) -> bool:
        is_growing = self.new_links >= _MIN_NEW_LINKS * self.pages
        has_cross_links = self.cross_links > _MAX_CROSS_LINKS * self.links
        return self.pages >= _MIN_MAZE_PAGES and is_growing and not has_cross_links and not self.has_leaf

    @property
    def is_maze(self) -> bool:
        is_growing = self.new_links >= _MIN_NEW_LINKS * self.pages and 2 * self.new_links >= self.links
        is_known = min(self.pages, self.texts) >= _MIN_MAZE_PAGES
        return is_known and is_growing and self.named <= _MAX_NAMED * self.texts

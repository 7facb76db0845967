"""Decide which URLs a crawl may visit, recognize mazes, and count the excluded URLs by reason."""

import contextlib
import fnmatch
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Self
from urllib.parse import unquote

import ada_url

from scraper import errors
from scraper.extract.outlinks import Outlink
from scraper.reading.robots import RobotsRules
from scraper.site.crawled_page import CrawledPage
from scraper.site.model import ExcludedUrls
from scraper.site.url_patterns import find_language, find_section, is_looping, split_stems
from scraper.urls import page_key, site_host
from scraper.values.text import read_table, truncate

_OTHER_LANGUAGE = 0.3
"""Factor for a URL that names another language."""
_ECHO_CHARS = 80


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
                self._translations.add(self._shorten(page_key(url)))

    def shorten_keys(self) -> None:
        """Shorten the keys of all translations again, after a new rule about URLs."""
        self._translations = set(map(self._shorten, self._translations))

    def is_translation(self, key: str, *, is_listed: bool) -> bool:
        """Return True for a URL in another language: a page declared it, or it has the code of such a page.

        The code says nothing about a URL that `is_listed` in sitemaps or feeds.
        """
        return key in self._translations or (
            bool(self._is_other) and not is_listed and self._is_other.get(find_language(f"https://{key}"), False)
        )

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


_FILE_SUFFIXES = frozenset(read_table(__package__, "urls.toml")["file_suffixes"].split())
_ACTION = re.compile(
    r"add[-_]to[-_](?:cart|wishlist)(?:[=?]|/\d)|[?&](?:replytocom|share|oldid|diff)=|[?&](?:action|do)="
    r"(?:edit|submit|delete|remove|purge|rollback|login|logout|reply|vote|unsubscribe)\b",
    re.IGNORECASE,
)
"""URLs that write, or that show one page once more for each of its comments or versions. Names of paths prove nothing:
`/cli/login` may describe a command."""
_SIGNS_OF_EXPRESSIONS = ("^", ".*", ".+", "\\", "$")

ACTION = "action instead of a page"
OUTSIDE = "outside the scope"
FORBIDDEN = "forbidden by robots.txt"


@dataclass(frozen=True, slots=True)
class CrawlScope:
    """Start page, folder and path patterns of a crawl."""

    start: str
    folder: str = "/"
    include: tuple[str, ...] = ()
    """Patterns such as `/docs/*`; a URL must match one of them if there are any. The start page is always allowed."""
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, start: str, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> Self:
        """Return the scope of a start page: its folder, or the whole site if there are patterns of paths to include.

        Raises:
            InvalidArgumentError: No path can match a pattern.
        """
        path: str = ada_url.URL(start).pathname
        include, exclude = (tuple(_read_pattern(one, start) for one in patterns) for patterns in (include, exclude))
        return cls(start, "/" if include else path.rpartition("/")[0] + "/", include, exclude)

    def follow(self, final_url: str, links: Iterable[Outlink]) -> Self:
        """Return the scope after the start page was read, with the folder that `find_folder` returns."""
        return self if self.include else replace(self, folder=find_folder(self.start, final_url, links))

    def find_reason(self, link: Outlink, key: str, rules: RobotsRules | None) -> str:
        """Return the reason why a URL of the site is excluded, or an empty string; `key` is its `page_key`."""
        if link.url != self.start and not self.contains(link.url):
            return OUTSIDE
        if link.nofollow:
            return "nofollow"
        if is_action(link.url):
            return ACTION
        if is_looping(key):
            return "repeated path"
        if rules is not None and not rules.allows(link.url):
            return FORBIDDEN
        return ""

    def contains(self, url: str) -> bool:
        """Return True if the path of a URL of the site is in the folder and matches the patterns."""
        parsed = ada_url.URL(url)
        path = unquote(f"{parsed.pathname}{parsed.search}")
        is_included = not self.include or any(_matches(path, pattern) for pattern in self.include)
        is_excluded = any(_matches(path, pattern) for pattern in self.exclude)
        return parsed.pathname.startswith(self.folder) and is_included and not is_excluded


def _read_pattern(pattern: str, start: str) -> str:
    """Return a pattern of paths as it is compared: decoded, from `/` or `*` on, and without the host of the site."""
    if any(sign in pattern for sign in _SIGNS_OF_EXPRESSIONS):
        raise errors.InvalidArgumentError(
            f'The pattern "{truncate(pattern, _ECHO_CHARS)}" is a regular expression.',
            next_step="Give a path in which * stands for any text, such as /docs/*.",
        )
    _, scheme, address = pattern.rpartition("://")
    origin, mark, path = address.partition("/")
    is_here = site_host(origin.lower()) == site_host(ada_url.URL(start).host)
    if scheme and not is_here:
        raise errors.InvalidArgumentError(
            f'The pattern "{truncate(pattern, _ECHO_CHARS)}" is on another host than the start page.',
            next_step="Give a path such as /docs/*.",
        )
    pattern = unquote(mark + path if is_here else pattern)
    return pattern if pattern.startswith(("/", "*")) else f"/{pattern}"


def _matches(path: str, pattern: str) -> bool:
    """Return True if a path matches a pattern; without `*`, also the paths below it."""
    is_below = "*" not in pattern and path.startswith(f"{pattern.rstrip('/')}/")
    return is_below or fnmatch.fnmatchcase(path, pattern.replace("[", "[[]"))


def is_file(url: str) -> bool:
    """Return True if the path has the suffix of a file that is not a page: an image, archive, style sheet or feed."""
    return file_type(url)[1] in _FILE_SUFFIXES


def file_type(url: str) -> tuple[str, str]:
    """Return the first folder of a URL, and the suffix of its file; "" if there is none."""
    path = ada_url.URL(url).pathname
    _, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return find_section(path), suffix.lower() if dot else ""


def is_action(url: str) -> bool:
    """Return True if the parameters of a URL write, such as `?add-to-cart=7`."""
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

    The titles of pages in a maze have no words of the links to them. A section is a first folder, such as `/blog/`.
    """

    def __init__(self) -> None:
        """Start without sections."""
        self._sections: defaultdict[str, _Section] = defaultdict(_Section)

    def learn(self, key: str, title: str, texts: Iterable[str], links: Iterable[tuple[str, bool]]) -> None:
        """Learn from a visited page.

        `texts` are of links to it, and used for few pages. `links` has the keys of its links, and True for new URLs.
        """
        name = find_section(key)
        section = self._sections[name]
        section.pages += 1
        for link_key, is_new in links:
            if link_key != key and find_section(link_key) == name:
                section.links += 1
                section.new_links += is_new
        words, named = {word for text in texts for word in split_stems(text)}, set(split_stems(title))
        if words and named:
            section.texts += 1
            section.named += not words.isdisjoint(named)

    def contains(self, key: str) -> bool:
        """Return True if a URL is in a maze."""
        section = self._sections.get(find_section(key))
        return section is not None and section.is_maze


@dataclass(slots=True)
class _Section:
    pages: int = 0
    links: int = 0
    new_links: int = 0
    texts: int = 0
    """Pages whose title was compared with the texts of links to them."""
    named: int = 0
    """Pages whose title has a word of these texts."""

    @property
    def is_maze(self) -> bool:
        is_growing = self.new_links >= _MIN_NEW_LINKS * self.pages and 2 * self.new_links >= self.links
        is_known = min(self.pages, self.texts) >= _MIN_MAZE_PAGES
        return is_known and is_growing and self.named <= _MAX_NAMED * self.texts

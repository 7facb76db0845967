"""Decide which URLs a crawl may visit, and count the excluded ones by reason."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field

import ada_url

from scraper.extract.outlinks import Outlink
from scraper.model import LeftOut
from scraper.reading.robots import RobotsRules
from scraper.site.url_normalization import is_action, is_file
from scraper.site.url_patterns import is_looping


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
            return "forbidden by robots.txt"
        return ""

    def _contains(self, path: str) -> bool:
        is_included = not self.include or any(fnmatch.fnmatchcase(path, pattern) for pattern in self.include)
        is_excluded = any(fnmatch.fnmatchcase(path, pattern) for pattern in self.exclude)
        return path.startswith(self.folder) and is_included and not is_excluded


@dataclass(slots=True)
class LeftOutUrls:
    """Number of excluded URLs and one example, by reason."""

    counts: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, reason: str, url: str) -> None:
        """Count an excluded URL; the first URL of a reason is its example."""
        count, example = self.counts.get(reason, (0, url))
        self.counts[reason] = count + 1, example

    def summary(self) -> tuple[LeftOut, ...]:
        """Return the counts by reason, in the order in which the reasons occurred."""
        return tuple(LeftOut(reason, count, example) for reason, (count, example) in self.counts.items())

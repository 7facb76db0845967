"""URLs that a crawl may visit, and counts of those that it leaves out."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field

import ada_url

from scraper.extract.outlinks import Outlink
from scraper.model import LeftOut
from scraper.reading.robots import RobotsRules
from scraper.site.url_identity import is_action, is_file
from scraper.site.url_shapes import is_looping


@dataclass(frozen=True, slots=True)
class CrawlScope:
    """Start page and limits of a crawl."""

    start: str
    folder: str = "/"
    include: tuple[str, ...] = ()
    """Patterns of paths such as `/docs/*`; a URL must match one, unless there are none. The start page always may."""
    exclude: tuple[str, ...] = ()

    def find_reason(self, link: Outlink, key: str, rules: RobotsRules | None) -> str:
        """Return why a URL of the site is not visited, or ""."""
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
    """Number of URLs that were left out, and one example, by reason."""

    counts: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, reason: str, url: str) -> None:
        """Count a URL; the first of a reason is its example."""
        count, example = self.counts.get(reason, (0, url))
        self.counts[reason] = count + 1, example

    def summary(self) -> tuple[LeftOut, ...]:
        """Return the counts in the order of their first URL."""
        return tuple(LeftOut(reason, count, example) for reason, (count, example) in self.counts.items())

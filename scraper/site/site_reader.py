"""Protocol for reading robots.txt, sitemaps and pages of one site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from scraper.extract.outlinks import Outlinks
from scraper.extract.sitemaps import SitemapFile
from scraper.model import Document

MIN_VISIT_S = 1.0
"""Seconds. No request starts if less time is left until the deadline."""
PAGE_LIMIT_S = 30.0
"""Seconds for one page, so that the other pages of a call are read if a server never answers for some of them."""


@dataclass(frozen=True, slots=True)
class LoadedPage:
    """A page with its document and all its links."""

    url: str
    """URL after redirects."""
    document: Document
    outlinks: Outlinks


class SiteReader(Protocol):
    """Load files and pages of one site. After `load_robots`, keep the Crawl-delay of the site."""

    async def load_robots(self, origin: str) -> str:
        """Return the text of the robots.txt of an origin, or "" if it allows everything.

        Raises:
            RobotsUnreachableError: The file cannot be reached, so everything is forbidden.
            ScraperError: Its host cannot be reached, or the file cannot be requested now.
        """

    async def load_list(self, url: str) -> SitemapFile:
        """Return the sitemap or feed at a URL.

        Raises:
            ScraperError: It cannot be loaded.
        """

    async def load_page(self, url: str) -> LoadedPage:
        """Return a page.

        Raises:
            ScraperError: The page cannot be read.
        """

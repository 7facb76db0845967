"""Protocol for reading robots.txt, sitemaps and pages of one site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from scraper.extract.outlinks import Outlinks
from scraper.extract.sitemaps import SitemapFile
from scraper.model import Document


@dataclass(frozen=True, slots=True)
class LoadedPage:
    """A page with its document and all its links."""

    url: str
    """URL after redirects."""
    document: Document
    outlinks: Outlinks


class SiteReader(Protocol):
    """Load files and pages of one site."""

    async def load_robots(self, origin: str) -> str:
        """Return the text of the robots.txt of an origin, or "" if it cannot be loaded.

        Raises:
            OfflineError: This machine has no network.
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

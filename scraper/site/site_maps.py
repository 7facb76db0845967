"""Serve maps of sites, and cache the latest ones in memory so that callers can page through them."""

from __future__ import annotations

import itertools

from scraper.caching.read_through import Load, MemoryCache, ReadThrough
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.errors import FetchTimeoutError
from scraper.model import CachePolicy, Reuse, SiteMap
from scraper.reading.fetcher import Fetcher
from scraper.site.mapper import SiteMapper
from scraper.site.web_site_reader import WebSiteReader
from scraper.urls import host_of, parse_target
from scraper.workers import WorkerPool

_RESERVE_S = 1.0
"""Seconds before the deadline that are reserved to rank the pages and render the answer."""


class SiteMaps:
    """Build maps of sites and cache them."""

    def __init__(self, fetcher: Fetcher, workers: WorkerPool) -> None:
        """Use the fetcher and the workers to read sites."""
        self._fetcher = fetcher
        self._workers = workers
        self._service: ReadThrough[SiteMap] = ReadThrough(lambda site: site, memory=MemoryCache(_count_characters))

    async def close(self) -> None:
        """Cancel maps in progress."""
        await self._service.close()

    async def get(
        self, url: str, *, principal: str = "local", deadline_s: float = 55.0, progress: ProgressCallback | None = None
    ) -> SiteMap:
        """Return the map of the site of a URL; responses that come after the deadline are left out.

        Raises:
            ScraperError: Neither the start page nor a sitemap or feed of the site can be read.
        """
        target = parse_target(url)
        deadline = Deadline.within(deadline_s)
        count = itertools.count(1)
        report = progress or ignore_progress
        reader = WebSiteReader(
            self._fetcher,
            self._workers,
            principal,
            Deadline.within(deadline_s - _RESERVE_S),
            lambda: report(next(count), None, "mapping"),
        )
        load: Load[SiteMap] = Load(
            (target, principal),
            run=lambda _: SiteMapper(reader).build(target),
            memory_key=(target, principal),
            label=host_of(target),
        )
        try:
            return await self._service.read(
                load, CachePolicy(reuse=Reuse.IN_MEMORY), deadline=deadline, progress=progress
            )
        except TimeoutError:
            raise FetchTimeoutError(
                f"The site {host_of(target)} was not mapped in time.", target=target, next_step="Try a folder of it."
            ) from None


def _count_characters(site: SiteMap) -> int:
    return sum(len(page.url) + len(page.title) for page in site.pages)

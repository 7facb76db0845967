"""Read the sitemaps, sitemap indexes and feeds of a site."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import ada_url

from scraper import errors
from scraper.extract.sitemaps import MAX_ENTRIES, SitemapEntry, SitemapFile, find_sitemaps
from scraper.site.site_reader import SiteReader
from scraper.site.url_normalization import site_host

MAX_LIST_FILES = 200
"""Sitemaps and feeds of a site that are requested."""
MAX_INDEX_DEPTH = 5
"""Levels of sitemaps that are read: those of robots.txt, those that they name, and so on."""
LISTS_AT_ONCE = 4
_MAX_FEEDS = 3
_USUAL_SITEMAPS = ("/sitemap.xml", "/sitemap_index.xml")
"""Paths of sitemaps that are tried if robots.txt names none."""


class SitemapReader:
    """Read the sitemaps and feeds of one site into `files`.

    `leave_out` is called with reason, example and count of the files and URLs that are not read. Files that cannot be
    read or that list nothing are counted in `failures`.
    """

    def __init__(
        self, reader: SiteReader, host: str, leave_out: Callable[[str, str, int], None], *, max_urls: int = MAX_ENTRIES
    ) -> None:
        """Read only files on a host, as returned by `site_host`, with at most `max_urls` URLs of pages and files."""
        self._reader = reader
        self._host = host
        self._leave_out = leave_out
        self.files: list[SitemapFile] = []
        self.failures = 0
        self._urls_left = max_urls

    @property
    def entries(self) -> Iterator[SitemapEntry]:
        """Entries of all files that were read."""
        return (entry for file in self.files for entry in file.entries)

    async def read(self, origin: str, robots: str, feeds: Sequence[str]) -> None:
        """Read the sitemaps named by robots.txt or at usual paths, and the first feeds of the start page."""
        named = find_sitemaps(robots, f"{origin}/robots.txt")
        if named:
            await self._read_tree(named)
        else:
            for path in _USUAL_SITEMAPS:
                # One that exists is enough: the other names are usually of the same list.
                if await self._read_tree([f"{origin}{path}"]):
                    break
        await self._read_files(feeds[:_MAX_FEEDS])

    async def _read_tree(self, urls: Sequence[str]) -> bool:
        """Read sitemaps and those that they name; return True if at least one was readable."""
        seen: set[str] = set()
        level: Sequence[str] = urls
        is_found = False
        for _ in range(MAX_INDEX_DEPTH):
            new = [url for url in dict.fromkeys(level) if url not in seen]
            seen.update(new)
            read = await self._read_files(new)
            is_found = is_found or any(not file.is_empty for file in read)
            level = [named for file in read for named in file.sitemaps]
        return is_found

    async def _read_files(self, urls: Iterable[str]) -> list[SitemapFile]:
        own: list[str] = []
        for url in urls:
            if site_host(ada_url.URL(url).host) != self._host:
                self._leave_out("list on another host", url, 1)
            elif len(self.files) + len(own) >= MAX_LIST_FILES:
                self._leave_out("list beyond the limit of files", url, 1)
            else:
                own.append(url)
        files: list[SitemapFile] = []
        for at in range(0, len(own), LISTS_AT_ONCE):
            if not self._urls_left:
                self._leave_out("list beyond the limit of URLs", own[at], len(own) - at)
                break
            read = await asyncio.gather(*(self._read_file(url) for url in own[at : at + LISTS_AT_ONCE]))
            files += [self._limit(file) for file in read]
        self.files += files
        return files

    def _limit(self, file: SitemapFile) -> SitemapFile:
        """Return a file without its URLs beyond the limit."""
        entries = file.entries[: self._urls_left]
        self._urls_left -= len(entries)
        sitemaps = file.sitemaps[: self._urls_left]
        self._urls_left -= len(sitemaps)
        if rest := file.entries[len(entries) :]:
            self._leave_out("beyond the limit of URLs", rest[0].url, len(rest))
        if others := file.sitemaps[len(sitemaps) :]:
            self._leave_out("list beyond the limit of URLs", others[0], len(others))
        return replace(file, entries=entries, sitemaps=sitemaps)

    async def _read_file(self, url: str) -> SitemapFile:
        try:
            file = await self._reader.load_list(url)
        except errors.OfflineError:
            raise
        except (errors.FetchTimeoutError, errors.OverloadedError):
            self._leave_out("list that was not read in time", url, 1)
            file = SitemapFile()
        except errors.ScraperError:
            file = SitemapFile()
        if file.is_cut:
            self._leave_out("rest of a list beyond the limits", url, 1)
        self.failures += file.is_empty
        return file

"""Read robots.txt, sitemaps, feeds and the page for missing URLs of a site, before its pages are crawled."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import ada_url

from scraper import errors
from scraper.extract.outlinks import Outlinks
from scraper.extract.sitemaps import MAX_ENTRIES, SitemapEntry, SitemapFile, find_sitemaps
from scraper.reading.robots import RobotsDecision, RobotsRules, disallowed_error, name_rule
from scraper.site.crawl_scope import ExclusionCounter
from scraper.site.crawled_page import CrawledPage, SiteFacts, Soft404Page, link_texts
from scraper.site.web_site_reader import WebSiteReader
from scraper.urls import build_missing_url, site_host

MAX_LIST_FILES = 200
MAX_INDEX_DEPTH = 5
"""Levels of sitemaps that are read: those of robots.txt, those that they name, and so on."""
LISTS_AT_ONCE = 4
_MAX_FEEDS = 3
_PATHS = "/sitemap.xml /sitemap_index.xml /sitemap-index.xml /wp-sitemap.xml /sitemap.xml.gz /sitemap.txt".split()
"""Paths of sitemaps that are tried if neither robots.txt nor the start page names one. Each costs a visit, so a crawl
tries the last four only if the start page has few links."""
_FEW_LINKS = 5


class SitemapReader:
    """Read the sitemaps and feeds of one site into `files`.

    `leave_out` is called with reason, example and count of the files and URLs that are not read. Files that cannot be
    read or that list nothing are counted in `failures`.
    """

    def __init__(self, reader: WebSiteReader, leave_out: Callable[[str, str, int], None], *, max_urls: int = 0) -> None:
        """Read files with at most `max_urls` URLs of pages and files, for a crawl; without, for a map."""
        self._reader = reader
        self._is_map = not max_urls
        self._leave_out = leave_out
        self.files: list[SitemapFile] = []
        self.failures = 0
        self._is_late = False
        self._urls_left = max_urls or MAX_ENTRIES

    @property
    def entries(self) -> Iterator[SitemapEntry]:
        """Entries of all files that were read."""
        return (entry for file in self.files for entry in file.entries)

    async def read(self, origin: str, robots: str, links: Outlinks) -> None:
        """Read the sitemaps that robots.txt or the start page names, or at usual paths, and feeds of the start page."""
        named = [*find_sitemaps(robots, f"{origin}/robots.txt"), *links.sitemaps]
        if named:
            await self._read_tree(named)
        else:
            has_few = len(links.links) < _FEW_LINKS
            for path in _PATHS[: None if has_few or self._is_map else 2]:
                # One that exists is enough: the other names are usually of the same list. A server that does not
                # answer for one of them may not answer for the others.
                if await self._read_tree([f"{origin}{path}"]) or self._is_late:
                    break
        await self._read_files(links.feeds[:_MAX_FEEDS])

    async def read_agent_list(self, origin: str) -> tuple[SitemapEntry, ...]:
        """Return the pages that the `llms.txt` of a site names (llmstxt.org); few sites have one."""
        try:
            file = await self._reader.load_list(f"{origin}/llms.txt")
        except errors.OfflineError:
            raise
        except errors.ScraperError:
            return ()
        self.files += [] if file.is_empty else [file]
        return file.entries

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
        urls = list(urls)
        left = max(0, MAX_LIST_FILES - len(self.files))
        if urls[left:]:
            self._leave_out("list beyond the limit of files", urls[left], len(urls) - left)
        own = urls[:left]
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
            self._is_late = True
            file = SitemapFile()
        except errors.ScraperError:
            file = SitemapFile()
        if file.is_cut:
            self._leave_out("rest of a list beyond the limits", url, 1)
        self.failures += file.is_empty
        return file


_MAX_LISTED = 50_000
"""URLs from sitemaps and feeds that a crawl stores."""


async def load_site_robots(
    reader: WebSiteReader, start: str, known: RobotsRules | None = None, of: str = ""
) -> RobotsRules:
    """Return the robots.txt that holds for a start page: `known` if the URL `of` is of the same site.

    Call it before the start page is read, and with the final URL after redirects.

    Raises:
        RobotsDisallowedError: It forbids the start page, or it cannot be reached.
        ScraperError: The host cannot be reached, or robots.txt cannot be requested now.
    """
    parsed = ada_url.URL(start)
    if known is None or site_host(parsed.host) != site_host(ada_url.URL(of).host):
        try:
            known = await reader.load_robots(parsed.origin)
        except errors.ScraperError as error:
            # Callers that may use another URL for the start page search the failure by its URL.
            error.target = start
            raise
    rule = known.find_disallow_rule(start)
    if rule is not None:
        raise disallowed_error(RobotsDecision(False, name_rule(parsed.host, rule)), start, is_crawl=True)
    return known


async def discover_site(reader: WebSiteReader, rules: RobotsRules, start: CrawledPage) -> SiteFacts:
    """Return the URLs in sitemaps and feeds of a site, and its page for missing URLs.

    Its robots.txt and its start page were read before.

    Raises:
        OfflineError: This machine has no network.
    """
    left_out = ExclusionCounter()
    parsed = ada_url.URL(start.final_url)
    lists = SitemapReader(reader, left_out.add, max_urls=_MAX_LISTED)
    await lists.read(parsed.origin, rules.text, start.outlinks)
    listed = tuple(lists.entries)
    missing_page = None if start.problem and not listed else await _probe(reader, rules, parsed.origin)
    return SiteFacts(rules.text, listed, missing_page, left_out.summary())


async def _probe(reader: WebSiteReader, rules: RobotsRules, origin: str) -> Soft404Page | None:
    """Return the site's page for a URL that does not exist, or None after a failure or if it is forbidden."""
    url = build_missing_url(origin)
    if not rules.allows(url):
        return None
    try:
        loaded = await reader.load_page(url)
    except errors.OfflineError:
        raise
    except errors.ScraperError:
        return None
    return Soft404Page(url, loaded.document.text, link_texts(loaded.document))

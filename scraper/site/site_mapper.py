"""Map sites: collect the pages of a site from robots.txt, sitemaps, feeds and links, and cache the latest maps."""

import asyncio
import contextlib
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import ada_url

from scraper import errors
from scraper.caching import LoadRequest, MemoryCache, ReadThrough
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.extract.outlinks import Outlink, Outlinks
from scraper.extract.sitemaps import MAX_ENTRIES, SitemapEntry
from scraper.model import CachePolicy, Reuse
from scraper.reading.fetcher import Fetcher
from scraper.reading.robots import RobotsRules
from scraper.site.crawl_scope import ACTION, FORBIDDEN, ExclusionCounter, find_folder, is_action, is_file
from scraper.site.model import SiteMap, SitePage
from scraper.site.site_discovery import SitemapReader, load_site_robots
from scraper.site.web_site_reader import WebSiteReader
from scraper.urls import host_of, page_key, parse_target, site_host
from scraper.workers import WorkerPool

_RESERVE_S = 1.0
"""Seconds before the deadline that are reserved to rank the pages and render the answer."""
_MAX_HUBS = 6
"""Pages besides the start page whose links are read. Pages in the navigation of the start page come first."""
_NAVIGATION = ("nav", "body", "paging", "side", "footer")


class SiteMapper:
    """Build the map of one site, once: its unique pages, and the excluded URLs by reason."""

    def __init__(self, reader: WebSiteReader) -> None:
        """Use `reader` to read the site."""
        self._reader = reader
        self._host = self._folder = ""
        self._pages: dict[str, SitePage] = {}
        self._titles: dict[str, str] = {}
        """Titles of the pages that were read, by key; titles of others are texts of links."""
        self._left_out = ExclusionCounter()
        self._pages_read = 0

    async def build(self, url: str) -> SiteMap:
        """Return the pages of the site of `url`, or of its folder if the path has one.

        Raises:
            RobotsDisallowedError: robots.txt forbids the start page, or cannot be reached.
            ScraperError: The start page cannot be read, and no sitemap or feed names a page.
        """
        rules = await load_site_robots(self._reader, url)
        final, links, failure = url, Outlinks(), None
        try:
            start = await self._reader.load_page(url)
            final, links = start.url, start.outlinks
        except errors.OfflineError:
            raise
        except errors.ScraperError as error:
            failure = error
        rules, parsed = await load_site_robots(self._reader, final, rules, url), ada_url.URL(final)
        self._host, self._folder = site_host(parsed.host), find_folder(url, final, links.links)
        if failure is None:
            self._add(SitePage(final, links.title, source="start"))
            self._titles[page_key(final)] = links.title
        lists = SitemapReader(self._reader, self._left_out.add)
        await lists.read(parsed.origin, rules.text, links)
        for entry in lists.entries:
            self._add(SitePage(entry.url, entry.title, entry.modified, "list"))
        listed = len(self._pages)
        self._add_links(links)
        hubs = self._choose_hubs(links.links, final, rules)
        for url, hub in zip(hubs, await asyncio.gather(*map(self._load_links, hubs)), strict=True):
            self._titles[page_key(url)] = hub.title
            self._add_links(hub)
        if rules.allows(f"{parsed.origin}/llms.txt"):
            self._add_agent_pages(await lists.read_agent_list(parsed.origin))
        agents = links.agents
        if rules.allows(catalog := f"{parsed.origin}/.well-known/ai-catalog.json"):
            agents += await self._reader.load_catalog(catalog)
        if failure is not None and not listed:
            raise failure
        # A site of 100,000 pages takes some seconds.
        await asyncio.to_thread(self._leave_out_forbidden, rules)
        warnings = (f"The start page could not be read: {failure}",) if failure is not None else ()
        if links.buttons:
            warnings = (f"The start page has {links.buttons} buttons and no links; `browse` can press them.",)
        return SiteMap(
            final,
            tuple(replace(page, title=self._titles.get(key) or page.title) for key, page in self._pages.items()),
            self._left_out.summary(),
            len(lists.files),
            lists.failures,
            self._pages_read,
            warnings,
            agents,
        )

    async def _load_links(self, url: str) -> Outlinks:
        try:
            page = await self._reader.load_page(url)
        except errors.ScraperError:
            return Outlinks()
        self._pages_read += 1
        return page.outlinks

    def _add(self, page: SitePage) -> None:
        try:
            reason = self._find_reason(page)
            key = page_key(page.url)
        except ValueError:
            return
        known = self._pages.get(key)
        if reason and known is None:
            self._left_out.add(reason, page.url)
        elif known is not None:
            title = max(known.title, page.title, key=len) if known.source != "list" else known.title or page.title
            self._pages[key] = SitePage(known.url, title, known.modified or page.modified, known.source, known.place)
        elif len(self._pages) >= MAX_ENTRIES:
            self._left_out.add("beyond the limit of pages", page.url)
        else:
            self._pages[key] = page

    def _add_links(self, outlinks: Outlinks) -> None:
        for link in outlinks.links:
            self._add(SitePage(link.url, link.text, source="link", place=link.place))
        for url in outlinks.hidden:
            self._left_out.add("hidden link", url)

    def _add_agent_pages(self, entries: Iterable[SitemapEntry]) -> None:
        """Add the pages that the site names for agents, or their titles if they are the Markdown of known pages."""
        forms: Counter[int] = Counter()
        unknown: list[tuple[SitemapEntry, list[str]]] = []
        for entry in entries:
            path = entry.url.removesuffix(".mdx").removesuffix(".md").removesuffix(".html")
            urls = [entry.url, path, f"{path}.html", f"{path}/"]
            # Parts of URLs may be no URLs.
            keys = [page_key(url) if ada_url.check_url(url) else "" for url in urls]
            if (form := next((at for at, key in enumerate(keys) if key in self._pages), None)) is None:
                unknown.append((entry, urls))
            else:
                forms[form] += 1
                self._titles.setdefault(keys[form], self._pages[keys[form]].title or entry.title)
        # The others have the same form as most.
        ((form, count),) = forms.most_common(1) or [(0, 0)]
        for entry, urls in unknown:
            self._add(SitePage(urls[form if count > len(unknown) else 0], entry.title, source="list"))

    def _find_reason(self, page: SitePage) -> str:
        url = page.url
        parsed = ada_url.URL(url)
        if site_host(parsed.host) != self._host:
            return "another host"
        if page.source != "start" and not parsed.pathname.startswith(self._folder):
            return "outside the folder"
        if page.source == "link" and is_file(url):
            return "file"
        return ACTION if is_action(url) else ""

    def _leave_out_forbidden(self, rules: RobotsRules) -> None:
        for key, page in list(self._pages.items()):
            if page.source != "start" and not rules.allows(page.url):
                del self._pages[key]
                self._left_out.add(FORBIDDEN, page.url)

    def _choose_hubs(self, links: Sequence[Outlink], start: str, rules: RobotsRules) -> list[str]:
        """Return up to `_MAX_HUBS` linked pages that robots.txt allows: navigation links first, then short paths."""
        start_key = page_key(start)
        pages: dict[str, Outlink] = {}
        for link in links:
            with contextlib.suppress(ValueError):
                key = page_key(link.url)
                if key in self._pages and key != start_key:
                    pages.setdefault(key, link)
        order = sorted(
            pages.values(), key=lambda link: (_NAVIGATION.index(link.place), link.url.rstrip("/").count("/"))
        )
        return list(itertools.islice((link.url for link in order if rules.allows(link.url)), _MAX_HUBS))


class SiteMapService:
    """Build maps of sites, and cache the latest in memory so that callers can page through them."""

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
        load: LoadRequest[SiteMap] = LoadRequest(
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
            raise errors.FetchTimeoutError(
                f"The site {host_of(target)} was not mapped in time.", target=target, next_step="Try a folder of it."
            ) from None


def _count_characters(site: SiteMap) -> int:
    return sum(len(page.url) + len(page.title) for page in site.pages)

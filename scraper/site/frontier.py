"""Decide which page a crawl visits next, from the value of the pages visited so far.

The frontier uses no network and no clock: `next` returns a URL, and `take` learns from its page. The same pages in the
same order lead to the same decisions. So a stored crawl is continued by replaying its pages.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import ada_url

from scraper.extract.outlinks import Outlink, Outlinks
from scraper.extract.sitemaps import SitemapEntry
from scraper.reading.robots import RobotsRules
from scraper.site import crawl_scope
from scraper.site.crawl_order import CrawlCandidate, CrawlPriority, UrlKindTable
from scraper.site.crawl_scope import FORBIDDEN, OUTSIDE, CrawlScope, ExclusionCounter, MazeDetector, SiteLanguages
from scraper.site.crawled_page import CrawledPage
from scraper.site.model import ExcludedUrls
from scraper.site.url_equivalence import DuplicateDetector
from scraper.urls import page_key, site_host

REFUSALS = (0, 401, 403, 429, 503)
"""HTTP statuses that say nothing about the page: the site or the network refused it."""
_RETRY_STATUSES = (429, 503)
"""HTTP statuses after which a URL is visited once more, after all others."""
_MAX_KNOWN = 200_000

_COMPARED_LINKS = 200
"""Links of a page with whose pages its text is compared."""
_EXCERPTS = 0.6
"""Share of the text of a page, from 0 to 1. With more excerpts of other pages it is an archive, such as a tag."""
_NO_LINKS = Outlinks()
"""Links of visited pages, which nothing needs again: a hundred links take ten times the memory of the rest."""
_COPY, _LANGUAGE = "copy of a page", "another language"
_UNPROMISING = "like pages that had nothing new; read them with `fetch_batch` if you need them"
_MAZE, _REDIRECT = "random pages without end", "redirect to a known page"


@dataclass
class CrawlFrontier:
    """Pending URLs of a crawl, and the values learned from visited pages."""

    scope: CrawlScope
    question: str | None = None
    rules: RobotsRules | None = None
    """Rules of robots.txt; None until it is read."""
    unique_pages: dict[str, CrawledPage] = field(default_factory=dict)
    """Pages with unique content by key, in the order of their visits."""
    visits: int = 0
    copied: CrawledPage | None = field(default=None, init=False)
    """Known page of which the last page is a copy or to which it redirects; None if it is neither."""

    def __post_init__(self) -> None:
        """Add the start page."""
        self._host = site_host(ada_url.URL(self.scope.start).host)
        self._known: dict[str, CrawlCandidate] = {}
        self._done: set[str] = set()
        self._retries: list[CrawlCandidate] = []
        self._mazes = MazeDetector()
        self._has_pages: dict[tuple[str, str], bool] = {}
        """True by `file_type` if one of its URLs was a page, such as `/wiki/Node.js`; False if none was."""
        self._kinds = UrlKindTable()
        self._identity = DuplicateDetector(self._kinds.words)
        self._languages = SiteLanguages(self._identity.shorten)
        self._ranking = CrawlPriority(self.question, self._languages, self._kinds)
        self._left_out = ExclusionCounter()
        self._offer(Outlink(self.scope.start, "", "body"), page_key(self.scope.start))

    @property
    def question_stems(self) -> list[str]:
        """Stems of the question."""
        return self._ranking.stems

    @property
    def gap_s(self) -> float:
        """Crawl-delay of the site in seconds, 0 without one."""
        return (self.rules.gap_s if self.rules is not None else None) or 0.0

    @property
    def left_out(self) -> tuple[ExcludedUrls, ...]:
        """Number of excluded URLs by reason."""
        left = [] if self.has_next() else [one.url for one in self._kinds.iter_left()]
        return (*self._left_out.summary(), *(ExcludedUrls(_UNPROMISING, len(left), url) for url in left[:1]))

    @property
    def pending_count(self) -> int:
        """Number of URLs that wait for a visit."""
        return len([*self._kinds.iter_left(), *self._retries]) if self.has_next() else 0

    def add_facts(self, entries: Iterable[SitemapEntry], left_out: Iterable[ExcludedUrls]) -> None:
        """Add the URLs of sitemaps and feeds, and count the lists and listed URLs that were not read."""
        links = tuple(Outlink(entry.url, entry.title, "listed", language=entry.language) for entry in entries)
        for link, key in self._iter_own_links(Outlinks(links)):
            if link.language:
                self._languages.add_translation(link.language, link.url)
            self._offer(link, key)
        for one in left_out:
            self._left_out.add(one.reason, one.example, one.count)

    def next(self) -> str | None:
        """Return the URL with the highest value, or None if none is left or all remaining values are low."""
        while candidate := self._ranking.choose(self.visits) or (self._retries.pop(0) if self._retries else None):
            candidate.is_done = True
            if reason := self._find_late_reason(candidate):
                self._left_out.add(reason, candidate.url)
            else:
                self._done.add(candidate.key)
                self._kinds.get(candidate.kind).in_flight += 1
                return candidate.url
        return None

    def _find_late_reason(self, candidate: CrawlCandidate) -> str:
        """Return the reason why a pending URL is excluded by what was learned meanwhile, or an empty string."""
        key = self._identity.shorten(candidate.key)
        if key != candidate.key and key in self._done:
            return _COPY
        if self._languages.is_translation(candidate.key, is_listed=candidate.is_listed):
            return _LANGUAGE
        if crawl_scope.is_file(candidate.url) and not self._has_pages.get(crawl_scope.file_type(candidate.url), True):
            return "file"
        return _MAZE if not candidate.is_listed and self._mazes.contains(candidate.key) else ""

    def has_next(self) -> bool:
        """Return True if `next` would return a URL; URLs that `next` excludes are counted in `left_out`."""
        url = self.next()
        if url is not None:
            self.put_back(url)
        return url is not None

    def put_back(self, url: str) -> None:
        """Return a URL from `next` to the pending ones, because it was not visited."""
        candidate = self._known.get(self._identity.shorten(page_key(url)))
        if candidate is not None:
            candidate.is_done = False
            self._kinds.get(candidate.kind).end_visit()
            self._done.discard(candidate.key)
            self._kinds.push(candidate, self._ranking.rate(candidate))

    def take(self, page: CrawledPage) -> None:
        """Update the values and add the links of a visited page, from `next` or from a stored crawl."""
        if not self.visits and not page.problem:
            # The site of a start page that redirects is the one to which it redirects.
            self._host = site_host(ada_url.URL(page.final_url).host)
            self.scope = self.scope.follow(page.final_url, page.outlinks.links)
        self.visits += 1
        self.copied = None
        key = self._identity.shorten(page_key(page.url))
        candidate = self._known.setdefault(key, CrawlCandidate(key, page.url, 1, "body"))
        if candidate.is_visited:
            return  # Another URL of the page, chosen before both were known to be one.
        if not candidate.kind:
            self._kinds.push(candidate, 0.0)
        candidate.is_done = candidate.is_visited = True
        self._done.add(candidate.key)
        self._kinds.get(candidate.kind).end_visit()
        if page.status in _RETRY_STATUSES and not candidate.retries:
            candidate.retries += 1
            candidate.is_visited = False
            self._retries.append(candidate)
            return
        if crawl_scope.is_file(page.final_url):
            kind = crawl_scope.file_type(page.final_url)
            self._has_pages[kind] = not page.problem or self._has_pages.get(kind, False)
        content, lead = self._judge(candidate, page)
        if not (page.problem and page.status in REFUSALS):
            self._kinds.judge(candidate, content, lead, page.relevance)

    def _offer(
        self,
        link: Outlink,
        key: str,
        parent: CrawledPage | None = None,
        *,
        source: CrawlCandidate | None = None,
        barren: int = 0,
    ) -> CrawlCandidate | None:
        """Add a linked URL unless it is excluded; return it if it is new. `source` is the candidate of `parent`."""
        key = self._identity.shorten(key)
        known = self._known.get(key)
        if known is not None:
            self._add_link(known, link, parent, barren)
            return None
        reason = self.scope.find_reason(link, key, self.rules)
        is_listed = link.place == "listed"
        if not reason and self._languages.is_translation(key, is_listed=is_listed):
            reason = _LANGUAGE
        if not reason and not is_listed and self._mazes.contains(key):
            reason = _MAZE
        if not reason and len(self._known) >= _MAX_KNOWN:
            reason = "beyond the limit of URLs"
        if reason:
            self._left_out.add(reason, link.url)
            return None
        candidate = CrawlCandidate(
            key,
            link.url,
            source.depth + 1 if source else int(is_listed),
            link.place,
            [link.text] if link.text else [],
            parent.relevance if parent else 0.0,
            barren,
            is_listed=is_listed,
            parent=source,
        )
        self._known[key] = candidate
        self._ranking.add(candidate)
        self._kinds.push(candidate, self._ranking.rate(candidate))
        self._kinds.count_found(candidate)
        return candidate

    def _add_link(self, known: CrawlCandidate, link: Outlink, parent: CrawledPage | None, barren: int) -> None:
        known.barren = min(known.barren, barren)
        if parent is not None:
            known.parent_relevance = max(known.parent_relevance, parent.relevance)
        is_new_text, is_better_place = known.add_text(link.text), known.add_place(link.place)
        if (is_better_place or (is_new_text and self.question_stems)) and not known.is_done:
            self._kinds.push(known, self._ranking.rate(known))

    def _iter_own_links(self, outlinks: Outlinks) -> Iterator[tuple[Outlink, str]]:
        """Yield each link to this site with its key; count the links to other hosts."""
        refresh = (Outlink(outlinks.refresh, "", "body"),) if outlinks.refresh else ()
        for link in (*refresh, *outlinks.links):
            try:
                key = page_key(link.url)
            except ValueError:
                continue
            if key.partition("/")[0] == self._host:
                yield link, key
            else:
                self._left_out.add("another host", link.url)

    def _judge(self, candidate: CrawlCandidate, page: CrawledPage) -> tuple[float, float]:
        """Return the value of a page's text and the value of its links, each from 0 to 1."""
        key = self._identity.shorten(page_key(page.final_url))
        if reason := self._find_fault(candidate, page, key):
            self.copied = self.unique_pages.get(key) if reason == _REDIRECT else None
            self._left_out.add(reason, page.url)
            return 0.0, 0.0
        self._done.add(key)
        if target := self._known.get(key):
            target.is_done = True
        if (lead := self._follow_refresh(candidate, page, key)) is not None:
            return 0.0, lead
        links = list(self._iter_own_links(page.outlinks))
        self._languages.learn(key, page)
        has_new_links = any(self._identity.is_new_path(link_key) for _, link_key in links)
        comparison = self._identity.learn_page(key, page, is_list=page.is_list, has_new_links=has_new_links)
        if comparison.has_new_rule:
            self._rebuild_keys()
        if comparison.copied:
            self.copied = self.unique_pages.get(self._identity.shorten(comparison.copied))
            self._left_out.add(_COPY, page.final_url)
            return 0.0, self._follow(candidate, page, links, 0.0) if has_new_links else 0.0
        is_excerpt = self._is_excerpt(page, links)
        content = 0.0 if comparison.is_template or is_excerpt else page.text_value
        if is_excerpt:
            self._left_out.add("excerpts of other pages", page.final_url)
        elif not page.text_value:
            self._left_out.add("list of links" if page.is_list else "page with hardly any text", page.final_url)
        elif page.outlinks.noindex:
            self._left_out.add("noindex", page.final_url)
        elif comparison.is_template and not page.is_full:
            self._left_out.add("short page that differs from another one only in numbers of its URL", page.final_url)
        else:
            self.unique_pages[self._identity.shorten(key)] = replace(page, outlinks=_NO_LINKS)
        return content, 0.0 if page.outlinks.nofollow else self._follow(candidate, page, links, content)

    def _is_excerpt(self, page: CrawledPage, links: Sequence[tuple[Outlink, str]]) -> bool:
        """Return True if the text consists of excerpts of pages that were read and to which the page links."""
        keys = (self._identity.shorten(key) for link, key in links[:_COMPARED_LINKS] if link.place == "body")
        sources = [self.unique_pages[key].sketch for key in dict.fromkeys(keys) if key in self.unique_pages]
        return page.sketch.excerpt_share(sources) >= _EXCERPTS

    def _follow_refresh(self, candidate: CrawlCandidate, page: CrawledPage, key: str) -> float | None:
        """Add the URL to which a page without content redirects; return the value of its kind, or None without one."""
        if not page.outlinks.refresh or page.is_full:
            return None
        link = Outlink(page.outlinks.refresh, candidate.texts[0] if candidate.texts else "", candidate.place)
        for own_link, target in self._iter_own_links(Outlinks((link,))):
            if target == key:
                return None
            new = self._offer(own_link, target, page, source=candidate, barren=candidate.barren)
            if new is not None:
                return self._kinds.rate_lead(candidate.kind, [new.kind])
            self._left_out.add(_REDIRECT, page.url)
        return 0.0

    def _find_fault(self, candidate: CrawlCandidate, page: CrawledPage, key: str) -> str:
        """Return the reason why a visited page has no content of this site, or an empty string."""
        if page.fault:
            return page.fault
        if site_host(ada_url.URL(page.final_url).host) != self._host:
            return "another host"
        if key != candidate.key and key in self._done:
            return _REDIRECT
        if key != candidate.key and self.visits > 1 and not self.scope.contains(page.final_url):
            return OUTSIDE
        if key != candidate.key and self.rules is not None and not self.rules.allows(page.final_url):
            return FORBIDDEN
        return ""

    def _follow(
        self, candidate: CrawlCandidate, page: CrawledPage, links: Sequence[tuple[Outlink, str]], content: float
    ) -> float:
        """Add the links of a page; return the value of the kinds of URLs to which they lead."""
        barren = 0 if content else candidate.barren + 1
        found: list[CrawlCandidate] = []
        offered: list[tuple[str, bool]] = []
        for link, key in links:
            if link.language:
                self._languages.add_translation(link.language, link.url)
            new = self._offer(link, key, page, source=candidate, barren=barren)
            offered.append((key, new is not None))
            if new is not None:
                found.append(new)
        if content:
            # A list may lead to many new lists, such as those of filters, without being a maze.
            self._mazes.learn(candidate.key, page.title, self._ranking.select_titles(candidate), offered)
        for url in page.outlinks.hidden:
            self._left_out.add("hidden link", url)
        if page.cut_links:
            self._left_out.add("link beyond the limits of a page", page.final_url, page.cut_links)
        return self._kinds.rate_lead(candidate.kind, dict.fromkeys(one.kind for one in found))

    def _rebuild_keys(self) -> None:
        """Shorten all keys by the new rules; of candidates with equal keys the first stays."""
        shorten = self._identity.shorten
        known, self._known = self._known, {}
        for candidate in known.values():
            key = shorten(candidate.key)
            first = self._known.setdefault(key, candidate)
            if first is not candidate:
                first.is_done = first.is_done or candidate.is_done
                candidate.is_done = True
            if key != candidate.key:
                candidate.key = key
                if not candidate.is_done:
                    self._kinds.push(candidate, candidate.worth)
        self._done = {shorten(key) for key in self._done}
        self._languages.shorten_keys()
        self.unique_pages = {shorten(key): page for key, page in self.unique_pages.items()}

"""Crawls of made sites and pages in memory, for tests."""

from __future__ import annotations

from collections.abc import Callable

import lxml.html

from benchmarks.site.offline_reader import OfflineReader
from browsers.model import Snapshot
from scraper.call_context import Deadline
from scraper.extract.outlinks import Outlink, Outlinks
from scraper.model import Document, Link
from scraper.site.crawl_scope import CrawlScope
from scraper.site.crawled_page import CrawledPage, SiteFacts
from scraper.site.crawler import Crawler
from scraper.site.frontier import CrawlFrontier
from scraper.text.likeness import Sketch
from scraper.text.terms import split_words
from tests.site.traps.made_site import MadeSite, Prose, build_page, link, links

START = "https://site.example/"


def read_main(snapshot: Snapshot) -> Document:
    """Return the text of `<main>` and its links, which is enough for made pages."""
    root = lxml.html.document_fromstring(snapshot.html or "<p>")
    main: lxml.html.HtmlElement = next(root.iter("main"), root)
    found = tuple(Link(one.get("href"), one.text_content()) for one in main.iter("a") if one.get("href"))
    language = root.get("lang")
    return Document(
        snapshot.url, root.findtext(".//title"), text=" ".join(main.itertext()), links=found, language=language
    )


async def crawl(
    site: MadeSite, budget: int, question: str | None = None, read_document: Callable[[Snapshot], Document] = read_main
) -> tuple[OfflineReader, CrawlFrontier, list[CrawledPage], SiteFacts]:
    """Crawl a site; return the reader, the frontier, the pages in the order of their visits, and the facts."""
    reader = OfflineReader(site.get, read_document=read_document)
    frontier = CrawlFrontier(CrawlScope(f"{site.origin}/"), question)
    pages: list[CrawledPage] = []

    async def take(page: CrawledPage, document: Document | None) -> None:
        pages.append(page)
        frontier.take(page)

    async def ignore(facts: SiteFacts) -> None:
        return

    crawler = Crawler(reader, frontier, take, Deadline.within(600), SiteFacts())
    facts = await crawler.begin(ignore)
    await crawler.run(budget - len(reader.visits))
    return reader, frontier, pages, facts


class Manual(MadeSite):
    """A manual whose chapter on one topic is behind a list without words."""

    name = "manual"
    budget = 60

    def build(self) -> None:
        """Add fifty chapters; the fortieth is about lighthouses."""
        chapters = self.add_pages("/chapter/{}", 50)
        _, text = self.pages[chapters[40]]
        self.pages[chapters[40]] = "Lighthouse keepers", text.replace("<p>", "<p>The lighthouse and its keepers. ")
        self.home(links((name, self.title(name)) for name in chapters[:30]) + link("/more", "More"))
        self.route("/more", lambda query: build_page("More", self.list_pages(chapters[30:]), nav=self.nav))
        self.route(r"(/chapter/\d+)", lambda query, name: self.show(name))


def page_of(url: str, text: str = "", *, urls: list[str] | None = None, **more: object) -> CrawledPage:
    words = split_words(text or f"words about {url} " + " ".join(Prose(url).title() for _ in range(30)))
    sketch = Sketch.of(words)
    outlinks = Outlinks(tuple(Outlink(one, "a link", "body") for one in urls or ()), **more)  # type: ignore[arg-type]
    return CrawledPage(
        url, url, word_count=len(words), sketch=sketch, digest=hash(tuple(words)), language="en", outlinks=outlinks
    )


def visit_all(frontier: CrawlFrontier, pages: dict[str, CrawledPage]) -> list[str]:
    """Visit until nothing is left; unknown URLs answer 404."""
    visited = []
    while (url := frontier.next()) is not None:
        visited.append(url)
        frontier.take(pages.get(url) or CrawledPage(url, url, 404, "missing"))
        assert len(visited) < 500
    return visited

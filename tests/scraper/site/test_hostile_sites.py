"""Tests for crawls of sites with damaged, hostile or changing answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.site.offline_reader import OfflineReader
from scraper import errors
from scraper.call_context import Deadline
from scraper.extract.sitemaps import SitemapEntry
from scraper.model import Document
from scraper.reading.robots import RobotsRules
from scraper.site.crawl_scope import CrawlScope, MazeDetector
from scraper.site.crawled_page import CrawledPage, SiteFacts, dump_facts, dump_page, load_facts, load_page
from scraper.site.crawler import Crawler, build_frontier
from scraper.site.frontier import CrawlFrontier
from scraper.site.web_site_reader import LoadedPage
from tests.scraper.site.made_crawls import START, Manual, page_of, read_main, visit_all
from tests.site.traps.made_site import MadeSite, Prose, Response, build_page, link, links
from tests.site.traps.ordinary import Robots


async def run(site: MadeSite, reader: OfflineReader, frontier: CrawlFrontier, visits: int = 200) -> list[CrawledPage]:
    """Crawl a site in one call; return the pages in the order of their visits."""
    pages: list[CrawledPage] = []

    async def take(page: CrawledPage, document: Document | None) -> None:
        pages.append(page)
        frontier.take(page)

    async def ignore(facts: SiteFacts) -> None:
        return

    crawler = Crawler(reader, frontier, take, Deadline.within(600), SiteFacts())
    if not frontier.visits:
        await crawler.begin(ignore)
    await crawler.run(visits)
    return pages


def make_reader(site: MadeSite) -> OfflineReader:
    return OfflineReader(site.get, read_document=read_main)


class Limited(Manual):
    """A manual that answers 429 after twenty pages, until a test opens it again."""

    left = 20

    def get(self, url: str) -> Response:
        """Answer a request."""
        self.left -= "/chapter/" in url
        return Response(429, b"slow down") if self.left < 0 else super().get(url)


async def test_a_call_ends_when_the_site_answers_429_and_the_next_call_reads_the_rest() -> None:
    site = Limited()
    reader, frontier = make_reader(site), CrawlFrontier(CrawlScope(f"{site.origin}/"))
    pages = await run(site, reader, frontier)
    assert 0 < sum(page.status == 429 for page in pages) <= 4
    assert sum("/chapter/" in visit.url for visit in reader.visits) <= 24
    site.left = 1_000
    await run(site, reader, frontier)
    assert {visit.page for visit in reader.visits} - {""} == set(site.pages)


async def test_a_page_that_always_answers_429_does_not_hold_up_the_others() -> None:
    class OneLimited(Manual):
        def get(self, url: str) -> Response:
            return Response(429) if url.endswith("/chapter/0") else super().get(url)

    site = OneLimited()
    reader, frontier = make_reader(site), CrawlFrontier(CrawlScope(f"{site.origin}/"))
    for _ in range(4):
        await run(site, reader, frontier)
    assert {visit.page for visit in reader.visits} - {""} == set(site.pages) - {"/chapter/0"}


async def test_a_page_without_an_answer_is_a_failed_page(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Manual()
    reader, frontier = make_reader(site), CrawlFrontier(CrawlScope(f"{site.origin}/"))
    load = reader.load_page

    async def hang(url: str) -> LoadedPage:
        if url.endswith("/chapter/3"):
            raise errors.FetchTimeoutError("No answer.", target=url)
        return await load(url)

    monkeypatch.setattr(reader, "load_page", hang)
    await run(site, reader, frontier)
    assert {visit.page for visit in reader.visits} - {""} == set(site.pages) - {"/chapter/3"}
    assert "failed page" in {one.reason for one in frontier.left_out}


class Moved(OfflineReader):
    """A site whose start page redirects to another host with a robots.txt of its own."""

    async def load_robots(self, origin: str) -> RobotsRules:
        """Return the rules of the new host, or none."""
        return RobotsRules("User-agent: *\nDisallow: /chapter/3$" if origin == Manual().origin else "")

    async def load_page(self, url: str) -> LoadedPage:
        """Return a page of the new host."""
        return await super().load_page(url.replace("https://old.example", Manual().origin))


async def test_the_robots_txt_of_the_host_to_which_the_start_page_redirects_holds() -> None:
    site, facts = Manual(), []
    reader = Moved(site.get, read_document=read_main)
    frontier = CrawlFrontier(CrawlScope("https://old.example/"))

    async def take(page: CrawledPage, document: Document | None) -> None:
        frontier.take(page)

    async def keep(found: SiteFacts) -> None:
        facts.append(found)

    crawler = Crawler(reader, frontier, take, Deadline.within(600), SiteFacts())
    await crawler.begin(keep)
    await crawler.run(100)
    assert {visit.page for visit in reader.visits} - {""} == set(site.pages) - {"/chapter/3"}
    assert load_facts(dump_facts(facts[0]))[0].robots == (await reader.load_robots(site.origin)).text


async def test_the_robots_txt_of_the_first_call_holds_for_the_whole_crawl() -> None:
    site = Robots()
    reader, frontier = make_reader(site), CrawlFrontier(CrawlScope(f"{site.origin}/"))
    robots = await reader.load_robots(site.origin)
    pages = await run(site, reader, frontier, 10)
    stored = [load_page(dump_page(page)) for page in pages]
    again = build_frontier(CrawlScope(f"{site.origin}/"), None, SiteFacts(robots.text), stored)
    site.routes = [(pattern, handler) for pattern, handler in site.routes if pattern.pattern != "/robots.txt"]
    await run(site, reader, again)
    assert not [visit.url for visit in reader.visits if "/private" in visit.url or "/search" in visit.url]


def test_an_international_host_is_one_site() -> None:
    start, page = "https://bücher.example/", "https://xn--bcher-kva.example/page"
    frontier = CrawlFrontier(CrawlScope(start))
    assert visit_all(frontier, {start: page_of(start, urls=[page, "https://bücher.example/page"])}) == [start, page]


def test_a_translation_that_only_one_page_declares_is_left_out() -> None:
    english, german = "https://site.example/page", "https://site.example/seite"
    pages = {
        START: page_of(START, urls=[english, german], alternates=(("de", german), ("en", START))),
        english: page_of(english),
        german: page_of(german),
    }
    frontier = CrawlFrontier(CrawlScope(START))
    assert visit_all(frontier, pages) == [START, english]
    assert [(one.reason, one.example) for one in frontier.left_out] == [("another language", german)]


def test_a_translation_that_a_sitemap_declares_is_left_out() -> None:
    english, german = "https://site.example/page", "https://site.example/seite"
    facts = SiteFacts(
        listed=(SitemapEntry(english, "", "Page", "en"), SitemapEntry(german, language="de"), SitemapEntry(START))
    )
    frontier = CrawlFrontier(CrawlScope(START))
    frontier.take(page_of(frontier.next() or ""))
    frontier.add_facts(load_facts(dump_facts(facts))[0].listed, ())
    assert visit_all(frontier, {english: page_of(english)}) == [english]
    assert [(one.reason, one.example) for one in frontier.left_out] == [("another language", german)]


def test_a_redirect_over_another_host_that_comes_back_is_a_page() -> None:
    link, page = "https://site.example/out", "https://site.example/page"
    pages = {START: page_of(START, urls=[link]), link: replace(page_of(link), final_url=page)}
    frontier = CrawlFrontier(CrawlScope(START))
    visit_all(frontier, pages)
    assert list(frontier.unique_pages) == ["site.example/", "site.example/page"]


def test_pages_that_redirect_by_their_text_lead_to_their_targets() -> None:
    moved = {f"https://site.example/old/{at}": f"https://site.example/new/{at}" for at in range(40)}
    text = "This page has moved, please click here if nothing happens within five seconds."
    pages = {START: page_of(START, urls=list(moved)), **{url: page_of(url) for url in moved.values()}}
    pages |= {old: page_of(old, text, urls=[new], refresh=new) for old, new in moved.items()}
    frontier = CrawlFrontier(CrawlScope(START))
    visit_all(frontier, pages)
    assert {page.url for page in frontier.unique_pages.values()} == {START, *moved.values()}


def test_a_page_that_loads_itself_again_is_a_page() -> None:
    page = "https://site.example/status"
    frontier = CrawlFrontier(CrawlScope(START))
    short = page_of(page, "All of our ferries are on time today, and so are the trains to the harbour.", refresh=page)
    visit_all(frontier, {START: page_of(START, urls=[page]), page: short})
    assert [one.url for one in frontier.unique_pages.values()] == [START, page]


def test_an_empty_page_is_counted_and_not_kept() -> None:
    empty = "https://site.example/empty"
    frontier = CrawlFrontier(CrawlScope(START))
    visit_all(frontier, {START: page_of(START, urls=[empty]), empty: CrawledPage(empty, empty)})
    assert [one.reason for one in frontier.left_out] == ["page with hardly any text"]


def learn_maze(*, title: str) -> MazeDetector:
    mazes = MazeDetector()
    for at in range(10):
        links = [(f"site.example/lab/{at}-{step}", True) for step in range(4)]
        mazes.learn(f"site.example/lab/{at}", title.format(at), [f"Lighthouse {at}"], links)
    return mazes


def test_a_section_whose_titles_have_nothing_of_its_links_is_a_maze() -> None:
    assert learn_maze(title="Ferry timetable").contains("site.example/lab/x")
    assert not learn_maze(title="Ferry timetable").contains("site.example/blog/x")
    assert not learn_maze(title="The lighthouse").contains("site.example/lab/x")


def test_a_folder_is_a_translation_if_one_of_its_pages_is() -> None:
    pages = {
        f"https://site.example/{code}{name}": replace(page_of(f"https://site.example/{code}{name}"), language=language)
        for code, language in (("de/", "de"), ("it/", "en"))
        for name in ("", *range(5))
    }
    frontier = CrawlFrontier(CrawlScope(START))
    visited = visit_all(frontier, {START: page_of(START, urls=list(pages)), **pages})
    assert sum("/it/" in url for url in visited) == 6
    assert sum("/de/" in url for url in visited) == 1
    assert ("another language", 5) in {(one.reason, one.count) for one in frontier.left_out}


class TitledMaze(MadeSite):
    """Pages beside a maze whose titles are the texts of the links to them, and whose pages link back."""

    name = "titled_maze"
    size = 10**9
    """Pages of the maze; a site with few is a tree."""

    def build(self) -> None:
        """Add the pages."""
        pages = self.add_pages("/page/{}", 20)
        self.nav += link("/list", "List") + link("/hall/1", "Hall")
        self.home(self.list_pages(pages[:5]))
        found = links((f"/hall/{7_000 + at}", f"Hall {at}") for at in range(3 if self.size > 7_000 else 0))
        self.route("/list", lambda query: build_page("List", self.list_pages(pages) + found, nav=self.nav))
        self.route(r"(/page/\d+)", lambda query, name: self.show(name))
        self.route(r"/hall/(\d+)", lambda query, at: self.show_hall(int(at)))

    def show_hall(self, at: int) -> Response:
        """Return a page of the maze, which leads to four new ones and back."""
        rows = [(f"/hall/{one}", Prose(one).title()) for one in range(4 * at, 4 * at + 4) if one < self.size]
        body = Prose(("hall", at)).paragraphs() + links([*rows, (f"/hall/{at // 4}", "Back")])
        return build_page(Prose(at).title(), body, nav=self.nav, page=f"/hall/{at}")


async def visit_halls(site: TitledMaze) -> tuple[set[str], set[str]]:
    """Return the pages and the halls that a crawl of a site reads."""
    reader, frontier = make_reader(site), CrawlFrontier(CrawlScope(f"{site.origin}/"))
    await run(site, reader, frontier)
    read = {visit.page for visit in reader.visits} - {""}
    return read & set(site.pages), read - set(site.pages)


async def test_a_tree_of_pages_without_other_links_is_read_to_its_leaves() -> None:
    class Tree(TitledMaze):
        size = 100

    pages, halls = await visit_halls(Tree())
    assert len(pages) == 20 and len(halls) >= 99


async def test_a_section_whose_pages_link_each_other_is_no_maze() -> None:
    class Related(TitledMaze):
        size = 2_000

        def show_hall(self, at: int) -> Response:
            # Pages of one topic have related pages in common.
            rows = [(f"/hall/{at // 8 * 8 + step}", Prose(at // 8 * 8 + step).title()) for step in range(8)]
            rows += [(f"/hall/{4 * at + step}", Prose(4 * at + step).title()) for step in range(4)]
            body = Prose(("hall", at)).paragraphs() + links(rows)
            return build_page(Prose(at).title(), body, nav=self.nav, page=f"/hall/{at}")

    _, halls = await visit_halls(Related())
    assert len(halls) > 100

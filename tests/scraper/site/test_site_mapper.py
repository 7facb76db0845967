"""Maps of made sites: sources, scope, limits and failures."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from scraper import errors
from scraper.extract.outlinks import Outlink, Outlinks
from scraper.extract.sitemaps import SitemapEntry, SitemapFile
from scraper.model import Document
from scraper.reading.robots import RobotsRules
from scraper.render.sites import map_as_markdown
from scraper.site import site_discovery
from scraper.site.crawl_scope import ExclusionCounter
from scraper.site.model import SiteMap
from scraper.site.site_mapper import SiteMapper
from scraper.site.web_site_reader import LoadedPage, WebSiteReader

ORIGIN = "https://site.example"


class MadeSite(WebSiteReader):
    """Files and pages of a site, in memory."""

    def __init__(self, robots: str = "") -> None:
        self.robots = robots
        self.robots_elsewhere: dict[str, str] = {}
        self.lists: dict[str, SitemapFile] = {}
        self.pages: dict[str, Outlinks] = {}
        self.redirects: dict[str, str] = {}
        self.requests: list[str] = []

    def sitemap(self, path: str, *paths: str, sitemaps: tuple[str, ...] = ()) -> MadeSite:
        entries = tuple(SitemapEntry(path if "://" in path else f"{ORIGIN}{path}") for path in paths)
        self.lists[f"{ORIGIN}{path}"] = SitemapFile(entries, tuple(f"{ORIGIN}{one}" for one in sitemaps))
        return self

    def page(self, path: str, *paths: str, place: str = "body", feeds: tuple[str, ...] = ()) -> MadeSite:
        links = tuple(Outlink(path if "://" in path else f"{ORIGIN}{path}", f"To {path}", place) for path in paths)
        self.pages[f"{ORIGIN}{path}"] = Outlinks(links, tuple(f"{ORIGIN}{one}" for one in feeds), f"Page {path}")
        return self

    async def load_robots(self, origin: str) -> RobotsRules:
        return RobotsRules(self.robots_elsewhere.get(origin, self.robots))

    async def load_list(self, url: str) -> SitemapFile:
        self.requests.append(url)
        if url not in self.lists:
            raise errors.HttpStatusError(f"{url} has status 404.", status=404)
        return self.lists[url]

    async def load_catalog(self, url: str) -> tuple[tuple[str, str], ...]:
        self.requests.append(url)
        return (("Tide server", f"{ORIGIN}/mcp"),)

    async def load_page(self, url: str) -> LoadedPage:
        self.requests.append(url)
        url = self.redirects.get(url, url)
        if url not in self.pages:
            raise errors.HttpStatusError(f"{url} has status 404.", status=404)
        return LoadedPage(url, Document(url), self.pages[url])


def build(site: MadeSite, path: str = "/") -> SiteMap:
    return asyncio.run(SiteMapper(site).build(f"{ORIGIN}{path}"))


def paths(found: SiteMap) -> list[str]:
    return [page.url.removeprefix(ORIGIN) for page in found.pages]


def reasons(found: SiteMap) -> dict[str, int]:
    return {one.reason: one.count for one in found.left_out}


def test_robots_names_the_sitemaps() -> None:
    site = MadeSite("Sitemap: /maps/index.xml").page("/", "/linked")
    site.sitemap("/maps/index.xml", sitemaps=("/maps/a.xml", "/maps/b.xml"))
    site.sitemap("/maps/a.xml", "/a").sitemap("/maps/b.xml", "/b")
    found = build(site)
    assert paths(found) == ["/", "/a", "/b", "/linked"]
    assert [page.source for page in found.pages] == ["start", "list", "list", "link"]
    assert (found.list_files, found.list_failures) == (3, 0)
    assert f"{ORIGIN}/sitemap.xml" not in site.requests


def test_usual_names_are_tried_without_robots() -> None:
    assert "/a" in paths(build(MadeSite().page("/").sitemap("/sitemap.xml", "/a")))
    for path in ("/sitemap_index.xml", "/sitemap-index.xml", "/wp-sitemap.xml", "/sitemap.xml.gz", "/sitemap.txt"):
        assert "/b" in paths(build(MadeSite().page("/").sitemap(path, "/b")))
    named = MadeSite().page("/").sitemap("/own.xml", "/c")
    named.pages[f"{ORIGIN}/"] = replace(named.pages[f"{ORIGIN}/"], sitemaps=(f"{ORIGIN}/own.xml",))
    assert "/c" in paths(build(named))


def test_feeds_and_the_pages_of_the_navigation_are_read() -> None:
    site = MadeSite().page("/", "/docs/", "/blog/", place="nav", feeds=("/feed",))
    site.page("/docs/", "/docs/one").page("/blog/", "/blog/one")
    site.sitemap("/feed", "/blog/new")
    assert set(paths(build(site))) == {"/", "/docs/", "/blog/", "/docs/one", "/blog/one", "/blog/new"}


def test_what_is_left_out_is_counted_with_an_example() -> None:
    site = MadeSite().page(
        "/", "/a", "/logo.png", "/?add-to-cart=1", "https://other.example/x", "https://cdn.site.example/y"
    )
    found = build(site)
    assert paths(found) == ["/", "/a"]
    assert reasons(found) == {"file": 1, "action instead of a page": 1, "another host": 2}
    assert {one.example for one in found.left_out} == {
        f"{ORIGIN}/logo.png",
        f"{ORIGIN}/?add-to-cart=1",
        "https://other.example/x",
    }


def test_forbidden_and_hidden_pages_are_left_out_and_counted() -> None:
    site = MadeSite("User-agent: *\nDisallow: /private/").page("/", "/a", "/private/b")
    site.pages[f"{ORIGIN}/"] = replace(site.pages[f"{ORIGIN}/"], hidden=(f"{ORIGIN}/trap",))
    site.sitemap("/sitemap.xml", "/private/c")
    found = build(site)
    assert paths(found) == ["/", "/a"]
    assert reasons(found) == {"forbidden by robots.txt": 2, "hidden link": 1}


def test_pages_of_the_navigation_that_robots_forbids_are_not_requested() -> None:
    site = MadeSite("User-agent: *\nDisallow: /members/").page("/", "/members/", "/news/", place="nav")
    site.page("/news/", "/news/one").page("/members/", "/members/one")
    found = build(site)
    assert paths(found) == ["/", "/news/", "/news/one"]
    assert f"{ORIGIN}/members/" not in site.requests


def test_the_robots_txt_of_the_host_to_which_the_start_page_redirects_holds() -> None:
    new = "https://new.example"
    site = MadeSite("Sitemap: /old.xml").page("/", f"{new}/private/a", f"{new}/b")
    site.redirects[f"{ORIGIN}/"] = f"{new}/"
    site.pages = {f"{new}/": site.pages[f"{ORIGIN}/"]}
    site.robots_elsewhere[new] = "User-agent: *\nDisallow: /private/\nSitemap: /map.xml"
    site.lists[f"{new}/map.xml"] = SitemapFile((SitemapEntry(f"{new}/c"),))
    found = build(site)
    assert paths(found) == [f"{new}/", f"{new}/c", f"{new}/b"]
    assert f"{new}/private/a" not in site.requests
    assert reasons(found) == {"forbidden by robots.txt": 1}


@pytest.mark.parametrize(("path", "inside"), [("/docs", ["/docs/a"]), ("/docs/page", ["/docs/a", "/docs/page-2"])])
def test_a_page_with_pages_below_it_is_a_folder(path: str, inside: list[str]) -> None:
    site = MadeSite().page(path, "/docs/a", "/docs/page-2", "/docs-old/b", "/c")
    if path == "/docs":
        site.page(path, "/docs/a", "/docs-old/b", "/c")
    found = build(site, path)
    assert paths(found) == [path, *inside]
    assert reasons(found) == {"outside the folder": 2}


def test_a_folder_is_not_its_namesake() -> None:
    site = MadeSite().page("/docs/", "/docs/a", "/docs-old/b", "/c").sitemap("/sitemap.xml", "/docs/d", "/e")
    found = build(site, "/docs/")
    assert paths(found) == ["/docs/", "/docs/d", "/docs/a"]
    assert reasons(found) == {"outside the folder": 3}


def test_each_page_is_listed_once() -> None:
    site = MadeSite().page("/", "/a", "/a?utm_source=x", "/a#part", "http://www.site.example/a", "/b/index.html", "/b/")
    assert paths(build(site)) == ["/", "/a", "/b/index.html"]


def test_a_redirected_start_page_is_the_start() -> None:
    site = MadeSite().page("/en/", "/en/a")
    site.redirects[f"{ORIGIN}/"] = f"{ORIGIN}/en/"
    found = build(site)
    assert found.url == f"{ORIGIN}/en/"
    assert paths(found) == ["/en/", "/en/a"]


def test_lists_are_enough_if_the_start_page_fails() -> None:
    found = build(MadeSite().sitemap("/sitemap.xml", "/a"))
    assert paths(found) == ["/a"]
    assert "could not be read" in found.warnings[0]


def test_a_site_without_any_page_is_an_error() -> None:
    with pytest.raises(errors.HttpStatusError):
        build(MadeSite())


def test_lists_that_name_each_other_are_read_once() -> None:
    site = MadeSite("Sitemap: /a.xml").page("/")
    site.sitemap("/a.xml", "/a", sitemaps=("/a.xml", "/b.xml")).sitemap("/b.xml", "/b", sitemaps=("/a.xml",))
    assert paths(build(site)) == ["/", "/a", "/b"]
    assert site.requests.count(f"{ORIGIN}/a.xml") == 1


def test_depth_and_number_of_lists_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_discovery, "MAX_LIST_FILES", 20)
    site = MadeSite("Sitemap: /0.xml").page("/")
    for number in range(9):
        site.sitemap(f"/{number}.xml", sitemaps=(f"/{number + 1}.xml",))
    assert build(site).list_files == site_discovery.MAX_INDEX_DEPTH
    wide = MadeSite("Sitemap: /index.xml").page("/")
    wide.sitemap("/index.xml", sitemaps=tuple(f"/{number}.xml" for number in range(100)))
    found = build(wide)
    assert found.list_files == 20
    assert reasons(found) == {"list beyond the limit of files": 81}


def test_urls_and_lists_beyond_the_limit_of_all_files_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_discovery, "LISTS_AT_ONCE", 1)
    site = MadeSite("Sitemap: /index.xml").page("/")
    site.sitemap("/index.xml", sitemaps=tuple(f"/{number}.xml" for number in range(5)))
    for number in range(5):
        site.sitemap(f"/{number}.xml", *(f"/{number}/{at}" for at in range(4)))
    left_out = ExclusionCounter()
    lists = site_discovery.SitemapReader(site, left_out.add, max_urls=11)
    asyncio.run(lists.read(ORIGIN, site.robots, Outlinks()))
    assert [entry.url.removeprefix(ORIGIN) for entry in lists.entries] == [
        *(f"/0/{at}" for at in range(4)),
        "/1/0",
        "/1/1",
    ]
    assert {one.reason: (one.count, one.example) for one in left_out.summary()} == {
        "beyond the limit of URLs": (2, f"{ORIGIN}/1/2"),
        "list beyond the limit of URLs": (3, f"{ORIGIN}/2.xml"),
    }
    assert f"{ORIGIN}/2.xml" not in site.requests


def test_lists_on_other_hosts_are_read_and_their_urls_of_other_sites_are_left_out() -> None:
    site = MadeSite("Sitemap: https://cdn.example/map.xml").page("/")
    site.lists["https://cdn.example/map.xml"] = SitemapFile(
        (SitemapEntry(f"{ORIGIN}/listed"), SitemapEntry("https://cdn.example/x"))
    )
    found = build(site)
    assert paths(found) == ["/", "/listed"]
    assert reasons(found) == {"another host": 1}


def test_a_page_that_was_read_has_its_own_title() -> None:
    site = MadeSite().page("/", "/docs/", "/a", place="nav").page("/docs/")
    assert [page.title for page in build(site).pages] == ["Page /", "Page /docs/", "To /a"]


def test_failed_lists_are_counted() -> None:
    found = build(MadeSite("Sitemap: /gone.xml").page("/", "/a"))
    assert (found.list_files, found.list_failures) == (1, 1)
    assert paths(found) == ["/", "/a"]


def test_cut_lists_are_reported() -> None:
    site = MadeSite("Sitemap: /long.xml").page("/").sitemap("/long.xml", "/a")
    site.lists[f"{ORIGIN}/long.xml"] = replace(site.lists[f"{ORIGIN}/long.xml"], is_cut=True)
    found = build(site)
    assert reasons(found) == {"rest of a list beyond the limits": 1}
    assert paths(found) == ["/", "/a"]


def test_pages_for_agents_add_pages_and_titles() -> None:
    site = (
        MadeSite("User-agent: *\nDisallow: /private")
        .page("/", "/guide/start.html", "/guide/")
        .sitemap("/sitemap.xml", "/api")
    )
    named = {
        "/guide/start.md": "Start here",
        "/guide/index.md": "Guide",
        "/api.html.md": "API",
        "/hidden/page.md": "A page without links",
        "/private/page.md": "Private",
        "/plain": "Plain",
    }
    broken = SitemapEntry("https://.md", title="No URL without its end")
    site.lists[f"{ORIGIN}/llms.txt"] = SitemapFile(
        (broken, *(SitemapEntry(f"{ORIGIN}{path}", title=title) for path, title in named.items()))
    )
    found = build(site)
    assert paths(found) == ["/", "/api", "/guide/start.html", "/guide/", "/hidden/page.md", "/plain"]
    assert [page.title for page in found.pages if page.url.endswith(("page.md", "plain"))] == [
        "A page without links",
        "Plain",
    ]
    assert reasons(found)["forbidden by robots.txt"] == 1


def test_markdown_of_unknown_pages_has_the_form_of_the_others() -> None:
    site = MadeSite().page("/", "/a", "/b", "/c").page("/a").page("/b").page("/c")
    entries = tuple(SitemapEntry(f"{ORIGIN}/{name}.md", title=name) for name in ("a", "b", "c", "orphan"))
    site.lists[f"{ORIGIN}/llms.txt"] = SitemapFile(entries)
    assert paths(build(site)) == ["/", "/a", "/b", "/c", "/orphan"]


def test_buttons_instead_of_links_are_a_warning() -> None:
    site = MadeSite().page("/")
    site.pages[f"{ORIGIN}/"] = replace(site.pages[f"{ORIGIN}/"], buttons=3)
    assert build(site).warnings == ("The start page has 3 buttons and no links; `browse` can press them.",)


def test_what_the_site_offers_programs_is_named() -> None:
    site = MadeSite().page("/", "/a")
    named = ("API description", f"{ORIGIN}/openapi.json")
    site.pages[f"{ORIGIN}/"] = replace(site.pages[f"{ORIGIN}/"], agents=(named,))
    found = build(site)
    assert found.agents == (named, ("Tide server", f"{ORIGIN}/mcp"))
    assert f"{ORIGIN}/openapi.json" not in site.requests
    forbidden = MadeSite("User-agent: *\nDisallow: /.well-known/").page("/", "/a")
    assert build(forbidden).agents == ()
    text = map_as_markdown(
        found, [(page, 1.0) for page in found.pages], start=0, max_pages=9, region="7f3a", budget=900
    )
    assert f"- API description | {ORIGIN}/openapi.json\n- Tide server | {ORIGIN}/mcp\n<<<end" in text


def test_a_forbidden_list_for_agents_is_not_requested() -> None:
    site = MadeSite("User-agent: *\nDisallow: /llms.txt").page("/", "/a")
    build(site)
    assert f"{ORIGIN}/llms.txt" not in site.requests

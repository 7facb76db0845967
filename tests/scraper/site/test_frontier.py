"""Tests for the order of a crawl and its guards, on made sites that are read from memory."""

from __future__ import annotations

import dataclasses
import re

import pytest

from scraper import errors
from scraper.extract.outlinks import Outlink, Outlinks
from scraper.model import Document
from scraper.reading.robots import RobotsRules
from scraper.site.crawl_scope import CrawlScope
from scraper.site.crawled_page import MAX_LINKS, CrawledPage, describe_page, dump_page, has_teasers, load_page
from scraper.site.frontier import CrawlFrontier
from tests.scraper.site.made_crawls import START, page_of, visit_all
from tests.site.traps.made_site import Prose


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://other.example/", "another host"),
        ("https://docs.site.example/", "another host"),
        ("https://site.example/page?action=edit", "action instead of a page"),
        ("https://site.example/no/x", "outside the scope"),
        ("https://site.example/docs/docs/docs/", "repeated path"),
        ("https://site.example/guide/old/guide/old/", "repeated path"),
        ("https://site.example/private/x", "forbidden by robots.txt"),
    ],
)
def test_urls_that_are_left_out(url: str, reason: str) -> None:
    rules = RobotsRules("User-agent: *\nDisallow: /private/")
    frontier = CrawlFrontier(CrawlScope(START, exclude=("/no/*",)), rules=rules)
    assert visit_all(frontier, {START: page_of(START, urls=[url])}) == [START]
    assert [(one.reason, one.example) for one in frontier.left_out] == [(reason, url)]


@pytest.mark.parametrize(
    "url", ["javascript:x", "mailto:a@b", "data:,x", "http://[", "https://site.example/" + "x" * 8_001]
)
def test_odd_urls_do_not_end_a_crawl(url: str) -> None:
    good = "https://site.example/good"
    frontier = CrawlFrontier(CrawlScope(START))
    visited = visit_all(frontier, {START: page_of(START, urls=[url, good]), good: page_of(good)})
    assert good in visited


@pytest.mark.parametrize(
    "url",
    [
        "http://site.example/good",
        "https://www.site.example/good",
        "https://site.example:443/good",
        "https://site.example/good#part",
        "https://site.example//good",
        "https://site.example/g%6Fod",
        "https://site.example/good?utm_source=x",
        "https://site.example./good",
    ],
)
def test_spellings_of_one_page_are_visited_once(url: str) -> None:
    good = "https://site.example/good"
    frontier = CrawlFrontier(CrawlScope(START))
    visited = visit_all(frontier, {START: page_of(START, urls=[good, url]), good: page_of(good)})
    assert visited == [START, good]


def test_scope_folder_is_no_prefix_of_other_folders() -> None:
    docs, old = "https://site.example/docs/a", "https://site.example/docs-old/a"
    start = "https://site.example/docs/"
    frontier = CrawlFrontier(CrawlScope(start, "/docs/"))
    assert visit_all(frontier, {start: page_of(start, urls=[docs, old]), docs: page_of(docs)}) == [start, docs]


def test_a_start_page_with_pages_below_it_is_a_folder() -> None:
    docs, old, other = (f"https://site.example/{path}" for path in ("docs/a", "docs-old/a", "news"))
    start = "https://site.example/docs"
    frontier = CrawlFrontier(CrawlScope.of(start))
    assert visit_all(frontier, {start: page_of(start, urls=[old, docs, other])}) == [start, docs]
    assert [(one.reason, one.count) for one in frontier.left_out] == [("outside the scope", 2), ("missing page", 1)]


def test_a_page_that_forbids_indexing_is_counted_and_not_kept() -> None:
    page = "https://site.example/draft"
    frontier = CrawlFrontier(CrawlScope(START))
    visit_all(frontier, {START: page_of(START, urls=[page]), page: page_of(page, noindex=True)})
    assert len(frontier.unique_pages) == 1
    assert [(one.reason, one.example) for one in frontier.left_out] == [("noindex", page)]


def test_short_pages_that_differ_in_numbers_are_counted() -> None:
    urls = [f"https://site.example/photo/{at}" for at in range(4)]
    texts = {url: f"Photo {at} of the harbor at night with boats and lights and people" for at, url in enumerate(urls)}
    pages = {url: dataclasses.replace(page_of(url, text), template=1) for url, text in texts.items()}
    frontier = CrawlFrontier(CrawlScope(START))
    assert set(visit_all(frontier, {START: page_of(START, urls=urls), **pages})) == {START, *urls}
    (left_out,) = frontier.left_out
    assert "only in numbers" in left_out.reason and left_out.count + len(frontier.unique_pages) == 5


def test_declared_translations_are_left_out_after_a_rule_about_urls_was_learned() -> None:
    names = [f"https://site.example/Wiki/{at}" for at in range(8)]
    copies = [name.replace("Wiki", "wiki") for name in names[:3]]
    pages = {START: page_of(START, urls=[*names[:3], *copies])}
    for name in names:
        translation = name.replace("/Wiki", "/de-AT/Wiki")
        more = [*names, translation] if name in names[3:] else names
        pages[name] = page_of(name, Prose(name).paragraphs(), urls=more, alternates=(("de-AT", translation),))
    for name, copy in zip(names, copies, strict=False):
        pages[copy] = dataclasses.replace(pages[name], url=copy, final_url=copy)
    frontier = CrawlFrontier(CrawlScope(START))
    for url in (START, *names[:3], *copies):
        frontier.take(pages[url])
    visited = visit_all(frontier, pages)
    assert visited and not [url for url in visited if "/de-at/" in url.lower()]
    assert ("another language", 5) in [(one.reason, one.count) for one in frontier.left_out]


def test_a_page_of_excerpts_is_no_content_and_pages_of_one_form_are() -> None:
    posts = {f"https://site.example/post/{at}": Prose(("post", at)).paragraphs(8) for at in range(4)}
    archive, last = "https://site.example/archive", "https://site.example/post/9"
    excerpts = " ".join(" ".join(text.split()[:50]) for text in posts.values())
    terms = Prose("terms").paragraphs(4)
    pages = {START: page_of(START, urls=[*posts, archive, last])}
    pages |= {url: page_of(url, text + terms) for url, text in posts.items()}
    pages[archive] = page_of(archive, "Posts of this month. " + excerpts, urls=list(posts))
    # Most of its text is that of the pages to which it leads, but not more than they have in common.
    pages[last] = page_of(last, Prose("last").paragraphs(2) + terms, urls=list(posts))
    frontier = CrawlFrontier(CrawlScope(START))
    visit_all(frontier, pages)
    assert [one.url for one in frontier.unique_pages.values()] == [START, *posts, last]
    assert [(one.reason, one.example) for one in frontier.left_out] == [("excerpts of other pages", archive)]


def test_a_busy_page_is_visited_once_more() -> None:
    busy = "https://site.example/busy"
    frontier = CrawlFrontier(CrawlScope(START))
    frontier.take(page_of(frontier.next() or "", urls=[busy]))
    assert frontier.next() == busy
    frontier.take(CrawledPage(busy, busy, 503, "busy"))
    assert frontier.next() == busy
    frontier.take(CrawledPage(busy, busy, 503, "busy"))
    assert frontier.next() is None


def test_a_redirect_to_another_host_is_left_out_and_one_to_a_known_page_is_a_copy() -> None:
    a, b, out = (f"https://site.example/{name}" for name in ("a", "b", "out"))
    pages = {START: page_of(START, urls=[a, b, out]), a: page_of(a)}
    pages[b] = CrawledPage(b, a, word_count=50)
    pages[out] = CrawledPage(out, "https://other.example/", word_count=50)
    frontier = CrawlFrontier(CrawlScope(START))
    visit_all(frontier, pages)
    assert {one.reason for one in frontier.left_out} == {"redirect to a known page", "another host"}
    assert len(frontier.unique_pages) == 2


def test_the_pages_of_a_redirected_start_are_those_of_its_host() -> None:
    start, page = "https://old.example/", "https://new.example/page"
    frontier = CrawlFrontier(CrawlScope(start))
    frontier.next()
    frontier.take(
        CrawledPage(start, "https://new.example/", word_count=50, outlinks=Outlinks((Outlink(page, "page", "body"),)))
    )
    assert frontier.next() == page


@pytest.mark.parametrize(
    ("start", "final", "inside", "outside"),
    [
        ("/docs", "/docs/", "/docs/a", "/blog/a"),
        ("/docs/", "/guide/start.html", "/guide/a", "/docs/a"),
        ("/", "/en/", "/fr/a", None),
    ],
)
def test_the_folder_of_a_redirected_start_page_is_the_scope(
    start: str, final: str, inside: str, outside: str | None
) -> None:
    site = "https://site.example"
    urls = [f"{site}{path}" for path in (inside, outside) if path]
    frontier = CrawlFrontier(CrawlScope.of(f"{site}{start}"))
    pages = {f"{site}{start}": dataclasses.replace(page_of(f"{site}{start}", urls=urls), final_url=f"{site}{final}")}
    assert visit_all(frontier, pages) == [f"{site}{start}", f"{site}{inside}"]


def test_nofollow_pages_and_login_pages_lead_nowhere() -> None:
    page, login, inner = (f"https://site.example/{name}" for name in ("page", "members", "inner"))
    pages = {
        START: page_of(START, urls=[page, login]),
        page: page_of(page, urls=[inner], nofollow=True),
        login: page_of(login, "please sign in", urls=[inner], has_password=True),
    }
    frontier = CrawlFrontier(CrawlScope(START))
    assert inner not in visit_all(frontier, pages)


def test_hostile_rows_of_parameters_end() -> None:
    frontier = CrawlFrontier(CrawlScope(START))
    visited = 0
    while visited < 300 and (url := frontier.next()) is not None:
        visited += 1
        grown = f"{url}&a={visited}" if "?" in url else f"{url}?a=1"
        frontier.take(
            page_of(
                url,
                "the same text on every page of this row, whatever its parameters " * 3,
                urls=[grown, grown.replace("&", "&amp;amp;")],
            )
        )
    assert visited < 60


def test_twenty_thousand_links_on_a_page_are_bounded() -> None:
    many = tuple(Outlink(f"https://site.example/{at}/{at % 7}?x={at}", "", "body") for at in range(20_000))
    page = describe_page(START, START, Document(START), Outlinks(many))
    frontier = CrawlFrontier(CrawlScope(START))
    frontier.next()
    frontier.take(page)
    assert frontier.pending_count == MAX_LINKS
    assert [(one.reason, one.count) for one in frontier.left_out] == [
        ("page with hardly any text", 1),
        ("link beyond the limits of a page", len(many) - MAX_LINKS),
    ]
    assert load_page(dump_page(page)).cut_links == len(many) - MAX_LINKS
    assert load_page(dump_page(page)).outlinks.links == page.outlinks.links


def teasers(target: str, text: str, *, introduction: str = "") -> str:
    """Return a page of four titles that are links, each above a text."""
    rows = (f"## [Title {at}]({target.format(at)})\n\n2 May 2026 by [Ann](/ann)\n\n{text}\n" for at in range(4))
    return f"# News\n\n{introduction}\n\n" + "\n".join(rows)


EXCERPT = "The ferry leaves at six in the morning and returns at night. [Read more](/x)"


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        (teasers("https://site.example/post/{}", EXCERPT), True),
        (teasers("/post/{}", EXCERPT), True),
        (teasers("https://other.example/{}", EXCERPT), False),
        (teasers("#part-{}", EXCERPT), False),
        (teasers("/post/{}", EXCERPT * 12), False),
        (teasers("/post/{}", EXCERPT, introduction="An article with some related posts below. " * 10), False),
        (teasers("/post/1", EXCERPT), False),
        ("", False),
    ],
)
def test_titles_that_link_to_other_pages_above_short_texts_are_teasers(markdown: str, expected: bool) -> None:
    assert has_teasers(markdown, START) is expected
    document = Document(START, page_type="listing", markdown=markdown, text=markdown)
    page = load_page(dump_page(describe_page(START, START, document, Outlinks())))
    assert page.has_teasers is expected


def test_the_texts_of_a_page_survive_storage() -> None:
    page = page_of(START, urls=["https://site.example/é?q=\ud800"], alternates=(("de", START),), noindex=True)
    loaded = load_page(dump_page(page))
    assert loaded.sketch == page.sketch and loaded.outlinks.alternates == page.outlinks.alternates
    assert loaded.outlinks.noindex and re.match("https://site.example/é", loaded.outlinks.links[0].url)


def _entry(at: int, *, title: str = "Cedar chair") -> CrawledPage:
    url = f"https://site.example/e/{at}"
    words = [*(f"word{number}" for number in range(150)), str(at), f"price {7 * at}"]
    page = page_of(url, " ".join(words))
    return dataclasses.replace(page, title=title.format(at=at))


def test_pages_with_names_of_their_own_are_kept_though_their_texts_are_alike() -> None:
    for title, kept in (("Chair {at} in oak", 41), ("Cedar chair", 2)):
        urls = [f"https://site.example/e/{at}" for at in range(40)]
        pages = {url: _entry(at, title=title) for at, url in enumerate(urls)}
        frontier = CrawlFrontier(CrawlScope(START))
        visited = visit_all(frontier, {START: page_of(START, urls=urls), **pages})
        assert len(frontier.unique_pages) == kept
        left_out = {one.reason.partition(";")[0]: one.count for one in frontier.left_out}
        assert frontier.pending_count == 0
        assert left_out.get("like pages that had nothing new", 0) == 41 - len(visited)


def test_new_links_of_a_copy_are_followed_and_teach_no_rule() -> None:
    text = " ".join(Prose("introduction").title() for _ in range(40))
    parts = [f"https://site.example/list?page={number}" for number in range(1, 5)]
    items = [f"https://site.example/item/{number}" for number in range(40)]
    pages = {url: page_of(url, text, urls=[*parts, *items[10 * at : 10 * at + 10]]) for at, url in enumerate(parts)}
    pages |= {url: page_of(url) for url in items}
    visited = visit_all(CrawlFrontier(CrawlScope(START)), {START: page_of(START, urls=parts[:1]), **pages})
    assert set(items) <= set(visited)


def test_a_refused_page_says_nothing_about_others_like_it() -> None:
    urls = [f"https://site.example/p/{at}" for at in range(30)]
    pages = {url: page_of(url) if at % 5 == 4 else CrawledPage(url, url, 403, "no") for at, url in enumerate(urls)}
    visited = visit_all(CrawlFrontier(CrawlScope(START)), {START: page_of(START, urls=urls), **pages})
    assert len(visited) == 31


def test_the_first_file_of_a_type_shows_if_such_names_are_pages() -> None:
    scripts = [f"https://site.example/static/{at}.js" for at in range(9)]
    articles = [f"https://site.example/wiki/{name}.js" for name in ("Node", "Vue", "Next")]
    pages = {url: page_of(url) for url in articles} | {url: CrawledPage(url, url, 0, "no page") for url in scripts}
    visited = visit_all(CrawlFrontier(CrawlScope(START)), {START: page_of(START, urls=[*scripts, *articles]), **pages})
    assert set(articles) <= set(visited)
    assert len(set(scripts) & set(visited)) == 1


@pytest.mark.parametrize(
    ("pattern", "path", "is_inside"),
    [
        ("docs/*", "/docs/a", True),
        ("https://site.example/docs/*", "/docs/a", True),
        ("/docs/[draft]/*", "/docs/[draft]/x", True),
        ("/docs/ä", "/docs/%C3%A4", True),
        ("*/tag/*", "/blog/tag/x", True),
        ("/docs/*", "/docs-old/a", False),
        ("docs", "/docs/a/b", True),
        ("/docs/", "/docs-old/a", False),
        ("site.example/docs/*", "/docs/a", True),
        ("https://site.example/docs/", "/docs/a", True),
    ],
)
def test_patterns_of_paths_are_understood_as_they_are_written(pattern: str, path: str, is_inside: bool) -> None:
    scope = CrawlScope.of(START, (pattern,))
    assert scope.contains(f"https://site.example{path}") is is_inside


@pytest.mark.parametrize("pattern", ["/docs/.*", "^/docs/.*$", "https://other.example/docs/*"])
def test_a_pattern_that_no_path_can_match_is_an_error(pattern: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="The pattern"):
        CrawlScope.of(START, (pattern,))


def test_a_page_that_redirects_out_of_the_scope_is_not_kept() -> None:
    moved = "https://site.example/docs/moved"
    start = "https://site.example/docs/"
    frontier = CrawlFrontier(CrawlScope.of(start))
    target = dataclasses.replace(page_of(moved), final_url="https://site.example/blog/elsewhere")
    visit_all(frontier, {start: page_of(start, urls=[moved]), moved: target})
    assert [page.final_url for page in frontier.unique_pages.values()] == [start]

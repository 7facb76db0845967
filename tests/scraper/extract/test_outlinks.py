"""All visible links of a page, with their place."""

from __future__ import annotations

import pytest

from browsers.model import Snapshot
from scraper.extract.outlinks import MAX_LINKS, Outlink, Outlinks, extract_outlinks
from tests.scraper.soon import soon

URL = "https://site.example/docs/start"


def outlinks(html: str) -> Outlinks:
    return extract_outlinks(Snapshot(URL, URL, 200, {}, "text/html", b"", html))


def test_links_have_text_and_place() -> None:
    found = outlinks(
        "<title>Start</title><nav><a href='/a'>A</a></nav>"
        "<main><a href='b'>Read B</a><a href='?c'><img alt='C'></a></main>"
        "<div class='pagination'><a href='/d'>2</a></div><footer><a href='/e' title='E'></a></footer>"
    )
    assert found.title == "Start"
    assert found.links == (
        Outlink("https://site.example/a", "A", "nav"),
        Outlink("https://site.example/docs/b", "Read B", "body"),
        Outlink("https://site.example/docs/start?c", "C", "body"),
        Outlink("https://site.example/d", "2", "side"),
        Outlink("https://site.example/e", "E", "footer"),
    )


def test_a_url_is_listed_once_with_its_best_text_and_place() -> None:
    found = outlinks("<footer><a href='/a#x'>A</a></footer><p><a href='/a'>All about A</a></p>")
    assert found.links == (Outlink("https://site.example/a", "All about A", "body"),)


def test_hidden_links_are_left_out() -> None:
    found = outlinks(
        "<style>.off {display: none}</style><p><a href='/a'>A</a></p>"
        "<div style='display:none'><a href='/trap'>Trap</a></div>"
        "<div class='off'><a href='/trap2'>Trap</a></div><p hidden><a href='/trap3'>Trap</a></p>"
    )
    assert [link.url for link in found.links] == ["https://site.example/a"]
    assert found.hidden == tuple(f"https://site.example/{name}" for name in ("trap", "trap2", "trap3"))


def test_the_base_and_other_schemes_are_respected() -> None:
    found = outlinks(
        "<base href='https://site.example/other/'><a href='a'>A</a><a href='javascript:x()'>J</a>"
        "<a href='mailto:a@b.c'>M</a>"
        "<a href='data:text/html,x'>D</a><a href='#top'>T</a><a>None</a>"
    )
    assert [link.url for link in found.links] == ["https://site.example/other/a", "https://site.example/other/"]


def test_feeds_are_found() -> None:
    found = outlinks(
        "<link rel='alternate' type='application/rss+xml' href='/feed'><link rel='alternate' hreflang='de' href='/de'>"
    )
    assert found.feeds == ("https://site.example/feed",)


def test_links_of_the_header_count_like_those_of_the_head() -> None:
    header = (
        '<news/feed?a,b>; rel="alternate"; type="application/rss+xml"; title="All; news", </map.xml>;rel=sitemap,'
        "<https://site.example/de>; rel=alternate; hreflang=de, <javascript:x>; rel=sitemap, <cut"
    )
    snapshot = Snapshot(URL, URL, 200, {"link": header}, "text/html", b"", "<p>A page</p>")
    found = extract_outlinks(snapshot)
    assert found.feeds == ("https://site.example/docs/news/feed?a,b",)
    assert found.sitemaps == ("https://site.example/map.xml",)
    assert found.alternates == (("de", "https://site.example/de"),)
    offers = '</api.json>; rel="service-desc", <start.md>; rel=alternate; type=text/markdown, </x>; rel=preload'
    found = extract_outlinks(Snapshot(URL, URL, 200, {"link": offers}, "text/html", b"", "<p>A page</p>"))
    assert found.agents == (
        ("API description", "https://site.example/api.json"),
        ("Markdown of the page", "https://site.example/docs/start.md"),
    )


def test_a_page_of_many_links_is_bounded() -> None:
    with soon():
        found = outlinks("".join(f"<a href='/{number}'>n</a>" for number in range(MAX_LINKS + 10)))
    assert len(found.links) == MAX_LINKS


def test_an_empty_page_has_no_links() -> None:
    assert outlinks("") == Outlinks()


@pytest.mark.parametrize(
    "html",
    [
        "<nav><li><a href='/top'>T</a><ul style='display:none'><li><a href='/deep'>D</a></ul></nav>",
        "<style>.slide{display:none}.slide.active{display:block}</style>"
        "<div class='slide active'><a href='/top'>T</a></div><div class=slide><a href='/deep'>D</a></div>",
        "<a href='/top'>T</a><button aria-controls=x>Open</button><div id=x hidden><a href='/deep'>D</a></div>",
        "<a href='/top'>T</a><div class=drawer style='position:fixed;left:-999px'><a href='/deep'>D</a></div>",
        "<a href='/top'>T</a><div hidden>Long text around a link, <a href='/deep'>D</a>, that a script shows.</div>",
        "<select onchange='location=this.value'><option value='/top'>T<option value='/deep'>D</select>",
        "<tr data-href='/top'></tr><iframe src='/top'></iframe><button onclick=\"location.href='/deep'\">D</button>",
        "<svg><a xlink:href='/top'>T</a></svg><a href='HTTPS://SITE.example/deep'>D</a>",
        "<link rel=next href='/deep'><a href='/top'>T</a>",
        "<div role=tree><div role=treeitem>A<div role=none hidden><a href='/deep'>D</a></div></div></div>",
        "<style>.hidden{display:none}</style><div class='hidden lg:block'><a href='/deep'>D</a></div>",
        "<style>.sr-only{position:absolute;left:-9999px}</style><a class=sr-only href='/deep'>Skip to D</a>",
        "<select><option value='/top'>T<option value='/deep'>D</select>",
        "<form action='/deep'><button>D</button></form>",
        "<a href=\"javascript:window.open('/deep')\">D</a>",
        "<a href='/de\nep'>D</a>",
        "<object data='/deep'></object>",
    ],
)
def test_links_that_people_can_reveal_are_links(html: str) -> None:
    found = {link.url for link in outlinks(f"<html><body>{html}</body></html>").links}
    assert {"https://site.example/top", "https://site.example/deep"} <= {*found, "https://site.example/top"}


@pytest.mark.parametrize(
    "html",
    [
        "<a href='/trap' aria-hidden=true tabindex=-1>T</a>",
        "<form><div style='position:absolute;left:-9999px'><a href='/trap'>T</a></div></form>",
        "<div class=honeypot hidden>Some words <a href='/trap'>T</a><a href='/trap'>T</a></div>",
    ],
)
def test_links_that_only_robots_find_are_left_out(html: str) -> None:
    found = outlinks(f"<html><body><p>Text</p>{html}</body></html>")
    assert found.links == () and found.hidden == ("https://site.example/trap",)


def test_buttons_of_a_page_without_links_are_counted() -> None:
    html = "<nav><button>Tides</button><button>Pilots</button></nav><p>Text"
    for links, buttons in (("", 2), ("<a href='/a'>A</a>", 0)):
        snapshot = Snapshot(URL, URL, 200, {}, "text/html", b"", html + links, rendered=True)
        assert extract_outlinks(snapshot).buttons == buttons


def test_routes_of_scripts_are_links_and_sections_of_the_page_are_not() -> None:
    found = outlinks("<a href='#/tides'>Tides</a><a href='#!lights'>Lights</a><a href='#top'>A long text</a>")
    assert [link.url for link in found.links] == [f"{URL}#/tides", f"{URL}#!lights"]


@pytest.mark.parametrize(
    ("header", "directives"),
    [("noindex", (True, False)), ("none", (True, True)), ("otherbot: noindex", (False, False)),
     ("noarchive, NOINDEX, nosnippet", (True, False)), ("search-mcp: nofollow", (False, True)),
     ("otherbot: noarchive, noindex", (False, False)), ("otherbot: noarchive\nnoindex", (True, False)),
     ("max-snippet: 10, noindex", (True, False)), ("otherbot: none, search-mcp: noindex", (True, False))],
)  # fmt: skip
def test_the_header_has_directives_too(header: str, directives: tuple[bool, bool]) -> None:
    found = extract_outlinks(Snapshot(URL, URL, 200, {"x-robots-tag": header}, "text/html", b"", "<p>Text"))
    assert (found.noindex, found.nofollow) == directives


@pytest.mark.parametrize(
    "html",
    [
        "<iframe srcdoc='&lt;a href=&quot;/boats&quot;&gt;Boats&lt;/a&gt;'></iframe>",
        "<iframe data-src='/boats' loading='lazy'></iframe>",
        "<embed src='/boats'>",
        "<form action='/boats'><input type='submit' value='Boats'></form>",
        "<form><button formaction='/boats'>Boats</button></form>",
        "<div role='link' data-url='/boats'>Boats</div>",
        "<article tabindex='0' data-target='/boats'><h3>Boats</h3></article>",
        "<a data-route='/boats'>Boats</a>",
        "<a onclick='router.replace(&quot;/boats&quot;)'>Boats</a>",
        "<a href='#' onclick='goTo(&quot;/boats&quot;); return false'>Boats</a>",
        "<a href='javascript:;' onmousedown='location=&quot;/boats&quot;'>Boats</a>",
        "<link rel='prev' href='/boats'>",
    ],
)
def test_what_leads_a_person_to_a_page_is_a_link(html: str) -> None:
    assert "https://site.example/boats" in [link.url for link in outlinks(html).links]


def test_forms_with_fields_and_data_of_other_elements_are_no_links() -> None:
    assert not outlinks("<form action='/find'><input name='q'></form><div data-url='/api/likes'>3</div>").links


@pytest.mark.parametrize(
    ("date", "is_expired"),
    [("25 Jun 2010 15:00:00 PST", True), ("2010-06-25", True), ("2031-01-01", False), ("soon", False)],
)
def test_a_page_is_not_indexed_after_its_end(date: str, is_expired: bool) -> None:
    now = {"date": "Mon, 30 Nov 2026 20:00:00 GMT"}
    by_header = Snapshot(
        URL, URL, 200, now | {"x-robots-tag": f"noarchive, unavailable_after: {date}"}, html="<p>A</p>"
    )
    meta = f"<meta name='robots' content='unavailable_after: {date}'>"
    for snapshot in (by_header, Snapshot(URL, URL, 200, now, html=meta)):
        assert extract_outlinks(snapshot).noindex == is_expired

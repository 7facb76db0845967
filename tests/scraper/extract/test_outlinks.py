"""All visible links of a page, with their place."""

from __future__ import annotations

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


def test_a_page_of_many_links_is_bounded() -> None:
    with soon():
        found = outlinks("".join(f"<a href='/{number}'>n</a>" for number in range(MAX_LINKS + 10)))
    assert len(found.links) == MAX_LINKS


def test_an_empty_page_has_no_links() -> None:
    assert outlinks("") == Outlinks()

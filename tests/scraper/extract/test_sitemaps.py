"""Sitemaps, indexes, feeds and lists of URLs: usual, damaged and hostile."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Iterator

import pytest

from scraper.extract import sitemaps
from scraper.extract.sitemaps import MAX_BYTES, MAX_ENTRIES, SitemapEntry, find_sitemaps, parse_sitemap
from tests.growth import full_size
from tests.scraper.soon import soon
from tests.site.gzip_bombs import compress_again, gzip_bomb

URL = "https://site.example/sitemap.xml"
ONE = SitemapEntry("https://site.example/a")


def sitemap(*locations: str, declaration: str = '<?xml version="1.0" encoding="UTF-8"?>') -> bytes:
    rows = "".join(f"<url><loc>{location}</loc></url>" for location in locations)
    return f'{declaration}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'.encode()


def urls(data: bytes) -> list[str]:
    return [entry.url for entry in parse_sitemap(data, URL).entries]


def test_entries_have_url_date_and_title() -> None:
    data = b"""<urlset xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"><url>
        <loc> https://site.example/a?x=1&amp;y=2 </loc><lastmod>2026-03-04T10:00:00Z</lastmod>
        <news:news><news:title>Ferries &amp; tides</news:title></news:news></url></urlset>"""
    assert parse_sitemap(data, URL).entries == (
        SitemapEntry("https://site.example/a?x=1&y=2", "2026-03-04", "Ferries & tides"),
    )


@pytest.mark.parametrize("label", ["utf-16", "rot13", "hex", "nonsense"])
def test_declarations_that_cannot_be_true_are_ignored(label: str) -> None:
    assert urls(sitemap(ONE.url, declaration=f'<?xml version="1.0" encoding="{label}"?>')) == [ONE.url]


def test_an_index_names_sitemaps() -> None:
    data = b"<sitemapindex><sitemap><loc>/one.xml</loc></sitemap>" + (
        b"<sitemap><loc>/two.xml.gz</loc></sitemap></sitemapindex>"
    )
    found = parse_sitemap(data, URL)
    assert found.sitemaps == ("https://site.example/one.xml", "https://site.example/two.xml.gz")
    assert found.entries == ()


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(sitemap("https://site.example/a")),
        gzip.compress(gzip.compress(sitemap("https://site.example/a"))),
        sitemap("https://site.example/a", declaration="").decode().encode("utf-16"),
        b"\xef\xbb\xbf" + sitemap("https://site.example/a"),
        b"\n\n  " + sitemap("https://site.example/a"),
        sitemap("<![CDATA[https://site.example/a]]>"),
        sitemap("/a"),
        sitemap("https://site.example/a")[:-12],
        sitemap("https://site.example/a")[:-19],
        b"<sm:urlset><sm:url><sm:loc>https://site.example/a</sm:loc></sm:url></sm:urlset>",
        b"https://site.example/a\r\nno address\r\n",
        b"<URLSET><URL><LOC>https://site.example/a</LOC></URL></URLSET>",
    ],
    ids=[
        "gzip",
        "gzip twice",
        "utf-16",
        "mark",
        "blanks",
        "cdata",
        "relative",
        "cut",
        "cut in a tag",
        "prefix",
        "lines",
        "upper",
    ],
)
def test_unusual_files_are_read(data: bytes) -> None:
    assert parse_sitemap(data, URL).entries == (ONE,)


def test_bare_ampersands_are_read() -> None:
    assert urls(sitemap("https://site.example/?a=1&b=2")) == ["https://site.example/?a=1&b=2"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<!DOCTYPE html><html><body>Not found <a href='/a'>a</a></body></html>",
        b"\x89PNG\r\n",
        b"{}",
        b"\x1f\x8bbroken",
    ],
)
def test_other_content_lists_nothing(data: bytes) -> None:
    assert parse_sitemap(data, URL).is_empty


def test_comments_list_nothing() -> None:
    shown, commented = sitemap("https://site.example/a"), b"<url><loc>https://site.example/b</loc></url>"
    data = shown.replace(b"</urlset>", b"<!-- " + commented + b" --></urlset>")
    assert urls(data) == ["https://site.example/a"]


def test_only_web_addresses_are_listed() -> None:
    data = sitemap("file:///etc/passwd", "javascript:alert(1)", "ftp://site.example/x", "https://site.example/a")
    assert urls(data) == ["https://site.example/a"]


def test_an_entry_has_the_language_of_its_own_translation() -> None:
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="{code}" href="https://site.example/{path}"/>'
        for code, path in (("de-AT", "a?x=1&amp;y=2"), ("en", "en"), ("x-default", "en"))
    )
    own, other = "https://site.example/a?x=1&amp;y=2", "https://site.example/b"
    data = sitemap(own, other).replace(b"</loc>", f"</loc>{links}".encode())
    assert [entry.language for entry in parse_sitemap(data, URL).entries] == ["de-at", ""]


def test_a_date_in_the_future_costs_no_entry() -> None:
    data = sitemap("https://site.example/a").replace(b"</loc>", b"</loc><lastmod>2999-12-31</lastmod>")
    assert parse_sitemap(data, URL).entries == (SitemapEntry("https://site.example/a", "2999-12-31"),)


def test_entities_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>' + sitemap(
        "https://site.example/&b;", declaration=""
    )
    assert urls(bomb) == ["https://site.example/&b;"]


def test_feeds_are_lists_too() -> None:
    data = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>Blog</title>
        <item><title>First</title><link>/first</link></item></channel></rss>"""
    assert parse_sitemap(data, URL).entries == (SitemapEntry("https://site.example/first", title="First"),)


def test_cut_feeds_and_lists_are_marked() -> None:
    item = "<item><title>{0}</title><link>/{0}</link></item>".format

    def feed(*items: str) -> bytes:
        return f'<?xml version="1.0"?><rss version="2.0"><channel>{"".join(items)}</channel></rss>'.encode()

    assert parse_sitemap(feed(*map(item, range(600))), URL).is_cut
    assert parse_sitemap(feed(item(1), f"<item><title>{'x' * 4_100_000}</title></item>"), URL).is_cut
    assert not parse_sitemap(feed(*map(item, range(400))), URL).is_cut
    lines = b"https://site.example/a\n" + b" " * MAX_BYTES
    assert parse_sitemap(gzip.compress(lines, 1), URL).is_cut
    assert not parse_sitemap(lines[:-100], URL).is_cut


@pytest.mark.parametrize("limit", [10_000, full_size(MAX_ENTRIES, id="full size")])
def test_the_number_of_entries_is_limited(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(sitemaps, "MAX_ENTRIES", limit)
    data = sitemap(*(f"https://site.example/{number}" for number in range(limit + 1)))
    with soon():
        found = parse_sitemap(data, URL)
    assert len(found.entries) == limit
    assert found.is_cut
    data = data.replace(f"<url><loc>https://site.example/{limit}</loc></url>".encode(), b"")
    assert not parse_sitemap(data, URL).is_cut


BOMB_MIB = 5_120


def bomb() -> Iterator[bytes]:
    return gzip_bomb(sitemap(ONE.url).removesuffix(b"</urlset>"), BOMB_MIB)


def empty_blocks() -> Iterator[bytes]:
    """Yield a gzip file of blocks without content, as gzip."""
    return gzip_bomb(next(gzip_bomb(b"", 0)), BOMB_MIB, filler=b"\0\0\0\xff\xff")


@pytest.mark.parametrize(
    ("data", "entries"),
    [(b"".join(bomb()), (ONE,)), (compress_again(bomb()), (ONE,)), (b"".join(empty_blocks()), ())],
    ids=["five gigabytes", "compressed twice", "no content at all"],
)
def test_a_gzip_bomb_of_five_gigabytes_takes_little_time_and_memory(
    data: bytes, entries: tuple[SitemapEntry, ...]
) -> None:
    tracemalloc.start()
    try:
        with soon():
            found = parse_sitemap(data, URL)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.is_cut and found.entries == entries
    assert peak < 30_000_000


def test_an_entry_before_a_long_gap_is_read() -> None:
    gap = " " * 3_000_000
    data = sitemap(ONE.url).removesuffix(b"</urlset>").decode()
    assert (
        urls(f"{data}{gap}<!-- <url><loc>https://site.example/no</loc></url>{gap}-->{data}".encode()) == [ONE.url] * 2
    )


@pytest.mark.parametrize("piece", [b"<url>", b"<!--", b"<url><loc>", b"x", b"<", b"&amp;", b"\n"])
@pytest.mark.slow
def test_hostile_files_take_linear_time(piece: bytes) -> None:
    with soon():
        parse_sitemap(b"<urlset>" + piece * (4_000_000 // len(piece)), URL)


@pytest.mark.full_size
def test_fifty_megabytes_in_one_line_are_read_in_bounded_time_and_memory() -> None:
    line = sitemap(*(f"https://site.example/{number}/{'x' * 400}" for number in range(MAX_ENTRIES)))
    assert len(line) > 40_000_000 and b"\n" not in line
    tracemalloc.start()
    try:
        found = parse_sitemap(line, URL)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.entries) == MAX_ENTRIES
    assert peak < 120_000_000


def test_sitemaps_of_robots() -> None:
    robots = (
        "User-agent: *\nSITEMAP: /a.xml # the first\n#Sitemap: /no.xml\n sitemap:https://cdn.example/b.xml\nSitemap:\n"
    )
    assert find_sitemaps(robots, "https://site.example/robots.txt") == [
        "https://site.example/a.xml",
        "https://cdn.example/b.xml",
    ]
    assert find_sitemaps("<html>Sitemap: /a.xml", "https://site.example/robots.txt") == []


def test_robots_may_end_lines_with_a_carriage_return() -> None:
    assert find_sitemaps("User-agent: *\rAllow: /\rSitemap: /a.xml\r", "https://site.example/robots.txt") == [
        "https://site.example/a.xml"
    ]


def test_a_byte_order_mark_of_robots_is_no_part_of_its_first_sitemap() -> None:
    assert find_sitemaps("\ufeffSitemap: /a.xml\r\n", "https://site.example/robots.txt") == [
        "https://site.example/a.xml"
    ]


def test_lists_for_agents_are_read_with_their_titles() -> None:
    text = "# Site\n\n- [Start](/start.md): How to begin\n* [API](https://docs.example/api.md)\nNo [link](/no.md).\n"
    file = parse_sitemap(text.encode(), "https://docs.example/llms.txt")
    assert [(entry.url, entry.title) for entry in file.entries] == [
        ("https://docs.example/start.md", "Start"),
        ("https://docs.example/api.md", "API"),
    ]
    assert parse_sitemap(b"<!doctype html><p>Not found</p>", "https://docs.example/llms.txt").is_empty

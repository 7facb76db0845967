"""URLs of one page have the same key; URLs of different pages have different keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.search.url_dedup_keys import host_key, is_google_news_redirect, url_dedup_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.com/a", "https://www.example.com/a/"),
        ("https://m.example.com/a", "https://example.com:443/a"),
        ("https://en.m.wikipedia.org/wiki/Rust", "https://en.wikipedia.org/wiki/Rust"),
        ("https://example.com/index.html", "https://example.com"),
        ("https://example.com/docs/default.aspx", "https://example.com/docs/"),
        ("https://example.com//a///b", "https://example.com/a/b"),
        ("https://example.com/%7Euser/%c3%a9", "https://example.com/~user/é"),
        ("https://example.com/a?utm_source=x&b=2&a=1&fbclid=9", "https://example.com/a?a=1&b=2"),
        ("https://example.com/a/amp/", "https://example.com/a"),
        ("https://example.com/a?amp=1", "https://example.com/a?outputType=amp"),
        ("https://example-com.cdn.ampproject.org/c/s/example.com/a", "https://example.com/a"),
        ("https://www.google.com/amp/s/example.com/a", "https://example.com/a"),
        ("https://example.com/a#part", "https://example.com/a#:~:text=words"),
        ("https://bücher.example/a", "https://xn--bcher-kva.example/a"),
        ("https://www.youtube.com/watch?v=x&si=y", "https://youtube.com/watch?v=x"),
    ],
)
def test_equivalent_urls_have_one_key(one: str, other: str) -> None:
    assert url_dedup_key(one) == url_dedup_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.com/", "https://example.com/de"),
        ("https://arxiv.org/abs/1706.03762", "https://arxiv.org/pdf/1706.03762"),
        ("https://example.com/a?page=1", "https://example.com/a?page=2"),
        ("https://example.com/a?id=1", "https://example.com/a?id=2"),
        ("https://example.com/Js", "https://example.com/js"),
        ("https://docs.example.com/a", "https://example.com/a"),
        ("https://example.com/#/one", "https://example.com/#/two"),
        ("https://example.com/#!one", "https://example.com/#!two"),
        ("https://example.com:8443/a", "https://example.com/a"),
        ("https://example.com/a%2Fb", "https://example.com/a/b"),
    ],
)
def test_different_pages_have_different_keys(one: str, other: str) -> None:
    assert url_dedup_key(one) != url_dedup_key(other)


def test_a_text_that_is_not_a_url_is_its_own_key() -> None:
    assert url_dedup_key(" mailto:a@b.example ") == "mailto:a@b.example"
    assert url_dedup_key("no address") == "no address"
    assert host_key("no address") == ""


def test_a_host_that_starts_with_mobile_is_unchanged() -> None:
    assert host_key("https://m.co/") == "m.co"
    assert host_key("https://mobile.de/") == "mobile.de"
    assert host_key("https://www.mobile.de/") == "mobile.de"


def test_only_google_news_redirects_are_wrapped() -> None:
    assert is_google_news_redirect("https://news.google.com/rss/articles/CBMiAA?oc=5")
    assert is_google_news_redirect("https://news.google.com/read/CBMiAA")
    assert not is_google_news_redirect("https://news.google.com/home")
    assert not is_google_news_redirect("https://example.com/rss/articles/CBMiAA")


@given(st.text(alphabet="abz/.%2F~-éA?&=#:@", max_size=60))
def test_canonicalization_is_idempotent(path: str) -> None:
    key = url_dedup_key(f"https://example.com/{path}")
    assert url_dedup_key(f"https://{key}") == key

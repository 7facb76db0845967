"""URLs of one page have the same key; URLs of different pages have different keys."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.search.fusion import is_google_news_redirect
from scraper.urls import host_key, page_key, request_key, result_key


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
        ("https://youtu.be/XHztk?t=12", "https://www.youtube.com/watch?v=XHztk"),
        ("https://old.reddit.com/r/a/comments/1/x/", "https://www.reddit.com/r/a/comments/1/x/"),
        ("https://example.com/a;jsessionid=12AB?b=1&amp;amp;_ga=2", "https://example.com/a?b=1"),
    ],
)
def test_equivalent_urls_have_one_key(one: str, other: str) -> None:
    assert result_key(one) == result_key(other)


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
        ("https://shop.example/guitar/amp", "https://shop.example/guitar"),
        ("https://docs.example/install?for=windows", "https://docs.example/install?for=mac"),
        ("https://git.example/y.py?ref=main", "https://git.example/y.py?ref=v1"),
        ("https://amp.com.au/", "https://www.com.au/"),
        ("https://example.com/a?t=1", "https://example.com/a?t=2"),
    ],
)
def test_different_pages_have_different_keys(one: str, other: str) -> None:
    assert result_key(one) != result_key(other)


def test_a_text_that_is_not_a_url_is_its_own_key() -> None:
    assert result_key(" mailto:a@b.example ") == "mailto:a@b.example"
    assert result_key("no address") == "no address"
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


@given(st.text(alphabet="abz/.%2F~-éA?&=#:!@", max_size=60), st.text(alphabet="abz/.%2F~-éA?&=#:!@", max_size=60))
def test_a_stronger_key_makes_equal_what_a_weaker_one_makes_equal(one: str, other: str) -> None:
    urls = [f"https://example.com/{path}" for path in (one, other, f"{one}?utm_source=a", f"/{one}#a")]
    keys = [(request_key(url), page_key(url), result_key(url)) for url in urls]
    for (weaker, stronger), pair in itertools.product(((0, 1), (1, 2)), itertools.combinations(keys, 2)):
        assert pair[0][weaker] != pair[1][weaker] or pair[0][stronger] == pair[1][stronger]


@given(st.text(alphabet="abz/.%2F~-éA?&=#:@", max_size=60))
def test_canonicalization_is_idempotent(path: str) -> None:
    key = result_key(f"https://example.com/{path}")
    assert result_key(f"https://{key}") == key

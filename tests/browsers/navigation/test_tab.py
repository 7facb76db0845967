"""URLs that a tab's HTTP cache may contain."""

from __future__ import annotations

import pytest

from browsers.navigation.tab import MAX_CACHED_BYTES, MAX_CACHED_URLS, CachedUrls


@pytest.mark.parametrize(
    "spelling",
    [
        "http://site.example/a%20page?q=1",
        "http://SITE.example/a page?q=1",
        "http://site.example/a%20page?q=1#part",
        "http://site.example/%61%20page?q=%31",
        "http://name:word@site.example/a%20page?q=1",
    ],
)
def test_cached_url_is_found_in_every_spelling(spelling: str) -> None:
    cached = CachedUrls()
    cached.add("http://site.example/a%20page?q=1")
    assert spelling in cached


@pytest.mark.parametrize("host", ["127.0.0.3:8080", "10.0.255.1", "8.8.8.8", "site.example.", "a-1.b_c.example:8080"])
def test_other_normalized_url_is_not_found(host: str) -> None:
    cached = CachedUrls()
    cached.add(f"http://{host}/1")
    assert f"http://{host}/2" not in cached
    assert f"http://{host}/1" in cached


def test_root_url_is_found_with_and_without_slash() -> None:
    cached = CachedUrls()
    cached.add("http://site.example/")
    assert "http://site.example" in cached


@pytest.mark.parametrize(
    ("spelling", "normalized"),
    [
        ("http://site.example:80/x", "http://site.example/x"),
        ("http://site.example:0443/x", "http://site.example:443/x"),
        ("http://site.example/x/../y", "http://site.example/y"),
        ("http://site.example/%2E/y", "http://site.example/y"),
        ("http://site.example/x/.%2e/y", "http://site.example/y"),
        ("http://site.example/x\\y", "http://site.example/x/y"),
        ("http://\N{FULLWIDTH LATIN SMALL LETTER S}ite.example/x", "http://site.example/x"),
        ("http://\N{LATIN SMALL LETTER LONG S}ite.example/x", "http://site.example/x"),
        ("http://8.0x8/x", "http://8.0.0.8/x"),
        ("http://134744072/x", "http://8.8.8.8/x"),
        ("http://127.0.0.01/x", "http://127.0.0.1/x"),
        ("http://[2001:DB8:0::1]/x", "http://[2001:db8::1]/x"),
    ],
)
def test_unnormalized_spelling_of_a_cached_url_is_found(spelling: str, normalized: str) -> None:
    cached = CachedUrls()
    assert spelling not in cached
    cached.add(normalized)
    assert spelling in cached


@pytest.mark.parametrize("spelling", ["http://127.0.0.256/x", "http://127.0.0.3.4/x", "//site.example/x"])
def test_invalid_url_is_found_while_any_url_is_cached(spelling: str) -> None:
    cached = CachedUrls()
    assert spelling not in cached
    cached.add("http://other.example/")
    assert spelling in cached


def test_entries_of_an_earlier_visit_count_until_the_cache_is_emptied() -> None:
    cached = CachedUrls()
    cached.begin()
    cached.add("http://site.example/a")
    assert not cached.has_other_visits
    cached.begin()
    assert cached.has_other_visits
    cached.clear()
    assert not cached.has_other_visits


@pytest.mark.parametrize(
    "other",
    [
        "http://site.example/b",
        "http://site.example/a?q=2",
        "http://x.example/a",
        "http://site.example:8080/a",
        "https://site.example/b?next=/../x",
        "http://site.example./a#../b",
    ],
)
def test_other_urls_are_not_found(other: str) -> None:
    cached = CachedUrls()
    cached.add("http://site.example/a")
    assert other not in cached


def test_cache_is_full_by_number_or_size() -> None:
    many, big = CachedUrls(), CachedUrls()
    for number in range(MAX_CACHED_URLS + 1):
        assert not many.full
        many.add(f"http://site.example/{number}")
    big.add("http://site.example/", MAX_CACHED_BYTES + 1)
    assert many.full and big.full
    big.clear()
    assert not big.full and "http://site.example/" not in big

"""URLs of one page have one key; files, actions and languages are recognized."""

from __future__ import annotations

import pytest

from scraper.site.crawl_scope import is_action, is_file
from scraper.site.url_patterns import find_language
from scraper.urls import page_key


@pytest.mark.parametrize(
    "other",
    [
        "http://site.example/a",
        "https://www.site.example/a",
        "https://site.example:443/a",
        "https://site.example/a#part",
        "https://site.example//a",
        "https://site.example/a?utm_source=x&fbclid=y",
        "https://site.example/a?PHPSESSID=0123456789abcdef0",
        "https://site.example/a;jsessionid=12AB",
        "https://SITE.example/a",
        "https://site.example./a",
        "https://site.example/%61",
    ],
)
def test_urls_of_one_page_have_one_key(other: str) -> None:
    assert page_key(other) == page_key("https://site.example/a")


@pytest.mark.parametrize(
    "other",
    [
        "https://site.example/A",
        "https://site.example/a/",
        "https://site.example/a?page=2",
        "https://site.example/a#!/b",
        "https://docs.site.example/a",
    ],
)
def test_other_pages_have_other_keys(other: str) -> None:
    assert page_key(other) != page_key("https://site.example/a")


def test_only_known_names_are_those_of_session_ids() -> None:
    value = "0123456789abcdef0"
    for name in ("PHPSESSID", "sess_id", "phpsession_", "session_id", "ASPSESSIONIDQQ", "oscsid"):
        assert page_key(f"https://site.example/a?{name}={value}") == page_key("https://site.example/a")
    for name in ("s_id", "php_sid", "phpsid", "zen_id", "asp_session_id"):
        assert page_key(f"https://site.example/a?{name}={value}") != page_key("https://site.example/a")


def test_index_pages_and_the_order_of_parameters_do_not_matter() -> None:
    assert page_key("https://site.example/a/index.html") == page_key("https://site.example/a/")
    assert page_key("https://site.example/?b=2&a=1") == page_key("https://site.example/?a=1&b=2")


@pytest.mark.parametrize("separator", ["&amp;", "&amp;amp;", "&amp;amp;amp;"])
def test_escaped_ampersands_do_not_matter(separator: str) -> None:
    assert page_key(f"https://site.example/a?x=1{separator}y=2") == page_key("https://site.example/a?x=1&y=2")
    assert page_key("https://site.example/a?amplitude=1") != page_key("https://site.example/a?litude=1")


def test_files_and_actions_are_no_pages() -> None:
    assert is_file("https://site.example/logo.PNG") and is_file("https://site.example/feed.xml?x=1")
    assert not is_file("https://site.example/report.pdf") and not is_file("https://site.example/node.js/guide")
    assert is_action("https://site.example/p?action=edit") and is_action("https://site.example/shop/add-to-cart?id=1")
    assert is_action("https://site.example/?do=remove") and is_action("https://site.example/cart/add_to_cart/7")
    for path in (
        "guide/add-to-cart",
        "cli/login",
        "api/cart",
        "rest/orders?action=history",
        "blog/login-pages-that-work",
    ):
        assert not is_action(f"https://site.example/{path}")


def test_languages_of_urls() -> None:
    assert find_language("https://site.example/de/a") == "de"
    assert find_language("https://site.example/docs/pt-br/a") == "pt"
    assert find_language("https://fr.site.example/a") == "fr"
    assert find_language("https://site.example/a?lang=ja") == "ja"
    assert find_language("https://site.example/go/a") == ""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.errors import InvalidUrlError
from scraper.urls import host_of, parse_target, request_key, same_site


def refusal(text: str) -> str:
    with pytest.raises(InvalidUrlError) as caught:
        parse_target(text)
    return caught.value.sentence()


@pytest.mark.parametrize(
    ("given_url", "visited"),
    [
        ("https://example.com", "https://example.com/"),
        ("  https://example.com/a \n", "https://example.com/a"),
        ("HTTP://ExAmple.COM:80/a/../b#c", "http://example.com/b#c"),
        ("http://x.com/a b", "http://x.com/a%20b"),
        ("https://пример.рф/путь", "https://xn--e1afmkfd.xn--p1ai/%D0%BF%D1%83%D1%82%D1%8C"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://[::FFFF:7f00:1]/", "http://[::ffff:7f00:1]/"),
        ('"https://example.com/a"', "https://example.com/a"),
        ("<https://example.com/a>", "https://example.com/a"),
        (" `https://example.com/it's` ", "https://example.com/it's"),
        ("https://example.com/'a'", "https://example.com/'a'"),
        ("https://example.com/a?q=@b\\c", "https://example.com/a?q=@b\\c"),
    ],
)
def test_a_web_url_is_returned_in_canonical_form(given_url: str, visited: str) -> None:
    assert parse_target(given_url) == visited
    assert parse_target(visited) == visited


@pytest.mark.parametrize(
    "query",
    ["python", "what is node.js", "node.js tutorial", "天気 東京", "C++", "site:example.com rust", "intitle:rust"],
)
def test_the_error_for_a_search_query_names_search(query: str) -> None:
    assert (
        refusal(query) == f'"{query}" looks like a search query: use the `search` tool. '
        "Search finds pages; then fetch one of their URLs."
    )


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("example.com", "https://example.com"),
        ("www.example.com/a?b=c", "https://www.example.com/a?b=c"),
        ("example.com:8080/x", "https://example.com:8080/x"),
        ("//example.com/x", "https://example.com/x"),
        ("пример.рф", "https://пример.рф"),
        ("localhost:8000/x", "http://localhost:8000/x"),
        ("192.0.2.7/x", "http://192.0.2.7/x"),
    ],
)
def test_a_missing_scheme_gets_a_suggestion(text: str, meant: str) -> None:
    assert refusal(text) == f'"{text}" has no scheme. Did you mean "{meant}"?'


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        ("file:///etc/passwd", "file"),
        ("FILE:///etc/passwd", "file"),
        ("javascript:alert(1)", "javascript"),
        ("data:text/html,<p>x", "data"),
        ("view-source:https://example.com", "view-source"),
        ("filesystem:https://example.com/temporary/x", "filesystem"),
        ("chrome://settings", "chrome"),
        ("ftp://example.com/x", "ftp"),
        ("ws://example.com", "ws"),
        ("mailto:a@example.com", "mailto"),
        ("strange-thing://x y", "strange-thing"),
    ],
)
def test_other_schemes_are_refused_by_name(text: str, scheme: str) -> None:
    assert refusal(text).startswith(f"`{scheme}:` URLs are not fetched, only http: and https:.")


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_a_blank_url_is_empty(text: str) -> None:
    assert refusal(text) == "The URL is empty. Give an absolute URL such as https://example.com/page."


@pytest.mark.parametrize("character", ["\x00", "\t", "\n", "\x7f", "\u200b", "\u202e", "\ufeff", "\U000e0041"])
def test_control_and_invisible_characters_are_refused_and_not_repeated(character: str) -> None:
    sentence = refusal(f"https://exam{character}ple.com/")
    assert "control or invisible characters" in sentence
    assert character not in sentence


@pytest.mark.parametrize(
    "text", ["http://127.0.0.1:6666\\@1.1.1.1", "https://example.com\\@evil.example", "https://example.com/a\\b"]
)
def test_a_backslash_before_the_query_is_refused(text: str) -> None:
    assert "backslash" in refusal(text)


@pytest.mark.parametrize(
    "text", ["https://example.com@evil.example/", "https://user:password@example.com/", "https://@example.com/"]
)
def test_a_user_name_is_refused(text: str) -> None:
    assert "user name before its host" in refusal(text)


@pytest.mark.parametrize("text", ["http://", "http:", "https:///example.com", "http:example.com", "http:\\\\x.com"])
def test_a_url_without_host_is_refused(text: str) -> None:
    assert "has no host" in refusal(text)


def test_a_url_is_suggested_only_if_there_is_a_host() -> None:
    assert 'Did you mean "http://x.com"?' in refusal("http:/x.com")
    assert "Did you mean" not in refusal("http://?q=1") + refusal("http://#top")


def test_a_host_name_over_the_limit_is_refused() -> None:
    assert "no host can have" in refusal("http://" + "a." * 130 + "example/")
    parse_target("http://" + "a." * 120 + "example./")


@pytest.mark.parametrize("text", ["https://exa mple.com/", "https://example.com and more words"])
def test_a_space_in_the_host_is_refused(text: str) -> None:
    assert "space in its host name" in refusal(text)


@pytest.mark.parametrize("text", ["http://999.1.1.1/", "https://x:99999/", "http://a%00b/", "http://[::1/"])
def test_a_url_that_the_parser_rejects_is_refused(text: str) -> None:
    assert "is not a valid URL" in refusal(text)


def test_an_over_long_url_is_refused_before_and_after_encoding() -> None:
    assert "longer than 8,000 characters" in refusal("https://example.com/" + "a" * 8_000)
    assert "longer than 8,000 characters" in refusal("https://example.com/" + "é" * 2_000)


def test_a_long_argument_is_not_repeated_whole() -> None:
    assert len(refusal("word " * 1_000)) < 300


def test_local_paths_are_not_taken_for_queries() -> None:
    assert "is a path, not a URL" in refusal("/etc/passwd")
    assert "is a path, not a URL" in refusal("C:\\Users\\x.html")


@given(st.text(alphabet=string.printable + "é例\u202e\x00@\\", max_size=60))
def test_accepted_urls_are_canonical_http_without_user_or_control_characters(text: str) -> None:
    try:
        url = parse_target(text)
    except InvalidUrlError as error:
        assert error.next_step
        return
    assert url.startswith(("http://", "https://"))
    assert url.isascii() and url.isprintable() and " " not in url
    assert "@" not in url.split("/")[2]
    assert host_of(url)
    assert parse_target(url) == url


def test_the_request_key_drops_the_fragment_unless_a_script_routes_by_it() -> None:
    assert request_key("https://example.com/a#b") == "https://example.com/a"
    assert request_key("https://example.com/a?b#") == "https://example.com/a?b"
    assert request_key("https://example.com/#!/inbox") == "https://example.com/#!/inbox"
    assert request_key("https://example.com/#/about") == "https://example.com/#/about"


def test_the_host_is_lower_case_without_port_and_dot() -> None:
    assert host_of("https://example.com.:8443/x") == "example.com"
    assert host_of("not a url") == ""


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://example.com/a", "http://www.example.com/b", True),
        ("https://a.example.com/", "https://b.example.com/", True),
        ("https://example.com/", "https://example.org/", False),
        ("https://a.co.uk/", "https://b.co.uk/", False),
        ("https://www.a.co.uk/", "https://a.co.uk/", True),
        ("https://one.github.io/", "https://two.github.io/", False),
        ("https://one.github.io/", "https://www.one.github.io/", True),
        ("https://127.0.0.1/", "https://10.0.0.1/", False),
        ("https://127.0.0.1/", "http://127.0.0.1:8000/", True),
        ("not a url", "not a url", False),
    ],
)
def test_same_site_goes_by_the_registrable_domain(one: str, other: str, same: bool) -> None:
    assert same_site(one, other) is same

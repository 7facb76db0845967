"""Every text that a person types becomes a valid query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.engines import request_builder


@pytest.mark.parametrize(
    ("given_text", "sent"),
    [
        ("!w foo", '"!w" foo'),
        ("foo !gi bar", 'foo "!gi" bar'),
        ('"the !w bang" foo', '"the !w bang" foo'),
        ("css !important", 'css "!important"'),
        ("Yahoo! stock", "Yahoo stock"),
        ("\\lucky", "lucky"),
        ("! lucky", "lucky"),
        ("wow", "wow"),
        ("a != b", "a != b"),
        ("100% sure?", "100% sure?"),
    ],
)
def test_bangs_are_searched_for_and_not_obeyed(given_text: str, sent: str) -> None:
    assert request_builder.quote_bangs(given_text) == sent


def test_control_characters_and_line_breaks_are_spaces() -> None:
    assert request_builder.join_query("a\x00b\r\nc\u2028d\ud800e") == "a b c d e"


def test_emoji_and_chinese_stay() -> None:
    assert request_builder.join_query("天气 🌧️ 预报") == "天气 🌧️ 预报"


def test_a_long_query_is_cut_behind_a_word_and_keeps_its_operators() -> None:
    text = request_builder.join_query("word " * 400, "site:example.com")
    assert len(text) <= request_builder.MAX_QUERY_CHARS
    assert text.endswith("word site:example.com")


def test_a_long_query_without_spaces_is_cut_where_it_must_be() -> None:
    assert request_builder.join_query("字" * 2_000) == "字" * request_builder.MAX_QUERY_CHARS


@given(st.text(max_size=1_500), st.sampled_from(["", "site:a.example", "filetype:pdf (site:a OR site:b)"]))
def test_every_query_is_one_bounded_line(text: str, words: str) -> None:
    sent = request_builder.join_query(text, words)
    assert len(sent) <= request_builder.MAX_QUERY_CHARS
    assert sent == " ".join(sent.split())
    assert sent.endswith(words)


@pytest.mark.parametrize(
    ("domain", "host"),
    [
        ("python.org", "python.org"),
        ("https://www.python.org/docs?x=1", "python.org"),
        ("*.Example.COM", "example.com"),
        (" user@example.com:8080 ", "example.com"),
        ("", ""),
        ("münchen.de", "münchen.de"),
    ],
)
def test_host_is_parsed_from_a_domain_filter(domain: str, host: str) -> None:
    assert request_builder.host_of_domain(domain) == host

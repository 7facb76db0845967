"""Every query is searched unchanged, or refused with the problem and its argument."""

from __future__ import annotations

import pytest

from scraper.engines.model import DEFAULT_ENGINES
from scraper.engines.registry import ENGINES
from scraper.errors import InvalidArgumentError
from scraper.search import argument_validation
from scraper.search.fusion import MAX_RESULT_AGE


@pytest.mark.parametrize(
    "text",
    [
        '"exact words" -other',
        "天気 東京 明日",
        "🦆👩‍👩‍👧 pond",
        "!w rust",
        "what is https://example.com",
        "c++ > c",
        "example.com",
        "?",
    ],
)
def test_queries_of_any_kind_are_unchanged(text: str) -> None:
    assert argument_validation.parse_query(text) == text


def test_invisible_characters_and_line_breaks_are_removed() -> None:
    assert argument_validation.parse_query("a\x00b\r\nc\td\u200be\ud800") == "ab c de?"


def test_a_query_has_at_most_2000_characters() -> None:
    assert len(argument_validation.parse_query("word " * 400)) == 1_999
    with pytest.raises(InvalidArgumentError, match=r"query has 2,004 characters; at most 2,000"):
        argument_validation.parse_query("word" * 501)


@pytest.mark.parametrize("text", ["", "  \n ", "\x00\x01", "\u200b"])
def test_an_empty_query_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"query is empty"):
        argument_validation.parse_query(text)


@pytest.mark.parametrize("text", ["https://example.com/page?q=1", " HTTP://example.com "])
def test_the_error_for_a_url_names_fetch(text: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        argument_validation.parse_query(text)
    assert "query is a URL" in str(caught.value) and "`fetch`" in caught.value.sentence()


def names(given: list[str] | None) -> list[str]:
    return [engine.name for engine in argument_validation.parse_engines(given, ENGINES, DEFAULT_ENGINES)]


def test_default_engines_are_used_without_names() -> None:
    assert names(None) == list(DEFAULT_ENGINES)
    assert names(["Bing ", "bing"]) == ["bing"]


def test_the_error_for_an_unknown_engine_lists_the_known() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        names(["duckduck"])
    assert caught.value.sentence() == (
        '"duckduck" is not a search engine (did you mean "duckduckgo"?). '
        "Known: duckduckgo, mojeek, googlenews, startpage, brave, bing, baidu."
    )


def test_an_empty_list_of_engines_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"engines is an empty list"):
        names([])


def test_domains_are_parsed_in_common_forms() -> None:
    given = ["https://www.Python.org/docs", "*.example.com", "bücher.example", "python.org"]
    assert argument_validation.parse_domains("include_domains", given) == (
        "python.org",
        "example.com",
        "xn--bcher-kva.example",
    )


@pytest.mark.parametrize("domain", ["python", "two words", "", "..", ".", f"ü{'a' * 70}.example"])
def test_the_error_for_an_invalid_domain_names_the_argument(domain: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^exclude_domains contains "):
        argument_validation.parse_domains("exclude_domains", [domain])


def test_the_error_for_a_value_out_of_range_names_the_argument() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^max_results must be from 1 to 50, not 51"):
        argument_validation.check_range("max_results", 51, 1, 50)
    with pytest.raises(InvalidArgumentError, match=r'^freshness must be one of day, week, month, year, not "hour"'):
        argument_validation.check_choice("freshness", "hour", MAX_RESULT_AGE)

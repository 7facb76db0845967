"""Shortened texts, suggestions and durations."""

from __future__ import annotations

import pytest

from scraper.values.text import format_clock, format_duration, read_statements, suggest, truncate


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("ferry", 5, "ferry"),
        ("ferries", 5, "ferr…"),
        ("one two", 5, "one…"),
        ("", 5, ""),
        ("x" * 61, 60, "x" * 59 + "…"),
    ],
)
def test_a_long_text_ends_with_an_ellipsis(text: str, limit: int, short: str) -> None:
    assert truncate(text, limit) == short


@pytest.mark.parametrize(
    ("word", "hint"), [("ftech", ' (did you mean "search-mcp fetch"?)'), ("zzz", ""), ("fetch" * 13, "")]
)
def test_a_misspelled_word_gets_the_most_similar_candidate(word: str, hint: str) -> None:
    assert suggest(word, ("search", "fetch"), prefix="search-mcp ") == hint


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (90, "90 s"),
        (120, "2 min"),
        (7_199, "120 min"),
        (7_200, "2 h"),
        (172_800, "2 days"),
        (1e8, "1,157 days"),
    ],
)
def test_a_duration_has_its_largest_unit(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (65, "1:05"), (4_500, "1:15:00"), (86_400, "24:00:00")])
def test_a_clock_has_hours_only_where_there_are_some(seconds: float, text: str) -> None:
    assert format_clock(seconds) == text


def test_statements_of_a_file_are_found_by_name_without_comments() -> None:
    statements = read_statements("scraper.store", "record_statements.sql")
    assert set(statements) == {"prune", "append", "read", "delete", "list"}
    assert statements["delete"].startswith("DELETE FROM records\nWHERE ")
    assert not any("--" in statement or statement != statement.strip() for statement in statements.values())

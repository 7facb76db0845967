"""PDF lines and cells that could make pattern matching slow."""

from __future__ import annotations

import pytest

from scraper.documents.pdf import blocks, headers_and_footers, stream_tables, table_cells, text_assembly
from tests.scraper.soon import soon

LONG = 100_000


@pytest.mark.parametrize(
    ("cell", "left"),
    [("Chapter 1 . . . . .", "Chapter 1"), ("a...", "a"), ("e.g. .", "e.g. ."), ("....", ""), ("a. b", "a. b")],
)
def test_leader_dots_are_removed_from_cells(cell: str, left: str) -> None:
    assert stream_tables.remove_leader_dots(cell) == left


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("One .... 12", "One … 12"),
        ("One . . . . xii", "One … xii"),
        ("One.... 12 a", "One.... 12 a"),
        ("One ... 12", "One ... 12"),
    ],
)
def test_leader_dots_before_a_page_number_become_an_ellipsis(line: str, entry: str) -> None:
    assert blocks._LEADER.sub(r" … \1", line) == entry


@pytest.mark.parametrize(
    ("cell", "is_number"),
    [("1,299.00", True), ("12 %", True), ("-", True), ("n/a", True), ("3b", True), ("b", False), ("3 ab", False)],
)
def test_numbers_are_distinguished_from_words(cell: str, is_number: bool) -> None:
    assert table_cells.is_number(cell) is is_number


@pytest.mark.parametrize("piece", [" ", ".", ". ", "1", "a", "1 ", "a=", "$"])
def test_patterns_are_fast_for_hostile_lines(piece: str) -> None:
    text = f"{piece * (LONG // len(piece))}\0"
    with soon():
        stream_tables.remove_leader_dots(text)
        blocks._LEADER.search(text)
        blocks._FORMULA.fullmatch(text)
        table_cells.is_number(text)
        text_assembly._LAST_WORD.search(text)
        headers_and_footers._PAGE_NUMBER.fullmatch(text)
        headers_and_footers._BARE_NUMBER.fullmatch(text)

"""PDF lines and cells that could make pattern matching slow."""

from __future__ import annotations

import pytest

from scraper.extract.documents.pdf import cells, paragraphs, rows, running_lines, stream_tables
from tests.scraper.soon import soon

LONG = 100_000


@pytest.mark.parametrize(
    ("cell", "left"),
    [("Chapter 1 . . . . .", "Chapter 1"), ("a...", "a"), ("e.g. .", "e.g. ."), ("....", ""), ("a. b", "a. b")],
)
def test_leader_dots_are_removed_from_cells(cell: str, left: str) -> None:
    assert stream_tables._remove_leader_dots(cell) == left


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
    assert paragraphs._LEADER.sub(r" … \1", line) == entry


@pytest.mark.parametrize(
    ("cell", "is_number"),
    [("1,299.00", True), ("12 %", True), ("-", True), ("n/a", True), ("3b", True), ("b", False), ("3 ab", False)],
)
def test_numbers_are_distinguished_from_words(cell: str, is_number: bool) -> None:
    assert cells.is_number(cell) is is_number


@pytest.mark.parametrize("piece", [" ", ".", ". ", "1", "a", "1 ", "a=", "$"])
def test_patterns_are_fast_for_hostile_lines(piece: str) -> None:
    text = f"{piece * (LONG // len(piece))}\0"
    with soon():
        stream_tables._remove_leader_dots(text)
        paragraphs._LEADER.search(text)
        paragraphs._FORMULA.fullmatch(text)
        cells.is_number(text)
        rows._LAST_WORD.search(text)
        running_lines._PAGE_NUMBER.fullmatch(text)
        running_lines._BARE_NUMBER.fullmatch(text)

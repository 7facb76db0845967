"""The headings of a Markdown text and their positions."""

from __future__ import annotations

import pytest

from scraper.extract.text.markdown_structure import (
    MAX_HEADINGS,
    clean_markdown,
    find_atomic_blocks,
    find_headings,
    is_table_row,
)
from tests.scraper.soon import soon


def test_headings_have_their_levels_and_offsets() -> None:
    markdown = "# One\n\nText # no heading\n\n### Two\n"
    found = find_headings(markdown)
    assert [(one.level, one.text) for one in found] == [(1, "One"), (3, "Two")]
    assert [markdown[one.start :].split("\n")[0] for one in found] == ["# One", "### Two"]


def test_number_signs_in_code_are_not_headings() -> None:
    markdown = "````\n# a comment\n```\n# another\n````\n\n# One"
    assert [one.text for one in find_headings(markdown)] == ["One"]


@pytest.mark.parametrize("marker", ["- ", "12. ", "> ", ":   ", "> - "])
def test_code_at_the_beginning_of_an_item_ends_with_its_fence(marker: str) -> None:
    inset = "".join(one if one == ">" else " " for one in marker)
    markdown = f"{marker}```\n{inset}# a comment\n{inset}```\n\n# One"
    assert [one.text for one in find_headings(markdown)] == ["One"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[A link](https://e.example/a_(b)) and *more*", "A link and more"),
        ("![A picture](p.png) of `code`", "A picture of code"),
        (r"\[1\](2) is no link", "[1](2) is no link"),
        (r"[with \] in it](u)", "with ] in it"),
        (r"a \\[link](u)", r"a \\link"),
    ],
)
def test_headings_have_no_markup(written: str, shown: str) -> None:
    assert [one.text for one in find_headings(f"# {written}")] == [shown]


def test_the_number_of_headings_is_limited() -> None:
    assert len(find_headings("# a\n" * (MAX_HEADINGS + 1))) == MAX_HEADINGS


@pytest.mark.parametrize("piece", ["[\\[", "![", "[a](", "[a](b(", "#", "*", "\n"])
def test_a_hostile_heading_is_parsed_fast(piece: str) -> None:
    with soon():
        find_headings("# " + piece * (200_000 // len(piece)))


@pytest.mark.parametrize("marker", ["", "- ", "12. ", ":   "])
def test_a_fence_is_found_after_the_marker_of_an_item(marker: str) -> None:
    inset = " " * len(marker)
    markdown = f"{marker}```py\n{inset}x = 1\n{inset}```\n\nWords.\n"
    found = find_atomic_blocks(markdown, len(markdown))
    assert [markdown[one.start : one.end] for one in found] == [markdown.split("\n\n")[0]]
    assert found[0].opening == f"{inset}```py\n"


def test_a_table_row_is_found_after_the_marker_of_a_term() -> None:
    assert is_table_row(":   | a | b |")


@pytest.mark.parametrize("unseen", ["\u2060", "\u180b", "\u3164", "\U000e0041", "\u00a0", "\u2003", "\u2800"])
def test_white_space_beside_invisible_characters_carries_no_message(unseen: str) -> None:
    marked = (
        f"# One {unseen} two\n\n{unseen}\n\n- a {unseen}{unseen} b{unseen}\n\n{unseen}end{unseen}\n| c {unseen} | d |"
    )
    assert clean_markdown(marked)[0] == "# One two\n\n- a b\n\nend\n| c | d |"


def test_white_space_with_a_meaning_stays() -> None:
    code = "```\na  = 1\n\n\n b\u2060\n```"
    text = f"one\u2060  \ntwo\n\n- a\n  - b  c\n\n{code}\n\n    d"
    assert clean_markdown(text) == (text.replace("\u2060", "").replace("b  c", "b c"), 2)
    assert clean_markdown("a  b\n\n\nc") == ("a  b\n\n\nc", 0)

"""The headings of a Markdown text and their positions."""

from __future__ import annotations

import pytest

from scraper.text.markdown_structure import MAX_HEADINGS, find_headings
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

"""Code blocks, tables and invisible characters of a Markdown text."""

from __future__ import annotations

import pytest

from scraper.text.markdown_structure import clean_markdown, find_atomic_blocks, is_table_row


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

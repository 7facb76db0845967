"""Markdown becomes nodes of known kinds, and HTML in it stays text."""

from __future__ import annotations

from scraper.server.playground.markdown_nodes import MAX_CHARS, markdown_nodes


def test_blocks_and_inlines_become_nodes() -> None:
    assert markdown_nodes("# A *b*\n\n- c\n- d\n") == [
        ["h1", {}, "A ", ["em", {}, "b"]],
        ["ul", {}, ["li", {}, ["p", {}, "c"]], ["li", {}, ["p", {}, "d"]]],
    ]


def test_html_stays_text() -> None:
    assert markdown_nodes("<script>x</script>") == [["p", {}, "<script>x</script>"]]


def test_a_link_keeps_its_target_and_a_dangerous_one_stays_text() -> None:
    assert markdown_nodes("[a](http://x.example/ 't')") == [["p", {}, ["a", {"href": "http://x.example/"}, "a"]]]
    assert markdown_nodes("[a](javascript:alert(1))") == [["p", {}, "[a](javascript:alert(1))"]]


def test_a_picture_becomes_its_description() -> None:
    assert markdown_nodes("![a ship](http://x.example/s.png)") == [["p", {}, ["span", {"class": "image"}, "a ship"]]]


def test_only_the_first_part_of_a_very_long_text_is_rendered() -> None:
    assert markdown_nodes("x" * (MAX_CHARS + 1)) == [["p", {}, "x" * MAX_CHARS]]

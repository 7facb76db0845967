"""The snippet of a hit is the passage that matches the query best."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scraper.store.query import parse_query
from scraper.store.snippets import SNIPPET_CHARS, find_best_snippet

PAGE = "\n\n".join(
    [
        "# Windmills",
        "A first paragraph of other things.",
        "Only the mill is here.",
        "x " * 400,
        "Here the wind turns the mill, and nowhere else.",
        "The end.",
    ]
)


def snippet(query: str, page: str = PAGE) -> str:
    return find_best_snippet(page, parse_query(query).terms).text


def test_the_snippet_marks_the_words_of_the_densest_passage() -> None:
    assert snippet("wind mill") == "…Here the [wind] turns the [mill], and nowhere else.…"


def test_reading_on_begins_at_the_passages_paragraph() -> None:
    start = find_best_snippet(PAGE, parse_query("wind mill").terms).start
    assert PAGE[start:].startswith("Here the wind")


def test_accents_and_case_do_not_hide_a_word() -> None:
    assert snippet("cafe", "Im CAFÉ sitzen") == "Im [CAFÉ] sitzen"


def test_a_word_inside_another_is_not_marked() -> None:
    assert snippet("art", "start of art") == "start of [art]"


def test_a_prefix_is_marked_as_far_as_it_goes() -> None:
    assert snippet("wind*", "windmills") == "[wind]mills"


def test_scripts_without_spaces_are_marked() -> None:
    assert snippet("学習", "機械学習は楽しい") == "機械[学習]は楽しい"
    assert snippet("เรียน", "การเรียนรู้") == "การ[เรียน]รู้"
    assert snippet("学習とは何ですか", "機械学習は楽しい") == "機械[学習]は楽しい"


def test_signs_that_are_part_of_a_name_are_marked() -> None:
    assert snippet("C++", "C or C++ or c++x") == "C or [C++] or c++x"


def test_a_phrase_is_marked_with_any_separators() -> None:
    assert snippet('"node js"', "use node.js now") == "use [node.js] now"


def test_excluded_terms_are_not_marked() -> None:
    assert snippet("mill NOT wind", "wind and mill") == "wind and [mill]"


def test_without_a_place_the_beginning_is_shown() -> None:
    assert find_best_snippet(PAGE, parse_query("absent").terms).text.startswith("# Windmills A first")


@given(st.text(), st.text(max_size=20))
def test_a_passage_is_short_and_its_start_lies_in_the_page(page: str, query: str) -> None:
    passage = find_best_snippet(page, parse_query(query).terms)
    assert 0 <= passage.start <= len(page)
    assert len(passage.text) <= SNIPPET_CHARS + 3 * len(query) + 200 or len(query) > SNIPPET_CHARS

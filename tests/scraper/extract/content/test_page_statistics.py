from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.extract.content.feature_matrix import compute_topic_columns
from scraper.extract.content.page_statistics import PageStatistics
from scraper.text.terms import split_words
from tests.scraper.extract.content.trees import build_statistics

NESTED = st.recursive(
    st.just("<p>word</p>"),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"<div>{''.join(parts)}</div>"),
    max_leaves=20,
)


def around(page: PageStatistics, element: int) -> list[int]:
    """Return an element and its ancestors, from the inside out."""
    found = [element]
    while page.parent[found[-1]] >= 0:
        found.append(int(page.parent[found[-1]]))
    return found


@given(NESTED, st.integers(0, 1_000))
def test_values_of_ancestors_are_combined_as_level_by_level(html: str, seed: int) -> None:
    page = build_statistics(html)
    chance = np.random.default_rng(seed)
    values = chance.integers(0, 2**40, len(page.parent))
    has = chance.random((len(page.parent), 2)) < 0.3
    sums, bits = page.combine_ancestors(values, np.add, 0), page.combine_ancestors(values, np.bitwise_or, 0)
    nearest, paths = page.find_nearest(has), page.hash_paths(values.astype(np.uint64))
    for element in range(len(page.parent)):
        way = around(page, element)
        assert sums[element] == sum(int(values[one]) for one in way)
        assert bits[element] == np.bitwise_or.reduce(values[way])
        for kind in range(2):
            assert nearest[element, kind] == next((one for one in way if has[one, kind]), -1)
        above = int(paths[page.parent[element]]) if page.parent[element] >= 0 else 0
        assert int(paths[element]) == (int(values[element]) + above * 0x100000001B3) % 2**64


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("Comments", "comments"),
        ("12 KOMMENTARE", "comments"),
        ("İLGİLİ HABERLER", "others"),  # no other letter than İ is two in lower case
        ("ЧИТАЙТЕ ТАКЖЕ", "others"),
        ("相关推荐", "others"),
        ("Customer REVIEWS", "reviews"),
        ("Share this", "actions"),
        ("Commentary of a game", ""),
    ],
)
def test_topic_lines_are_found_in_any_case(line: str, topic: str) -> None:
    page = build_statistics(f"<p>The text of a page</p><h2>{line}</h2><p>More of it</p>")
    columns = compute_topic_columns(page)
    found = [name for name in ("comments", "others", "reviews", "actions") if columns[f"since_{name}"][2] == 1]
    assert found == ([topic] if topic else [])


def test_text_of_every_script_is_split_into_words() -> None:
    assert split_words("Two Words, 3!", by_character=True) == ["two", "words", "3"]
    assert split_words("Ωμέγα и Ёлка", by_character=True) == ["ωμέγα", "и", "ёлка"]
    assert split_words("漢字とかな ab", by_character=True) == ["漢", "字", "と", "か", "な", "ab"]
    assert len(split_words("สวัสดี", by_character=True)) > 2


def test_ascii_text_is_split_as_by_the_expression_for_all_scripts() -> None:
    ascii_characters = "".join(map(chr, range(128)))
    text = f"a_b c-d 3.5 {ascii_characters} E"
    assert split_words(text, by_character=True) == re.findall(r"\w+", text.lower())


def test_passages_with_and_without_spaces_have_similar_lengths() -> None:
    english = "The weather will be fine tomorrow in the whole country."
    japanese = "明日は全国的に良い天気になるでしょう。"
    page = build_statistics(f"<p>{english}</p><p>{japanese}</p>")
    assert 0.5 < page.lengths[1] / page.lengths[0] < 2

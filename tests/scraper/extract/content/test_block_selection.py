from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.extract.content.block_classifier import PAGE_TYPES, estimate_f1, select_by_expected_f1
from scraper.extract.content.block_selection import (
    complete_tables,
    drop_duplicate_blocks,
    drop_duplicate_elements,
    drop_side_content,
    equalize_cards,
    find_teasers,
    select_blocks,
)
from scraper.extract.content.class_name_features import TEASERS
from scraper.extract.content.feature_matrix import compute_columns
from tests.scraper.extract.content.trees import build_statistics

blocks = st.lists(st.tuples(st.floats(0.01, 0.99), st.integers(1, 50)), min_size=1, max_size=8)


@given(blocks)
def test_the_selection_has_the_highest_expected_f1(pairs: list[tuple[float, int]]) -> None:
    p = np.array([pair[0] for pair in pairs])
    lengths = np.array([float(pair[1]) for pair in pairs])
    best = estimate_f1(select_by_expected_f1(p, lengths), p, lengths)
    for size in range(1, len(pairs) + 1):
        for some in combinations(range(len(pairs)), size):
            other = np.isin(np.arange(len(pairs)), some)
            assert estimate_f1(other, p, lengths) <= best + 1e-9


def test_the_threshold_depends_on_the_page() -> None:
    lengths = np.full(4, 10.0)
    assert select_by_expected_f1(np.array([0.9, 0.9, 0.1, 0.1]), lengths).tolist() == [True, True, False, False]
    assert select_by_expected_f1(np.array([0.3, 0.3, 0.3, 0.01]), lengths).tolist() == [True, True, True, False]


@pytest.mark.parametrize(("characters", "expected"), [(100.0, [True, False, True]), (10.0, [True, True, True])])
def test_repeated_long_texts_are_selected_once(characters: float, expected: list[bool]) -> None:
    chosen = np.array([True, True, True])
    no_cells = np.zeros(3, np.bool_)
    assert drop_duplicate_blocks(chosen, np.array([0, 0, 1]), np.full(3, characters), no_cells).tolist() == expected


def test_table_cells_may_repeat_a_text() -> None:
    texts, cells = np.array([0, 0, 0, 0]), np.array([False, True, True, False])
    remaining = drop_duplicate_blocks(np.ones(4, np.bool_), texts, np.full(4, 100.0), cells)
    assert remaining.tolist() == [True, True, True, False]


def drop_copies(texts: list[int], spans: list[tuple[int, int]], chosen: list[bool] | None = None) -> list[bool]:
    """Run the rule on blocks of 50 characters; a root element contains all of them."""
    all_spans = np.array([(0, len(texts)), *spans])
    mask = np.ones(len(texts), np.bool_) if chosen is None else np.array(chosen)
    lengths = np.full(len(texts), 50.0)
    remaining = drop_duplicate_elements(mask, np.array(texts), lengths, all_spans[:, 0], all_spans[:, 1])
    return [bool(one) for one in remaining]


def test_an_element_that_repeats_another_is_dropped() -> None:
    twice = [(0, 3), (3, 6)]
    assert drop_copies([0, 1, 2, 0, 1, 2], twice) == [True] * 3 + [False] * 3
    assert drop_copies([0, 1, 2, 0, 1, 3], twice) == [True] * 6
    assert drop_copies([0, 1, 1, 0], [(0, 2), (2, 4)]) == [True] * 4  # in another order they are other texts


def test_unselected_blocks_do_not_distinguish_duplicates() -> None:
    chosen = [True, True, False, True, True, False]
    assert drop_copies([0, 1, 2, 0, 1, 3], [(0, 3), (3, 6)], chosen) == [True, True] + [False] * 4


def test_a_single_block_is_not_a_duplicate_element() -> None:
    assert drop_copies([0, 1, 0], [(0, 1), (2, 3)]) == [True] * 3
    assert drop_copies([0, 0], [(0, 2), (0, 1), (1, 2)]) == [True] * 2


ARTICLE = {"article": 0.9, "forum": 0.0}


def test_comments_and_teasers_are_dropped_from_an_article_but_not_from_a_forum() -> None:
    words = "many words of a text " * 20
    page = build_statistics(
        f"<article><p>{words}</p></article><div class=comments><p>first</p></div>"
        "<div class=related-posts><p>another</p></div>"
    )
    compute_columns(page)
    everything = np.ones(page.n, np.bool_)
    assert drop_side_content(page, everything, np.full(page.n, 0.6), ARTICLE).tolist() == [True, False, False]
    assert drop_side_content(page, everything, np.full(page.n, 0.6), {"article": 0.4, "forum": 0.6}).all()


def test_a_page_that_consists_of_comments_keeps_them() -> None:
    page = build_statistics("<p>Thread</p><div class=comments>" + "<p>what somebody said of it</p>" * 20 + "</div>")
    compute_columns(page)
    assert drop_side_content(page, np.ones(page.n, np.bool_), np.full(page.n, 0.6), ARTICLE).all()


def test_a_mostly_selected_table_is_completed() -> None:
    rows = "<tr><td>a name</td><td>7</td></tr>" * 3
    page = build_statistics(f"<p>{'words before it ' * 10}</p><table>{rows}</table>")
    chosen = np.array([text != "7" for text in page.texts])
    unlikely = np.full(page.n, 0.01)
    assert complete_tables(page, chosen, unlikely)[0].all()
    first = np.array([number == 0 for number in range(page.n)])
    assert not complete_tables(page, first, unlikely)[0][1:].any()


def test_cards_show_the_same_parts() -> None:
    card = "<div class=card><h3>Kettle {0}</h3><span class=price><b>{0} euros</b></span><p>Buy {0}</p></div>"
    page = build_statistics("<p>Goods</p><div>" + "".join(card.format(number) for number in range(8)) + "</div>")
    compute_columns(page)
    chosen = np.array(
        [(text.startswith("Kettle") and text[-1] in "01234") or text in ("Buy 3", "Goods") for text in page.texts]
    )
    found = equalize_cards(page, chosen)
    texts = [text for text, one in zip(page.texts, found.tolist(), strict=True) if one]
    assert texts == ["Goods", *(f"Kettle {number}" for number in range(8))]


def test_removing_parts_of_cards_does_not_empty_the_page() -> None:
    post = "<div class=post><p>{0} words of one post of the thread</p><p>signature {0}</p></div>"
    page = build_statistics("<div>" + "".join(post.format(number) for number in range(8)) + "</div>")
    compute_columns(page)
    first = page.index == 0
    assert equalize_cards(page, first).tolist() == first.tolist()


@pytest.mark.parametrize(("count", "whole"), [(4, True), (3, False)])
def test_a_part_of_the_cards_selects_all_or_none(*, count: int, whole: bool) -> None:
    cards = "".join(f"<div class=card><h3>Name {number}</h3><p>{number} euros</p></div>" for number in range(9))
    page = build_statistics(f"<h1>Goods</h1><div>{cards}</div>")
    compute_columns(page)
    names = page.index % 2 == 1
    equal = equalize_cards(page, (names & (page.index < 2 * count)) | (page.index == 0))
    assert equal[1:].tolist() == (names[1:] & whole).tolist()


def test_controls_in_a_selected_heading_stay_out() -> None:
    page = build_statistics(
        "<title>Shop</title><h1>Kettle of steel with a lid<div>Add to another list</div></h1><p>text</p>",
        url="https://example.com/12",
    )
    chosen = np.array(["another" not in text for text in page.texts])
    compute_columns(page)
    types = dict.fromkeys(PAGE_TYPES, 0.0) | {"product": 0.9}
    assert select_blocks(page, chosen.astype(float), types).tolist() == chosen.tolist()


def test_a_section_whose_id_repeats_its_title_is_not_a_teaser() -> None:
    page = build_statistics("<section id=related-work><p>text</p></section><div id=related-posts><p>other</p></div>")
    compute_columns(page)
    assert (page.side_kinds & TEASERS > 0).tolist() == [False, True]


@pytest.mark.parametrize(
    ("line", "is_dropped"),
    [
        ("<a href=x>Lea también: Otra noticia del día</a>", True),
        ("Read more: <a href=x>Another story of the same day</a>", True),
        ("<a href=x>関連記事：別のニュース</a>", True),
        ("<a href=x>Mehr zum Thema: Noch eine Meldung</a>", True),
        ("Read more about it in the library, it said, and he did.", False),
        ("<a href=x>A link to a source</a>", False),
    ],
)
def test_teasers_are_deselected(line: str, is_dropped: bool) -> None:
    page = build_statistics(f"<p>A passage of the article.</p><p>{line}</p>")
    compute_columns(page)
    everything = np.ones(page.n, np.bool_)
    assert drop_side_content(page, everything, np.full(page.n, 0.9), ARTICLE).tolist() == [True, not is_dropped]


_PAGE = (
    "<body><div><p>Said above</p></div><article><p>Told</p><footer><p>Its own</p></footer></article>"
    "<footer><p>Of the page</p></footer><div role='contentinfo'><p>Of the page too</p></div></body>"
)


_ROWS = (("Boat", "Sloop"), ("x", "y"), ("z", "w"))
_TABLE = "".join(f"<tr><td>{one}</td><td>{other}</td></tr>" for one, other in _ROWS)


@pytest.mark.parametrize(("chosen", "whole"), [([], False), (["Boat"], False), (["Boat", "Sloop"], True)])
def test_a_table_with_a_third_selected_is_completed(chosen: list[str], *, whole: bool) -> None:
    page = build_statistics(f"<body><p>{'All that is told above it. ' * 6}</p><table>{_TABLE}</table></body>")
    compute_columns(page)
    selected = np.array([text in chosen for text in page.texts])
    cells, table = complete_tables(page, selected, selected * 0.5)
    assert table[1:].tolist() == [whole] * 6
    assert (cells == (table | selected)).all()


def is_teaser(line: str) -> bool:
    page = build_statistics(f"<p>The text of a page that goes on.</p><p>{line}</p>")
    return bool(find_teasers(page, np.ones(page.n, np.bool_))[1])


@pytest.mark.parametrize(
    "words",
    [
        "Read also:", "Lesen Sie auch:", "À lire aussi :", "Читайте також:", "Διαβάστε επίσης:", "관련기사",
        "อ่านเพิ่มเติม", "यह भी पढ़ें:", "আরও পড়ুন", "اقرأ أيضًا:", "بیشتر بخوانید:", "קראו גם:", "あわせて読みたい",
        "相关阅读：", "延伸閱讀：", "Loe ka:", "Đọc thêm:",
    ],
)  # fmt: skip
def test_a_link_after_teaser_words_is_a_teaser(words: str) -> None:
    assert is_teaser(f"{words} <a href=/x>the tides of the northern bay this year</a>")


def test_teaser_words_in_scripts_without_spaces_are_found() -> None:
    assert is_teaser(f"<a href=/x>関連記事 {'潮の満ち引きは月の力' * 3}</a>")


@pytest.mark.parametrize(
    "line",
    [
        "Read also what stands below",
        "The <a href=/x>tides of the northern bay</a>, read also as ebb and flood",
        f"Read also <a href=/x>{'the tides ' * 20}</a>",
    ],
)
def test_other_lines_are_not_teasers(line: str) -> None:
    assert not is_teaser(line)

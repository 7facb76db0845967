from __future__ import annotations

import numpy as np
import pytest

from scraper.extract.content.feature_matrix import compute_columns
from scraper.extract.content.page_statistics import PageStatistics
from scraper.extract.content.section_rules import drop_empty_headings, find_unselected_items, select_headings
from tests.scraper.extract.content.trees import build_statistics

TYPES = {"article": 0.99, "collection": 0.0, "documentation": 0.0, "forum": 0.0, "listing": 0.0, "product": 0.0}
LIST = TYPES | {"article": 0.0, "listing": 0.9}
TEXT = "words of a kept passage " * 5


def build(html: str) -> PageStatistics:
    page = build_statistics(html)
    compute_columns(page)
    return page


def kept(page: PageStatistics) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array(["keep" in text or "kept" in text for text in page.texts])


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<h2>Best Overall</h2><p>{TEXT}</p>", True),
        (f"<div><h2>Best Overall</h2><span>edit</span></div><p>{TEXT}</p>", True),
        (f"<div><div><h3>Name</h3></div></div><div><p>{TEXT}</p></div>", True),
        (f"<h2>Offers</h2><p>an offer of a shop that nobody asked for</p><h2>keep</h2><p>{TEXT}</p>", False),
        (f"<div><h2>Menu</h2><p>a list of many pages of the site</p></div><p>{TEXT}</p>", False),
        (f"<h2>{'long ' * 50}</h2><p>{TEXT}</p>", False),
        (f"<h1>Title</h1><p>{TEXT}</p>", False),
    ],
)
def test_a_heading_is_selected_with_its_section(html: str, *, expected: bool) -> None:
    page = build(f"<body><div>{html}</div><p>drop</p></body>")
    completed = select_headings(page, kept(page), np.full(page.n, 0.2))
    assert completed[page.heading].all() == expected
    assert (completed >= kept(page)).all()


def test_a_heading_of_level_1_within_the_content_is_selected() -> None:
    page = build(f"<p>{TEXT}</p><section><h1>open(port)</h1><p>{TEXT}</p></section>")
    assert select_headings(page, kept(page), np.full(page.n, 0.2)).all()


def test_links_below_the_heading_of_their_section_stay_with_it() -> None:
    section = "<section class={}><h2>See also keep</h2><p><a href=x>open</a></p></section>"
    for name, stays in (("level2", True), ("related-posts", False)):
        page = build(f"<p>{TEXT}</p>{section.format(name)}<p>{TEXT}</p>")
        assert bool(drop_empty_headings(page, kept(page), np.full(page.n, 0.5), TYPES)[2]) is stays


def test_an_improbable_heading_is_not_selected() -> None:
    page = build(f"<h2>Heading</h2><p>{TEXT}</p>")
    assert not select_headings(page, kept(page), np.full(page.n, 0.01))[0]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<h2>keep Related</h2><p>drop</p><h2>keep</h2><p>{TEXT}</p>", [False, False, True, True]),
        (f"<h2>keep Part</h2><h3>keep Section</h3><p>{TEXT}</p>", [True, True, True]),
        ("<h2>keep Part</h2><p>drop</p><h3>keep Section</h3><p>drop</p>", [False, False, False, False]),
        (f"<h2>keep Picture</h2><h2>keep Text</h2><p>{TEXT}</p>", [True, True, True]),
        (f"<h2>keep Twice</h2><h2>keep Twice</h2><p>{TEXT}</p>", [False, True, True]),
        (f"<h3>keep Cons</h3><p>{TEXT}</p><h3>keep Cons</h3><p>{TEXT}.</p>", [True, True, True, True]),
    ],
)
def test_a_heading_without_its_text_or_before_the_same_heading_is_removed(html: str, expected: list[bool]) -> None:
    page = build(html)
    assert drop_empty_headings(page, kept(page), np.full(page.n, 0.5), TYPES).tolist() == expected


def test_names_of_list_items_stay_without_their_text() -> None:
    items = "".join(f"<li><h3>keep {number}</h3><p>drop</p></li>" for number in range(6))
    page = build(f"<ul>{items}</ul><h2>keep last</h2><p>drop</p>")
    in_an_article = drop_empty_headings(page, kept(page), np.full(page.n, 0.5), TYPES)
    assert in_an_article[:12].tolist() == [True, False] * 6 and not in_an_article[12:].any()
    assert drop_empty_headings(page, kept(page), np.full(page.n, 0.5), LIST).sum() == 7


def _cards(card: str = "", info: str = "") -> str:
    return "".join(
        f'<li class="card{card * (n == 3)}"><div class="info{info * (n == 3)}"><h3 class=name><a href=/p/{n}>'
        f"Bookcase {n}</a></h3></div><div class=price>$ 79.00</div><p>Add to cart</p></li>"
        for n in range(9)
    )


def test_the_names_and_prices_of_items_are_found_if_no_item_is_selected() -> None:
    filters = "".join(f"<li class=filter><span>Color {n}</span><p>{n} of 40</p></li>" for n in range(10))
    page = build(f"<body><ul>{filters}</ul><ul>{_cards(info=' info--new')}</ul><p>{TEXT}</p></body>")
    chosen, p = kept(page), np.full(page.n, 0.05)
    found = [page.texts[at] for at in np.flatnonzero(find_unselected_items(page, chosen, p, LIST))]
    assert found == [text for n in range(9) for text in (f"Bookcase {n}", "$ 79.00")]
    assert not find_unselected_items(page, chosen, p, TYPES).any()
    assert not find_unselected_items(page, ~chosen, p, LIST).any()
    assert not find_unselected_items(page, chosen, np.full(page.n, 0.001), LIST).any()

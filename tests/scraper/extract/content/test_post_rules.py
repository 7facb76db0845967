"""What stands in the page's own footer is no content, as long as there is any other."""

from __future__ import annotations

import numpy as np
import pytest

from scraper.extract.content.feature_matrix import columns
from scraper.extract.content.post_rules import complete_tables, outside_of_footers
from tests.scraper.extract.content.trees import measured

_PAGE = (
    "<body><div><p>Said above</p></div><article><p>Told</p><footer><p>Its own</p></footer></article>"
    "<footer><p>Of the page</p></footer><div role='contentinfo'><p>Of the page too</p></div></body>"
)


def _kept(likely: list[float]) -> list[float]:
    page = measured(_PAGE)
    columns(page)
    assert page.texts == ["Said above", "Told", "Its own", "Of the page", "Of the page too"]
    return list(map(float, outside_of_footers(page, np.array(likely))))


def test_the_page_s_footer_is_no_content_and_an_article_s_own_may_be() -> None:
    assert _kept([0.5, 0.9, 0.6, 0.9, 0.8]) == [0.5, 0.9, 0.6, 0.0, 0.0]


def test_a_footer_that_holds_all_there_is_stays() -> None:
    assert _kept([0.1, 0.2, 0.1, 0.9, 0.8]) == [0.1, 0.2, 0.1, 0.9, 0.8]


_ROWS = (("Boat", "Sloop"), ("x", "y"), ("z", "w"))
_TABLE = "".join(f"<tr><td>{one}</td><td>{other}</td></tr>" for one, other in _ROWS)


@pytest.mark.parametrize(("chosen", "whole"), [([], False), (["Boat"], False), (["Boat", "Sloop"], True)])
def test_a_table_of_which_a_third_is_chosen_is_chosen_whole(chosen: list[str], *, whole: bool) -> None:
    page = measured(f"<body><p>{'All that is told above it. ' * 6}</p><table>{_TABLE}</table></body>")
    columns(page)
    kept = np.array([text in chosen for text in page.texts])
    cells, table = complete_tables(page, kept, kept * 0.5)
    assert table[1:].tolist() == [whole] * 6
    assert (cells == (table | kept)).all()

from __future__ import annotations

import numpy as np
import pytest

from scraper.extract.content.block_classifier import PAGE_TYPES
from scraper.extract.content.block_selection import select_blocks
from scraper.extract.content.feature_matrix import compute_columns
from scraper.extract.content.page_statistics import PageStatistics
from tests.scraper.extract.content.trees import build_statistics

_NAMES = ("Sloop", "Ketch", "Yawl")


def _types(name: str, probability: float = 0.8) -> dict[str, float]:
    others = (1 - probability) / (len(PAGE_TYPES) - 1)
    return dict.fromkeys(PAGE_TYPES, others) | {name: probability}


def _build(html: str) -> PageStatistics:
    page = build_statistics(html)
    compute_columns(page)
    return page


@pytest.mark.parametrize(("page_type", "together"), [("listing", True), ("article", False), ("forum", False)])
def test_items_of_one_path_are_selected_together_except_on_articles_and_forums(
    page_type: str, *, together: bool
) -> None:
    items = "".join(f"<li>{name} with a long deck</li>" for name in _NAMES)
    page = _build(f"<h1>Boats</h1><ul>{items}</ul><div>{'Words of a side column. ' * 4}</div>")
    chosen = select_blocks(page, np.array([0.95, 0.9, 0.9, 0.25, 0.3]), _types(page_type))
    assert chosen.tolist() == [True, True, True, together, False]


def test_an_unlikely_path_stays_unlikely() -> None:
    items = "".join(f"<li>{name} with a long deck</li>" for name in _NAMES)
    page = _build(f"<h1>Boats</h1><ul>{items}</ul><div>{'Words of the content. ' * 4}</div>")
    chosen = select_blocks(page, np.array([0.9, 0.05, 0.05, 0.5, 0.9]), _types("listing"))
    assert chosen.tolist() == [True, False, False, False, True]


@pytest.mark.parametrize(("page_type", "is_selected"), [("service", True), ("article", False)])
def test_a_section_of_a_page_of_a_service_is_selected_sooner(page_type: str, *, is_selected: bool) -> None:
    page = _build(f"<p>{'What is offered here. ' * 5}</p><section>{'What customers write. ' * 5}</section>")
    chosen = select_blocks(page, np.array([0.9, 0.4]), _types(page_type))
    assert chosen.tolist() == [True, is_selected]


def test_probabilities_of_0_and_1_stay_on_a_page_of_a_service() -> None:
    page = _build(f"<p>{'What is offered here. ' * 5}</p><section>{'What customers write. ' * 5}</section>")
    assert select_blocks(page, np.array([1.0, 0.0]), _types("service")).tolist() == [True, False]

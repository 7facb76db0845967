"""Lists and tables below headings such as "Ingredients" are selected whatever their blocks look like."""

from __future__ import annotations

import numpy as np
import pytest

from scraper.extract.content.block_selection import find_listed
from scraper.extract.content.section_rules import select_data
from tests.scraper.extract.content.test_section_rules import LIST, TEXT, TYPES, build, kept

ITEMS = "<ul><li>2 cups of flour</li><li>1 egg</li><li>salt</li></ul>"
TABLE = "<table><tr><th>Energy</th><td>241 kcal</td></tr><tr><th>Fat</th><td>4 g</td></tr></table>"
SHOP = TYPES | {"article": 0.1, "product": 0.8}


@pytest.mark.parametrize(
    ("html", "p", "selected"),
    [
        (f"<h3>Ingredients</h3>{ITEMS}", 0.05, 4),
        (f"<h3>Ingredients:</h3><p>Dough</p>{ITEMS}<p>Glaze</p>{ITEMS}<p>Save it</p>", 0.05, 9),
        (f"<h2>Nutritional Information</h2><div>{TABLE}</div>", 0.05, 5),
        (f"<h2>Zutaten</h2>{ITEMS}<h2>Angebote</h2>{ITEMS}", 0.05, 4),
        (f"<h2>Tech Specs</h2>{ITEMS}", 0.2, 4),
        (f"<h2>Tech Specs</h2>{ITEMS}", 0.05, 0),
        (f"<h2>Ingredients of a good life that we like</h2>{ITEMS}", 0.5, 0),
        ("<h2>Ingredients</h2><ul><li>flour</li></ul>", 0.5, 0),
        (f"<h2>Ingredients</h2>{ITEMS.replace('<li>', '<li><a href=/b>').replace('</li>', '</a></li>')}", 0.5, 0),
        (f"<h2>Ingredients</h2><ul>{'<li>a word more</li>' * 200}</ul>", 0.5, 0),
        (f"<footer><h2>Ingredients</h2>{ITEMS}</footer>", 0.5, 0),
    ],
)
def test_data_below_its_usual_heading_is_selected(html: str, p: float, selected: int) -> None:
    page = build(f"<body><p>keep {TEXT}</p>{html}</body>")
    chosen = kept(page)
    completed = select_data(page, chosen, np.full(page.n, p), SHOP)
    assert int((completed & ~chosen).sum()) == selected


def test_documentation_and_empty_pages_are_left_alone() -> None:
    page = build(f"<body><p>keep {TEXT}</p><h2>Ingredients</h2>{ITEMS}</body>")
    assert select_data(page, kept(page), np.full(page.n, 0.5), TYPES | {"documentation": 0.9}).sum() == 1
    assert not select_data(page, np.zeros(page.n, np.bool_), np.full(page.n, 0.5), SHOP).any()


def test_items_of_long_lists_may_repeat_a_text_but_posts_may_not() -> None:
    cards = "".join(f"<li class=card><h3>Engineer for kettles</h3><p>City {n // 3}</p></li>" for n in range(9))
    page = build(f"<body><ul>{cards}</ul><p>{TEXT}</p></body>")
    assert find_listed(page, TYPES).sum() == 18
    assert find_listed(page, LIST).sum() == 18
    assert not find_listed(page, TYPES | {"forum": 0.9}).any()
    assert not find_listed(build(f"<body><ul>{cards[: len(cards) // 2]}</ul><p>{TEXT}</p></body>"), TYPES).any()

"""Marked-up lines of a recipe are completed by the visible ones, and never mixed with other lines."""

from __future__ import annotations

import pytest

from scraper.facts import structured
from scraper.facts.recipe import complete_lines
from tests.scraper.extract.snapshots import page
from tests.scraper.facts.products import ld

SHOWN = ["1.5 tsp salt", "2 cups flour", "3 eggs", "40 g butter"]


@pytest.mark.parametrize(
    ("marked", "visible", "complete"),
    [
        (["5 tsp salt", "2 cups flour"], SHOWN[:2], SHOWN[:2]),
        (["salt", "flour"], ["½ tsp salt", "2 cups flour"], ["½ tsp salt", "2 cups flour"]),
        ([" ".join(SHOWN)], SHOWN, SHOWN),
        (["".join(SHOWN)], SHOWN, SHOWN),
        (["1.5 tsp Salt", "2 cups flour"], SHOWN, ["1.5 tsp Salt", *SHOWN[1:]]),
        (["2 cups flour", "salt"], ["For the dough", "2 cups flour", "salt"], ["2 cups flour", "salt"]),
        (["0.5 cup oil"], ["½ cup oil"], ["0.5 cup oil"]),
        (["salt"], ["1 tsp salt", "2 tsp salt"], ["salt"]),
        (["1 egg"], [], ["1 egg"]),
        (["salt"], ["a long remark about 2 kinds of sea salt"], ["salt"]),
    ],
)
def test_the_visible_lines_are_used_where_they_hold_the_same_and_more(
    marked: list[str], visible: list[str], complete: list[str]
) -> None:
    assert complete_lines(marked, visible) == complete


def test_names_of_sections_and_steps_are_lines_unless_the_text_repeats_them() -> None:
    sections = [
        {"@type": "HowToSection", "name": "Dough", "itemListElement": [{"@type": "HowToStep", "text": "Mix it."}]},
        {"@type": "HowToStep", "name": "Step 2", "text": "Wait."},
        {"@type": "HowToStep", "name": "Bake for...", "text": "Bake for an hour."},
        {"@type": "HowToStep", "name": "Serve", "text": "Cut it."},
    ]
    markup = {"@type": "Recipe", "name": "Bread", "recipeIngredient": ["1 egg"], "recipeInstructions": sections}
    recipe = structured.extract(page(f"<body>{ld(markup)}<h1>Bread</h1>")).recipe or {}
    assert recipe["instructions"]["value"] == ["Dough", "Mix it.", "Wait.", "Bake for an hour.", "Serve", "Cut it."]


@pytest.mark.parametrize("heading", ["Ingredients", "Suroviny:", "INGRÉDIENTS"])
def test_the_heading_of_the_ingredients_is_none_of_them(heading: str) -> None:
    markup = {"@type": "Recipe", "name": "Bread", "recipeIngredient": [heading, "1 egg"]}
    recipe = structured.extract(page(f"<body>{ld(markup)}")).recipe or {}
    assert recipe["ingredients"]["value"] == ["1 egg"]


def test_amounts_in_boxes_beside_their_names_are_joined_with_them() -> None:
    markup = {"@type": "Recipe", "name": "Corn", "recipeIngredient": ["popping corn", "oil"]}
    rows = "".join(
        f"<div><div>{amount}</div><div>{name}</div></div>"
        for amount, name in (("½ cup", "popping corn"), ("2 tbsp", "oil"))
    )
    html = f"<body>{ld(markup)}<h1>Corn</h1><div class=ingredients>{rows}</div>"
    recipe = structured.extract(page(html)).recipe or {}
    assert recipe["ingredients"]["value"] == ["½ cup popping corn", "2 tbsp oil"]


def test_lines_of_several_lists_do_not_replace_the_markup() -> None:
    assert complete_lines(["2 cups flour"], SHOWN[1:], is_one_list=False) == ["2 cups flour"]


def test_few_lines_with_a_longer_namesake_keep_their_form() -> None:
    visible = ["2 large eggs", "flour for the board", "1 cup butter, soft"]
    assert complete_lines(["eggs", "flour", "butter"], visible) == ["eggs", "flour", "butter"]


def test_an_amount_that_the_markup_cut_is_read_from_the_page() -> None:
    markup = {"@type": "Recipe", "name": "Bread", "recipeIngredient": ["5 tsp salt", "Â½ cup milk", "500.0 g flour"]}
    shown = "".join(f"<li>{line}</li>" for line in ("1.5 tsp salt", "½ cup milk", "500 g flour"))
    html = f"<body>{ld(markup)}<h1>Bread</h1><h2>Ingredients</h2><ul>{shown}</ul>"
    recipe = structured.extract(page(html)).recipe or {}
    assert recipe["ingredients"]["value"] == ["1.5 tsp salt", "½ cup milk", "500 g flour"]
    assert recipe["ingredients"]["source"] == "visible"


@pytest.mark.parametrize(
    ("name", "title"),
    [("Bread - Recipes of Example", "Bread"), ("Bread with nuts", "Bread with nuts"), ("Rye bread", "Rye bread")],
)
def test_the_name_of_the_site_behind_a_title_is_removed(name: str, title: str) -> None:
    markup = {"@type": "Recipe", "name": name, "recipeIngredient": ["1 egg"]}
    recipe = structured.extract(page(f"<body>{ld(markup)}<h1>Bread</h1>")).recipe or {}
    assert recipe["title"]["value"] == title

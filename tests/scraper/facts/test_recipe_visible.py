"""Recipe lists found by visible headings, names and boxes, in many languages."""

from __future__ import annotations

from typing import Any

import pytest

from scraper.facts import structured
from tests.scraper.extract.snapshots import page

AMOUNTS = ["2 cups flour", "3 eggs"]
STEPS = ["Mix it all.", "Bake for 20 minutes."]


def items(lines: list[str], tag: str) -> str:
    return "".join(f"<{tag}>{line}</{tag}>" for line in lines)


def lists(body: str) -> tuple[Any, Any]:
    html = f"<body><nav><div>Ingredients</div><ul><li>1 salt</li><li>2 oils</li></ul></nav><h1>Bread</h1>{body}"
    recipe = structured.extract(page(html, "https://food.example/bread")).recipe or {}
    ingredients, instructions = (recipe.get(name, {}).get("value") for name in ("ingredients", "instructions"))
    return ingredients, instructions


@pytest.mark.parametrize(
    "body",
    [
        f"<dl><dt>Ingredients</dt>{items(AMOUNTS, 'dd')}<dt>Method</dt>{items(STEPS, 'dd')}</dl>",
        f"<h2>Ingredients</h2><p>{items(AMOUNTS, 'div')}<h2>Method</h2><p>{items(STEPS, 'div')}",
        (
            f"<div class=recipe-ingredients>{items(AMOUNTS, 'div')}</div>"
            f"<div class=recipe-steps>{items(STEPS, 'p')}</div>"
        ),
        (
            f"<h2>Ingredients</h2>{items(AMOUNTS, 'p')}<h2>Method</h2>{items(STEPS, 'p')}"
            "<aside><h3>More</h3><ul><li>Soup</li><li>Stew</li></ul></aside><footer><ul><li>Us</li></ul></footer>"
        ),
        (
            f"<h2>Ingredients</h2><ul>{items(AMOUNTS, 'li')}</ul><h2>Method</h2>"
            f"<ol><li><h4>Step 1</h4><p>{STEPS[0]}</p></li><li><b>Step 2:</b> {STEPS[1]}</li></ol>"
        ),
        (  # similar elements of any tag, amounts and names in turn
            "<section id=ingredients><i>2 cups</i><a>flour</a><i>3</i><a>eggs</a></section>"
            f"<div data-testid=method-steps><span><b>{STEPS[0]}</b></span><span><b>{STEPS[1]}</b></span></div>"
        ),
        (  # choices of a form are no text of the list, and a box ends the steps
            "<div class=ingredients><select><option>Standard ingredients<option>Without milk<option>For two</select>"
            f"{items(AMOUNTS, 'div')}</div><div><h2>Method</h2>{items(STEPS, 'p')}</div><div><p>Buy our book.</p></div>"
        ),
        f"<h4>Ingredients</h4><p>{items(AMOUNTS, 'a')}</p><h4>Method</h4><ol>{items(STEPS, 'li')}</ol>",
        (
            "<table class=ingredients><tr><td>2 cups<td>flour<tr><td>3<td>eggs</table>"
            f"<h3>The recipe</h3><h4>Method</h4><ol>{items(STEPS, 'li')}</ol>"
        ),
    ],
)
def test_lists_are_read_in_whatever_they_are_written(body: str) -> None:
    assert lists(body) == (AMOUNTS, STEPS)


@pytest.mark.parametrize(
    ("ingredients", "steps"),
    [
        ("Zutaten für 4 Portionen", "So geht’s"),
        ("Ingredientes", "Cómo hacer pan"),
        ("Ingredienti", "Come preparare il pane"),
        ("Ingredientes", "Preparação"),
        ("Dit heb je nodig", "Aan de slag"),
        ("Ингредиенты", "Пошаговый рецепт"),
        ("Інгредієнти", "Приготування"),
        ("Ingredienser", "Slik gjør du"),
        ("Ingredienser", "Sådan gør du"),
        ("Ainekset", "Valmistusohje"),
        ("Ingredience", "Postup"),
        ("Ingrediente", "Mod de preparare"),
        ("Sastojci", "Priprema"),
        ("食材", "步驟"),
        ("재료", "조리법"),
        ("Bahan-bahan", "Cara membuat"),
        ("Nguyên liệu", "Cách làm"),
        ("المكونات", "طريقة التحضير"),
        ("מצרכים", "אופן ההכנה"),
        ("What you need", "What to do"),
        ("Ingredients:", "Cooking instructions"),
    ],
)
def test_headings_are_those_of_many_languages(ingredients: str, steps: str) -> None:
    told = f"<h2>{ingredients}</h2><ul>{items(AMOUNTS, 'li')}</ul><h2>{steps}</h2><ol>{items(STEPS, 'li')}</ol>"
    assert lists(told) == (AMOUNTS, STEPS)


def test_lists_with_amounts_and_sentences_are_chosen_among_lists_of_the_same_name() -> None:
    steps = ["Mix the flour with the eggs and the salt.", "Bake the bread in the oven for 20 minutes."]
    numbered = "".join(f"<li class=card-step id=step-{number}-7f{number}>{line}" for number, line in enumerate(steps))
    body = (
        f"<ul class=ingredient-notes>{items(['flour makes it firm', 'eggs bind', 'salt for taste'], 'li')}</ul>"
        f"<ul class=ingredient-list>{items(AMOUNTS, 'li')}</ul>"
        f"<ul class=preparation-times>{items(['20 minutes', 'easy'], 'li')}</ul><ol class=recipe_steps>{numbered}</ol>"
        f"<h2>How to make bread</h2><p>{' '.join(['A long story about bread.'] * 5)}</p>"
    )
    assert lists(body) == (AMOUNTS, steps)


def test_a_clear_list_of_ingredients_is_a_recipe_without_steps() -> None:
    amounts = [*AMOUNTS, "1 tsp salt", "40 g butter", "1 egg"]
    assert lists(f"<h2>Ingredients</h2><ul>{items(amounts, 'li')}</ul>") == (amounts, None)
    assert lists(f"<h2>Ingredients</h2><ul>{items(AMOUNTS, 'li')}</ul>") == (None, None)


@pytest.mark.parametrize("shown", ["<dl><dt>Serves</dt><dd>4</dd></dl>", "<p><b>Yield:</b> 4</p>", "<p>Makes: 4</p>"])
def test_for_how_many_it_is_stands_beside_its_label(shown: str) -> None:
    told = f"<h2>Ingredients</h2><ul>{items(AMOUNTS, 'li')}</ul><h2>Method</h2><p>{STEPS[0]}</p>"
    recipe = structured.extract(page(f"<h1>Bread</h1>{shown}{told}")).recipe or {}
    assert recipe["yields"]["value"] == "4"

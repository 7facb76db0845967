"""Recipe facts from structured data and from visible text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scraper.facts import structured
from tests.scraper.extract.snapshots import page

URL = "https://food.example/soup"


def facts(html: str) -> dict[str, Any]:
    return structured.extract(page(html, URL)).recipe or {}


def told(html: str) -> dict[str, tuple[Any, str]]:
    return {name: (fact["value"], fact["source"]) for name, fact in facts(html).items()}


def ld(**item: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": "Recipe"} | item)}</script>'


def test_json_ld_in_all_its_shapes_is_flattened() -> None:
    found = told(
        ld(
            name="Soup &amp; bread",
            recipeIngredient=["1 onion", "<b>2</b> carrots"],
            recipeInstructions=[
                {"@type": "HowToSection", "name": "Soup", "itemListElement": [{"@type": "HowToStep", "text": "Cut."}]},
                "Boil.<br>Serve.",
            ],
            prepTime="PT10M",
            cookTime="PT1H",
            recipeYield=["4", "4 bowls"],
            author=[{"name": "Ann"}, "Ben"],
            aggregateRating={"ratingValue": "4,5", "ratingCount": 12},
            nutrition={"@type": "NutritionInformation", "calories": "90 kcal"},
        )
    )
    assert found == {
        "title": ("Soup & bread", "json_ld"),
        "ingredients": (["1 onion", "2 carrots"], "json_ld"),
        "instructions": (["Soup", "Cut.", "Boil.", "Serve."], "json_ld"),
        "total_time": (70, "sum"),
        "prep_time": (10, "json_ld"),
        "cook_time": (60, "json_ld"),
        "yields": ("4", "json_ld"),
        "author": ("Ann, Ben", "json_ld"),
        "ratings": (4.5, "json_ld"),
        "nutrients": ({"calories": "90 kcal"}, "json_ld"),
    }


def test_ingredients_in_one_text_are_split_by_line() -> None:
    assert facts(ld(name="x", recipeIngredient="1 onion\n2 carrots"))["ingredients"]["value"] == [
        "1 onion",
        "2 carrots",
    ]


def test_lists_below_headings_are_read_in_other_languages_too() -> None:
    html = (
        "<h1>Kürbis-Tarte</h1><h2>Zutaten</h2><p><b>Für den Teig</b></p>"
        "<ul><li>300 g Mehl</li><li>1 Ei</li></ul>"
        "<p><b>Für den Belag</b></p><ul><li>500 g Kürbis</li></ul>"
        "<h2>Zubereitung</h2><p>Teig kneten.</p><p>Backen.</p><h2>Mehr davon</h2><p>Werbung</p>"
        "<p>Gesamtzeit: 1 Std. 20 Min.</p>"
    )
    found = told(html)
    assert found["title"] == ("Kürbis-Tarte", "visible")
    assert found["ingredients"] == (["300 g Mehl", "1 Ei", "500 g Kürbis"], "visible")
    assert found["instructions"] == (["Teig kneten.", "Backen."], "visible")
    assert found["total_time"] == (80, "visible")


def test_lines_of_paragraphs_end_at_the_next_heading() -> None:
    html = (
        "<h1>Apple tart</h1><p><strong>Ingredients:</strong></p><p>- 250g pastry</p>"
        "<p>- 4 apples<br>- 2 eggs</p>"
        "<p><strong>Method:</strong></p><p>Heat the oven.</p><p>Bake the tart.</p>"
    )
    found = told(html)
    assert found["ingredients"][0] == ["250g pastry", "4 apples", "2 eggs"]
    assert found["instructions"][0] == ["Heat the oven.", "Bake the tart."]


def test_lists_are_found_by_the_name_of_their_container() -> None:
    html = (
        '<h1>Brittle</h1><dl class="ingredients"><dt><b>sugar</b> <u>45 g</u></dt>'
        "<dt>seeds <u>35 g</u></dt></dl>"
        '<ul class="instructions"><li>Melt the sugar.</li><li>Add the seeds.</li></ul>'
        '<ul class="menu"><li>Home</li></ul>'
    )
    found = told(html)
    assert found["ingredients"][0] == ["sugar 45 g", "seeds 35 g"]
    assert found["instructions"][0] == ["Melt the sugar.", "Add the seeds."]


def test_properties_outside_of_every_item_count() -> None:
    html = (
        '<h1>Pasta</h1><li itemprop="ingredients">250 g pasta</li><li itemprop="ingredients">1 egg</li>'
        '<div itemprop="recipeInstructions"><p>Boil.</p><p>Mix.</p></div>'
    )
    found = told(html)
    assert found["ingredients"][0] == ["250 g pasta", "1 egg"]
    assert found["instructions"][0] == ["Boil.", "Mix."]


def test_categories_and_contents_are_no_recipe() -> None:
    html = (
        '<h1>All recipes</h1><ul class="ingredient-filter"><li>Beef</li><li>Cauliflower</li>'
        "<li>Eggs</li></ul>"
        '<ul class="method"><li>Baking</li><li>Frying</li></ul>'
    )
    assert facts(html) == {}


def test_times_without_hours_and_in_the_wrong_place() -> None:
    assert facts(ld(name="x", totalTime="PTH30MS"))["total_time"]["value"] == 30
    assert "total_time" not in facts(ld(name="x", totalTime="PT0H1M15S"))


def test_of_several_recipes_the_one_called_as_the_page_is_taken_alone() -> None:
    other = ld(name="Plum cake", recipeIngredient=["3 plums"], recipeInstructions=["Bake."], totalTime="PT9H")
    own = ld(name="Apple pie", recipeIngredient=["2 apples"])
    found = told(f"<h1>Apple pie</h1>{other}{own}")
    assert found["ingredients"] == (["2 apples"], "json_ld")
    assert "total_time" not in found and "instructions" not in found


def test_a_time_of_nothing_is_none_but_counts_in_the_sum() -> None:
    found = told(ld(name="Salad", recipeIngredient=["1 onion"], totalTime="PT0M", prepTime="PT10M", cookTime="PT0M"))
    assert found["total_time"] == (10, "sum") and "cook_time" not in found


def test_names_with_their_vocabulary_before_them_are_the_same_names_in_recipes() -> None:
    item = {"@type": "schema:Recipe", "schema:name": "Soup", "schema:recipeIngredient": ["1 onion"]}
    found = told(f'<script type="application/ld+json">{json.dumps(item)}</script>')
    assert found["ingredients"] == (["1 onion"], "json_ld")


def test_author_and_picture_of_the_page_are_the_recipe_s_where_it_names_none() -> None:
    head = "<meta name=author content='Ada Lovelace'><meta property=og:image content='/pie.jpg'>"
    own = ld(name="Pie", author={"name": "https://food.example/people/ada"}, image="data:image/svg+xml,%3Csvg")
    found = told(f"{head}{own}<h1>Pie</h1>")
    assert found["author"] == ("Ada Lovelace", "visible")
    site = facts(f"<meta property=og:site_name content='Ada bakes'>{own}")["author"]
    assert site == {"value": "Ada bakes", "source": "visible", "confidence": 0.5}
    assert found["image"] == ("https://food.example/pie.jpg", "opengraph")


def test_amount_and_name_in_cells_of_their_own_are_two_words() -> None:
    rows = "<tr><td>200 g</td><td>flour</td></tr><tr><td>3</td><td>eggs</td></tr>"
    html = f"<h1>Cake</h1><h2>Ingredients</h2><table>{rows}</table><h2>Method</h2><p>Mix.</p><p>Bake.</p>"
    assert told(html)["ingredients"] == (["200 g flour", "3 eggs"], "visible")


def test_a_list_of_long_lines_is_none_of_ingredients() -> None:
    lines = "".join(f"<li>{number} things {'that go on and on ' * 20}</li>" for number in range(4))
    html = f"<h1>Cake</h1><h2>Ingredients</h2><ul>{lines}</ul><h2>Method</h2><p>Mix.</p><p>Bake.</p>"
    assert facts(html) == {}


LISTS = (
    "<h2>Ingredients</h2><ul><li>1 onion</li><li>2 leeks</li></ul><h2>Method</h2><ol><li>Cut.</li><li>Boil.</li></ol>"
)


@pytest.mark.parametrize(
    "time",
    [
        "<p>Ready after <time class=dt-duration datetime=PT50M>a while</time></p>",
        "<p class=duration>50 minutes</p>",
        "<p itemprop=totalTime content=PT50M></p>",
        "<p class=recipe-total-time><i>所要</i> <b>50</b><span> min</span></p>",
    ],
)
def test_time_in_an_element_with_such_a_name_counts(time: str) -> None:
    assert told(f"<h1>Soup</h1>{time}{LISTS}")["total_time"] == (50, "visible")
    assert "total_time" not in told(f"<h1>Soup</h1>{LISTS}<aside>{time}</aside>")


def test_times_of_several_recipes_and_of_a_video_are_none_of_this_one_s() -> None:
    cards = "".join(f"<div class=total-time>{span} min</div>" for span in (10, 20, 30))
    assert "total_time" not in told(f"<h1>Soup</h1>{LISTS}{cards}<b class=duration>1:05</b>")


def test_total_time_is_the_sum_of_the_stated_times() -> None:
    found = facts(ld(name="Ice", recipeIngredient=["1 banana"], prepTime="PT10M"))["total_time"]
    assert found["value"] == 10 and found["source"] == "sum" and found["confidence"] < 0.8


def test_a_list_of_other_recipes_is_no_recipe() -> None:
    names = ("Green soup", "Blue soup", "White soup")
    recipes = [{"@type": "Recipe", "name": name, "recipeIngredient": ["1 pea"]} for name in names]
    assert facts(f"<h1>25 best soups</h1>{ld(**{'@type': 'ItemList', 'itemListElement': recipes})}") == {}
    assert facts(f"<h1>Soups that we like</h1>{''.join(ld(**recipe) for recipe in recipes)}") == {}
    assert told(f"<h1>Blue soup</h1>{''.join(ld(**recipe) for recipe in recipes)}")["title"][0] == "Blue soup"


def test_teasers_of_other_recipes_do_not_hide_the_one_that_is_shown() -> None:
    cards = "".join(
        f'<div itemscope itemtype="http://schema.org/Recipe"><b itemprop=name>{name}</b>'
        "<meta itemprop=totalTime content=PT9H></div>"
        for name in ("Green stew", "Blue stew", "White stew")
    )
    found = told(f"<h1>Soup</h1>{LISTS}{cards}")
    assert found["title"] == ("Soup", "visible") and found["ingredients"][0] == ["1 onion", "2 leeks"]
    assert "total_time" not in found


@pytest.mark.parametrize(
    ("text", "yields"),
    [
        ("Pour 2 personnes :", "2 personnes"), ("Ingredients for 5 (small) servings", "5 (small) servings"),
        ("4 personen", "4 personen"), ("Para 4-6 personas", "4-6 personas"), ("2人分", "2人分"), ("4 peppers", None),
    ],
)  # fmt: skip
def test_servings_need_no_label(text: str, yields: str | None) -> None:
    lists = "<h2>Ingredients</h2><ul><li>1 egg<li>2 cups flour</ul><h2>Method</h2><p>Mix.</p><p>Bake it well.</p>"
    assert facts(f"<h1>Cake</h1><b>{text}</b>{lists}").get("yields", {}).get("value") == yields

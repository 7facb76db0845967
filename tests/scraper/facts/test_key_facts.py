"""Facts of products and recipes in the document of a page, from markup and from visible text."""

from __future__ import annotations

import pytest

from tests.scraper.extract.snapshots import WORDS, read
from tests.scraper.facts.products import SEEN, ld, product

MICRODATA = """
<div itemscope itemtype="https://schema.org/Product"><h1 itemprop=name>Kettle</h1>
<div itemprop=offers itemscope itemtype="https://schema.org/Offer"><meta itemprop=price content=12.50>
<meta itemprop=priceCurrency content=EUR><link itemprop=availability href="https://schema.org/OutOfStock"></div></div>
"""
RECIPE = {
    "@type": "Recipe",
    "name": "Bread",
    "recipeIngredient": ["500 g flour", "1 egg"],
    "recipeInstructions": "Mix it.",
    "recipeYield": "2 loaves",
    "prepTime": "PT20M",
    "cookTime": "PT40M",
    "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.5", "ratingCount": "12"},
}


def facts_of(body: str, head: str = "", url: str = "https://shop.example/kettle") -> dict[str, str | float]:
    return dict(read(f"<head>{head}</head><body><main>{body}<p>{WORDS}</p></main></body>", url=url).facts)


def test_a_marked_up_product_states_price_and_availability() -> None:
    found = facts_of("<h1>Copper kettle</h1>", ld(product(name="Copper kettle")))
    assert (found["price"], found["currency"], found["availability"]) == (49.9, "EUR", "InStock")


def test_values_of_microdata_in_elements_that_are_not_displayed_are_read() -> None:
    assert facts_of(MICRODATA) == {"price": 12.5, "currency": "EUR", "availability": "OutOfStock"}


def test_a_recipe_states_yields_times_and_rating() -> None:
    assert facts_of("<h1>Bread</h1>", ld(RECIPE)) == {
        "yields": "2 loaves",
        "total_time": 60,
        "prep_time": 20,
        "cook_time": 40,
        "rating": 4.5,
        "rating_count": 12,
    }


def test_a_product_with_a_list_of_ingredients_is_no_recipe() -> None:
    amounts = "".join(f"<li>{number} g salt</li>" for number in range(1, 7))
    body = f"<h1>Copper kettle</h1><h2>Ingredients</h2><ul>{amounts}</ul>"
    assert facts_of(body, ld(product(name="Copper kettle")))["price"] == 49.9


@pytest.mark.parametrize(
    ("body", "head"),
    [
        (f"<h1>News</h1><p>The kettle costs $20 now.</p><p>{WORDS}</p>", ""),
        ("<h1>All kettles</h1>" + MICRODATA * 20, ""),
        ("<h1>Kettle</h1>", '<script type="application/ld+json">{"@type": "Product", </script>'),
    ],
    ids=["article", "list", "broken markup"],
)
def test_other_pages_state_no_facts(body: str, head: str) -> None:
    assert facts_of(body, head) == {}


def test_a_price_without_certainty_is_not_stated() -> None:
    markup = ld({"@type": "Product", "name": "Copper kettle"})
    sure = facts_of(SEEN, markup)
    unsure = facts_of("<h1>Copper kettle</h1><p>Related</p><div class=related><span>$5.00</span></div>", markup)
    assert sure["price"] == 59
    assert "price" not in unsure and "currency" not in unsure


def test_class_names_of_a_product_with_its_price_suffice() -> None:
    body = "<h1 class=product_title>Kettle</h1><div class=price>$677.90</div><button>Add to cart</button>"
    found = facts_of(body, url="https://shop.example/product/kettle")
    assert (found["price"], found["currency"]) == (677.9, "$")

"""Product facts from the data of a page's own scripts."""

from __future__ import annotations

import pytest

from tests.scraper.facts.products import facts, told


@pytest.mark.parametrize(
    "script",
    [
        '<script type="application/json">{"props": {"product": '
        '{"name": "Copper kettle", "price": {"value": 15.5}, '
        '"currency": "EUR", "sku": "S-1"}, "other": {"name": "Copper pan", "price": 3}}}</script>',
        """<script>a = JSON.parse('{"product": {"name": "Copper kettle", "price": 15.5, "sku": "S-1"}}')</script>""",
        '<script>a = JSON.parse("{\\"name\\": \\"Copper kettle\\", \\"price\\": 15.5, \\"sku\\": \\"S-1\\"}")</script>',
        '<script>self.__next_f.push([1,"5:[\\"$\\",null,{\\"p\\":{\\"title\\":\\"Copper kettle\\","])</script>'
        '<script>self.__next_f.push([1,"\\"price\\":\\"15.50\\",\\"sku\\":\\"S-1\\"}}]\\n"])</script>',
        '<script>window.__STATE__ = {"title": "Copper kettle", "price": "15.50", '
        '"currency": "EUR", "sku": "S-1"};'
        "</script>",
    ],
)
def test_the_state_of_scripts_counts_where_it_carries_the_page_s_title(script: str) -> None:
    found = told(f"<h1>Copper kettle</h1>{script}")
    assert found["price"] == (15.5, "scripts")
    assert found["sku"] == ("S-1", "scripts")


def test_the_state_of_another_product_does_not() -> None:
    script = '<script>window.a = {"name": "Iron pan", "price": "15.50"};</script>'
    assert facts(f"<h1>Copper kettle</h1>{script}", "https://shop.example/x") == {}


THEME = (
    '<script>var meta = {"title": "Copper kettle", "price": 1999, "price_min": 1999, "compare_at_price": 0, '
    '"sku": "K-9", "variants": []};</script>'
)


@pytest.mark.parametrize("shown", ["<p class=price>$19.99</p>", ""])
def test_amounts_in_cents_are_detected_by_visible_prices_or_by_keys(shown: str) -> None:
    found = told(f"<h1>Copper kettle</h1>{THEME}{shown}<button>Add to cart</button>")
    assert found["price"] == (19.99, "scripts") and found["sku"] == ("K-9", "scripts")


def test_a_currency_inside_of_the_price_belongs_to_it() -> None:
    state = '{"name": "Copper kettle", "price": {"value": 19.99, "currency": "USD"}}'
    script = f'<script id=__NEXT_DATA__ type="application/json">{state}</script>'
    assert told(f"<h1>Copper kettle</h1>{script}")["currency"] == ("USD", "scripts")


def test_a_short_title_names_no_object_of_the_scripts() -> None:
    script = '<script>var p = {"name": "Potato peeler", "price": 9.5, "currency": "EUR"};</script>'
    assert "price" not in told(f"<h1>Pot</h1><p>SKU: P-100</p>{script}")

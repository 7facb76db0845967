"""The facts of a product, from wherever a page states them, each with its source."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scraper.extract import structured
from tests.scraper.extract.snapshots import page

URL = "https://shop.example/product/kettle"


def facts(html: str, url: str = URL) -> dict[str, Any]:
    return structured.extract(page(html, url)).product or {}


def told(html: str, url: str = URL) -> dict[str, tuple[Any, str]]:
    return {name: (fact["value"], fact["source"]) for name, fact in facts(html, url).items()}


def ld(item: dict[str, Any]) -> str:
    return f'<script type="application/ld+json">{json.dumps(item)}</script>'


def product(**more: Any) -> dict[str, Any]:
    offer = {
        "@type": "Offer",
        "price": "49.90",
        "priceCurrency": "EUR",
        "availability": "https://schema.org/InStock",
    }
    return {
        "@type": "Product",
        "name": "Copper kettle",
        "sku": "K-77",
        "brand": {"name": "Smith"},
        "offers": offer,
    } | more


def test_json_ld_states_everything() -> None:
    found = told(f"{ld(product(gtin13='4006381333931'))}<h1>Copper kettle</h1>")
    assert found == {
        "name": ("Copper kettle", "json_ld"),
        "price": (49.9, "json_ld"),
        "currency": ("EUR", "json_ld"),
        "availability": ("InStock", "json_ld"),
        "brand": ("Smith", "json_ld"),
        "sku": ("K-77", "json_ld"),
        "gtin": ("4006381333931", "json_ld"),
    }


def test_a_type_in_lower_case_is_a_type() -> None:
    assert told(ld(product() | {"@type": "product"}))["price"] == (49.9, "json_ld")


def test_an_offer_that_is_only_referred_to_is_followed() -> None:
    graph = {
        "@graph": [
            {"@type": "Product", "name": "Kettle", "offers": {"@id": "#offer"}},
            {
                "@type": "Offer",
                "@id": "#offer",
                "price": 12,
                "priceCurrency": "USD",
                "offers": {"@id": "#offer"},
            },
        ]
    }
    assert told(ld(graph))["price"] == (12, "json_ld")


def test_one_variant_in_stock_is_in_stock() -> None:
    offers = [
        {"price": "5", "availability": "OutOfStock"},
        {"price": "5", "availability": "http://schema.org/InStock"},
    ]
    assert told(ld(product(offers=offers)))["availability"] == ("InStock", "json_ld")


def test_of_several_prices_the_one_that_is_shown_is_taken() -> None:
    offers = [{"price": "18.00", "priceCurrency": "EUR"}, {"price": "17.10", "priceCurrency": "EUR"}]
    body = '<h1>Copper kettle</h1><span class="price">€ 17,10</span>'
    assert told(ld(product(offers=offers)) + body)["price"] == (17.1, "json_ld")


def test_a_list_price_is_not_the_price() -> None:
    offers = {
        "priceSpecification": [
            {"priceType": "https://schema.org/ListPrice", "price": 90},
            {"price": 70, "priceCurrency": "EUR"},
        ]
    }
    assert told(ld(product(offers=offers)))["price"] == (70, "json_ld")


def test_related_products_are_not_the_page_s_own() -> None:
    related = [
        {"@type": "Product", "name": f"Pot {number}", "offers": {"price": number}} for number in (1, 2, 3)
    ]
    assert told(ld(product(isRelatedTo=related)))["price"] == (49.9, "json_ld")


def test_a_list_of_other_products_makes_no_product() -> None:
    items = [
        {"@type": "Product", "name": f"Pot {number}", "offers": {"price": number}} for number in (1, 2, 3)
    ]
    html = ld({"@type": "ItemList", "itemListElement": items}) + "<h1>All our pots and pans</h1>"
    assert facts(html, "https://shop.example/pots") == {}


def test_tags_and_fragments_fill_what_items_leave_open() -> None:
    html = (
        '<meta property="product:price:amount" content="12.50">'
        '<meta property="product:price:currency" content="SEK">'
        '<span itemprop="sku">AB-12</span><link itemprop="availability" href="https://schema.org/OutOfStock">'
    )
    found = told(html)
    assert found["price"] == (12.5, "opengraph") and found["currency"] == ("SEK", "opengraph")
    assert found["sku"] == ("AB-12", "microdata_fragment")
    assert found["availability"] == ("OutOfStock", "microdata_fragment")


def test_rdfa_states_a_product_too() -> None:
    html = (
        '<div vocab="https://schema.org/" typeof="Product"><h1 property="name">Kettle</h1>'
        '<div property="offers" typeof="Offer"><span property="price" content="3.20">3</span>'
        '<span property="priceCurrency" content="EUR"></span></div></div>'
    )
    assert told(html)["price"] == (3.2, "rdfa")


@pytest.mark.parametrize(
    "script",
    [
        '<script type="application/json">{"props": {"product": '
        '{"name": "Copper kettle", "price": {"value": 15.5}, '
        '"currency": "EUR", "sku": "S-1"}, "other": {"name": "Copper pan", "price": 3}}}</script>',
        "<script>dataLayer.push({'ecommerce': {'detail': {'products': [{'name': 'Copper kettle', 'id': '9', "
        "'price': '15.50', 'currency': 'EUR', 'sku': 'S-1'}]}}});</script>",
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


SEEN = """
<nav><a class="price">$1.00</a></nav><h1>Copper kettle</h1>
<span class="old-price"><del>$80.00</del></span><span class="price-current">$59.00</span>
<p>Free delivery over $30</p><button>Add  to cart</button>
<table><tr><th>Brand:</th><td>Smith &amp; Sons</td></tr><tr><th>EAN</th><td>4006381333931</td></tr></table>
<p>Product code: 83050303</p>
<div class="related"><span class="price">$5.00</span><span class="price">$6.00</span></div>
"""


def test_what_a_person_sees_is_told_as_such_and_with_less_confidence() -> None:
    found = facts(SEEN)
    assert {fact["source"] for fact in found.values()} == {"visible"}
    values = {name: fact["value"] for name, fact in found.items()}
    assert values == {
        "name": "Copper kettle",
        "price": 59,
        "currency": "$",
        "availability": "InStock",
        "brand": "Smith & Sons",
        "sku": "83050303",
        "gtin": "4006381333931",
    }
    assert found["price"]["confidence"] < 0.7


def test_a_sign_that_several_currencies_share_is_not_guessed() -> None:
    found = facts(SEEN, "https://shop.com.ar/product/kettle")
    assert found["currency"]["value"] == "$" and found["currency"]["likely"] == "ARS"


def test_a_price_in_two_elements_is_one() -> None:
    html = '<h1>UNIFLAME sink</h1><p>特價 <b>2320</b><span> 元 </span></p><a id="buy_btn">立即購買</a>'
    assert told(html)["price"] == (2320, "visible")


def test_a_number_that_the_page_shows_beats_one_that_it_hides() -> None:
    found = facts(ld(product(sku="238887908")) + "<h1>Copper kettle</h1><p>Product code: 39139301</p>")
    assert (found["sku"]["value"], found["sku"]["marked_up"]) == ("39139301", "238887908")


def test_a_number_that_is_marked_up_and_shown_stays() -> None:
    html = ld(product(sku="12222651")) + "<h1>Copper kettle</h1><p>SKU: A-1</p><p>Web 12222651</p>"
    assert told(html)["sku"] == ("12222651", "json_ld")


def test_a_price_that_is_shown_too_says_so() -> None:
    found = facts(ld(product()) + '<h1>Copper kettle</h1><b class="price">49,90 €</b>')
    assert found["price"]["shown"] is True and found["currency"]["sign"] == "€"


def test_sold_out_is_read_from_the_page() -> None:
    html = (
        '<h1>Copper kettle</h1><span class="price">€ 5,00</span><p>Derzeit nicht verfügbar</p>'
        "<button disabled>Add to cart</button>"
    )
    assert told(html)["availability"] == ("OutOfStock", "visible")


def test_an_article_that_names_a_price_is_no_product() -> None:
    words = "<p>The new kettle costs $59.00 in most shops, less than the old one.</p>" * 5
    assert facts(f"<h1>Kettles get cheaper</h1>{words}", "https://news.example/2024/kettles") == {}


@pytest.mark.parametrize(
    ("url", "number"),
    [
        ("https://www.shop.example/dp/B006V2OP48", "B006V2OP48"),
        ("https://shop.example/things/kettle-p400105394.html", "400105394"),
        ("https://shop.example/store/1?pid=260591&x=1", "260591"),
        ("https://shop.example/Prod/101693/", "101693"),
    ],
)
def test_the_number_in_the_address_is_the_last_resort(url: str, number: str) -> None:
    found = told('<h1>Kettle</h1><b class="price">€ 5,00</b><button>Add to cart</button>', url)
    assert found["sku"] == (number, "address")


@pytest.mark.parametrize(
    "price",
    [
        "<p class=price>173<sup>34</sup> <span>Lei</span></p>",
        "<p class=price><span>173<span class=cents>34</span></span>Lei</p>",
        "<p class=price><span>Lei</span> 173 <sup class=x> 34 </sup></p>",
        "<p class=price>173,<sup>34</sup> Lei</p>",
    ],
)
def test_cents_that_only_stand_higher_are_cents(price: str) -> None:
    found = facts(f"<h1>Whiskey</h1>{price}<button>Adaugă în coș</button>")
    assert (found["price"]["value"], found["currency"]["value"]) == (173.34, "RON")


def test_a_footnote_at_a_price_is_none_of_its_digits() -> None:
    found = facts("<h1>Whiskey</h1><p class=price>€ 17,50<sup>12</sup></p><button>In den Warenkorb</button>")
    assert found["price"]["value"] == 17.5


def test_the_sign_that_is_shown_is_told_beside_the_code() -> None:
    found = facts("<h1>Whiskey</h1><p class=price>173 Lei</p><button>Adaugă în coș</button>")
    assert (found["currency"]["value"], found["currency"]["sign"]) == ("RON", "Lei")


@pytest.mark.parametrize(
    "price",
    [
        "<p class=price><del>€ 29,99</del> <ins>€ 17,50</ins></p>",
        "<div class=price><span class=old-price>€ 29,99</span><span class=new>€ 17,50</span></div>",
        "<div class=price><span class='was-price'>€ 17,50</span></div>",
        "<p class=price>Was € 29,99 Now € 17,50</p>",
        "<p class=price>€ 17,50 statt € 29,99</p>",
    ],
)
def test_a_price_struck_out_counts_only_where_there_is_no_other(price: str) -> None:
    assert told(f"<h1>Whiskey</h1>{price}<button>In den Warenkorb</button>")["price"] == (17.5, "visible")


@pytest.mark.parametrize(
    ("price", "value", "code"),
    [
        ("CHF 1’299.–", 1299, "CHF"),
        ("١٢٩٫٥٠ ر.س", 129.5, "SAR"),
        ("R 1 299.00", 1299, "ZAR"),
        ("1.290.000đ", 1290000, "VND"),
        ("１２，８００円", 12800, "JPY"),
        ("S/ 129.90", 129.9, "PEN"),
        ("AED 1,290.00", 1290, "AED"),
        ("129,00 лв.", 129, "BGN"),
    ],
)
def test_prices_of_many_countries_are_seen(price: str, value: float, code: str) -> None:
    found = facts(f"<h1>Whiskey</h1><p class=price>{price}</p><button>Add to cart</button>")
    assert (found["price"]["value"], found["currency"]["value"]) == (value, code)


def test_what_is_not_in_stock_is_not_in_stock() -> None:
    html = "<h1>Copper kettle</h1><span class=price>€ 5,00</span><p>Not in stock</p>"
    assert told(html)["availability"] == ("OutOfStock", "visible")


def test_names_with_their_vocabulary_before_them_are_the_same_names() -> None:
    offer = {"schema:price": "7.5", "schema:priceCurrency": "GBP", "schema:availability": "schema:InStock"}
    item = {"@type": "schema:Product", "http://schema.org/name": "Copper kettle", "schema:offers": offer}
    found = told(ld(item))
    assert found["price"] == (7.5, "json_ld") and found["availability"] == ("InStock", "json_ld")


VARIANTS = {
    "@type": "ProductGroup",
    "name": "Copper kettle",
    "hasVariant": [
        product(name="Copper kettle 1 l", sku="K-1", offers={"price": "10", "availability": "OutOfStock"}),
        product(name="Copper kettle 2 l", sku="K-2", offers={"price": "12", "availability": "InStock"}),
    ],
}


def test_a_group_speaks_for_its_variants_and_a_variant_for_itself() -> None:
    group = told(f"{ld(VARIANTS)}<h1>Copper kettle</h1>")
    assert group["name"][0] == "Copper kettle" and group["availability"][0] == "InStock"
    variant = told(f"{ld(VARIANTS)}<h1>Copper kettle 2 l</h1>")
    assert (variant["price"][0], variant["sku"][0]) == (12, "K-2")


@pytest.mark.parametrize(("shown", "value"), [("$20.00", 20), ("$19,999", 19999), ("", 19999)])
def test_three_digits_behind_a_point_are_what_the_page_shows(shown: str, value: float) -> None:
    html = ld(product(offers={"price": 19.999, "priceCurrency": "USD"})) + "<h1>Copper kettle</h1>"
    assert facts(f"{html}<p class=price>{shown}</p>")["price"]["value"] == value


def test_the_price_of_a_kilo_is_not_the_price() -> None:
    by_kilo = {"price": "9.98", "priceCurrency": "EUR", "referenceQuantity": {"value": 1, "unitCode": "KGM"}}
    whole = {"price": "4.99", "priceCurrency": "EUR"}
    assert told(ld(product(offers={"priceSpecification": [by_kilo, whole]})))["price"] == (4.99, "json_ld")


def test_a_rating_is_no_price_and_its_count_may_have_thousands() -> None:
    rating = facts(ld(product(aggregateRating={"ratingValue": "4.667", "reviewCount": "1,234"})))["rating"]
    assert (rating["value"], rating["count"]) == (4.667, 1234)


@pytest.mark.parametrize("nothing", ["undefined", "null", "N/A", "[object Object]"])
def test_what_scripts_write_for_nothing_is_nothing(nothing: str) -> None:
    assert "brand" not in facts(ld(product(brand=nothing)))


THEME = (
    '<script>var meta = {"title": "Copper kettle", "price": 1999, "price_min": 1999, "compare_at_price": 0, '
    '"variants": [{"sku": "K-9", "price": 1999}]};</script>'
)


@pytest.mark.parametrize("shown", ["<p class=price>$19.99</p>", ""])
def test_amounts_in_cents_are_told_by_what_is_shown_or_by_their_keys(shown: str) -> None:
    found = told(f"<h1>Copper kettle</h1>{THEME}{shown}<button>Add to cart</button>")
    assert found["price"] == (19.99, "scripts") and found["sku"] == ("K-9", "scripts")


def test_a_currency_inside_of_the_price_belongs_to_it() -> None:
    state = '{"name": "Copper kettle", "price": {"value": 19.99, "currency": "USD"}}'
    script = f'<script id=__NEXT_DATA__ type="application/json">{state}</script>'
    assert told(f"<h1>Copper kettle</h1>{script}")["currency"] == ("USD", "scripts")


@pytest.mark.parametrize(
    ("script", "likely"),
    [
        ('Shopify.currency = {"active":"CAD","rate":"1.0"};', "CAD"),
        ("var opt = {currency_iso: 'TWD', language_iso: 'en'};", "TWD"),
        ('track({"currency":"EUR"});', None),
        ('track({"currency":"CAD"}); track({"currency":"AUD"});', None),
    ],
)
def test_a_shared_sign_is_likely_what_the_scripts_reckon_in(script: str, likely: str | None) -> None:
    currency = facts(f"<script>{script}</script>{SEEN}")["currency"]
    assert (currency["value"], currency.get("likely")) == ("$", likely)


def test_a_picture_is_its_address_wherever_it_stands() -> None:
    picture = {"@type": "ImageObject", "@id": "#main", "name": "A kettle", "contentUrl": "/k.jpg"}
    graph = ld({"@graph": [product(image=[{"@id": "#main"}]), picture]})
    assert told(graph)["image"] == ("https://shop.example/k.jpg", "json_ld")


def test_a_sign_in_the_stated_price_is_its_currency() -> None:
    found = told(ld(product(offers={"price": "£1,299.00"})))
    assert found["price"] == (1299, "json_ld") and found["currency"] == ("GBP", "json_ld")


def test_a_shared_sign_that_is_stated_has_its_likely_code_too() -> None:
    item = product(offers={"price": "5", "priceCurrency": "$"})
    currency = facts(ld(item), "https://shop.com.au/product/kettle")["currency"]
    assert (currency["value"], currency["likely"], currency["source"]) == ("$", "AUD", "json_ld")


def test_the_price_on_a_card_is_one() -> None:
    card = "<meta name=twitter:label1 content=Price><meta name=twitter:data1 content='€19.99'>"
    found = told(f"{card}<meta property=og:type content=product><h1>Copper kettle</h1>")
    assert found["price"] == (19.99, "opengraph") and found["currency"] == ("EUR", "opengraph")


@pytest.mark.parametrize(
    "offers",
    [
        {"0": {"price": "49.90", "priceCurrency": "EUR"}, "1": {"price": "59"}},
        {"@type": "Offer", "0": {"price": 49.9, "priceCurrency": "EUR"}},
    ],
)
def test_a_list_that_was_written_as_an_object_is_a_list(offers: dict[str, Any]) -> None:
    found = told(ld(product(offers=offers)))
    assert (found["price"], found["currency"]) == ((49.9, "json_ld"), ("EUR", "json_ld"))


def test_the_variant_in_the_address_gives_the_number() -> None:
    def variant(number: int) -> dict[str, Any]:
        offer = {"price": f"{number}9", "priceCurrency": "EUR", "url": f"{URL}?variant={number}"}
        return {"@type": "Product", "name": f"Kettle {number}", "sku": f"K-{number}", "offers": offer}

    group = {"@type": "ProductGroup", "name": "Kettle", "hasVariant": [variant(1), variant(2)]}
    found = told(ld(group) + "<h1>Kettle</h1>", f"{URL}?variant=2&utm_source=x")
    assert (found["price"][0], found["sku"][0]) == (29, "K-2")
    assert told(ld(group) + "<h1>Kettle</h1>")["sku"][0] == "K-1"


def test_several_products_of_other_names_are_a_list() -> None:
    others = "".join(ld(product(name=name)) for name in ("Mug", "Cup", "Pan"))
    assert facts(f"{others}<h1>Kitchen</h1>", "https://shop.example/c/kitchen") == {}


def test_a_number_with_a_wrong_check_digit_is_no_gtin() -> None:
    assert "gtin" not in told(ld(product(gtin13="4006381333932")))


def test_a_button_that_does_nothing_sells_nothing() -> None:
    html = ld({"@type": "Product", "name": "Copper kettle", "sku": "K-77"}) + "<h1>Copper kettle</h1>"
    assert told(f"{html}<button>Add to cart</button>")["availability"] == ("InStock", "visible")
    assert "availability" not in told(f"{html}<button disabled>Add to cart</button>")


def test_what_is_said_of_stock_above_the_title_is_not_the_product_s() -> None:
    html = (
        "<p>Sale: many items out of stock</p><h1>Copper kettle</h1><b class=price>€ 5,00</b><p>In stock</p>"
    )
    assert told(html)["availability"] == ("InStock", "visible")


def test_a_short_title_names_no_object_of_the_scripts() -> None:
    script = '<script>var p = {"name": "Potato peeler", "price": 9.5, "currency": "EUR"};</script>'
    assert "price" not in told(f"<h1>Pot</h1><p>SKU: P-100</p>{script}")


def test_a_long_text_is_no_number() -> None:
    html = f"{ld(product(sku=None))}<h1>Copper kettle</h1><p itemprop=sku>{'Number of many words ' * 5}</p>"
    assert "sku" not in told(html)


def test_a_reference_may_repeat_the_type_of_what_it_refers_to() -> None:
    graph = {"@graph": [
        {"@type": "Product", "name": "Kettle", "offers": {"@type": "Offer", "@id": "#offer"}},
        {"@type": "Offer", "@id": "#offer", "price": 12, "priceCurrency": "USD"},
    ]}  # fmt: skip
    assert told(ld(graph))["price"] == (12, "json_ld")

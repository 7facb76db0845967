"""Product facts from several sources: the precedence of the sources."""

from __future__ import annotations

import pytest

from tests.scraper.facts.products import facts, ld, product, told


def test_of_several_prices_the_one_that_is_shown_is_taken() -> None:
    offers = [{"price": "18.00", "priceCurrency": "EUR"}, {"price": "17.10", "priceCurrency": "EUR"}]
    body = '<h1>Copper kettle</h1><span class="price">€ 17,10</span>'
    assert told(ld(product(offers=offers)) + body)["price"] == (17.1, "json_ld")


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        ("<del>€ 49,90</del> <b class=price>€ 39,90</b>", 39.9),
        ("<b class=original-price>€ 49,90</b> <b class=price>€ 39,90</b>", 39.9),
        ("<del>€ 49,90</del> <b class=price>€ 39,90</b> <p>Without subscription: <i>€ 49,90</i></p>", 49.9),
        ("<b class=price>€ 39,90</b>", 49.9),
    ],
)
def test_a_price_that_the_page_shows_as_an_old_one_alone_gives_way(shown: str, value: float) -> None:
    found = facts(ld(product()) + f"<h1>Copper kettle</h1>{shown}")["price"]
    assert (found["value"], found.get("marked_up")) == (value, None if value == 49.9 else 49.9)


def test_a_number_that_the_page_shows_beats_one_that_it_hides() -> None:
    found = facts(ld(product(sku="238887908")) + "<h1>Copper kettle</h1><p>Product code: 39139301</p>")
    assert (found["sku"]["value"], found["sku"]["marked_up"]) == ("39139301", "238887908")


def test_a_number_that_is_marked_up_and_shown_stays() -> None:
    html = ld(product(sku="12222651")) + "<h1>Copper kettle</h1><p>SKU: A-1</p><p>Web 12222651</p>"
    assert told(html)["sku"] == ("12222651", "json_ld")


def test_visible_price_is_marked_as_shown() -> None:
    found = facts(ld(product()) + '<h1>Copper kettle</h1><b class="price">49,90 €</b>')
    assert found["price"]["shown"] is True and found["currency"]["sign"] == "€"


@pytest.mark.parametrize(
    ("url", "number"),
    [
        ("https://www.shop.example/dp/B006V2OP48", "B006V2OP48"),
        ("https://shop.example/things/kettle-p400105394.html", "400105394"),
        ("https://shop.example/store/1?pid=260591&x=1", "260591"),
        ("https://shop.example/Prod/101693/", "101693"),
        ("https://shop.example/Copper-KETTLE-x3410048.php", "3410048"),
        ("https://shop.example/tea/copper-kettle,p82514129,l.html", "82514129"),
        ("https://shop.example/item/93133869_copper-kettle", "93133869"),
        ("https://shop.example/classified/Kettle-1970_35985065", "35985065"),
        ("https://shop.example/kettle-iid-1021493409", "1021493409"),
        ("https://shop.example/p/kettle/pd/pd1hjfqnc2j", "pd1hjfqnc2j"),
        ("https://shop.example/copper-kettle-MKI6IKW1N4.html?tea=1#now", "MKI6IKW1N4"),
        ("https://shop.example/kettle?childSku=545642356", "545642356"),
    ],
)
def test_the_number_in_the_address_is_the_last_resort(url: str, number: str) -> None:
    found = told('<h1>Kettle</h1><b class="price">€ 5,00</b><button>Add to cart</button>', url)
    assert found["sku"] == (number, "address")


@pytest.mark.parametrize("name", ["kettle-for-2-persons", "KETTLE-COPPER", "kettle-1970", "kettle-500w"])
def test_words_of_an_address_are_no_numbers(name: str) -> None:
    url = f"https://shop.example/product/{name}"
    assert "sku" not in told('<h1>Kettle</h1><b class="price">€ 5,00</b><button>Add to cart</button>', url)


@pytest.mark.parametrize(("shown", "value"), [("$20.00", 20), ("$19,999", 19999), ("", 19999)])
def test_three_digits_after_a_point_follow_the_visible_price(shown: str, value: float) -> None:
    html = ld(product(offers={"price": 19.999, "priceCurrency": "USD"})) + "<h1>Copper kettle</h1>"
    assert facts(f"{html}<p class=price>{shown}</p>")["price"]["value"] == value


@pytest.mark.parametrize(
    ("stated", "shown", "value", "others"),
    [
        ("24.990", "", 24.99, [24990]), ("24.990", "24.990 €", 24990, None), ("149.500", "149,50 €", 149.5, None),
        ("1299.000", "", 1299, None), ("1.290", "5,00 €", 5, None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("tag", [True, False])
def test_a_stated_price_with_two_readings_is_the_one_that_the_page_shows(
    stated: str, shown: str, value: float, others: list[float] | None, tag: bool
) -> None:
    offer = {"@type": "Offer", "price": stated, "priceCurrency": "EUR"}
    markup = f'<meta property="product:price:amount" content="{stated}">' if tag else ld(product(offers=offer))
    found = facts(f"{markup}<h1>Copper kettle</h1><p class=price>{shown}</p><button>Add to cart</button>")["price"]
    assert (found["value"], found.get("alternatives")) == (value, others)
    assert others is None or found["confidence"] < 0.5


def test_a_stated_price_that_the_page_contradicts_has_little_confidence_and_an_alternative() -> None:
    html = f"{ld(product())}<h1>Copper kettle</h1><b class=price>AMOUNT</b><button>Add to cart</button>"
    price = facts(html.replace("AMOUNT", "39,90 €"))["price"]
    assert (price["value"], price["confidence"], price["alternatives"]) == (49.9, 0.45, [39.9])
    other_currency = facts(html.replace("AMOUNT", "£55.00"))["price"]
    assert (other_currency["value"], other_currency["confidence"]) == (49.9, 0.9)


def test_a_button_that_does_nothing_sells_nothing() -> None:
    html = ld({"@type": "Product", "name": "Copper kettle", "sku": "K-77"}) + "<h1>Copper kettle</h1>"
    assert told(f"{html}<button>Add to cart</button>")["availability"] == ("InStock", "visible")
    assert "availability" not in told(f"{html}<button disabled>Add to cart</button>")


@pytest.mark.parametrize(
    ("sku", "url", "expected"),
    [
        ("MKI6IKW1N4-1", "https://shop.example/kettle-MKI6IKW1N4.html", "MKI6IKW1N4"),
        ("MKI6IKW1N4-1", "https://shop.example/kettle-MKI6IKW1N4-1.html", "MKI6IKW1N4-1"),
        ("", "https://shop.example/tools/c7200a278526196/kettle-9010", "278526196"),
        ("", "https://shop.example/2024/kettle-9010", None),
    ],
)
def test_a_product_number_has_no_suffix_that_the_url_lacks(sku: str, url: str, expected: str | None) -> None:
    found = facts(f"{ld(product(name='Copper Kettle 9010', sku=sku))}<h1>Copper Kettle 9010</h1>", url)
    assert found.get("sku", {}).get("value") == expected


def test_a_label_may_end_with_a_dash() -> None:
    html = f"{ld(product(sku='238887908'))}<h1>Copper kettle</h1><li><strong>Product Code - </strong>39139301</li>"
    assert facts(html)["sku"]["value"] == "39139301"


def test_a_product_with_a_price_counts_as_available_unless_the_page_states_more() -> None:
    offer = {"@type": "Offer", "price": "5", "priceCurrency": "EUR"}
    stated = facts(f"{ld(product(offers=offer))}<h1>Copper kettle</h1>")["availability"]
    assert stated == {"value": "InStock", "source": "sum", "confidence": 0.5}
    sold_out = facts(f"{ld(product(offers=offer))}<h1>Copper kettle</h1><p>Sold out</p>")["availability"]
    assert sold_out["value"] == "OutOfStock"


@pytest.mark.parametrize(("tag", "price"), [("29.95", 29.95), ("27.00", 26), ("26.00", 26)])
def test_of_two_prices_in_data_the_visible_one_is_returned_or_both_with_a_low_confidence(
    tag: str, price: float
) -> None:
    offer = {"@type": "Offer", "price": "26.00", "priceCurrency": "AUD"}
    metas = f'<meta property="product:price:amount" content="{tag}">{ld(product(offers=offer))}'
    found = facts(f"{metas}<h1>Copper kettle</h1><span class=price>$29.95</span><button>Add to cart</button>")["price"]
    assert found["value"] == price
    assert found.get("alternatives") == (None if price != 26 else [27, 29.95] if tag == "27.00" else [29.95])

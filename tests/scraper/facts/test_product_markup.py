"""Product facts from structured data: items in any syntax, OpenGraph, single properties."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scraper.facts.products import URL, facts, ld, product, told


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
            {"@type": "Offer", "@id": "#offer", "price": 12, "priceCurrency": "USD", "offers": {"@id": "#offer"}},
        ]
    }
    assert told(ld(graph))["price"] == (12, "json_ld")


def test_one_variant_in_stock_is_in_stock() -> None:
    offers = [{"price": "5", "availability": "OutOfStock"}, {"price": "5", "availability": "http://schema.org/InStock"}]
    assert told(ld(product(offers=offers)))["availability"] == ("InStock", "json_ld")


def test_a_list_price_is_not_the_price() -> None:
    offers = {
        "priceSpecification": [
            {"priceType": "https://schema.org/ListPrice", "price": 90},
            {"price": 70, "priceCurrency": "EUR"},
        ]
    }
    assert told(ld(product(offers=offers)))["price"] == (70, "json_ld")


def test_related_products_are_not_the_page_s_own() -> None:
    related = [{"@type": "Product", "name": f"Pot {number}", "offers": {"price": number}} for number in (1, 2, 3)]
    assert told(ld(product(isRelatedTo=related)))["price"] == (49.9, "json_ld")


def test_a_list_of_other_products_makes_no_product() -> None:
    items = [{"@type": "Product", "name": f"Pot {number}", "offers": {"price": number}} for number in (1, 2, 3)]
    html = ld({"@type": "ItemList", "itemListElement": items}) + "<h1>All our pots and pans</h1>"
    assert facts(html, "https://shop.example/pots") == {}


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


def test_the_price_of_a_kilo_is_not_the_price() -> None:
    by_kilo = {"price": "9.98", "priceCurrency": "EUR", "referenceQuantity": {"value": 1, "unitCode": "KGM"}}
    whole = {"price": "4.99", "priceCurrency": "EUR"}
    assert told(ld(product(offers={"priceSpecification": [by_kilo, whole]})))["price"] == (4.99, "json_ld")


def test_a_rating_is_no_price_and_its_count_may_have_thousands() -> None:
    rating = facts(ld(product(aggregateRating={"ratingValue": "4.667", "reviewCount": "1,234"})))["rating"]
    assert (rating["value"], rating["count"], rating.get("best")) == (4.667, 1234, None)
    of_100 = facts(ld(product(aggregateRating={"ratingValue": 87, "bestRating": "100"})))["rating"]
    assert (of_100["value"], of_100["best"]) == (87, 100)


@pytest.mark.parametrize("nothing", ["undefined", "null", "N/A", "[object Object]"])
def test_placeholder_texts_of_scripts_are_ignored(nothing: str) -> None:
    assert "brand" not in facts(ld(product(brand=nothing)))


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


def test_the_variant_in_the_address_gives_the_number() -> None:
    def variant(number: int) -> dict[str, Any]:
        offer = {"price": f"{number}9", "priceCurrency": "EUR", "url": f"{URL}?variant={number}"}
        return {"@type": "Product", "name": f"Kettle {number}", "sku": f"K-{number}", "offers": offer}

    group = {"@type": "ProductGroup", "name": "Kettle", "hasVariant": [variant(1), variant(2)]}
    found = told(ld(group) + "<h1>Kettle</h1>", f"{URL}?variant=2&utm_source=x")
    assert (found["price"][0], found["sku"][0]) == (29, "K-2")
    assert told(ld(group) + "<h1>Kettle</h1>")["sku"][0] == "K-1"


@pytest.mark.parametrize(
    ("stated", "page"),
    [
        ("/product/kettle/{}", "/product/kettle/2"), ("#size={}", "/product/kettle#size=2"),
        ("/product/kettle?size={}&c=1", "/product/kettle?c=1&size=2&utm_source=x"), ("", "/product/kettle/K-2"),
        ("", "/product/kettle#K-2"),
    ],
)  # fmt: skip
def test_a_variant_is_selected_by_path_query_fragment_or_number(stated: str, page: str) -> None:
    variants = [
        {
            "@type": "Product", "name": f"Kettle {number}", "sku": f"K-{number}",
            "offers": {"price": f"{number}9", "url": stated.format(number), "availability": availability},
        }
        for number, availability in enumerate(("InStock", "OutOfStock", "InStock"), 1)
    ]  # fmt: skip
    group = ld({"@type": "ProductGroup", "name": "Kettle", "hasVariant": variants}) + "<h1>Kettle</h1>"
    found = told(group, f"https://shop.example{page}")
    assert (found["price"][0], found["sku"][0], found["availability"][0]) == (29, "K-2", "OutOfStock")
    assert told(group, "https://shop.example/product/kettle")["availability"][0] == "InStock"


def test_several_products_of_other_names_are_a_list() -> None:
    others = "".join(ld(product(name=name)) for name in ("Mug", "Cup", "Pan"))
    assert facts(f"{others}<h1>Kitchen</h1>", "https://shop.example/c/kitchen") == {}


def test_a_number_with_a_wrong_check_digit_is_no_gtin() -> None:
    assert "gtin" not in told(ld(product(gtin13="4006381333932")))


def test_a_long_text_is_no_number() -> None:
    html = f"{ld(product(sku=None))}<h1>Copper kettle</h1><p itemprop=sku>{'Number of many words ' * 5}</p>"
    assert "sku" not in told(html)


def test_a_reference_may_repeat_the_type_of_what_it_refers_to() -> None:
    graph = {"@graph": [
        {"@type": "Product", "name": "Kettle", "offers": {"@type": "Offer", "@id": "#offer"}},
        {"@type": "Offer", "@id": "#offer", "price": 12, "priceCurrency": "USD"},
    ]}  # fmt: skip
    assert told(ld(graph))["price"] == (12, "json_ld")

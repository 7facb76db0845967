"""Product items with offers, brands and numbers in variants that several shop systems use."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scraper.facts.products import URL, facts, ld, product, told
from tests.scraper.soon import soon

SIZES = [
    {"name": "Copper kettle 1 l", "sku": "K-1", "offers": {"url": "/kettle?variant=1", "price": 20}},
    {"name": "Copper kettle 2 l", "sku": "K-2", "offers": {"url": "/kettle?variant=2", "price": 30}},
]


def test_availability_is_that_of_the_variant_in_the_url() -> None:
    for size, availability in zip(SIZES, ("OutOfStock", "InStock"), strict=True):
        size["offers"]["availability"] = availability  # type: ignore[index]
    html = ld({"@type": "ProductGroup", "name": "Copper kettle", "hasVariant": SIZES})
    sold_out = told(html, f"{URL}?variant=1")
    assert (sold_out["availability"][0], sold_out["price"][0]) == ("OutOfStock", 20)
    assert told(html, f"{URL}?variant=2")["availability"][0] == told(html)["availability"][0] == "InStock"


@pytest.mark.parametrize("shape", ["group", "offers", "range", "list"])
@pytest.mark.parametrize(
    "address", ["/kettle/2l", "/kettle#2l", "/kettle?size=2l", "/kettle/2l/?utm_source=mail", "/K-2"]
)
def test_a_variant_is_selected_by_path_fragment_query_or_number_in_data_of_any_shape(shape: str, address: str) -> None:
    stem = "/" if address == "/K-2" else address.rpartition("2l")[0]
    stated = {"K-1": (20, f"{stem}1l"), "K-2": (30, "" if stem == "/" else f"{stem}2l"), "K-3": (40, f"{stem}3l")}
    offers = {sku: {"sku": sku, "price": price, "url": url} for sku, (price, url) in stated.items()}
    sizes = [{"@type": "Product", "name": f"Copper kettle {sku}", "sku": sku, "offers": offers[sku]} for sku in offers]
    listed = list(offers.values())
    html = {
        "group": ld({"@type": "ProductGroup", "name": "Copper kettle", "hasVariant": sizes}),
        "offers": ld(product(sku=None, offers=listed)),
        "range": ld(product(sku=None, offers={"@type": "AggregateOffer", "lowPrice": 20, "offers": listed})),
        "list": "".join(map(ld, sizes)),
    }[shape]
    found = told(f"{html}<h1>Copper kettle</h1>", f"https://shop.example{address}")
    assert (found["price"][0], found["sku"][0]) == (30, "K-2")


@pytest.mark.parametrize("stated", [4006381333931.0, 36000291452])
def test_a_gtin_may_be_a_number(stated: float) -> None:
    assert told(ld(product(gtin=stated)))["gtin"][0] == f"{stated:012.0f}"


def test_a_price_for_members_alone_is_not_the_price() -> None:
    member = {"price": 40, "validForMemberTier": {"@type": "MemberProgramTier", "name": "gold"}}
    offers = {"@type": "Offer", "priceSpecification": [member, {"price": 45, "priceCurrency": "EUR"}]}
    assert told(ld(product(offers=offers)))["price"] == (45, "json_ld")


def test_of_two_prices_in_one_offer_the_one_that_is_shown_counts() -> None:
    html = (
        '<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Copper kettle</h1>'
        '<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
        "<del><b itemprop=price>$60.00</b></del> <b itemprop=price>$45.00</b></div></div>"
    )
    assert told(html)["price"] == (45, "microdata")


OFFER = (
    '<p itemscope itemtype="https://schema.org/Offer"><b itemprop=price>45.00</b> <i itemprop=availability>{}</i></p>'
)


@pytest.mark.parametrize(
    ("stated", "brand"),
    [
        ("The Body Shop", "The Body Shop"),
        ("PotShop", "PotShop"),
        ("De Dietrich", "De Dietrich"),
        ("All-Clad", "All-Clad"),
        ("Brand: All-Clad", "All-Clad"),
        ("by Smith", "Smith"),
        ({"@id": "https://shop.example/#brand"}, "Jones"),
    ],
)
def test_a_brand_is_its_whole_name_without_its_label(stated: Any, brand: str) -> None:
    assert told(ld(product(brand=stated, manufacturer="Jones")))["brand"] == (brand, "json_ld")


def test_a_brand_of_many_dashes_takes_no_quadratic_time() -> None:
    with soon():
        assert told(ld(product(brand=f"visit the {'-' * 60_000}x")))


@pytest.mark.parametrize(
    ("markup", "price"),
    [
        ({"offers": {"price": {"@type": "MonetaryAmount", "value": "30.5", "currency": "GBP"}}}, (30.5, "GBP")),
        (
            {
                "offers": {
                    "priceCurrency": "EUR",
                    "priceSpecification": [
                        {"price": "100", "valueAddedTaxIncluded": False},
                        {"price": "119", "valueAddedTaxIncluded": True},
                    ],
                }
            },
            (119, "EUR"),
        ),
    ],
)
def test_a_price_is_that_with_tax_and_an_amount_has_its_currency(markup: dict[str, Any], price: Any) -> None:
    found = told(ld({"@type": "Product", "name": "Copper kettle", **markup}))
    assert (found["price"][0], found["currency"][0]) == price


def test_an_offer_may_name_its_product() -> None:
    offer = {"@type": "Offer", "price": "5", "itemOffered": {"@type": "Product", "name": "Copper kettle"}}
    assert told(ld(offer))["price"][0] == 5


@pytest.mark.parametrize(
    ("rating", "is_sure"),
    [
        ({"ratingValue": "4.5"}, True),
        ({"ratingValue": "87", "bestRating": "100"}, True),
        ({"ratingValue": "87%"}, False),
        ({"ratingValue": 8.7}, False),
    ],
)
def test_a_rating_above_its_best_value_is_uncertain(rating: dict[str, Any], is_sure: bool) -> None:
    found = facts(ld(product(aggregateRating=rating)))["rating"]
    assert (found["confidence"] > 0.5) is is_sure

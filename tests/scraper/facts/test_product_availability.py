"""Product facts from the visible text of a page."""

from __future__ import annotations

import pytest

from scraper.facts.product_visible import IN_STOCK, OUT_OF_STOCK, UNCLEAR, read_stock
from tests.scraper.facts.products import SEEN, facts, told

SHOP = "https://shop.example/product/kettle"


def test_visible_facts_have_their_source_and_less_confidence() -> None:
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


def test_footnote_mark_is_not_part_of_a_price() -> None:
    found = facts("<h1>Whiskey</h1><p class=price>€ 17,50<sup>12</sup></p><button>In den Warenkorb</button>")
    assert found["price"]["value"] == 17.5


def test_visible_sign_is_reported_beside_the_code() -> None:
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
def test_visible_prices_of_many_countries_are_found(price: str, value: float, code: str) -> None:
    found = facts(f"<h1>Whiskey</h1><p class=price>{price}</p><button>Add to cart</button>")
    assert (found["price"]["value"], found["currency"]["value"]) == (value, code)


def test_out_of_stock_texts_give_out_of_stock() -> None:
    html = "<h1>Copper kettle</h1><span class=price>€ 5,00</span><p>Not in stock</p>"
    assert told(html)["availability"] == ("OutOfStock", "visible")


def test_stock_text_above_the_title_is_ignored() -> None:
    html = "<p>Sale: many items out of stock</p><h1>Copper kettle</h1><b class=price>€ 5,00</b><p>In stock</p>"
    assert told(html)["availability"] == ("InStock", "visible")


@pytest.mark.parametrize(
    "words", ["かごに追加", "구매하기", "Kúpiť", "Köp nu", "Купити", "+ Keranjang", "Beli Langsung"]
)
def test_a_button_to_buy_is_one_in_many_languages(words: str) -> None:
    html = f"<h1>Kettle</h1><b class=price>€ 5,00</b><button>{words}</button>"
    assert told(html)["availability"] == ("InStock", "visible")


@pytest.mark.parametrize(
    ("words", "availability"),
    [
        ("Email me when available", "OutOfStock"),
        ("Brak w magazynie", "OutOfStock"),
        ("Není skladem", "OutOfStock"),
        ("Slut i lager", "OutOfStock"),
        ("Sem estoque", "OutOfStock"),
        ("Μη διαθέσιμο", "OutOfStock"),
        ("Em stock", "InStock"),
        ("Vorrätig", "InStock"),
        ("Còn hàng", "InStock"),
    ],
)
def test_words_of_stock_are_those_of_many_languages(words: str, availability: str) -> None:
    shown = told(f'<h1>Kettle</h1><meta property="product:price:amount" content="5"><p>{words}</p>')
    assert shown["availability"] == (availability, "visible")


@pytest.mark.parametrize(
    ("text", "stock"),
    [
        ("0 in stock", OUT_OF_STOCK), ("Stock: 0", OUT_OF_STOCK), ("Auf Lager: 0 Stück", OUT_OF_STOCK),
        ("Only 0 left in stock", OUT_OF_STOCK), ("0 disponibles", OUT_OF_STOCK), ("No longer in stock", OUT_OF_STOCK),
        ("Discontinued", OUT_OF_STOCK), ("Actuellement en rupture", OUT_OF_STOCK), ("Join the waitlist", OUT_OF_STOCK),
        ("Never out of stock!", IN_STOCK), ("Nie ausverkauft", IN_STOCK), ("Lagerbestand: 3", IN_STOCK),
        ("Only 10 left", IN_STOCK), ("Not available online", UNCLEAR), ("Disponible à partir du 3 mai", UNCLEAR),
        ("Ya no está disponible", OUT_OF_STOCK), ("غير متوفر", OUT_OF_STOCK), ("Niet meer leverbaar", OUT_OF_STOCK),
        ("Non è più disponibile", OUT_OF_STOCK), ("库存：0", OUT_OF_STOCK), ("在庫数 0点", OUT_OF_STOCK),
        ("有货", IN_STOCK), ("在庫：残り3点", IN_STOCK), ("Stok: 15", IN_STOCK), ("Plus de 10 disponibles", IN_STOCK),
        ("In stock soon", UNCLEAR), ("Out of stock online, in stock in store", UNCLEAR),
        ("Lieferbar ab 12.5.", UNCLEAR), ("Discontinued by manufacturer", None), ("A kettle", None),
        ("In stock?", None), ("Auf Lager?", None), ("在庫あり？", None), ("In stock: No", OUT_OF_STOCK),
        ("无货", OUT_OF_STOCK),
        ("Auf Lager: nein", OUT_OF_STOCK), ("स्टॉक में नहीं है", OUT_OF_STOCK), ("Loppuunmyyty", OUT_OF_STOCK),
        ("نفدت الكمية", OUT_OF_STOCK), ("Снят с производства", OUT_OF_STOCK), ("Під замовлення", UNCLEAR),
    ],
)  # fmt: skip
def test_numbers_negations_and_conditions_decide_what_a_text_says_about_stock(text: str, stock: str | None) -> None:
    assert read_stock(text.lower()) == stock


@pytest.mark.parametrize("words", ["Not available online", "Disponible à partir du 3 mai"])
def test_a_product_sold_later_or_elsewhere_has_no_availability(words: str) -> None:
    assert "availability" not in facts(f"<h1>Kettle</h1><b class=price>€ 5,00</b><p>{words}</p>", SHOP)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Référence", "sku"),
        ("Réf. produit", "sku"),
        ("Kód zboží", "sku"),
        ("Cikkszám", "sku"),
        ("상품번호", "sku"),
        ("Marchio", "brand"),
        ("Varumärke", "brand"),
        ("제조사", "brand"),
    ],
)
def test_labels_are_those_of_many_languages(label: str, name: str) -> None:
    html = f"<h1>Kettle</h1><b class=price>€ 5,00</b><p>{label}: X-17</p><button>Comprar</button>"
    assert told(html)[name] == ("X-17", "visible")


@pytest.mark.parametrize("name", ["current-bid", "prc-box", "price"])
def test_a_bid_is_called_a_price_too(name: str) -> None:
    html = f"<h1>Kettle</h1><p class={name}>Now <b>€ 1,200</b></p><button>Place bid</button>"
    assert told(html, "https://sale.example/lot/kettle")["price"] == (1200, "visible")


@pytest.mark.parametrize(
    ("html", "stated"),
    [
        ("<p>In stock: <b>0</b></p>", OUT_OF_STOCK),
        ("<p><span>Auf Lager:</span> <span>0 Stück</span></p>", OUT_OF_STOCK),
        ("<dl><dt>In stock</dt><dd>No</dd></dl>", OUT_OF_STOCK),
        ("<p>Currently <em>not</em> in stock</p>", OUT_OF_STOCK),
        ("<p>Stock level: none</p>", OUT_OF_STOCK),
        ("<p>在庫：なし</p>", OUT_OF_STOCK),
        ("<p>在庫：あり</p>", IN_STOCK),
        ("<p><i></i> In stock</p>", IN_STOCK),
        ("<p>Now back in stock</p>", IN_STOCK),
        ("<p>Check if it is in stock near you</p>", None),
        ("<p>Prüfen Sie, ob der Artikel auf Lager ist</p>", None),
        ("<p>In stock on 12 May</p>", None),
        ("<p>All our products are in stock</p>", None),
        ("<label><input type=checkbox> In stock (24)</label>", None),
        ("<table><tr><th>Is Discontinued<td>No</table>", None),
        ("<button aria-disabled=true>Add to cart</button>", None),
        ("<select><option>S - sold out<option>M</select><button>Add to cart</button>", IN_STOCK),
    ],
)
def test_stock_is_read_from_the_whole_line_and_not_from_conditions(html: str, stated: str | None) -> None:
    found = facts(f"<h1>Copper kettle</h1><p class=price>$59.00</p>{html}", SHOP).get("availability")
    assert (found["value"] if found and found["confidence"] > 0.5 else None) == stated


def test_availability_that_the_page_contradicts_is_uncertain() -> None:
    markup = '{"@type": "Product", "name": "Kettle", "offers": {"price": 5, "availability": "InStock"}}'
    script = f"<script type=application/ld+json>{markup}</script>"
    found = facts(f"{script}<h1>Kettle</h1><p>Sold out</p>", SHOP)["availability"]
    assert (found["value"], found["alternatives"]) == (IN_STOCK, [OUT_OF_STOCK])
    assert found["confidence"] < 0.5

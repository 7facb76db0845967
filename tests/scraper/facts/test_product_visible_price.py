"""Selection of the product price among the amounts on a page."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scraper.facts.products import URL, facts

BUY = "<button>Add to cart</button>"
FILL = "<i></i>" * 20


def price(html: str, url: str = URL) -> Any:
    return facts(f"{html}{BUY}", url).get("price", {}).get("value")


@pytest.mark.parametrize(
    ("amounts", "value"),
    [
        ("<h1>Kettle</h1><del><b class=price>$30</b></del><p class=total>$20</p>", 20),
        ("<h1>Kettle</h1><b class=price-a>$10 off</b><b class=price-b>$40</b>", 40),
        (f"<b class=price>$99</b><h1>Kettle</h1>{FILL}<b class=price>$10</b>", 10),
        ("<h1>Kettle</h1><div class=related><s><b class=old-price>$5</b></s></div>", None),
        ("<h1>Kettle</h1><p><i>€5</i><b class=price>3</b></p>", 5),
        ("<h1>Kettle</h1><p><i>Price:</i>€45.00 <b>each</b></p>", 45),
        ("<h1>Kettle</h1><div class=price-box>Ord. pris 1 999 kr <b class=price>1 499 kr</b></div>", 1499),
        ("<h1>Kettle</h1><p class=price>De: R$ 199,00 por <b>R$ 149,00</b></p>", 149),
        ('<h1>Kettle</h1><i style="text-decoration: line-through">$60</i><h2>$50</h2>', 50),
        ('<h1>Kettle</h1><p class="price line-through">$60</p><p class="price">$50</p>', 50),
        ("<h1>Kettle</h1><p class=price><i>$</i><i>1,327</i><i>00</i></p>", 1327),
        ("<h1>Kettle</h1><p class=price>$<i>24</i><small>95</small></p>", 24.95),
        ("<h1>Kettle</h1><p class=price><i>1.327</i><i>99</i> €</p>", 1327.99),
        ("<h1>Kettle</h1><p><b>$</b><b>297</b><b>99</b></p>", 297.99),
        ("<h1>Kettle</h1><p class=price><i>1.299</i><i>,</i><i>00</i> €</p>", 1299),
        ("<h1>Kettle</h1><p class=price><i class=per-unit>$2.10</i> <b>$16.80</b></p>", 16.8),
        ("<h1>Kettle</h1><div class=price><div>1 kg = 18,00 €</div><div>4,50 €</div></div>", 4.5),
        ("<h1>Kettle</h1><p class=price><i>4 payments of $24.99</i> or <b>$99.96</b></p>", 99.96),
        ("<h1>Kettle</h1><p class=price>Najniższa cena z 30 dni: 99,00 zł Teraz 89,00 zł</p>", 89),
    ],
)
def test_price_is_distinguished_from_other_amounts(amounts: str, value: float | None) -> None:
    assert price(amounts) == value


@pytest.mark.parametrize(
    ("text", "value"), [("1 299:-", 1299), ("149:–", 149), ("1.299,-", 1299), ("99p", 0.99), ("Fr. 1’299.95", 1299.95)]
)
def test_marks_of_prices_count_in_elements_named_price(text: str, value: float) -> None:
    assert price(f"<h1>Kettle</h1><p class=price>{text}</p>") == value
    assert price(f"<h1>Kettle</h1><p class=note>{text}</p>") is None


@pytest.mark.parametrize(
    ("text", "url", "lang", "code"),
    [
        ("149:-", "https://butik.se/p/1", "sv", "SEK"),
        ("149:-", "https://shop.example/se/p/1", "sv-SE", "SEK"),
        ("149,-", "https://butikk.no/p/1", "nb", "NOK"),
        ("149:-", "https://shop.example/p/1", "en", None),
        ("$1,299.00 MXN", "https://shop.example/p/1", "es", "MXN"),
        ("US $24.99", "https://shop.ca/p/1", "en", "USD"),
        ("1,299 บาท", "https://shop.example/p/1", "th", "THB"),
        ("KSh 1,299", "https://shop.example/p/1", "en", "KES"),
        ("LKR 1,299.00", "https://shop.example/p/1", "en", "LKR"),
        ("129,90 KM", "https://shop.example/p/1", "bs", "BAM"),
    ],
)
def test_currency_is_the_sign_beside_the_amount_or_that_of_the_country(
    text: str, url: str, lang: str, code: str | None
) -> None:
    html = f"<html lang={lang}><h1>Kettle</h1><p class=price>{text}</p>{BUY}"
    assert facts(html, url).get("currency", {}).get("value") == code


@pytest.mark.parametrize(
    ("url", "lang", "sign", "likely"),
    [
        ("https://shop.co/p/1", "en-CA", "$", "CAD"),
        ("https://shop.com.co/p/1", "es", "$", "COP"),
        ("https://shop.example/en-au/p/1", "en", "$", "AUD"),
        ("https://shop.example/p/1", "ja", "¥", "JPY"),
        ("https://shop.example/p/1", "da", "kr", "DKK"),
        ("https://shop.example/p/1", "en", "$", None),
    ],
)
def test_a_shared_sign_is_likely_that_of_the_page_s_country(url: str, lang: str, sign: str, likely: str | None) -> None:
    html = f"<html lang={lang}><h1>Kettle</h1><p class=price>{sign} 129</p>{BUY}"
    assert facts(html, url)["currency"].get("likely") == likely


@pytest.mark.parametrize(
    ("prices", "value"),
    [
        (
            '<b class="price-excluding-tax">Excl. VAT: €16.80</b><b class="price-including-tax">Incl. VAT: €19.99</b>',
            19.99,
        ),
        ('<i class="ex-tax"><b class="price">€16.80</b></i><i class="inc-tax"><b class="price">€19.99</b></i>', 19.99),
        ('<i class="inc-tax"><b class="price">€19.99</b></i><i class="ex-tax"><b class="price">€16.80</b></i>', 19.99),
        ("<span>16,80 €</span> <small>zzgl. MwSt.</small> <span>19,99 €</span> <small>inkl. MwSt.</small>", 19.99),
        ("<span>16,80 € HT</span> <span>20,16 € TTC</span>", 20.16),
        ("<span>€16.80 excl. VAT</span>", 16.8),
        ("<span>€16.80</span> <span>€19.99</span>", 16.8),
    ],
)
def test_of_a_price_with_and_without_tax_the_one_with_tax_is_taken(prices: str, value: float) -> None:
    assert price(f'<h1>Kettle</h1><div class="price">{prices}</div>') == value


def test_amounts_of_one_shape_are_those_of_a_list_of_other_products() -> None:
    others = "".join(f"<li class=card><b class=price-new>€ {number},00</b></li>" for number in range(20, 25))
    html = f"<h1>Copper kettle</h1><p class=price>€ 59,00</p><button>Add to cart</button><ul>{others}</ul>"
    assert facts(html)["price"]["value"] == 59

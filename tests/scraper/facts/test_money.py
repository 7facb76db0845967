"""Prices and currencies as pages write them."""

from __future__ import annotations

import pytest

from scraper.facts import money
from scraper.facts.recipe import parse_minutes


@pytest.mark.parametrize(
    ("text", "value", "other"),
    [
        ("49.90", 49.9, None), ("1299", 1299, None), ("1,299.00", 1299, None), ("1.299,00", 1299, None),
        ("71,91 €", 71.91, None), ("499€ 499€", 499, None), ("24.990000", 24.99, None), ("Rs. 1,299", 1299, None),
        ("24.990", 24.99, 24990), ("19.999", 19999, 19.999), ("1299.000", 1299, None), ("0.990", 0.99, None),
        ("1.299.000", 1299000, None), ("10000.500", 10000.5, None), ("1,299.000", 1299, None),
    ],
)  # fmt: skip
def test_a_stated_price_is_one_number(text: str, value: float, other: float | None) -> None:
    amount = money.read_stated(text)
    assert amount and (amount.value, amount.other) == (value, other)


def test_three_decimals_are_decimals_where_the_currency_has_them() -> None:
    amount = money.read_stated("4.250", "KWD")
    assert amount and (amount.value, amount.other) == (4.25, None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12 €50", 12.5), ("35€ 99", 35.99), ("12 zł 50 gr", 12.5), ("12 euros 50", 12.5), ("64 GB €49", 49),
        ("12€ 50 reviews", 12), ("12 € 24 Monate Garantie", 12), ("je 100 g 1,20 € | 3,60 €", 3.6),
        ("£1.20 per 100g £3.60", 3.6), ("2 for £5.00 £3.00 each", 3),
    ],
)  # fmt: skip
def test_a_sign_may_stand_before_the_cents_and_amounts_of_parts_are_no_price(text: str, value: float) -> None:
    amount = money.best_amount(money.read_amounts(text))
    assert amount and amount.value == value


@pytest.mark.parametrize(
    "text", ["free", "", "call us", "9" * 70, "-", "£1.2m", "1만 2,000원", "1.2万元", "$3 million"]
)
def test_text_without_a_price_gives_none(text: str) -> None:
    assert money.read_stated(text) is None


@pytest.mark.parametrize(
    ("text", "value", "sign"),
    [
        ("€ 12", 12, "€"), ("270,00 Kn", 270, "Kn"), ("44 890 тг.", 44890, "тг"), ("Legend 200", 200, None),
        ("NT$ 390", 390, "NT$"),
        # The number at the sign, not the first one.
        ("Pack of 6 - £12.00", 12, "£"), ("64 GB €499", 499, "€"), ("12 x 33 cl 15,48 €", 15.48, "€"),
        ("24/7 hotline. Price: $15", 15, "$"), ("Preis für 2 Personen: 1.180 €", 1180, "€"), ("6 - 12,00 €", 12, "€"),
        ("Size 4 €12", 12, "€"), ("11,00 – 33,00 €", 11, "€"), ("$110.50 - $331.00", 110.5, "$"),
        # Forms of numbers.
        ("19€95", 19.95, "€"), (",89 €", 0.89, "€"), ("₹1,49,990", 149990, "₹"), ("KWD 3.250", 3.25, "KWD"),
        ("JD 12.500", 12.5, "JD"),
        ("£3.350 each", 3.35, "£"), ("1.327.99 €", 1327.99, "€"), ("₫1.250.000", 1250000, "₫"),
        ("1'299.– CHF", 1299, "CHF"), ("1 299:-", 1299, ":-"), ("149,-", 149, ",-"), ("99p", 0.99, "£"),
        # The price, not that of a unit or an installment, a saving or an old one.
        ("($0.21/oz) $3.36", 3.36, "$"), ("1 kg = 18,00 € / 4,50 €", 4.5, "€"), ("100 ml: 3,20 € 16,00 €", 16, "€"),
        ("2,90 € pro Stück", 2.9, "€"), ("4 payments of $24.99 or $99.96", 99.96, "$"), ("$25/month or $299", 299, "$"),
        ("3 fois 33,00 € soit 99,00 €", 99, "€"), ("12x R$ 10,00 ou R$ 100,00", 100, "R$"),
        ("Save $10: now $40", 40, "$"), ("Free delivery over $30, $12", 12, "$"), ("€12 (was €15)", 12, "€"),
        ("Was € 29,99 Now € 17,50", 17.5, "€"), ("Statt 20 € nur 15 €", 15, "€"),
        ("16,80 € HT 20,16 € TTC", 20.16, "€"), ("税抜 9,073円（税込 9,980円）", 9980, "円"),
        ("原价：¥399 现价：¥299", 299, "¥"),
        ("ราคาปกติ ฿1,290 ราคาพิเศษ ฿990", 990, "฿"), ("Giá gốc: 1.290₫ Giá: 990₫", 990, "₫"),
        # Cents behind a space, and ranges.
        ("118, 99 TL", 118.99, "TL"), ("$ 8. 94", 8.94, "$"), ("1,000〜2,000円", 1000, "円"), ("26 bis 50 €", 26, "€"),
        ("E£ 1,299", 1299, "E£"), ("KD 12.500", 12.5, "KD"),
    ],
)  # fmt: skip
def test_a_visible_price_is_the_amount_at_the_sign_that_is_paid_now(text: str, value: float, sign: str | None) -> None:
    amount = money.best_amount(money.read_amounts(text))
    assert amount and (amount.value, amount.sign) == (value, sign)


@pytest.mark.parametrize(
    ("sign", "country", "code"),
    [("€", "", "EUR"), ("RUR", "", "RUB"), ("zł", "", "PLN"), ("usd", "", "USD"), ("$", "", None),
     ("$", "ca", "CAD"),
     ("kr", "se", "SEK"), ("kr", "", None), ("Rs.", "pk", "PKR"), (None, "us", None)],
)  # fmt: skip
def test_currency_code_of_a_sign_and_a_country(sign: str | None, country: str, code: str | None) -> None:
    assert money.currency_code(sign, country) == code


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("PT1H30M", 90), ("P1DT2H", 1560), ("45", 45), ("1 hr 20 min", 80), ("1½ hours", 90),
        ("2 Std. 15 Min.", 135),
        ("1 heure et 10 minutes", 70), ("30 минут", 30), ("1:30", 90),
        ("20 min, then 2 hours of rest", 20),
        ("1 heure 30", 90), ("1 u 30 min", 90),
        ("PT1H30", 90), ("1h30", 90), ("1 h 05", 65), ("1h30-2h", 90), ("P0Y0M0DT1H30M0.000S", 90),
        ("PT-5M", None),
        ("Prep: 10-20 min", 20), ("soon", None), ("", None), ("PT", None), ("P999999D", None), ("P1W", 10080),
    ],
)  # fmt: skip
def test_spans_are_minutes(text: str, span: int | None) -> None:
    assert parse_minutes(text) == span


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("now $12.50 each", "$12.50"), ("ab 85 Euro Bestellwert", "85 Euro"), ("129 ر.س", "129 ر.س"),
        ("一罐 27元/罐", "27元"), ("1 200 р", "1 200 р"), ("S/ 25", "S/ 25"), ("4 990 Ft", "4 990 Ft"),
        ("12 ft long", ""), ("uploads/2020/logo.png", ""), ("try 2 times", ""), ("149:-", ""),
    ],
)  # fmt: skip
def test_an_amount_anywhere_has_a_sign_or_code_of_a_currency(text: str, written: str) -> None:
    assert "".join(one.text for one in money.read_amounts(text, is_price=False)) == written

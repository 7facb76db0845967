"""The kinds of made pages with known values."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

from benchmarks.integrity.facts import (
    HEADS,
    MONTHS,
    THINGS,
    WORDS,
    Outcome,
    Shop,
    article,
    as_cards,
    as_rows,
    draw_about,
    fact,
    judge_about,
    judge_fields,
    judge_price,
    judge_records,
    list_of,
    listing_page,
    make_listing,
    make_shop,
    news,
    person,
    price_relation,
    table_of,
)


def higher(shop: Shop, rng: Random) -> str:
    """Return a price above that of a product."""
    return f"${shop.amount * rng.choice((1.2, 1.25, 1.5)) + 0.01:,.2f}"


def _product_data(name: str, price: str) -> dict[str, Any]:
    offer = {"@type": "Offer", "price": price, "priceCurrency": "USD"}
    return {"@context": "https://schema.org", "@type": "Product", "name": name, "offers": offer}


def _script(data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


def _struck_by_style(shop: Shop, rng: Random) -> Shop:
    old = f'<span class="amount" style="text-decoration: line-through">{higher(shop, rng)}</span> '
    return replace(shop, before=old)


def _rating_before(shop: Shop, rng: Random) -> Shop:
    stars, count = rng.randrange(30, 50) / 10, rng.randrange(1_000, 9_999)
    return replace(shop, before=f'<div class="stars">{stars} ({count:,} ratings)</div>')


def _decimal_comma(shop: Shop, rng: Random) -> Shop:
    text = f"{shop.amount:,.2f}".translate(str.maketrans(",.", ".,"))
    return replace(shop, price=f"{text} \u20ac", language="de", url="https://shop.example.de/artikel/ding")


def _other_products(shop: Shop, rng: Random) -> Shop:
    card = '<li class="card"><a href="/p/{}"><h3>{} {}</h3></a><span class="price">${}.{}</span></li>'
    cards = [
        card.format(number, rng.choice(WORDS), rng.choice(THINGS), rng.randrange(3, 900), rng.randrange(10, 99))
        for number in range(4)
    ]
    box = f'<section class="related"><h2>You may also like</h2><ul>{"".join(cards)}</ul></section>'
    return replace(shop, top=box) if rng.choice((True, False)) else replace(shop, bottom=box)


def _data_of_others(shop: Shop, rng: Random) -> Shop:
    names = [f"{rng.choice(WORDS)} {rng.choice(THINGS)} {number}" for number in range(3)]
    return replace(shop, markup=_script([_product_data(name, f"{rng.randrange(3, 900)}.50") for name in names]))


fact("price.unchanged-page")(lambda rng: judge_price(make_shop(rng)))
for _name, _change in {
    "struck-price-before": lambda shop, rng: replace(shop, before=f"<del>{higher(shop, rng)}</del> "),
    "struck-price-in-the-element": lambda shop, rng: replace(shop, inside_before=f"<s>{higher(shop, rng)}</s> "),
    "struck-price-by-style": _struck_by_style,
    "rating-before": _rating_before,
    "count-before-in-the-element": lambda shop, rng: replace(
        shop, inside_before=f"{rng.randrange(2, 9)} {rng.choice(('options', 'pairs', 'sizes', 'colours'))} from "
    ),
    "price-for-a-unit-behind": lambda shop, rng: replace(
        shop, behind=f'<div class="unit-price">${rng.randrange(10, 99) / 100:.2f} / 100 g</div>'
    ),
    "price-for-a-unit-before": lambda shop, rng: replace(
        shop, before=f'<div class="unit">(${rng.randrange(10, 99) / 100:.2f} per 100 g)</div>'
    ),
    "currency-behind": lambda shop, rng: replace(shop, price=f"{shop.amount:,.2f} $"),
    "currency-code-before": lambda shop, rng: replace(shop, price=f"USD {shop.amount:,.2f}"),
    "decimal-comma": _decimal_comma,
    "three-decimals-in-data": lambda shop, rng: replace(
        shop, markup=_script(_product_data(shop.name, f"{shop.amount:.3f}"))
    ),
    "other-products-with-prices": _other_products,
    "data-of-other-products": _data_of_others,
}.items():
    price_relation(_name)(_change)


# Labels and values


def _judge_specs(shop: Shop) -> Outcome:
    return judge_fields(shop.html(), shop.url, {label: value or None for label, value in shop.specs})


fact("fields.all-labels")(lambda rng: _judge_specs(make_shop(rng)))


@fact("fields.label-without-value")
def _(rng: Random) -> Outcome:
    shop = make_shop(rng)
    empty = rng.sample(range(5), 2)
    return _judge_specs(
        replace(shop, specs=[(label, "" if at in empty else value) for at, (label, value) in enumerate(shop.specs)])
    )


@fact("fields.label-without-value-at-the-end")
def _(rng: Random) -> Outcome:
    shop = make_shop(rng)
    return _judge_specs(replace(shop, specs=[*shop.specs[:-1], (shop.specs[-1][0], "")]))


@fact("fields.rows-in-another-order")
def _(rng: Random) -> Outcome:
    shop = make_shop(rng)
    question = "<p>Which material is best outside? That depends on the rain, and on the colour that you like.</p>"
    specs = rng.sample(shop.specs, len(shop.specs))
    return _judge_specs(
        replace(shop, specs=specs, bottom=f'<section class="faq"><h2>Questions</h2>{question}</section>')
    )


@fact("fields.several-models-in-columns")
def _(rng: Random) -> Outcome:
    shop = make_shop(rng)
    rows = {label: [f"{rng.choice(WORDS)} {rng.randrange(10, 999)}" for _ in range(3)] for label, _ in shop.specs}
    own = rng.randrange(3)
    heads = [f"{rng.choice(THINGS)} Z{number}{rng.randrange(10, 99)}" for number in range(3)]
    heads[own] = shop.name
    cells = [f"<th></th>{''.join(f'<th>{head}</th>' for head in heads)}"]
    cells += [f"<th>{label}</th>{''.join(f'<td>{value}</td>' for value in values)}" for label, values in rows.items()]
    table = f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
    html = replace(shop, specs=[], bottom=table).html()
    return judge_fields(html, shop.url, {label: values[own] for label, values in rows.items()})


# Records


def _judge_cards(cards: list[str]) -> Outcome:
    return judge_records(listing_page(list_of(cards)), 8)


def _judge_table(rows: list[str]) -> Outcome:
    return judge_records(listing_page(table_of(rows, HEADS[:4])), 8)


def _with_holes(rng: Random, share: float) -> list[list[str]]:
    rows = make_listing(rng)
    for row in rows:
        if rng.random() < share:
            row[rng.randrange(1, 4)] = ""
    return rows


fact("records.cards")(lambda rng: _judge_cards(as_cards(make_listing(rng))))
fact("records.table")(lambda rng: _judge_table(as_rows(make_listing(rng))))
fact("records.cards-with-missing-parts")(lambda rng: _judge_cards(as_cards(_with_holes(rng, 0.4))))
fact("records.table-with-empty-cells")(lambda rng: _judge_table(as_rows(_with_holes(rng, 0.5))))
fact("records.values-that-repeat")(
    lambda rng: _judge_cards(as_cards([[row[0], "new", *row[2:]] for row in make_listing(rng)]))
)


@fact("records.table-with-rows-of-groups")
def _(rng: Random) -> Outcome:
    rows = as_rows(make_listing(rng))
    for at in (6, 3, 0):
        rows.insert(at, f'<tr class="group"><td colspan="4">{rng.choice(WORDS).capitalize()} group</td></tr>')
    return _judge_table(rows)


@fact("records.advertisement-among-cards")
def _(rng: Random) -> Outcome:
    cards = as_cards(make_listing(rng))
    link = '<a href="https://ads.example/x">Save on your next trip</a>'
    cards.insert(rng.randrange(2, 6), f'<li class="ad"><div><span>Sponsored</span>{link}</div></li>')
    return _judge_cards(cards)


# Author and date


def _byline(name: str) -> str:
    return f'<p class="byline">By <a href="/people/1">{name}</a></p>'


def _time(day: str) -> str:
    return f'<time datetime="{day}T09:00:00Z">{day}</time>'


@fact("about.data")
def _(rng: Random) -> Outcome:
    one, _, day, _ = draw_about(rng)
    return judge_about(article(rng, data=[news(person(one), f"{day}T09:00:00Z")]), one, day)


@fact("about.data-of-other-articles-first")
def _(rng: Random) -> Outcome:
    one, other, day, another = draw_about(rng)
    related = news(person(other), f"{another}T09:00:00Z", "Market moves indoors")
    return judge_about(article(rng, data=[related, news(person(one), f"{day}T09:00:00Z")]), one, day)


@fact("about.data-of-a-video-first")
def _(rng: Random) -> Outcome:
    one, other, day, another = draw_about(rng)
    published = dict.fromkeys(("uploadDate", "datePublished"), f"{another}T08:00:00Z")
    video = {"@context": "https://schema.org", "@type": "VideoObject", "name": "The crane lifts a boat", **published}
    byline = f'<p class="byline">By <a rel="author" href="/people/1">{one}</a></p>'
    data = [{**video, "author": person(other)}]
    return judge_about(article(rng, data=data, byline=byline, date=_time(day)), one, day)


@fact("about.visible-with-comments")
def _(rng: Random) -> Outcome:
    one, other, day, another = draw_about(rng)
    comment = f'<span class="author">{other}</span> {_time(another)}<p>Good to see it lift boats again.</p>'
    section = f'<section id="comments"><h2>2 comments</h2><div class="comment">{comment}</div></section>'
    return judge_about(article(rng, byline=_byline(one), date=_time(day), bottom=section), one, day)


@fact("about.visible-with-related-first")
def _(rng: Random) -> Outcome:
    one, other, day, another = draw_about(rng)
    head = f'<h4><a href="/b">Market moves indoors</a></h4><span class="author">{other}</span>{_time(another)}'
    box = f'<aside class="related"><h3>More news</h3><article>{head}</article></aside>'
    html = article(rng, byline=_byline(one), date=_time(day))
    return judge_about(html.replace("<main>", f"<main>{box}"), one, day)


@fact("about.author-as-list-of-names")
def _(rng: Random) -> Outcome:
    one, other, day, _ = draw_about(rng)
    return judge_about(article(rng, data=[news(person([one, other]), f"{day}T09:00:00Z")]), f"{one}, {other}", day)


@fact("about.date-in-words")
def _(rng: Random) -> Outcome:
    one, _, day, _ = draw_about(rng)
    year, month, number = map(int, day.split("-"))
    name = MONTHS[month - 1]
    text = rng.choice((f"{name} {number}, {year}", f"{number} {name} {year}", f"{name[:3]} {number}, {year}"))
    return judge_about(
        article(rng, byline=f'<p class="byline">By {one}</p>', date=f'<p class="date">{text}</p>'), one, day
    )

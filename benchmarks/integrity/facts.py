"""Make pages with known prices, fields, records, authors and dates, and judge what the product reads.

Each value occurs once, so that it tells where it came from. `wrong` is another value, `missing` is none.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from benchmarks.integrity import product
from benchmarks.integrity.product import read_about, read_fields, read_records

Outcome = tuple[str, str]
"""`right`, `missing`, `wrong` or `skipped`, and the details."""
Check = Callable[[Random], Outcome]

REGISTRY: list[tuple[str, Check]] = []

WORDS = (
    "teak bronze hemp steel granite birch quartz wool cedar nickel cotton pearl ash rattan chrome larch silk onyx fir "
    "zinc"
).split()
THINGS = (
    "desk lantern teapot armchair speaker sander coat fan plotter canoe scale hammock watch crate mixer ladder rug "
    "easel"
).split()
LABELS = ("Material", "Colour", "Weight", "Warranty", "Origin", "Voltage", "Length", "Model")
PEOPLE = (
    "Greta Almqvist",
    "Jan Vogel",
    "Rosa Ferrer",
    "Emil Krantz",
    "Ida Horak",
    "Bram Visser",
    "Sofia Luna",
    "Samir Nasser",
)
MONTHS = "January February March April May June July August September October November December".split()
NAV = (
    '<header><a href="/">Northwind Quay</a><nav><ul><li><a href="/new">New</a></li><li><a href="/wood">Wood</a></li>'
    '<li><a href="/contact">Contact</a></li></ul></nav></header>'
)
FOOT = (
    "<footer><p>Northwind Quay Ltd, 12 Mill Street.</p>"
    '<ul><li><a href="/imprint">Imprint</a></li><li><a href="/returns">Returns</a></li></ul></footer>'
)
TEXT = (
    "<p>Our workshop makes it by hand from parts that can be repaired, and it lasts for years in any home or garden. "
    "We send it in a box of paper with the post, as soon as the next working day after your order.</p>"
)
DESIGNS = (
    '<div class="product-price">{before}<span class="price">{amount}</span>{behind}</div><button>Add to cart</button>',
    '<div class="summary">{before}<p class="price"><span class="amount">{amount}</span></p>{behind}</div>'
    "<button>Add to basket</button>",
    '<div class="buy">{before}<div class="now">{amount}</div>{behind}<button type="submit">Buy now</button></div>',
    '<section class="_a3f">{before}<div class="_k9 price-box"><b>{amount}</b></div>{behind}'
    '<button class="_q">Add to cart</button></section>',
    '<div itemscope itemtype="https://schema.org/Product"><div class="p-info">{before}'
    '<span class="product__price">{amount}</span>{behind}</div></div><button>Add to cart</button>',
)
"""Markup of a price."""


def _rows_in(opening: str, row: str, closing: str) -> Callable[[Sequence[tuple[str, str]]], str]:
    return lambda rows: f"<h2>Details</h2>{opening}{''.join(row.format(*pair) for pair in rows)}{closing}"


SPEC_DESIGNS = (
    _rows_in("<table>", "<tr><th>{}</th><td>{}</td></tr>", "</table>"),
    _rows_in("<dl>", "<dt>{}</dt><dd>{}</dd>", "</dl>"),
    _rows_in('<ul class="specs">', "<li><strong>{}:</strong> {}</li>", "</ul>"),
    _rows_in(
        '<div class="specs">', '<div class="row"><div class="label">{}</div><div class="value">{}</div></div>', "</div>"
    ),
    _rows_in('<div class="specs">', '<p><span class="l">{}:</span><span class="v">{}</span></p>', "</div>"),
)
"""Markup of labels with values."""
HEADS = ["Item", "Label", "Maker", "Place", "State", "Kind"]
_CARD_CLASSES = ("name", "tag", "maker", "place", "state", "kind")
_CELL = re.compile(r"\br(\d+)c(\d+)\b")


def fact(name: str) -> Callable[[Check], Check]:
    """Register a kind of page with its judgment."""

    def add(check: Check) -> Check:
        REGISTRY.append((name, check))
        return check

    return add


def judge_values(found: Mapping[str, str | None], expected: Mapping[str, str | None]) -> Outcome:
    """Compare values by name. A value of None must not be found."""
    wrong = [
        f"{name}: {found[name]!r} instead of {value!r}"
        for name, value in expected.items()
        if found.get(name) not in (value, None, "")
    ]
    if wrong:
        return "wrong", "; ".join(wrong)[:240]
    missing = [name for name, value in expected.items() if value and not found.get(name)]
    return ("missing", ", ".join(missing)) if missing else ("right", "")


# Products


@dataclass
class Shop:
    """A page of a product."""

    name: str
    amount: float
    price: str
    language: str = "en"
    url: str = "https://shop.example/product/item"
    before: str = ""
    """HTML before the price, in its box."""
    behind: str = ""
    inside_before: str = ""
    """HTML before the amount, in its element."""
    inside_behind: str = ""
    raw_price: str = ""
    """HTML of the amount, if it is not plain text."""
    top: str = ""
    bottom: str = ""
    markup: str = ""
    """HTML in the head."""
    specs: Sequence[tuple[str, str]] = field(default_factory=list)
    design: int = 0
    spec_design: int = 0

    def html(self) -> str:
        """Return the source of the page."""
        amount = f"{self.inside_before}{self.raw_price or self.price}{self.inside_behind}"
        box = DESIGNS[self.design % len(DESIGNS)].format(before=self.before, amount=amount, behind=self.behind)
        specs = SPEC_DESIGNS[self.spec_design % len(SPEC_DESIGNS)](self.specs) if self.specs else ""
        main = f"{self.top}<h1>{self.name}</h1>{box}{TEXT}{specs}{self.bottom}"
        return _document(f"{self.name} | Northwind Quay", main, self.markup, self.language)


def _document(title: str, main: str, head: str = "", language: str = "en") -> str:
    return (
        f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>{head}</head>'
        f"<body>{NAV}<main>{main}</main>{FOOT}</body></html>"
    )


def make_shop(rng: Random) -> Shop:
    """Draw a product."""
    small, large = (
        rng.randrange(5, 99) + rng.choice((0.5, 0.95, 0.99, 0.0)),
        rng.randrange(100, 4_999) + rng.choice((0.0, 0.9, 0.49)),
    )
    amount = rng.choice((small, large))
    name = f"{rng.choice(WORDS).capitalize()} {rng.choice(THINGS)} {rng.choice('ABCDEFGHK')}{rng.randrange(10, 99)}"
    specs = [(label, f"{rng.choice(WORDS)} {rng.randrange(10, 999)}") for label in rng.sample(LABELS, 5)]
    return Shop(name, amount, f"${amount:,.2f}", specs=specs, design=rng.randrange(5), spec_design=rng.randrange(5))


def read_price(shop: Shop) -> float | None:
    """Return the price that the product reads."""
    return product.read_price(shop.html(), shop.url)


def judge_price(shop: Shop) -> Outcome:
    """Compare the price that the product reads."""
    found = read_price(shop)
    if found is None:
        return "missing", repr(shop.price)
    if abs(float(found) - shop.amount) < 0.005:
        return "right", ""
    return (
        "wrong",
        f"{found} instead of {shop.amount} ({shop.inside_before}{shop.raw_price or shop.price}{shop.inside_behind})",
    )


def price_relation(name: str) -> Callable[[Callable[[Shop, Random], Shop]], None]:
    """Register a change of a product's page whose price is read right before it."""

    def add(change: Callable[[Shop, Random], Shop]) -> None:
        @fact(f"price.{name}")
        def check(rng: Random) -> Outcome:
            shop = make_shop(rng)
            return judge_price(change(shop, rng)) if judge_price(shop)[0] == "right" else ("skipped", "")

    return add


def judge_fields(html: str, url: str, expected: Mapping[str, str | None]) -> Outcome:
    """Compare the fields that the product reads."""
    return judge_values(read_fields(html, url, list(expected)), expected)


# Lists


def make_listing(rng: Random, rows: int = 8, columns: int = 4) -> list[list[str]]:
    """Draw rows of values that tell their row and column, such as `oak lamp r3c1`."""
    return [
        [f"{rng.choice(WORDS)} {rng.choice(THINGS)} r{row}c{column}" for column in range(columns)]
        for row in range(rows)
    ]


def listing_page(body: str, title: str = "Catalogue") -> str:
    """Return a page with a list or table."""
    return _document(title, f"<h1>{title}</h1>{TEXT}{body}")


def as_cards(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return list items with a value in each element; empty values have none."""
    cards = []
    for number, (name, *values) in enumerate(rows):
        parts = [
            f'<span class="{kind}">{value}</span>'
            for kind, value in zip(_CARD_CLASSES[1:], values, strict=False)
            if value
        ]
        cards.append(f'<li class="card"><h3><a href="/item/{number}">{name}</a></h3>{"".join(parts)}</li>')
    return cards


def as_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of a table."""
    return [f"<tr>{''.join(f'<td>{value}</td>' for value in row)}</tr>" for row in rows]


def list_of(cards: Sequence[str]) -> str:
    """Return a list of items."""
    return f'<ul class="list">{"".join(cards)}</ul>'


def table_of(rows: Sequence[str], heads: Sequence[str]) -> str:
    """Return a table with heads of columns."""
    cells = "".join(f"<th>{head}</th>" for head in heads)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def judge_records(html: str, expected_rows: int, *, url: str = "https://list.example/all") -> Outcome:
    """Judge that each record has values of one row, each name those of one column, and that no row is missing."""
    rows_seen: list[int] = []
    columns: dict[str, Counter[int]] = defaultdict(Counter)
    for record in read_records(html, url):
        cells = [
            (name, int(row), int(column))
            for name, value in record.items()
            for row, column in _CELL.findall(json.dumps(value, ensure_ascii=False))
        ]
        rows = {row for _, row, _ in cells}
        if len(rows) > 1:
            return (
                "wrong",
                f"one record has values of rows {sorted(rows)}: {json.dumps(record, ensure_ascii=False)[:160]}",
            )
        rows_seen += rows
        for name, _, column in cells:
            columns[name][column] += 1
    mixed = {name: dict(counts) for name, counts in columns.items() if len(set(counts.values())) > 1}
    if mixed:
        return "wrong", f"names hold values of several columns: {mixed}"[:240]
    if len(set(rows_seen)) < len(rows_seen):
        return "wrong", f"rows twice: {sorted(rows_seen)}"
    return ("missing", f"{len(rows_seen)} of {expected_rows} rows") if len(rows_seen) < expected_rows else ("right", "")


# Articles


def article(
    rng: Random,
    *,
    data: Sequence[Mapping[str, Any]] = (),
    byline: str = "",
    date: str = "",
    metas: str = "",
    bottom: str = "",
) -> str:
    """Return a page with an article."""
    texts = [" ".join(rng.choice(WORDS + THINGS) for _ in range(30)).capitalize() for _ in range(6)]
    body = "".join(f"<p>{text}.</p>" for text in texts)
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(one)}</script>' for one in data or ())
    main = f"<article><h1>Crane repaired</h1>{byline}{date}{body}</article>{bottom}"
    return _document("Crane repaired - Quay Post", main, metas + scripts)


def news(author: Any, day: str, headline: str = "Crane repaired", kind: str = "NewsArticle") -> dict[str, Any]:
    """Return the JSON-LD of an article."""
    about = {"@context": "https://schema.org", "@type": kind, "headline": headline, "datePublished": day}
    return {**about, "author": author}


def person(name: Any) -> dict[str, Any]:
    """Return the JSON-LD of a person."""
    return {"@type": "Person", "name": name}


def draw_about(rng: Random) -> tuple[str, str, str, str]:
    """Draw the author, another one, the day, and another one."""
    one, other = rng.sample(PEOPLE, 2)
    months = [f"20{rng.randrange(15, 25)}-{rng.randrange(1, 13):02}" for _ in range(2)]
    return one, other, f"{months[0]}-{rng.randrange(13, 28):02}", f"{months[1]}-{rng.randrange(1, 12):02}"


def judge_about(html: str, author: str, day: str) -> Outcome:
    """Compare the author and the day that the product reads."""
    found = read_about(html, "https://quaypost.example/2024/crane-repaired")
    return judge_values(dict(zip(("author", "date"), found, strict=True)), {"author": author, "date": day})

"""Helpers that build product pages and extract their facts."""

from __future__ import annotations

import json
from typing import Any

from scraper.facts import structured
from tests.scraper.extract.snapshots import page

URL = "https://shop.example/product/kettle"

SEEN = """
<nav><a class="price">$1.00</a></nav><h1>Copper kettle</h1>
<span class="old-price"><del>$80.00</del></span><span class="price-current">$59.00</span>
<p>Free delivery over $30</p><button>Add  to cart</button>
<table><tr><th>Brand:</th><td>Smith &amp; Sons</td></tr><tr><th>EAN</th><td>4006381333931</td></tr></table>
<p>Product code: 83050303</p>
<div class="related"><span class="price">$5.00</span><span class="price">$6.00</span></div>
"""


def facts(html: str, url: str = URL) -> dict[str, Any]:
    """Return the facts of the product on a page, by name."""
    return structured.extract(page(html, url)).product or {}


def told(html: str, url: str = URL) -> dict[str, tuple[Any, str]]:
    """Return the value and the source of each fact."""
    return {name: (fact["value"], fact["source"]) for name, fact in facts(html, url).items()}


def ld(item: dict[str, Any]) -> str:
    """Return an item as a JSON-LD script element."""
    return f'<script type="application/ld+json">{json.dumps(item)}</script>'


def product(**more: Any) -> dict[str, Any]:
    """Return a JSON-LD product; `more` overrides its properties."""
    offer = {"@type": "Offer", "price": "49.90", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
    return {
        "@type": "Product",
        "name": "Copper kettle",
        "sku": "K-77",
        "brand": {"name": "Smith"},
        "offers": offer,
    } | more

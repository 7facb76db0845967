"""Items of the facts of products and recipes: pages as saved, and without their markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.ablation.items import Answer, Item, digest
from benchmarks.structured import score
from benchmarks.structured.pages import SavedPage, saved_pages
from scraper.facts import structured

_MARKUP = re.compile(
    r"<script[^>]*ld\+json[^>]*>.*?</script>|\sitem(?:prop|type|scope|ref|id)(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]+))?|"
    r"<meta[^>]+(?:product:|og:price|og:availability|twitter:(?:data|label))[^>]*>",
    re.DOTALL | re.IGNORECASE,
)
"""Markup of products and recipes."""


def fact_items(corpora: Path) -> Iterator[Item]:
    """Yield the pages of products and recipes, each also without markup, as most pages on the web are."""
    for kind, count in (("products", _count_product), ("recipes", _count_recipe)):
        for page in saved_pages(corpora, kind):
            bare = replace(page, html=_MARKUP.sub("", page.html))
            for prefix, saved in ((kind, page), (f"{kind}.unmarked", bare)):

                def read(kind: str = kind, prefix: str = prefix, page: SavedPage = saved, count: Any = count) -> Answer:
                    data = structured.extract(page.snapshot())
                    facts = (data.recipe if kind == "recipes" else data.product) or {}
                    return Answer(count(prefix, page.gold, facts), digest(facts))

                yield Item("facts", f"{prefix}/{page.name}", page.url, read)


def _count_product(
    prefix: str, gold: Mapping[str, Any], facts: Mapping[str, Mapping[str, Any]]
) -> dict[str, tuple[float, float]]:
    counts = {}
    for field in score.PRODUCT_FIELDS:
        fact = facts.get(field, {})
        verdict = score.judge(field, gold.get(field), fact.get("value"))
        if verdict is None:
            continue
        found = verdict in ("right", "wrong") or (verdict == "extra" and field in score.EXTRA_COUNTS)
        counts[f"{prefix}.{field}"] = (2.0 * (verdict == "right"), float(found + (verdict != "extra")))
    return counts


def _count_recipe(
    prefix: str, gold: Mapping[str, Any], facts: Mapping[str, Mapping[str, Any]]
) -> dict[str, tuple[float, float]]:
    expected = {**gold, "instructions": gold.get("instructions_list")}
    return {
        f"{prefix}.{field}": (score.similarity(field, expected[field], facts.get(field, {}).get("value")), 1.0)
        for field in score.RECIPE_FIELDS
        if expected.get(field) not in (None, "", [], {})
    }

"""The syntaxes of one page side by side, each within its bounds, and the facts that they tell together."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lxml import etree

from browsers.model import JsonResponse, Snapshot
from scraper.extract.dom import parsing
from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.facts import page_currency, product, recipe, script_data
from scraper.extract.facts.countries import country_of
from scraper.extract.facts.model import FactSource
from scraper.extract.facts.schema_graph import SchemaGraph, cleaned
from scraper.extract.metadata import metadata
from scraper.extract.page import build
from scraper.extract.syntaxes import jsonld, microdata, opengraph, rdfa
from scraper.extract.syntaxes.json_bounds import JsonBounder
from scraper.extract.syntaxes.jsonld import Item
from scraper.model import StructuredData

MAX_RESPONSES = 20
MAX_RESPONSE_CHARACTERS = 200_000

_Facts = tuple[Item | None, Item | None]
"""Of the product and of the recipe."""

_FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    etree.LxmlError,
)
"""What libraries raise on pages that nobody has thought of; memory and time are the worker's to watch."""

_READ_OTHERWISE = ("script", "style")


@dataclass(slots=True)
class _Reading:
    """What has been read so far, and what could not be."""

    base: str
    warnings: list[str]

    def bounded(self, name: str, values: Iterable[Any]) -> tuple[Item, ...]:
        """The values within bounds."""
        wellformed = JsonBounder(self.base)
        objects = wellformed.objects(values)
        if wellformed.cut:
            self.warnings.append(f"{name}: there is more than the limits allow; the rest is left out.")
        return objects

    def tried(self, name: str, work: Callable[[], Iterable[Any]]) -> tuple[Item, ...]:
        """What a syntax's reader gives; where it breaks, nothing and a warning."""
        try:
            return self.bounded(name, work())
        except _FAULTS as fault:
            self.warnings.append(f"{name}: it could not be read ({type(fault).__name__}).")
            return ()

    def tried_facts(self, work: Callable[[], _Facts]) -> _Facts:
        """The product and the recipe; where looking for them breaks, neither and a warning."""
        try:
            return work()
        except _FAULTS as fault:
            self.warnings.append(f"product and recipe: they could not be read ({type(fault).__name__}).")
            return None, None


def read(snapshot: Snapshot, *, simply: bool) -> StructuredData:
    """The structured data of a snapshot of HTML; `simply`: without what takes long on hostile pages."""
    root = parsing.parse(snapshot.html, flatten=False).root
    xhr, fetched = _fetched(snapshot.json_responses)
    if root is None:
        return StructuredData(url=snapshot.url, xhr=xhr)
    reading = _Reading(build.base_of(root, snapshot.url), [])
    json_ld = _json_ld(root, reading)
    tags = opengraph.properties(root)
    cards = reading.bounded("opengraph", opengraph.as_lists(tags, reading.base))
    if simply:
        return StructuredData(
            url=snapshot.url, json_ld=json_ld, opengraph=cards, xhr=xhr, warnings=tuple(reading.warnings)
        )
    etree.strip_elements(root, *_READ_OTHERWISE, with_tail=False)
    parsing.lift_deep(root)
    micro = reading.tried("microdata", lambda: microdata.read(root, reading.base))
    fragments = microdata.fragments(root, product.FRAGMENTS)
    rdf = reading.tried("rdfa", lambda: rdfa.read(root, reading.base)) if rdfa.is_carried(root) else ()
    graphs = {
        FactSource.JSON_LD: SchemaGraph(json_ld),
        FactSource.MICRODATA: SchemaGraph(micro),
        FactSource.RDFA: SchemaGraph(rdfa.linked(rdf)),
    }
    sold, cooked = reading.tried_facts(lambda: _facts(snapshot, graphs, tags, fragments, fetched, reading))
    return StructuredData(
        url=snapshot.url,
        json_ld=json_ld,
        microdata=micro,
        opengraph=cards,
        rdfa=rdf,
        xhr=xhr,
        product=sold,
        recipe=cooked,
        warnings=tuple(reading.warnings),
    )


def _json_ld(root: Element, reading: _Reading) -> tuple[Item, ...]:
    blocks = jsonld.read(script.text or "" for script in root.iter("script") if _is_json_ld(script))
    if blocks.broken:
        reading.warnings.append(f"json_ld: {blocks.broken} blocks are no JSON and were left out.")
    return reading.bounded("json_ld", blocks.values)


def _facts(
    snapshot: Snapshot,
    graphs: Mapping[FactSource, SchemaGraph],
    tags: list[tuple[str, str]],
    fragments: list[tuple[str, Element]],
    fetched: list[Any],
    reading: _Reading,
) -> _Facts:
    """The product and the recipe of a page."""
    page = build.build(snapshot)
    about = metadata.read(page)
    headings = list(filter(None, (cleaned(text_of(heading)) for heading in page.body.iter("h1"))))
    # The only heading names a thing more often than what the head says for search engines.
    title = headings[0] if len(headings) == 1 else about.title or ""
    states = {FactSource.STATE: script_data.read(page.head.scripts), FactSource.XHR: fetched}
    locales = (content for name, content in page.head.metas if name == "og:locale")
    country = country_of(snapshot.url, filter(None, (about.language, *locales)))
    wellformed = JsonBounder(reading.base)
    picture = opengraph.picture(tags, reading.base)
    cooked = recipe.read(graphs, page.body, title, author=about.author, picture=picture)
    told = product.PageEvidence(
        graphs,
        tags,
        fragments,
        states,
        snapshot.url,
        country,
        lambda: page_currency.codes(page.head.scripts),
        picture,
        lambda: script_data.in_attributes(page.body),
    )
    sold = product.read(told, page.body, title)
    return wellformed.value(sold), wellformed.value(cooked)


def _is_json_ld(script: Element) -> bool:
    return "ld+json" in (script.get("type") or "").lower()


def _fetched(responses: Iterable[JsonResponse]) -> tuple[tuple[Item, ...], list[Any]]:
    """The JSON that the page fetched: as it is told, and its values."""
    told: list[Item] = []
    for response in list(responses)[:MAX_RESPONSES]:
        if len(response.text) > MAX_RESPONSE_CHARACTERS:
            told.append(
                {
                    "url": response.url,
                    "status": response.status,
                    "data": None,
                    "too_large": len(response.text),
                }
            )
            continue
        try:
            data = json.loads(response.text, strict=False)
        except (ValueError, RecursionError):
            continue
        told.append({"url": response.url, "status": response.status, "data": data})
    wellformed = JsonBounder("")
    objects = wellformed.objects(told)
    return objects, [part.get("data") for part in objects]

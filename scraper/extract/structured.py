"""Read the structured data of a page in all syntaxes, and the product or recipe that it describes.

A syntax that cannot be read adds a warning and never affects the others.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from lxml import etree

from browsers.model import JsonResponse, Snapshot
from scraper.extract.dom import parsing
from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.metadata import metadata
from scraper.extract.page import page_tree
from scraper.extract.syntaxes import jsonld, opengraph
from scraper.extract.syntaxes.jsonld import Item
from scraper.extract.text import sanitize
from scraper.model import StructuredData

if TYPE_CHECKING:
    from scraper.extract.facts.model import FactSource
    from scraper.extract.facts.schema_graph import SchemaGraph

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


def extract(snapshot: Snapshot) -> StructuredData:
    """Return all structured data of a snapshot of HTML, and the facts of its product or recipe."""
    return _extract(snapshot, basic=False)


def extract_basic(snapshot: Snapshot) -> StructuredData:
    """Return only JSON-LD, OpenGraph and fetched JSON, for pages on which the rest takes too long."""
    return _extract(snapshot, basic=True)


def _extract(snapshot: Snapshot, *, basic: bool) -> StructuredData:
    root = parsing.parse_html(snapshot.html, flatten=False).root
    xhr, fetched = _fetched(snapshot.json_responses)
    if root is None:
        return StructuredData(url=snapshot.url, xhr=xhr)
    reading = _Reading(page_tree.find_base_url(root, snapshot.url), [])
    json_ld = _json_ld(root, reading)
    tags = opengraph.read_properties(root)
    cards = reading.bounded("opengraph", opengraph.to_objects(tags, reading.base))
    if basic:
        return StructuredData(
            url=snapshot.url, json_ld=json_ld, opengraph=cards, xhr=xhr, warnings=tuple(reading.warnings)
        )
    # extruct imports rdflib, which takes .3 s: only a worker that reads structured data imports these.
    from scraper.extract.facts import product
    from scraper.extract.facts.model import FactSource
    from scraper.extract.facts.schema_graph import SchemaGraph
    from scraper.extract.syntaxes import microdata, rdfa

    etree.strip_elements(root, *_READ_OTHERWISE, with_tail=False)
    parsing.flatten_deep_elements(root)
    micro = reading.tried("microdata", lambda: microdata.read(root, reading.base))
    fragments = microdata.find_loose_properties(root, product.FRAGMENTS)
    rdf = reading.tried("rdfa", lambda: rdfa.read(root, reading.base)) if rdfa.is_present(root) else ()
    graphs = {
        FactSource.JSON_LD: SchemaGraph(json_ld),
        FactSource.MICRODATA: SchemaGraph(micro),
        FactSource.RDFA: SchemaGraph(rdfa.link_nodes(rdf)),
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
    """Return the product and the recipe of a page."""
    from scraper.extract.facts import money, product, product_js_state, recipe
    from scraper.extract.facts.model import FactSource
    from scraper.extract.facts.money import country_of
    from scraper.extract.facts.schema_graph import clean_text

    page = page_tree.build_page_tree(snapshot)
    about = metadata.read(page)
    headings = list(filter(None, (clean_text(text_of(heading)) for heading in page.body.iter("h1"))))
    # The only heading names a thing more often than what the head says for search engines.
    title = headings[0] if len(headings) == 1 else about.title or ""
    states = {FactSource.STATE: product_js_state.read_scripts(page.head.scripts), FactSource.XHR: fetched}
    locales = (content for name, content in page.head.metas if name == "og:locale")
    country = country_of(snapshot.url, filter(None, (about.language, *locales)))
    wellformed = JsonBounder(reading.base)
    picture = opengraph.find_image(tags, reading.base)
    cooked = recipe.extract_recipe(graphs, page.body, title, author=about.author, picture=picture)
    told = product.PageEvidence(
        graphs,
        tags,
        fragments,
        states,
        snapshot.url,
        country,
        lambda: money.currencies_in_scripts(page.head.scripts),
        picture,
        lambda: product_js_state.read_attributes(page.body),
    )
    sold = product.extract_product(told, page.body, title)
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


MAX_CHARACTERS = 400_000
"""Of one syntax: some hundred thousand tokens, beyond what any answer tells."""
MAX_TEXT = 50_000
MAX_DEPTH = 30
_HALF_PAIRS = re.compile("[\ud800-\udfff]")
"""What no encoding can carry."""
_COST_OF_A_VALUE = 4
"""Counted for what is around a value, so that ten million empty lists come to an end too."""

_ADDRESSES = frozenset(
    "@id url image logo photo contenturl embedurl thumbnail thumbnailurl sameas mainentityofpage "
    "urltemplate target primaryimageofpage discussionurl".split()
)


class JsonBounder:
    """Copies values of one syntax; `cut` tells afterwards whether something was left out."""

    def __init__(self, base: str, *, characters_left: int = MAX_CHARACTERS) -> None:
        self.cut = False
        self._base = base
        self._left = characters_left

    def objects(self, values: Any) -> tuple[dict[str, Any], ...]:
        """Those of the values that are objects, while there is room."""
        found: list[dict[str, Any]] = []
        for value in values:
            if self._left <= 0:
                self.cut = True
                break
            if isinstance(value, dict) and (copy := self.value(value)):
                found.append(copy)
        return tuple(found)

    def value(self, value: Any, name: str = "", depth: int = 0) -> Any:
        """A copy of a value; what is beyond the bounds is missing in it."""
        self._left -= _COST_OF_A_VALUE
        if isinstance(value, str):
            return self._text(value, name)
        if isinstance(value, float) and not math.isfinite(value):
            return None  # JSON has no name for it
        if value is None or isinstance(value, bool | int | float):
            return value
        if not isinstance(value, dict | list | tuple):
            return self._text(str(value), "")
        if depth >= MAX_DEPTH:
            self.cut = True
            return None
        if isinstance(value, dict):
            return self._object(value, depth)
        return self._list(value, name, depth)

    def _object(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        copy: dict[str, Any] = {}
        for name, inner in value.items():
            if self._left <= 0:
                self.cut = True
                break
            copy[self._text(str(name), "")] = self.value(inner, str(name), depth + 1)
        return copy

    def _list(self, value: list[Any] | tuple[Any, ...], name: str, depth: int) -> list[Any]:
        copy: list[Any] = []
        for inner in value:
            if self._left <= 0:
                self.cut = True
                break
            copy.append(self.value(inner, name, depth + 1))
        return copy

    def _text(self, text: str, name: str) -> str:
        if len(text) > MAX_TEXT:
            self.cut = True
            text = text[:MAX_TEXT]
        text, _ = sanitize.clean(_HALF_PAIRS.sub("\ufffd", text))
        self._left -= len(text)
        return self._absolute(text) if name.lower() in _ADDRESSES else text

    def _absolute(self, text: str) -> str:
        """Relative addresses joined with the page's; whole ones, names and prose as they are."""
        address = text.strip()
        if not address or ":" in address.partition("/")[0] or any(map(str.isspace, address)):
            return text
        try:
            return urljoin(self._base, address)
        except ValueError:
            return text

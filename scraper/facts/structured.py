"""Read the structured data of a page in all syntaxes, and the product or recipe that it describes.

A syntax that cannot be read adds a warning and never affects the others.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from lxml import etree

from browsers.model import JsonResponse, Snapshot
from scraper.facts.metadata import metadata
from scraper.facts.metadata.metadata import Metadata
from scraper.facts.syntaxes import jsonld, opengraph
from scraper.facts.syntaxes.jsonld import JsonLdItem
from scraper.html.dom import parsing
from scraper.html.dom.xpath import Element, text_of
from scraper.html.page import page_tree
from scraper.html.page.page_tree import PageTree
from scraper.model import StructuredData
from scraper.text import sanitize
from scraper.urls import join_url

if TYPE_CHECKING:
    from scraper.facts.model import FactSource
    from scraper.facts.schema_graph import SchemaGraph

_T = TypeVar("_T")

_MAX_RESPONSES = 20
"""Fetched JSON responses of one page."""
_MAX_RESPONSE_CHARACTERS = 200_000
"""Characters of one response; only the size of a longer one is reported."""

PAGE_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    etree.LxmlError,
)
"""Errors of libraries on unforeseen pages. The worker limits memory and time."""

_REMOVED_TAGS = ("script", "style")


@dataclass(slots=True)
class _Reading:
    """Base URL and warnings of one page."""

    base: str
    warnings: list[str]

    def bound(self, name: str, values: Iterable[Any]) -> tuple[JsonLdItem, ...]:
        """Return the values within bounds, and add a warning if something was omitted."""
        bounder = JsonBounder(self.base)
        bound_objects = bounder.bound_objects(values)
        if bounder.cut:
            self.warnings.append(f"{name}: there is more than the limits allow; the rest is left out.")
        return bound_objects

    def try_syntax(self, name: str, work: Callable[[], Iterable[Any]]) -> tuple[JsonLdItem, ...]:
        """Return the result of a syntax's reader, or nothing and a warning if it fails."""
        try:
            return self.bound(name, work())
        except PAGE_ERRORS as error:
            self.warnings.append(f"{name}: it could not be read ({type(error).__name__}).")
            return ()


def _find_no_posts(page: PageTree) -> Sequence[JsonLdItem]:
    return ()


def extract(
    snapshot: Snapshot, find_posts: Callable[[PageTree], Sequence[JsonLdItem]] = _find_no_posts
) -> StructuredData:
    """Return all structured data of an HTML snapshot, and the facts of its product or recipe.

    `find_posts` returns the posts of a discussion on the page as objects.
    """
    return _extract(snapshot, find_posts)


def extract_basic(snapshot: Snapshot) -> StructuredData:
    """Return only JSON-LD, OpenGraph and fetched JSON, for pages on which other data takes too long."""
    return _extract(snapshot, None)


def _extract(snapshot: Snapshot, find_posts: Callable[[PageTree], Sequence[JsonLdItem]] | None) -> StructuredData:
    root = parsing.parse_html(snapshot.html, flatten=False).root
    xhr, fetched = _read_responses(snapshot.json_responses)
    if root is None:
        return StructuredData(url=snapshot.url, xhr=xhr)
    reading = _Reading(page_tree.find_base_url(root, snapshot.url), [])
    json_ld = _read_json_ld(root, reading)
    tags = opengraph.read_properties(root)
    cards = reading.bound("opengraph", opengraph.to_objects(tags, reading.base))
    if find_posts is None:
        return StructuredData(
            url=snapshot.url, json_ld=json_ld, opengraph=cards, xhr=xhr, warnings=tuple(reading.warnings)
        )
    # extruct imports rdflib, which takes .3 s: only a worker that reads structured data imports these.
    from scraper.facts.model import FactSource
    from scraper.facts.schema_graph import SchemaGraph
    from scraper.facts.syntaxes import microdata, rdfa

    etree.strip_elements(root, *_REMOVED_TAGS, with_tail=False)
    parsing.flatten_deep_elements(root)
    microdata_items = reading.try_syntax("microdata", lambda: microdata.read(root, reading.base))
    rdfa_nodes = reading.try_syntax("rdfa", lambda: rdfa.read(root, reading.base)) if rdfa.is_present(root) else ()
    graphs = {FactSource.JSON_LD: SchemaGraph(json_ld), FactSource.MICRODATA: SchemaGraph(microdata_items)}
    posts: Sequence[JsonLdItem] = ()
    product_facts, recipe_facts = None, None
    try:
        page = page_tree.build_page_tree(snapshot)
        posts = find_posts(page)
        about = metadata.read(page)
        product_facts, recipe_facts = read_facts(page, about, graphs, tags, fetched, reading.base)
    except PAGE_ERRORS as error:
        reading.warnings.append(f"product, recipe and discussion: they could not be read ({type(error).__name__}).")
    return StructuredData(
        url=snapshot.url,
        json_ld=json_ld,
        microdata=microdata_items,
        opengraph=cards,
        rdfa=rdfa_nodes,
        xhr=xhr,
        product=product_facts,
        recipe=recipe_facts,
        discussion=reading.bound("discussion", posts),
        warnings=tuple(reading.warnings),
    )


def _read_json_ld(root: Element, reading: _Reading) -> tuple[JsonLdItem, ...]:
    scripts = (script for script in root.iter("script") if "ld+json" in (script.get("type") or "").lower())
    blocks = jsonld.read(script.text or "" for script in scripts)
    if blocks.broken:
        reading.warnings.append(f"json_ld: blocks that are not JSON were left out: {blocks.broken}.")
    return reading.bound("json_ld", blocks.values)


def read_facts(
    page: PageTree,
    about: Metadata,
    graphs: Mapping[FactSource, SchemaGraph],
    tags: list[tuple[str, str]],
    fetched: list[Any],
    base: str,
    *,
    with_recipe: bool = True,
    for_header: bool = False,
) -> tuple[JsonLdItem | None, JsonLdItem | None]:
    """Return the facts of the product and of the recipe of a page, each None if there is none.

    Pass `with_recipe=False` to skip the search for a recipe.
    For a header, no lists and product numbers are read, and no product beside a recipe.
    """
    from scraper.facts import money, product, product_js_state, recipe
    from scraper.facts.model import FactSource
    from scraper.facts.schema_graph import clean_text

    headings = list(filter(None, (clean_text(text_of(heading)) for heading in page.body.iter("h1"))))
    # A single heading is the name more often than the title for search engines.
    title = headings[0] if len(headings) == 1 else about.title or ""
    states = {FactSource.STATE: product_js_state.read_scripts(page.head.scripts), FactSource.XHR: fetched}
    locales = (content for name, content in page.head.metas if name == "og:locale")
    bounder = JsonBounder(base)
    picture = opengraph.find_image(tags, base)
    recipe_facts = None
    if with_recipe:
        recipe_facts = recipe.extract_recipe(
            graphs, page.body, title, author=about.author, picture=picture, for_header=for_header
        )
        if for_header and recipe_facts:
            return None, bounder.value(recipe_facts)
    evidence = product.PageEvidence(
        graphs,
        tags,
        states,
        page.url,
        country=money.country_of(page.url, filter(None, (about.language, *locales))),
        picture=picture,
    )
    product_facts = product.extract_product(evidence, page.body, title, for_header=for_header)
    return bounder.value(product_facts), bounder.value(recipe_facts)


def _read_responses(responses: Iterable[JsonResponse]) -> tuple[tuple[JsonLdItem, ...], list[Any]]:
    """Return the JSON responses that the page fetched, as reported to the client, and their data."""
    found: list[JsonLdItem] = []
    for response in list(responses)[:_MAX_RESPONSES]:
        report: JsonLdItem = {"url": response.url, "status": response.status, "data": None}
        if len(response.text) > _MAX_RESPONSE_CHARACTERS:
            found.append(report | {"too_large": len(response.text)})
            continue
        try:
            found.append(report | {"data": json.loads(response.text, strict=False)})
        except (ValueError, RecursionError):
            continue
    bound_objects = JsonBounder("").bound_objects(found)
    return bound_objects, [part.get("data") for part in bound_objects]


MAX_CHARACTERS = 400_000
"""Characters of one syntax: some hundred thousand tokens, more than any answer contains."""
_MAX_TEXT = 50_000
"""Characters of one text."""
_MAX_DEPTH = 30
"""Levels of objects and lists."""
_SURROGATES = re.compile("[\ud800-\udfff]")
"""Lone surrogates, which no encoding can represent."""
_VALUE_COST = 4
"""Characters counted for each value, so that ten million empty lists also reach the limit."""

_URL_PROPERTIES = frozenset(
    "@id url image logo photo contenturl embedurl thumbnail thumbnailurl sameas mainentityofpage "
    "urltemplate target primaryimageofpage discussionurl".split()
)


class JsonBounder:
    """Copy values of one syntax within limits of depth and length, with clean text and absolute URLs."""

    def __init__(self, base: str, *, characters_left: int = MAX_CHARACTERS) -> None:
        """Resolve URLs against `base`, and copy about `characters_left` characters."""
        self.cut = False
        """True after something was omitted."""

        self._base = base
        self._left = characters_left

    def bound_objects(self, values: Any) -> tuple[dict[str, Any], ...]:
        """Return copies of the values that are objects, while the limit allows."""
        objects = (value for value in self._while_allowed(values) if isinstance(value, dict))
        return tuple(filter(None, map(self.value, objects)))

    def _while_allowed(self, values: Iterable[_T]) -> Iterator[_T]:
        for value in values:
            if self._left <= 0:
                self.cut = True
                return
            yield value

    def value(self, value: Any, name: str = "", depth: int = 0) -> Any:
        """Return a copy of a value, cut to the limits."""
        self._left -= _VALUE_COST
        if isinstance(value, str):
            return self._text(value, name)
        if isinstance(value, float) and not math.isfinite(value):
            return None  # JSON has no name for it
        if value is None or isinstance(value, bool | int | float):
            return value
        if not isinstance(value, dict | list | tuple):
            return self._text(str(value), "")
        if depth >= _MAX_DEPTH:
            self.cut = True
            return None
        if isinstance(value, dict):
            return {
                self._text(str(key), ""): self.value(inner, str(key), depth + 1)
                for key, inner in self._while_allowed(value.items())
            }
        return [self.value(inner, name, depth + 1) for inner in self._while_allowed(value)]

    def _text(self, text: str, name: str) -> str:
        if len(text) > _MAX_TEXT:
            self.cut = True
            text = text[:_MAX_TEXT]
        text, _ = sanitize.clean(text if text.isascii() else _SURROGATES.sub("\ufffd", text))
        self._left -= len(text)
        return self._absolute(text) if name.lower() in _URL_PROPERTIES else text

    def _absolute(self, text: str) -> str:
        """Return a relative URL joined with the base; absolute URLs, names and prose stay unchanged."""
        address = text.strip()
        if not address or ":" in address.partition("/")[0] or any(map(str.isspace, address)):
            return text
        return join_url(self._base, address)

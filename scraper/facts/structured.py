"""Read the structured data of a page in all syntaxes, and the product or recipe that it describes.

A syntax that cannot be read adds a warning and never affects the others.
"""

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
from scraper.html.dom.parsing import attribute_selector, text_of
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


@dataclass(slots=True)
class _Reading:
    base: str
    warnings: list[str]

    def bound(self, name: str, values: Iterable[Any]) -> tuple[JsonLdItem, ...]:
        """Return the values within bounds, and add a warning if something was omitted."""
        bounder = JsonBounder(self.base)
        bound_objects = bounder.bound_objects(values)
        if bounder.cut:
            self.warnings.append(f"{name}: there is more than the limits allow; the rest is left out.")
        return bound_objects

    def read_json_ld(self, root: etree._Element) -> tuple[JsonLdItem, ...]:
        """Return the JSON-LD of a page, and add a warning if a block is not JSON."""
        scripts = (script for script in root.iter("script") if "ld+json" in (script.get("type") or "").lower())
        items, broken = jsonld.read(script.text or "" for script in scripts)
        if broken:
            self.warnings.append(f"json_ld: blocks that are not JSON were left out: {broken}.")
        return self.bound("json_ld", items)

    def try_syntax(self, name: str, work: Callable[[], Iterable[Any]]) -> tuple[JsonLdItem, ...]:
        """Return the result of a syntax's reader, or nothing and a warning if it fails."""
        try:
            return self.bound(name, work())
        except PAGE_ERRORS as error:
            self.warnings.append(f"{name}: it could not be read ({type(error).__name__}).")
            return ()


def read_json_ld(root: etree._Element, url: str) -> tuple[JsonLdItem, ...] | None:
    """Return only the JSON-LD of a page at a URL; None if it cannot be read."""
    try:
        return _Reading(page_tree.find_base_url(root, url), []).read_json_ld(root)
    except PAGE_ERRORS:
        return None


def extract(
    snapshot: Snapshot, find_posts: Callable[[PageTree], Sequence[JsonLdItem]] | None = lambda page: ()
) -> StructuredData:
    """Return all structured data of an HTML snapshot, and the facts of its product or recipe.

    `find_posts` returns the posts of a discussion on the page as objects. Without it, the result has only JSON-LD,
    OpenGraph and fetched JSON, for pages on which other data takes too long.
    """
    root = parsing.parse_html(snapshot.html, flatten=False).root
    xhr, fetched = _read_responses(snapshot.json_responses)
    if root is None:
        return StructuredData(url=snapshot.url, xhr=xhr)
    reading = _Reading(page_tree.find_base_url(root, snapshot.url), [])
    json_ld = reading.read_json_ld(root)
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

    etree.strip_elements(root, "script", "style", with_tail=False)
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


def read_facts(
    page: PageTree,
    about: Metadata,
    graphs: "Mapping[FactSource, SchemaGraph]",
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
    from scraper.facts.product_markup import ProductDraft
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
        named = recipe.RecipeDraft(graphs, page.body, title, (about.author, about.site_name), picture, for_header)
        recipe_facts = recipe.extract_recipe(named)
        if for_header and recipe_facts:
            return None, bounder.value(recipe_facts)
    country = money.country_of(page.url, filter(None, (about.language, *locales)))
    draft = ProductDraft(graphs, tags, states, page.url, country, picture, page.body, title)
    product_facts = product.extract_product(draft, for_header=for_header)
    return bounder.value(product_facts), bounder.value(recipe_facts)


def _read_responses(responses: Iterable[JsonResponse]) -> tuple[tuple[JsonLdItem, ...], list[Any]]:
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


_MAX_CHARACTERS = 400_000
"""Characters of one syntax: some hundred thousand tokens, more than any answer contains."""
_MAX_TEXT = 50_000
_MAX_DEPTH = 30
_VALUE_COST = 4
"""Characters counted for each value, so that ten million empty lists also reach the limit."""

_URL_PROPERTIES = frozenset(
    "@id url image logo photo contenturl embedurl thumbnail thumbnailurl sameas mainentityofpage "
    "urltemplate target primaryimageofpage discussionurl".split()
)


class JsonBounder:
    """Copy values of one syntax within limits of depth and length, with clean text and absolute URLs."""

    def __init__(self, base: str) -> None:
        """Resolve URLs against `base`, and copy about `_MAX_CHARACTERS` characters."""
        self.cut = False
        """True after something was omitted."""
        self._base = base
        self._left = _MAX_CHARACTERS

    def bound_objects(self, values: Iterable[Any]) -> tuple[dict[str, Any], ...]:
        """Return copies of the values that are objects, while the limit allows."""
        return tuple(filter(None, (self.value(one) for one in self._while_allowed(values) if isinstance(one, dict))))

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
        # No encoding can represent lone surrogates.
        text, _ = sanitize.clean(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        self._left -= len(text)
        address = text.strip()
        if name.lower() not in _URL_PROPERTIES or ":" in address.partition("/")[0] or len(address.split()) != 1:
            return text  # absolute URLs, names and prose
        return join_url(self._base, address)


_MIN_CONFIDENCE = 0.6

_ITEM = r"(?:Product|ProductGroup|IndividualProduct|Recipe)\b"
_JSON_TYPE = re.compile(rf"[\"'](?:https?://schema\.org/)?{_ITEM}")
_ITEM_TYPE = re.compile(rf"schema\.org/{_ITEM}", re.IGNORECASE)
_RECIPE_TYPE = re.compile(r"schema\.org/Recipe\b|[\"']Recipe[\"']", re.IGNORECASE)
_RECIPE_CLASSES = ("ingredi", "zutat", "ingrédient")
_PRODUCT_CLASS = re.compile(r"(?:^|[\s_-])product[-_]+(?:title|name|single|details?|info|main|summary)", re.MULTILINE)
_PRICE_CLASS = re.compile(r"(?:^|[\s_-])price", re.MULTILINE)
_OTHER_TYPES = frozenset({"article", "collection", "forum", "listing"})
_PRODUCT_TAGS = ("product:price:amount", "og:price:amount", "product:sale_price:amount")
_ITEM_TYPES = attribute_selector("itemtype")
_MAX_ITEMS = 12
"""Items of microdata. With more, the page is a list."""

_PRODUCT = ("price", "currency", "availability", "rating")
_RECIPE = ("yields", "total_time", "prep_time", "cook_time", "ratings")

PageFacts = tuple[tuple[str, str | float], ...]
"""Names and values of facts, such as `price` and 12.5."""


def read_key_facts(snapshot: Snapshot, page: PageTree, about: Metadata, page_type: str | None) -> PageFacts:
    """Return names and values of facts, if markup, type or classes suggest a product or recipe; else nothing.

    If the page has facts of a recipe, those of a product are left out. `about` is the metadata of the page.
    """
    scripts = page.head.jsonld_scripts
    in_scripts = any(("Product" in script or "Recipe" in script) and _JSON_TYPE.search(script) for script in scripts)
    item_types = [
        one.get("itemtype") or "" for one in (_ITEM_TYPES(page.body) if "itemtype" in page.attributes else ())
    ]
    items = sum(_ITEM_TYPE.search(item_type) is not None for item_type in item_types)
    in_tags = any(name in _PRODUCT_TAGS for name, _ in page.head.metas)
    if not (in_scripts or in_tags or 0 < items <= _MAX_ITEMS or (not items and _is_suggested(page, page_type))):
        return ()
    try:
        with_microdata = not in_scripts and items > 0
        product, recipe = _read_for_header(snapshot, page, about, item_types, with_microdata=with_microdata)
    except PAGE_ERRORS:
        return ()
    return (*_select(recipe or {}, _RECIPE), *(() if recipe else _select(product or {}, _PRODUCT)))


def _is_suggested(page: PageTree, page_type: str | None) -> bool:
    classes = page.classes
    if page_type == "product" or _has_recipe_class(classes):
        return True
    # Most pages lack the words, and the test for a word costs less than the regular expression.
    has_words = page_type not in _OTHER_TYPES and "product" in classes and "price" in classes
    return has_words and _PRODUCT_CLASS.search(classes) is not None and _PRICE_CLASS.search(classes) is not None


def _read_for_header(
    snapshot: Snapshot, page: PageTree, about: Metadata, item_types: list[str], *, with_microdata: bool
) -> tuple[JsonLdItem | None, JsonLdItem | None]:
    from scraper.facts.model import FactSource
    from scraper.facts.schema_graph import SchemaGraph

    bounder = JsonBounder(page.base)
    scripts = page.head.jsonld_scripts
    graphs = {FactSource.JSON_LD: SchemaGraph(bounder.bound_objects(jsonld.read(scripts)[0]))}
    # The tree of the page lacks `meta` elements, which hold the values of microdata.
    root = parsing.parse_html(snapshot.html, flatten=False).root if with_microdata else None
    if root is not None:
        from scraper.facts.syntaxes import microdata

        graphs[FactSource.MICRODATA] = SchemaGraph(bounder.bound_objects(microdata.read(root, page.base)))
    tags = opengraph.select_properties(page.head.metas)
    with_recipe = any(map(_RECIPE_TYPE.search, (*scripts, *item_types))) or _has_recipe_class(page.classes)
    return read_facts(page, about, graphs, tags, [], page.base, with_recipe=with_recipe, for_header=True)


def _has_recipe_class(classes: str) -> bool:
    lowered = classes.lower()
    return any(word in lowered for word in _RECIPE_CLASSES)


def _select(facts: Mapping[str, Mapping[str, Any]], names: tuple[str, ...]) -> PageFacts:
    found: dict[str, str | float] = {}
    for name in names:
        fact = facts.get(name, {})
        if fact and fact["confidence"] >= _MIN_CONFIDENCE and isinstance(fact["value"], str | int | float):
            found["rating" if name == "ratings" else name] = fact["value"]
            if fact.get("count"):
                found["rating_count"] = fact["count"]
    if "price" not in found:
        found.pop("currency", None)
    return tuple(found.items())

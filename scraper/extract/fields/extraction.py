"""Extract requested fields, or the records of a list, from pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from browsers.model import Snapshot
from scraper.extract import structured
from scraper.extract.dom.urls import join_url
from scraper.extract.dom.xpath import element_selector, text_of
from scraper.extract.fields import extraction_recipes, structured_values
from scraper.extract.fields.extraction_recipes import ExtractionRecipe
from scraper.extract.fields.field_names import FieldName
from scraper.extract.fields.model import Evidence, FieldRequest, PageFields
from scraper.extract.fields.named_values import NamedValueFinder, find_shared_texts
from scraper.extract.fields.record_columns import read_rows
from scraper.extract.fields.record_lists import MAX_RECORDS, find_largest_group, find_lists
from scraper.extract.fields.text_leaves import MAX_ELEMENTS, ElementTexts
from scraper.extract.fields.value_places import ValuePlaceFinder
from scraper.extract.page import page_tree
from scraper.extract.page.page_tree import PageTree
from scraper.extract.text import sanitize

_LINKS = element_selector(".//a[@href]")
_NEXT_WORDS = re.compile(
    r"(?:next(?: page)?|weiter|nächste(?: seite)?|suivante?|siguiente|próxima|avanti|volgende)\W*|[›»→>]", re.I
)
_PAGE_NUMBER = re.compile(r"\d{1,5}")


_CORRECT = "Fields by name may be wrong: to correct one, give its value on this page as `example`."
_REDESIGNED = (
    "The design of the page is not that of the recipe: values are likely, not sure. Give an example from this page."
)


def extract(snapshots: Sequence[Snapshot], request: FieldRequest) -> tuple[PageFields, ...]:
    """Return the requested fields or records of each HTML snapshot; an example may come from any of them.

    The first of these that the request has is used: `records`, `fields`, `recipe`, `example`.

    Raises:
        ValueError: The recipe is invalid.
    """
    trees = [page_tree.build_page_tree(snapshot) for snapshot in snapshots]
    pages = [ElementTexts(tree) for tree in trees]
    if request.records:
        return tuple(_read_records(tree, page) for tree, page in zip(trees, pages, strict=True))
    finders = [ValuePlaceFinder(page) for page in pages]
    if request.fields:
        constants = find_shared_texts(finders)
        return tuple(
            _read_names(snapshot, finder, NamedValueFinder(finder, stated), request.fields)
            for snapshot, finder, stated in zip(snapshots, finders, constants, strict=True)
        )
    if request.recipe:
        recipe = extraction_recipes.from_text(request.recipe)
    else:
        lessons = [
            extraction_recipes.learn(finder, request.example, _host(tree.url))
            for finder, tree in zip(finders, trees, strict=True)
        ]
        recipe, missing = min(lessons, key=lambda lesson: len(lesson[1]))
        if missing:
            return tuple(PageFields(tree.url, missing=missing) for tree in trees)
    text = extraction_recipes.to_text(recipe)
    return tuple(_read_values(recipe, text, finder) for finder in finders)


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _read_values(recipe: ExtractionRecipe, text: str, finder: ValuePlaceFinder) -> PageFields:
    url = finder.page.page.url
    found = extraction_recipes.read(recipe, finder, _host(url))
    if not found.fits:
        return PageFields(url, misfit=found.similarities)
    values = {name: found.values[name][0] if name in found.values else None for name in recipe.places}
    evidence = {
        name: Evidence("example", extraction_recipes.confidence_of(similarity, is_likely=found.is_likely))
        for name, (_, similarity) in found.values.items()
    }
    clean = {name: value and sanitize.clean(value)[0] for name, value in values.items()}
    warnings = (*_cut_warnings(finder.page), *((_REDESIGNED,) if found.is_likely else ()))
    return PageFields(url, clean, evidence, text, warnings=warnings)


def _read_names(
    snapshot: Snapshot, finder: ValuePlaceFinder, named: NamedValueFinder, fields: Mapping[str, str]
) -> PageFields:
    """Return the values of fields by their names, and a recipe for the fields that were found in visible text."""
    page = finder.page
    data = structured.extract(snapshot)
    titles = [page.page.head.title, *(page.text(one) for one in page.elements if one.tag == "h1")]
    items = structured_values.read_items(data, titles, page.page.head.scripts)
    values: dict[str, str | None] = dict.fromkeys(fields)
    evidence: dict[str, Evidence] = {}
    for name, hint in fields.items():
        field = FieldName(name, hint)
        stated = structured_values.find_structured_value(field, items)
        shown = named.find(field) if stated is None else None
        if stated is not None:
            values[name], evidence[name] = stated[0], Evidence(stated[1], structured_values.CONFIDENCES[stated[1]])
        elif shown is not None:
            values[name] = sanitize.clean(shown.text)[0]
            evidence[name] = Evidence(shown.source, shown.confidence)
    warnings = (*_cut_warnings(page), *((_CORRECT,) if evidence else ()))
    learned, _ = extraction_recipes.learn(
        finder, {name: value for name, value in values.items() if value}, _host(page.page.url)
    )
    recipe = extraction_recipes.to_text(learned) if learned.places else ""
    return PageFields(page.page.url, values, evidence, recipe, warnings=warnings)


def _cut_warnings(page: ElementTexts) -> tuple[str, ...]:
    if len(page.elements) < MAX_ELEMENTS:
        return ()
    return (f"Only the first {MAX_ELEMENTS:,} elements of the page were read.",)


def _read_records(tree: PageTree, page: ElementTexts) -> PageFields:
    warnings = _cut_warnings(page)
    lists = find_lists(page, 1)
    if not lists:
        return PageFields(tree.url, largest=find_largest_group(page), warnings=warnings)
    rows = tuple({name: sanitize.clean(value)[0] for name, value in row.items()} for row in read_rows(page, lists[0]))
    if len(rows) == MAX_RECORDS:
        warnings += (f"The list may be longer: {MAX_RECORDS:,} records were read.",)
    return PageFields(tree.url, records=rows, next_page=find_next_page(tree), warnings=warnings)


def find_next_page(tree: PageTree) -> str:
    """Return the URL of the next part of a list, or an empty string.

    It comes from `rel=next`, a link named "next", or the page number after the current one.
    """
    declared = [url for relation, url in tree.head.links if "next" in relation.split()]
    links = _LINKS(tree.body)
    declared += [link.get("href") or "" for link in links if "next" in (link.get("rel") or "").lower().split()]
    named = [link for link in links if _NEXT_WORDS.fullmatch(" ".join(text_of(link).split()))]
    declared += [link.get("href") or "" for link in named]
    for target in (*declared, _number_after_current(tree)):
        url = join_url(tree.base, target) if target else ""
        if url.startswith(("http://", "https://")) and url.partition("#")[0] != tree.url.partition("#")[0]:
            return url
    return ""


def _number_after_current(tree: PageTree) -> str:
    """Return the target of the link `n + 1` if the current page `n` is the only number without a link."""
    numbered: dict[int, list[str]] = {}
    for link in _LINKS(tree.body):
        text = text_of(link).strip()
        if _PAGE_NUMBER.fullmatch(text):
            numbered.setdefault(int(text), []).append(link.get("href") or "")
    current = [
        number for number in range(1, max(numbered, default=0)) if number not in numbered and number + 1 in numbered
    ]
    targets = numbered[current[0] + 1] if len(current) == 1 and len(numbered) >= 2 else []
    return targets[0] if len(set(targets)) == 1 else ""

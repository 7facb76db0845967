"""Extract requested fields, or the records of a list, from pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from browsers.model import Snapshot
from scraper.facts import structured
from scraper.facts.fields import extraction_recipes, record_extraction, structured_values
from scraper.facts.fields.extraction_recipes import ExtractionRecipe
from scraper.facts.fields.field_names import FieldName
from scraper.facts.fields.model import Evidence, FieldRequest, PageFields
from scraper.facts.fields.named_values import NamedValueFinder, find_shared_texts
from scraper.facts.fields.place_finder import ValuePlaceFinder
from scraper.facts.fields.record_extraction import CORRECT
from scraper.facts.fields.text_leaves import MAX_ELEMENTS, ElementTexts
from scraper.facts.model import DISPUTED
from scraper.html.page import page_tree
from scraper.text import sanitize

_REDESIGN_WARNING = (
    "The design of the page is not that of the recipe: values are likely, not sure. "
    "Give an example from this page with the recipe: it then fits both."
)
_AMBIGUOUS = (
    "The example of `{name}` is at several places of the page; the first is used. "
    "If values of other pages are wrong, give an example from one of them with this recipe."
)
_OTHERS_DO_NOT_FIT = (
    "The recipe does not fit this page, so fields without an example have no value: add them to the example."
)
_EMPTY = "The page shows the label of `{name}` without a value."
_UNCLEAR = "Two values fit `{name}` equally well, so it has none: '{first}' and '{other}'."


def extract(snapshots: Sequence[Snapshot], request: FieldRequest) -> tuple[PageFields, ...]:
    """Return the requested fields or records of each HTML snapshot; an example may come from any of them.

    With `records`, the records of a list are read, with the columns of `fields` and `example` if there are any. Fields
    that are in both have the value of the example.

    Raises:
        ValueError: The recipe is invalid.
    """
    trees = [page_tree.build_page_tree(snapshot) for snapshot in snapshots]
    pages = [ElementTexts(tree) for tree in trees]
    found = _read(snapshots, pages, request)
    return tuple(
        replace(one, warnings=(*_cut_warnings(page), *one.warnings)) for page, one in zip(pages, found, strict=True)
    )


def _read(snapshots: Sequence[Snapshot], pages: Sequence[ElementTexts], request: FieldRequest) -> Iterable[PageFields]:
    if request.records and not (request.fields or request.example):
        return map(record_extraction.read_usual_records, pages)
    finders = [ValuePlaceFinder(page) for page in pages]
    recipe = extraction_recipes.from_text(request.recipe) if request.recipe else None
    if request.records or (recipe and recipe.columns):
        return _read_lists(snapshots, finders, request, recipe)
    found = _read_places(finders, request, recipe)
    names = {name: hint for name, hint in request.fields.items() if name not in request.example}
    if not names or any(one.missing for one in found):
        return found
    constants = find_shared_texts(finders)
    by_name = [
        _read_names(snapshot, finder, NamedValueFinder(finder, stated), names)
        for snapshot, finder, stated in zip(snapshots, finders, constants, strict=True)
    ]
    if not found:
        return by_name
    return [_join(request.fields, one, other) for one, other in zip(found, by_name, strict=True)]


def _read_lists(
    snapshots: Sequence[Snapshot],
    finders: Sequence[ValuePlaceFinder],
    request: FieldRequest,
    recipe: ExtractionRecipe | None,
) -> list[PageFields]:
    columns = recipe.columns if recipe else {}
    is_named = request.fields or any(column.is_by_name for column in columns.values())
    items = [
        structured_values.read_named_items(structured.extract(snapshot), finder.page.page.head.scripts)
        if is_named
        else {}
        for snapshot, finder in zip(snapshots, finders, strict=True)
    ]
    if recipe and not request.example:
        return record_extraction.read_by_recipe(finders, items, recipe)
    return record_extraction.read_records(finders, items, request, _host(finders[0]), columns)


def _read_places(
    finders: Sequence[ValuePlaceFinder], request: FieldRequest, recipe: ExtractionRecipe | None
) -> list[PageFields]:
    """Return the values at the places of the recipe and of the example; nothing if there is neither."""
    if not request.example:
        return [_read_values(recipe, finder) for finder in finders] if recipe else []
    known = recipe or ExtractionRecipe("", {})
    lessons = [extraction_recipes.add_example(known, finder, request.example, _host(finder)) for finder in finders]
    at = min(range(len(finders)), key=lambda number: len(lessons[number][1]))
    learned, missing = lessons[at]
    if missing:
        return [PageFields(finder.page.page.url, missing=missing) for finder in finders]
    found = [_read_values(learned, finder) for finder in finders]
    if found[at].misfit:
        found[at] = _read_example_only(learned, request.example, finders[at])
    new = {name: value for name, value in request.example.items() if name not in known.places}
    unclear = extraction_recipes.find_unclear(finders[at], new)
    notes = tuple(_AMBIGUOUS.format(name=name[:40]) for name in unclear)
    found[at] = replace(found[at], warnings=(*found[at].warnings, *notes))
    return found


def _join(fields: Iterable[str], by_example: PageFields, by_name: PageFields) -> PageFields:
    """Return the fields of both in the requested order, with one recipe; only the error if the example does not fit."""
    if by_example.misfit:
        return by_example
    recipes = [extraction_recipes.from_text(one.recipe) for one in (by_example, by_name) if one.recipe]
    places = {name: place for recipe in recipes for name, place in recipe.places.items()}
    values = dict(by_example.values) | dict(by_name.values)
    return replace(
        by_example,
        values={name: values[name] for name in dict.fromkeys((*fields, *values))},
        evidence=dict(by_example.evidence) | dict(by_name.evidence),
        recipe=extraction_recipes.to_text(replace(recipes[0], places=places)),
        warnings=(*by_example.warnings, *by_name.warnings),
    )


def _host(finder: ValuePlaceFinder) -> str:
    return urlsplit(finder.page.page.url).hostname or ""


def _read_values(recipe: ExtractionRecipe, finder: ValuePlaceFinder) -> PageFields:
    url = finder.page.page.url
    found = extraction_recipes.read(recipe, finder, _host(finder))
    if not found.fits:
        return PageFields(url, misfit=found.similarities)
    values = {name: found.values[name][0] if name in found.values else None for name in recipe.places}
    evidence = {
        name: Evidence("example", extraction_recipes.confidence_of(similarity, is_likely=found.is_likely))
        for name, (_, similarity) in found.values.items()
    }
    clean = {name: value and sanitize.clean(value)[0] for name, value in values.items()}
    warnings = (_REDESIGN_WARNING,) if found.is_likely else ()
    return PageFields(url, clean, evidence, extraction_recipes.to_text(recipe), warnings=warnings)


def _read_example_only(recipe: ExtractionRecipe, example: Iterable[str], finder: ValuePlaceFinder) -> PageFields:
    """Return the values of an example on its page, where the other places of the recipe do not fit; these have none."""
    taught = replace(recipe, places={name: recipe.places[name] for name in example})
    found = _read_values(taught, finder)
    return replace(
        found,
        values=dict.fromkeys(recipe.places) | dict(found.values),
        recipe=extraction_recipes.to_text(recipe),
        warnings=(*found.warnings, _OTHERS_DO_NOT_FIT),
    )


def _read_names(
    snapshot: Snapshot, finder: ValuePlaceFinder, named: NamedValueFinder, fields: Mapping[str, str]
) -> PageFields:
    """Return the values of fields by their names, and a recipe for the fields that were found in visible text."""
    page = finder.page
    data = structured.extract(snapshot)
    items = structured_values.read_items(data, _titles(page), page.page.head.scripts)
    values: dict[str, str | None] = dict.fromkeys(fields)
    evidence: dict[str, Evidence] = {}
    warnings: list[str] = []
    for name, hint in fields.items():
        field = FieldName(name, hint)
        stated = structured_values.find_structured_value(field, items)
        fact = structured_values.find_fact(field, data, stated and stated[0])
        is_stated = stated is not None or _is_marked_up(fact)
        shown = None if is_stated else named.find(field)
        if shown is not None and shown.is_clear and shown.confidence > (fact[1].confidence if fact else 0):
            values[name] = sanitize.clean(shown.text)[0]
            evidence[name] = Evidence(shown.source, shown.confidence)
        elif fact is not None:
            values[name], evidence[name] = fact
        elif stated is not None:
            values[name], evidence[name] = stated[0], Evidence(stated[1], structured_values.CONFIDENCES[stated[1]])
        elif shown is not None:
            warnings.append(_UNCLEAR.format(name=name[:40], first=shown.text[:60], other=shown.rival[:60]))
        if is_stated and (other := named.find_contradiction(field, values[name] or "")):
            evidence[name] = replace(evidence[name], confidence=DISPUTED, alternatives=(sanitize.clean(other)[0],))
    missing = (FieldName(name, hint) for name, hint in fields.items() if values[name] is None)
    warnings += [_EMPTY.format(name=field.name[:40]) for field in filter(named.find_empty, missing)]
    warnings += [CORRECT] if evidence or warnings else []
    return PageFields(page.page.url, values, evidence, _learn_recipe(finder, values), warnings=tuple(warnings))


def _is_marked_up(fact: tuple[str, Evidence] | None) -> bool:
    return fact is not None and fact[1].source not in structured_values.UNMARKED_SOURCES


def _titles(page: ElementTexts) -> list[str]:
    return [page.page.head.title, *(page.text(one) for one in page.elements if one.tag == "h1")]


def _learn_recipe(finder: ValuePlaceFinder, values: Mapping[str, str | None]) -> str:
    """Return the recipe for the values that were found in visible text, or ""."""
    shown = {name: value for name, value in values.items() if value}
    learned, _ = extraction_recipes.learn(finder, shown, _host(finder))
    return extraction_recipes.to_text(learned) if learned.places else ""


def _cut_warnings(page: ElementTexts) -> tuple[str, ...]:
    if len(page.elements) < MAX_ELEMENTS:
        return ()
    return (f"Only the first {MAX_ELEMENTS:,} elements of the page were read.",)

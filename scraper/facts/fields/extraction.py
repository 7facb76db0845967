"""Extract requested fields, or the records of a list with the usual columns or requested ones, from pages."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from browsers.model import Snapshot
from scraper.facts import structured
from scraper.facts.fields import extraction_recipes, structured_values
from scraper.facts.fields.extraction_recipes import ExtractionRecipe, RecordColumn
from scraper.facts.fields.field_names import FieldName
from scraper.facts.fields.model import MIN_RECORDS, Evidence, FieldRequest, PageFields
from scraper.facts.fields.named_values import NamedValueFinder, find_shared_texts
from scraper.facts.fields.place_finder import ValuePlaceFinder
from scraper.facts.fields.record_columns import read_rows, read_table_columns
from scraper.facts.fields.record_fields import MIN_FILLED, ColumnValues, RecordFields
from scraper.facts.fields.record_lists import MAX_LISTS, MAX_RECORDS, find_lists
from scraper.facts.fields.text_leaves import MAX_ELEMENTS, ElementTexts
from scraper.facts.model import DISPUTED
from scraper.html.dom.parsing import Element, element_selector, text_of
from scraper.html.page import page_tree
from scraper.html.page.page_tree import PageTree
from scraper.model import StructuredData
from scraper.text import sanitize
from scraper.urls import join_url
from scraper.words.matcher import WordPattern

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
_FEW = "The page has no longer list; these records may be only a part of it or beside its content."
_EMPTY = "The page shows the label of `{name}` without a value."
_UNCLEAR = "Two values fit `{name}` equally well, so it has none: '{first}' and '{other}'."


class _Page:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.tree = page_tree.build_page_tree(snapshot)
        self.texts = ElementTexts(self.tree)
        self.url = self.tree.url
        self.host = urlsplit(self.url).hostname or ""

    @cached_property
    def finder(self) -> ValuePlaceFinder:
        return ValuePlaceFinder(self.texts)

    @cached_property
    def data(self) -> StructuredData:
        return structured.extract(self._snapshot)


def extract(snapshots: Sequence[Snapshot], request: FieldRequest) -> tuple[PageFields, ...]:
    """Return the requested fields or records of each HTML snapshot; an example may come from any of them.

    With `records`, the records of a list are read, with the columns of `fields` and `example` if there are any. Fields
    that are in both have the value of the example.

    Raises:
        ValueError: The recipe is invalid.
    """
    pages = list(map(_Page, snapshots))
    found = list(_read(pages, request))
    for at, page in enumerate(pages):
        if len(page.texts.elements) >= MAX_ELEMENTS:
            warning = f"Only the first {MAX_ELEMENTS:,} elements of the page were read."
            found[at] = replace(found[at], warnings=(warning, *found[at].warnings))
    return tuple(found)


def _read(pages: Sequence[_Page], request: FieldRequest) -> Iterable[PageFields]:
    if request.records and not (request.fields or request.example):
        return map(_read_usual_records, pages)
    recipe = extraction_recipes.from_text(request.recipe) if request.recipe else None
    if request.records or (recipe and recipe.columns):
        return _read_lists(pages, request, recipe)
    found = _read_places(pages, request, recipe)
    names = {name: hint for name, hint in request.fields.items() if name not in request.example}
    if not names or any(one.missing for one in found):
        return found
    constants = find_shared_texts([page.finder for page in pages])
    by_name = [_read_names(page, stated, names) for page, stated in zip(pages, constants, strict=True)]
    return [_join(request.fields, *both) for both in zip(found, by_name, strict=True)] if found else by_name


def _read_places(pages: Sequence[_Page], request: FieldRequest, recipe: ExtractionRecipe | None) -> list[PageFields]:
    """Return the values at the places of the recipe and of the example; nothing if there is neither."""
    if not request.example:
        return [_read_values(recipe, page) for page in pages] if recipe else []
    known = recipe or ExtractionRecipe("", {})
    lessons = [extraction_recipes.learn(page.finder, request.example, page.host, known) for page in pages]
    at = min(range(len(pages)), key=lambda number: len(lessons[number][1]))
    learned, missing = lessons[at]
    if missing:
        return [PageFields(page.url, missing=missing) for page in pages]
    found = [_read_values(learned, page) for page in pages]
    if found[at].misfit:
        # The other places of the recipe do not fit the page of the example: they have no value.
        taught = replace(learned, places={name: learned.places[name] for name in request.example})
        one = _read_values(taught, pages[at])
        values = dict.fromkeys(learned.places) | dict(one.values)
        text, warnings = extraction_recipes.to_text(learned), (*one.warnings, _OTHERS_DO_NOT_FIT)
        found[at] = replace(one, values=values, recipe=text, warnings=warnings)
    new = {name: value for name, value in request.example.items() if name not in known.places}
    unclear = extraction_recipes.find_unclear(pages[at].finder, new)
    notes = (_AMBIGUOUS.format(name=name[:40]) for name in unclear)
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


def _read_values(recipe: ExtractionRecipe, page: _Page) -> PageFields:
    found = extraction_recipes.read(recipe, page.finder, page.host)
    if not found.fits:
        return PageFields(page.url, misfit=found.similarities)
    evidence = {name: Evidence("example", confidence) for name, (_, confidence) in found.values.items()}
    values = {name: sanitize.clean(text)[0] for name, (text, _) in found.values.items()}
    warnings = (_REDESIGN_WARNING,) if found.is_likely else ()
    text = extraction_recipes.to_text(recipe)
    return PageFields(page.url, dict.fromkeys(recipe.places) | values, evidence, text, warnings=warnings)


def _read_names(page: _Page, constants: frozenset[str], fields: Mapping[str, str]) -> PageFields:
    """Return the values of fields by their names, and a recipe for the fields that were found in visible text."""
    texts, named = page.texts, NamedValueFinder(page.finder, constants)
    titles = [page.tree.head.title, *(texts.text(one) for one in texts.elements if one.tag == "h1")]
    items = structured_values.read_items(page.data, titles, page.tree.head.scripts)
    values: dict[str, str | None] = dict.fromkeys(fields)
    evidence: dict[str, Evidence] = {}
    warnings: list[str] = []
    for name, hint in fields.items():
        field = FieldName(name, hint)
        fact, is_stated = _find_in_data(field, page.data, items)
        shown = None if is_stated else named.find(field)
        if shown is not None and shown.is_clear and shown.confidence > (fact[1].confidence if fact else 0):
            values[name] = sanitize.clean(shown.text)[0]
            evidence[name] = Evidence(shown.source, shown.confidence)
        elif fact is not None:
            values[name], evidence[name] = fact
        elif shown is not None:
            warnings.append(_UNCLEAR.format(name=name[:40], first=shown.text[:60], other=shown.rival[:60]))
        if is_stated and (other := named.find_contradiction(field, values[name] or "")):
            evidence[name] = replace(evidence[name], confidence=DISPUTED, alternatives=(sanitize.clean(other)[0],))
    missing = (FieldName(name, hint) for name, hint in fields.items() if values[name] is None)
    warnings += [_EMPTY.format(name=field.name[:40]) for field in filter(named.find_empty, missing)]
    warnings += [_CORRECT] if evidence or warnings else []
    return PageFields(page.url, values, evidence, _learn_recipe(page, values), warnings=tuple(warnings))


def _find_in_data(
    field: FieldName, data: StructuredData, items: Sequence[tuple[str, dict[str, Any]]]
) -> tuple[tuple[str, Evidence] | None, bool]:
    """Return the value of a field in the data of the page, and True if its markup states it."""
    stated = structured_values.find_structured_value(field, items)
    fact = structured_values.find_fact(field, data, stated and stated[0])
    if stated is not None:
        return fact or (stated[0], Evidence(stated[1], structured_values.CONFIDENCES[stated[1]])), True
    return fact, fact is not None and fact[1].source not in structured_values.UNMARKED_SOURCES


def _learn_recipe(page: _Page, values: Mapping[str, str | None]) -> str:
    found = {name: value for name, value in values.items() if value}
    learned, _ = extraction_recipes.learn(page.finder, found, page.host)
    return extraction_recipes.to_text(learned) if learned.places else ""


_LINKS = element_selector(".//a[@href]")
_NEXT_WORDS = WordPattern(r"(?:{links.next}|{links.older_page})\W*|[›»→>]")
_NEXT_LABEL = WordPattern(r"\b{links.next}\W*\Z")
_NEXT_NAME = re.compile(r"(?:^|[\s_-])next(?:[_-]?(?:page|link))?(?:\s|$)", re.IGNORECASE)
_NEXT_ATTRIBUTES = ("aria-label", _NEXT_LABEL), ("title", _NEXT_LABEL), ("class", _NEXT_NAME)
_CURRENT = frozenset({"current", "active", "selected"})
_CALENDAR = frozenset({"tr", "tbody", "table"})
_EXAMPLE_LISTS = 20
_CONFIDENCES = {"example": 0.95, "title": 0.9, "label": 0.55, "name": 0.55} | structured_values.CONFIDENCES
"""Share of correct titles by example and by name on annotated lists; a guess for labels and other names."""
_AMBIGUOUS_LIST = (
    "{count} lists of the page contain the example; the rows are those of the main one. "
    "For another list, give an example that only this list contains."
)
_AMBIGUOUS_VALUE = (
    "The example of `{name}` is at several places of its record; the first is used. Give an example with other values."
)
_NO_COLUMN = "No column of the list fits {names}. Give an example of one row."
_CORRECT = "Fields by name may be wrong: to correct one, give its value on this page as `example`."


def _read_usual_records(page: _Page) -> PageFields:
    for one in find_lists(page.texts):
        rows = read_rows(page.texts, one)
        rows = [row for row in (read_table_columns(page.texts, one.table, rows) if one.table else rows) if row]
        are_few = len(rows) < MIN_RECORDS and not one.table
        if not are_few or len(rows) == len(one.records):
            return _make_answer(page, rows, *[_FEW] * are_few)
    return PageFields(page.url)


def _read_lists(pages: Sequence[_Page], request: FieldRequest, recipe: ExtractionRecipe | None) -> list[PageFields]:
    """Return the records of each page with the requested columns, and a recipe; an example may come from any page."""
    columns = dict(recipe.columns) if recipe else {}
    is_named = bool(request.fields) or any(column.is_by_name for column in columns.values())
    most = _EXAMPLE_LISTS if request.example or recipe else MAX_LISTS
    lists = [_PageLists(page, most, is_named=is_named) for page in pages]
    if recipe and not request.example:
        return [replace(one.read(recipe), unlisted=()) for one in lists]
    hints = dict(request.fields) | dict.fromkeys(request.example, "")
    columns |= {name: RecordColumn(hint=hint) for name, hint in hints.items()}
    learned_by_page: dict[int, _ExampleColumns] = {}
    if request.example and any(one.lists for one in lists):
        learned = [one.learn(request.example) for one in lists]
        at = min(range(len(pages)), key=lambda number: len(learned[number].unlisted))
        if learned[at].unlisted:
            return [
                one.no_list() or PageFields(page.url, missing=lesson.missing, unlisted=lesson.unlisted)
                for page, one, lesson in zip(pages, lists, learned, strict=True)
            ]
        learned_by_page[at] = learned[at]
        columns |= learned[at].columns
    whole = ExtractionRecipe(pages[0].host, {}, columns)
    return [one.read(whole, learned_by_page.get(number)) for number, one in enumerate(lists)]


@dataclass(frozen=True, slots=True)
class _ExampleColumns:
    fields: RecordFields | None = None
    """List that contains the example."""
    columns: Mapping[str, RecordColumn] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    """For each value that is not on the page, the most similar text."""
    unlisted: tuple[str, ...] = ()
    """Names of the values that are not in the record with the most values."""
    warnings: tuple[str, ...] = ()


class _PageLists:
    def __init__(self, page: _Page, most: int, *, is_named: bool) -> None:
        self._page = page
        named = structured_values.read_named_items(page.data, page.tree.head.scripts) if is_named else {}
        self.lists = [RecordFields(page.finder, one, named) for one in find_lists(page.texts, most)]

    def no_list(self) -> PageFields | None:
        """Return the answer for a page without a list; None if there is a list."""
        return None if self.lists else PageFields(self._page.url)

    def learn(self, example: Mapping[str, str]) -> _ExampleColumns:
        """Return the columns of an example in the first list with a record that contains all of its values."""
        finder = self._page.finder
        located = {name: extraction_recipes.locate_all(finder, value) for name, value in example.items()}
        found = [(*one.find_example(example, located), one) for one in self.lists]
        if not found:
            return _ExampleColumns(unlisted=tuple(example))
        record, names, best = max(found, key=lambda one: len(one[1]))
        if unlisted := tuple(name for name in example if name not in names):
            absent = [name for name in unlisted if not located[name]]
            missing = {name: extraction_recipes.find_nearest(finder, example[name]) for name in absent}
            return _ExampleColumns(missing=missing, unlisted=unlisted)
        columns, unclear = best.learn(example, located, record)
        count = sum(len(one) == len(example) for _, one, _ in found)
        warnings = [_AMBIGUOUS_LIST.format(count=count)] if count > 1 else []
        warnings += [_AMBIGUOUS_VALUE.format(name=name[:40]) for name in unclear]
        return _ExampleColumns(best, columns, warnings=tuple(warnings))

    def read(self, recipe: ExtractionRecipe, example_columns: _ExampleColumns | None = None) -> PageFields:
        """Return the records of the list that has the most columns, or of the list that the example is from."""
        empty = self.no_list()
        if empty is not None:
            return empty
        columns = recipe.columns
        example = example_columns or _ExampleColumns()
        found = self._find_columns(columns, [example.fields] if example.fields else self.lists)
        shares = sorted(found[name].filled if name in found else 0.0 for name in columns)
        learned = [name for name, column in columns.items() if not column.is_by_name]
        is_complete = 2 * sum(name in found for name in learned) >= len(learned)
        if shares[-1] < MIN_FILLED or not is_complete:
            return PageFields(self._page.url, unlisted=tuple(columns), misfit=tuple(shares))
        count = len(next(iter(found.values())).values)
        rows = [{name: found[name].values[at] if name in found else None for name in columns} for at in range(count)]
        evidence = {name: Evidence(one.source, _CONFIDENCES[one.source]) for name, one in found.items()}
        warnings = list(example.warnings)
        absent = ", ".join(name[:40] for name in columns if name not in found)
        warnings += [_NO_COLUMN.format(names=absent)] if absent else []
        warnings += [_CORRECT] if any(one.source != "example" for one in found.values()) else []
        answer = _make_answer(self._page, rows, *warnings)
        return replace(answer, evidence=evidence, recipe=extraction_recipes.to_text(recipe))

    def _find_columns(
        self, columns: Mapping[str, RecordColumn], lists: Sequence[RecordFields]
    ) -> dict[str, ColumnValues]:
        fields = {name: FieldName(name, column.hint) for name, column in columns.items() if column.is_by_name}
        finder = NamedValueFinder(self._page.finder) if fields else None
        named = {name: (one, finder.find_matches(one)) for name, one in fields.items()} if finder else {}
        read = (one.read(columns, named) for one in lists)
        return max(read, key=lambda one: sum(values.filled for values in one.values()))


def _make_answer(page: _Page, rows: Sequence[Mapping[str, str | None]], *warnings: str) -> PageFields:
    clean = tuple({name: value and sanitize.clean(value)[0] for name, value in row.items()} for row in rows)
    if len(rows) == MAX_RECORDS:
        warnings += (f"The list may be longer: {MAX_RECORDS:,} records were read.",)
    return PageFields(page.url, records=clean, next_page=_find_next_page(page.tree), warnings=warnings)


def _find_next_page(tree: PageTree) -> str:
    """Return the URL of the next part of a list, or an empty string."""
    for target in _next_addresses(tree):
        url = join_url(tree.base, target or "#")
        if url.startswith(("http://", "https://")) and url.partition("#")[0] != tree.url.partition("#")[0]:
            return url
    return ""


def _next_addresses(tree: PageTree) -> Iterator[str]:
    """Yield the addresses of links to the next page: declared ones, by words, by names, and by numbers."""
    links = [(link, link.get("href") or "", " ".join(text_of(link).split())) for link in _LINKS(tree.body)]
    yield from (url for relation, url in tree.head.links if "next" in relation.split())
    yield from (url for link, url, _ in links if _NEXT_NAME.search(link.get("rel") or ""))
    yield from (url for _, url, text in links if _NEXT_WORDS.fullmatch(text))
    for name, pattern in _NEXT_ATTRIBUTES:
        yield from (url for link, url, _ in links if pattern.search(link.get(name) or ""))
    yield from (_find_next_number(link) for link, _, text in links if _page_number(text))


def _page_number(text: str) -> int:
    """Return a whole text as the number of a page, or 0."""
    return int(text) if (text := text.strip()).isdecimal() and len(text) < 4 else 0


def _find_next_number(link: Element) -> str:
    """Return the address of a link if it is the number behind that of the current page, in a row of numbers."""
    for box in itertools.islice(link.iterancestors(), 4):
        texts = [text for text in map(str, box.itertext()) if text.strip()]
        numbers = list(filter(None, map(_page_number, texts)))
        if len(numbers) > 1:
            links = [one for one in box.iter("a") if one.get("href") and not _is_current(one)]
            current = set(numbers).difference(_page_number(text_of(one)) for one in links)
            is_row = numbers == sorted(numbers) and 2 * len(numbers) >= len(texts) and box.tag not in _CALENDAR
            return link.get("href") or "" if is_row and current == {_page_number(text_of(link)) - 1} else ""
    return ""


def _is_current(link: Element) -> bool:
    parent = link.getparent()
    names = " ".join(one.get("class") or "" for one in (link, parent) if one is not None).lower()
    return link.get("aria-current") is not None or not _CURRENT.isdisjoint(names.replace("-", " ").split())

"""Read the records of the list of a page: with the usual columns, or with those of named fields and of an example."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from scraper.facts.fields import extraction_recipes, structured_values
from scraper.facts.fields.extraction_recipes import ExtractionRecipe, RecordColumn
from scraper.facts.fields.field_names import FieldName
from scraper.facts.fields.model import MIN_RECORDS, Evidence, FieldRequest, PageFields
from scraper.facts.fields.named_values import NamedValueFinder
from scraper.facts.fields.place_finder import ValuePlaceFinder
from scraper.facts.fields.record_columns import read_rows, read_table_columns
from scraper.facts.fields.record_fields import MIN_FILLED, ColumnValues, RecordFields
from scraper.facts.fields.record_lists import MAX_LISTS, MAX_RECORDS, find_largest_group, find_lists
from scraper.facts.fields.structured_values import NamedItems
from scraper.facts.fields.text_leaves import ElementTexts
from scraper.html.dom.xpath import element_selector, text_of
from scraper.html.page.page_tree import PageTree
from scraper.text import sanitize
from scraper.urls import join_url
from scraper.words.matcher import WordPattern

_LINKS = element_selector(".//a[@href]")
_NEXT_WORDS = WordPattern(r"(?:{links.next}|{links.older_page})\W*|[›»→>]")
_PAGE_IN_URL = re.compile(r"(?<![a-z])(?:page|pg?|seite|pagina|paged)[=/_-]?(?P<number>\d{1,5})(?!\w)", re.IGNORECASE)
_EXAMPLE_LISTS = 20
"""Lists of a page that may contain an example."""
_CONFIDENCES = {"example": 0.95, "title": 0.9, "label": 0.55, "name": 0.55} | structured_values.CONFIDENCES
"""Share of correct titles by example and by name on annotated lists; a guess for labels and other names.

The data of a page have the confidence of single values.
"""
_AMBIGUOUS_LIST = (
    "{count} lists of the page contain the example; the rows are those of the main one. "
    "For another list, give an example that only this list contains."
)
_AMBIGUOUS_VALUE = (
    "The example of `{name}` is at several places of its record; the first is used. Give an example with other values."
)
_NO_COLUMN = "No column of the list fits {names}. Give an example of one row."
CORRECT = "Fields by name may be wrong: to correct one, give its value on this page as `example`."


def read_usual_records(page: ElementTexts) -> PageFields:
    """Return the records of the best list with the usual columns; records without any of them are left out."""
    for one in find_lists(page):
        rows = read_rows(page, one)
        rows = [row for row in (read_table_columns(page, one.table, rows) if one.table else rows) if row]
        if len(rows) >= MIN_RECORDS:
            return _make_answer(page, rows)
    return PageFields(page.page.url, largest=find_largest_group(page))


def read_records(
    finders: Sequence[ValuePlaceFinder],
    items: Sequence[NamedItems],
    request: FieldRequest,
    host: str,
    known: Mapping[str, RecordColumn],
) -> list[PageFields]:
    """Return the records of each page with the requested columns, and a recipe; an example may come from any page.

    `known` are the columns of an earlier recipe; an example replaces or adds columns. The list is the one that contains
    the example, else the one whose columns fit most of the fields.
    """
    most = _EXAMPLE_LISTS if request.example else MAX_LISTS
    pages = [_PageLists(finder, named, most) for finder, named in zip(finders, items, strict=True)]
    hints = dict(request.fields) | dict.fromkeys(request.example, "")
    columns = dict(known) | {name: RecordColumn(hint=hint) for name, hint in hints.items()}
    learned_by_page: dict[int, _ExampleColumns] = {}
    if request.example and any(page.lists for page in pages):
        learned = [page.learn(request.example) for page in pages]
        at = min(range(len(pages)), key=lambda number: len(learned[number].unlisted))
        if learned[at].unlisted:
            return [
                page.no_list() or PageFields(page.url, missing=one.missing, unlisted=one.unlisted)
                for page, one in zip(pages, learned, strict=True)
            ]
        learned_by_page[at] = learned[at]
        columns |= learned[at].columns
    recipe = ExtractionRecipe(host, {}, columns)
    return [page.read(recipe, learned_by_page.get(number)) for number, page in enumerate(pages)]


def read_by_recipe(
    finders: Sequence[ValuePlaceFinder], items: Sequence[NamedItems], recipe: ExtractionRecipe
) -> list[PageFields]:
    """Return the records of each page at the columns of a recipe, of the list that has the most of them."""
    pages = zip(finders, items, strict=True)
    found = [_PageLists(finder, named, _EXAMPLE_LISTS).read(recipe) for finder, named in pages]
    return [replace(one, unlisted=()) for one in found]


@dataclass(frozen=True, slots=True)
class _ExampleColumns:
    """Columns of the values of an example on one page."""

    fields: RecordFields | None = None
    """List that contains the example."""
    columns: Mapping[str, RecordColumn] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    """For each value that is not on the page, the most similar text."""
    unlisted: tuple[str, ...] = ()
    """Names of the values that are not in the record with the most values."""
    warnings: tuple[str, ...] = ()


class _PageLists:
    """Lists of one page."""

    def __init__(self, finder: ValuePlaceFinder, named: NamedItems, most: int) -> None:
        self._finder = finder
        self.url = finder.page.page.url
        self.lists = [RecordFields(finder, one, named) for one in find_lists(finder.page, most)]

    def no_list(self) -> PageFields | None:
        """Return the answer for a page without a list; None if there is a list."""
        return None if self.lists else PageFields(self.url, largest=find_largest_group(self._finder.page))

    def learn(self, example: Mapping[str, str]) -> _ExampleColumns:
        """Return the columns of an example in the first list with a record that contains all of its values."""
        located = {name: extraction_recipes.locate_all(self._finder, value) for name, value in example.items()}
        found = [(*one.find_example(example, located), one) for one in self.lists]
        if not found:
            return _ExampleColumns(unlisted=tuple(example))
        record, names, best = max(found, key=lambda one: len(one[1]))
        unlisted = tuple(name for name in example if name not in names)
        if unlisted:
            absent = [name for name in unlisted if not located[name]]
            missing = {name: extraction_recipes.find_nearest(self._finder, example[name]) for name in absent}
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
            return PageFields(self.url, unlisted=tuple(columns), misfit=tuple(shares))
        count = len(next(iter(found.values())).values)
        rows = [{name: found[name].values[at] if name in found else None for name in columns} for at in range(count)]
        evidence = {name: Evidence(one.source, _CONFIDENCES[one.source]) for name, one in found.items()}
        warnings = list(example.warnings)
        absent = ", ".join(name[:40] for name in columns if name not in found)
        warnings += [_NO_COLUMN.format(names=absent)] if absent else []
        warnings += [CORRECT] if any(one.source != "example" for one in found.values()) else []
        answer = _make_answer(self._finder.page, rows, *warnings)
        return replace(answer, evidence=evidence, recipe=extraction_recipes.to_text(recipe))

    def _find_columns(
        self, columns: Mapping[str, RecordColumn], lists: Sequence[RecordFields]
    ) -> dict[str, ColumnValues]:
        """Return the columns of the list that has the most values."""
        fields = {name: FieldName(name, column.hint) for name, column in columns.items() if column.is_by_name}
        finder = NamedValueFinder(self._finder) if fields else None
        named = {name: (one, finder.find_matches(one)) for name, one in fields.items()} if finder else {}
        read = (one.read(columns, named) for one in lists)
        return max(read, key=lambda one: sum(values.filled for values in one.values()))


def _make_answer(page: ElementTexts, rows: Sequence[Mapping[str, str | None]], *warnings: str) -> PageFields:
    """Return the rows without invisible characters, with the URL of the next part."""
    clean = tuple({name: value and sanitize.clean(value)[0] for name, value in row.items()} for row in rows)
    if len(rows) == MAX_RECORDS:
        warnings += (f"The list may be longer: {MAX_RECORDS:,} records were read.",)
    return PageFields(page.page.url, records=clean, next_page=_find_next_page(page.page), warnings=warnings)


def _find_next_page(tree: PageTree) -> str:
    """Return the URL of the next part of a list, or an empty string.

    It comes from `rel=next`, a link named "next", or the number of the page after the current one, in the URL or text.
    """
    declared = [url for relation, url in tree.head.links if "next" in relation.split()]
    links = _LINKS(tree.body)
    declared += [link.get("href") or "" for link in links if "next" in (link.get("rel") or "").lower().split()]
    named = [link for link in links if _NEXT_WORDS.fullmatch(" ".join(text_of(link).split()))]
    declared += [link.get("href") or "" for link in named]
    urls = [join_url(tree.base, link.get("href") or "") for link in links]
    declared += [url for url in urls if _is_next_number(tree.url, url)]
    for target in declared:
        url = join_url(tree.base, target) if target else ""
        if url.startswith(("http://", "https://")) and url.partition("#")[0] != tree.url.partition("#")[0]:
            return url
    return ""


def _is_next_number(url: str, other: str) -> bool:
    """Return True if two URLs differ only in the number of the page, and the second one has the next number.

    A URL without a number is that of the first page.
    """
    one, two = _PAGE_IN_URL.search(url), _PAGE_IN_URL.search(other)
    if one is None or two is None:
        return two is not None and two["number"] == "2" and other[: two.start()].rstrip("?&/") == url.rstrip("/")
    if int(two["number"]) != int(one["number"]) + 1:
        return False
    return (url[: one.start("number")], url[one.end() :]) == (other[: two.start("number")], other[two.end() :])

"""Read requested columns of a list, by the names of fields or by the values of one of its records."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scraper.facts.fields.extraction_recipes import LocatedValue, RecordColumn, strip_around
from scraper.facts.fields.field_names import TABLE, FieldName
from scraper.facts.fields.named_values import MIN_LABEL_MATCH, NameMatch
from scraper.facts.fields.place_finder import ValuePlaceFinder
from scraper.facts.fields.record_columns import COLUMNS, read_rows
from scraper.facts.fields.record_lists import RecordList, stable_classes
from scraper.facts.fields.structured_values import NamedItems, find_record_items, find_structured_value
from scraper.facts.fields.text_leaves import TextLeaf
from scraper.facts.label_value_pairs import LABEL_TAGS
from scraper.html.dom.parsing import Element, classes_of
from scraper.text.sanitize import name_key

_USUAL_NAMES: Mapping[str, Sequence[str]] = TABLE["columns"]
_ADDRESS_NAMES = (*_USUAL_NAMES["url"], *_USUAL_NAMES["image"])
"""Names of fields that are not read from the data of a page, whose addresses may be relative."""
_MIN_USUAL_MATCH = 0.9
_MIN_MATCH = {"label": MIN_LABEL_MATCH, "name": 0.45}
"""Minimum similarity of a field name to a label, which is the whole name, or to one of several names of an element."""
MIN_FILLED = 0.5
"""Minimum share of the records with a value, in at least one column of a list that fits."""
_MIN_SAME = 0.8
"""Minimum similarity of names in each record, as a share of the best one of the column."""
_STATED_MATCH = 2.0
"""Similarity of the names of properties in the data of the page, more than that of any other name."""
_MAX_PLACES = 20
"""Places of one value of an example in a record that are compared."""
_FILLED_WEIGHT = 0.2
"""Weight of the share of records with a value, beside the similarity of names."""

Values = list[str | None]
"""Value of one column in each record."""
NamedFields = Mapping[str, tuple[FieldName, Sequence[NameMatch]]]
"""Fields that are found by their names, with the values on the page whose names match."""
Located = Mapping[str, Sequence[LocatedValue]]
"""Places of each value of an example on the page."""


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """Values of one column, with their source and the similarity of names."""

    values: Values
    source: str
    match: float = 1.0

    @property
    def filled(self) -> float:
        """Share of the records that have a value."""
        return sum(map(bool, self.values)) / len(self.values)


class RecordFields:
    """Read the columns of one list."""

    def __init__(self, finder: ValuePlaceFinder, found: RecordList, named: NamedItems) -> None:
        """Assign the texts of the page to the records of the list, and the items of its data."""
        self._page = finder.page
        self._records = found.records
        self._table = found.table
        self._sibling_numbers: dict[Element, int] = {}
        self._owners: dict[int, int] = {}
        for at, record in enumerate(found.records):
            for element in record:
                start = self._page.number[element]
                self._owners |= dict.fromkeys(range(start, self._page.end[start]), at)
        self._leaves: list[list[TextLeaf]] = [[] for _ in found.records]
        for leaf in finder.leaves:
            owner = self._owner(leaf.element)
            if owner is not None:
                self._leaves[owner].append(leaf)
        rows = read_rows(self._page, found)
        self._usual: dict[str, Values] = {name: [row.get(name) for row in rows] for name in COLUMNS}
        self._usual_keys = {name: [name_key(value or "") for value in values] for name, values in self._usual.items()}
        self._syntax, self._items = find_record_items(named, self._usual["title"])
        self._paths: list[dict[tuple[str, ...], TextLeaf]] = []

    def _owner(self, element: Element) -> int | None:
        return self._owners.get(self._page.number[element])

    def read(self, columns: Mapping[str, RecordColumn], named: NamedFields) -> dict[str, ColumnValues]:
        """Return the values of each column; columns without any value are left out."""
        found = {
            name: ColumnValues(self._read_column(column), "example")
            for name, column in columns.items()
            if not column.is_by_name
        }
        return {name: one for name, one in (found | self._find_named(named)).items() if one.filled}

    def _read_column(self, column: RecordColumn) -> Values:
        if column.usual:
            return list(self._usual[column.usual])
        if column.label:
            return [_find_behind_label(leaves, column) for leaves in self._leaves]
        if column.prefix.rstrip().endswith((":", "：")):
            starts = ([one.text for one in leaves if one.text.startswith(column.prefix)] for leaves in self._leaves)
            shortest = (min(texts, key=len, default="") for texts in starts)
            return [strip_around(text, column.prefix, column.suffix) or None for text in shortest]
        if not self._paths:
            self._paths = [
                dict(zip(self._leaf_paths(at), leaves, strict=True)) for at, leaves in enumerate(self._leaves)
            ]
        leaves = (paths.get(column.path) for paths in self._paths)
        return [strip_around(leaf.text, column.prefix, column.suffix) or None if leaf else None for leaf in leaves]

    def _leaf_paths(self, at: int) -> list[tuple[str, ...]]:
        counts: Counter[tuple[Element, bool]] = Counter()
        paths: list[tuple[str, ...]] = []
        for leaf in self._leaves[at]:
            key = leaf.element, leaf.is_whole
            paths.append((_kind(leaf), f"{counts[key]}", *self._element_path(leaf.element, at)))
            counts[key] += 1
        return paths

    def _element_path(self, element: Element, at: int) -> list[str]:
        """Return the tag, the classes and the position among similar siblings of each element up to the record."""
        record = self._records[at]
        steps: list[str] = []
        for node in (element, *element.iterancestors()):
            if node in record:
                return [*steps, f"{node.tag} {record.index(node)}"]
            steps.append(f"{_tag_and_classes(node)} {self._sibling_number(node)}")
        return steps

    def _sibling_number(self, element: Element) -> int:
        parent = element.getparent()
        if element not in self._sibling_numbers and parent is not None:
            counts: Counter[str] = Counter()
            for child in self._page.children(parent):
                kind = _tag_and_classes(child)
                self._sibling_numbers[child] = counts[kind]
                counts[kind] += 1
        return self._sibling_numbers[element]

    def _find_named(self, named: NamedFields) -> dict[str, ColumnValues]:
        """Return the values of each field that was found by its name; no two fields share a column."""
        options: list[tuple[float, str, ColumnValues]] = []
        for name, (field, matches) in named.items():
            found = [*self._named_places(matches), *self._table_columns(field)]
            is_address = max(map(field.match, _ADDRESS_NAMES)) >= _MIN_USUAL_MATCH
            if self._syntax and not is_address:
                values = [find_structured_value(field, [(self._syntax, one)] if one else []) for one in self._items]
                stated = ColumnValues([one[0] if one else None for one in values], self._syntax, _STATED_MATCH)
                found += [stated] if stated.filled >= MIN_FILLED else []
            for usual, names in _USUAL_NAMES.items():
                match = max(map(field.match, names))
                if match >= _MIN_USUAL_MATCH:
                    found.append(ColumnValues(self._usual[usual], "title" if usual == "title" else "name", match))
            options += [(one.match + _FILLED_WEIGHT * one.filled, name, one) for one in found]
        chosen: dict[str, ColumnValues] = {}
        used: set[tuple[str | None, ...]] = set()
        for _, name, one in sorted(options, key=lambda option: -option[0]):
            if one.filled and name not in chosen and tuple(one.values) not in used:
                chosen[name] = one
                used.add(tuple(one.values))
        return chosen

    def _table_columns(self, field: FieldName) -> Iterator[ColumnValues]:
        """Yield the columns of a table by their headers; a cell that spans several rows is in each of them."""
        columns = zip(*(cells for _, cells in self._table.rows), strict=False) if self._table else ()
        for header, cells in zip(self._table.headers if self._table else (), columns, strict=False):
            if (match := field.match(header)) >= _MIN_MATCH["label"]:
                yield ColumnValues([self._page.text(cell) or None for cell in cells], "label", match)

    def _named_places(self, matches: Sequence[NameMatch]) -> list[ColumnValues]:
        """Return the columns of values that match a field, by tags and classes of their elements."""
        places: defaultdict[object, dict[int, NameMatch]] = defaultdict(dict)
        for one in matches:
            owner = self._owner(one.element)
            if one.match < _MIN_MATCH[one.source] or owner is None:
                continue
            steps = self._element_path(one.element, owner)
            place: object = (*(step.rpartition(" ")[0] for step in steps),)
            if owner not in places[place] or one.match > places[place][owner].match:
                places[place][owner] = one
        found: list[ColumnValues] = []
        for by_record in places.values():
            best = max(by_record.values(), key=lambda one: one.match)
            fitting = {at: one.value for at, one in by_record.items() if one.match >= _MIN_SAME * best.match}
            found.append(ColumnValues([fitting.get(at) for at in range(len(self._records))], best.source, best.match))
        return found

    def find_example(self, example: Mapping[str, str], located: Located) -> tuple[int, set[str]]:
        """Return the record that contains the most values of an example, and the names of these values."""
        names: list[set[str]] = [set() for _ in self._records]
        for name, value in example.items():
            owners = {owner for one in located[name] if (owner := self._owner(one.leaf.element)) is not None}
            for usual in self._usual:
                owners.update(at for at in range(len(names)) if self._is_usual(usual, at, value))
            for owner in owners:
                names[owner].add(name)
        best = max(range(len(names)), key=lambda at: len(names[at]))
        return best, names[best]

    def _is_usual(self, usual: str, at: int, value: str) -> bool:
        key = self._usual_keys[usual][at]
        return self._usual[usual][at] == value or (key != "" and key == name_key(value))

    def learn(self, example: Mapping[str, str], located: Located, at: int) -> tuple[dict[str, RecordColumn], list[str]]:
        """Return the column of each value of an example in a record, and the names of values at several places.

        If a value is at several places, an exact one is used before one inside a text, then the place that most records
        have, then one whose label or classes are similar to the name of the field. A usual column is used
        before a place that less than half of the records have; it has values of several places.
        """
        columns: dict[str, RecordColumn] = {}
        unclear: list[str] = []
        for name, value in example.items():
            field = FieldName(name)
            here = [one for one in located[name] if self._owner(one.leaf.element) == at]
            here.sort(key=lambda one: not one.is_exact)
            options = [(one.is_exact, *self._column_of(one, at, field)) for one in here[:_MAX_PLACES]]
            usual = [one for one in self._usual if self._is_usual(one, at, value)]
            options += [(True, RecordColumn(usual=one), field.match(one)) for one in usual]
            ranked = []
            for is_exact, column, match in options:
                read = ColumnValues(self._read_column(column), "example")
                is_likely = not column.usual and read.filled >= MIN_FILLED
                ranked.append(((is_exact, is_likely, read.filled, match), read.values, column))
            ranked.sort(key=lambda one: one[0], reverse=True)
            (rank, values, columns[name]), *others = ranked
            if any(other_rank == rank and other != values for other_rank, other, _ in others):
                unclear.append(name)
        return columns, unclear

    def _column_of(self, one: LocatedValue, at: int, field: FieldName) -> tuple[RecordColumn, float]:
        """Return the column of a text in a record, and the similarity of its label or classes to a field."""
        leaves = self._leaves[at]
        place = leaves.index(one.leaf)
        path = self._leaf_paths(at)[place]
        before = leaves[place - 1] if place else None
        if one.is_exact and before is not None:
            column = RecordColumn(label=before.text, path=path[:1])
            is_label = before.text.endswith((":", "：")) or before.element.tag in LABEL_TAGS
            if is_label and sum(map(bool, self._read_column(column))) > 1:
                return column, field.match(before.text)
        names = classes_of(one.leaf.element)
        return RecordColumn(path=path, prefix=one.prefix, suffix=one.suffix), max(map(field.match, names), default=0.0)


def _find_behind_label(leaves: Sequence[TextLeaf], column: RecordColumn) -> str | None:
    labeled = (leaf for label, leaf in pairwise(leaves) if label.text == column.label)
    return next((one.text for one in labeled if _kind(one) == column.path[0]), None)


def _kind(leaf: TextLeaf) -> str:
    return f"{leaf.element.tag} {'whole' if leaf.is_whole else 'part'}"


def _tag_and_classes(element: Element) -> str:
    return ".".join((str(element.tag), *stable_classes(element.get("class") or "")))

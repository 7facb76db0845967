"""Run the cases of facts: the answers of `extract_structured`, and the author and date of `fetch`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.cases import values
from benchmarks.cases.model import CERTAIN, Case, CaseResult, Judgment, announces_loss
from benchmarks.cases.product import Product, extract_fields, extract_structured
from benchmarks.cases.values import Value

_OF_DATA = ("product", "recipe", "recipe_lists", "name_contains", "json_ld_count", "og")
_OF_FIELDS = ("fields", "rows", "table", "first", "titles", "prices", "numbers", "price_by_title", "next")
_OF_PAGE: Mapping[str, Callable[[str, object], bool]] = {"author": values.same_names, "published": values.same_date}
_KNOWN = frozenset({*_OF_DATA, *_OF_FIELDS, *_OF_PAGE})
_COLUMNS = {"titles": ("title", "name"), "prices": ("price",), "numbers": ("number",)}
"""Names of the columns of an expectation on the values of one column."""
_MAX_FOUND = 200


async def run(case: Case, product: Product) -> CaseResult:
    """Extract what a case expects and compare it.

    Raises:
        ValueError: An expectation is unknown.
    """
    expect, file = case.data["expect"], case.data.get("file", "page.html")
    if unknown := set(expect) - _KNOWN:
        raise ValueError(f"{case.name}: unknown expectations: {', '.join(sorted(unknown))}.")
    if not case.has_input(file):
        return CaseResult(case, not_run="no input")
    judgments: list[Judgment] = []
    if any(name in expect for name in _OF_DATA):
        judgments += _judge_data(expect, _Data(case, file))
    if any(name in expect for name in _OF_FIELDS):
        judgments += _judge_fields(case, file)
    if any(name in expect for name in _OF_PAGE):
        judgments += await _judge_page(case, file, product)
    return CaseResult(case, judgments)


class _Data:
    """Structured data of a page."""

    def __init__(self, case: Case, file: str) -> None:
        data = extract_structured(case, file)
        self.warnings = data.warnings
        self.json_ld = data.json_ld
        self.opengraph = data.opengraph
        self._facts = {"product": data.product, "recipe": data.recipe}

    def has(self, group: str) -> bool:
        """Return True if there is a product or a recipe."""
        return bool(self._facts[group])

    def value(self, group: str, name: str) -> Value:
        """Return a fact of the product or recipe."""
        fact = (self._facts[group] or {}).get(name)
        return Value(fact["value"], fact["confidence"], fact.get("sign", "")) if fact else Value(None, 0.0)


def _judge_data(expect: Mapping[str, Any], data: _Data) -> Iterator[Judgment]:
    for group in ("product", "recipe"):
        if group in expect and expect[group] is None:
            yield Judgment(f"no {group}", not data.has(group), is_silent=data.has(group))
        for name, wanted in (expect.get(group) or {}).items():
            found = data.value(group, name)
            holds = values.same_value(name, wanted, found)
            yield _judge_value(f"{group}.{name} = {_show(wanted)}", holds, found, name, data.warnings)
    if "name_contains" in expect:
        name, wanted = data.value("product", "name"), expect["name_contains"]
        holds = wanted.casefold() in str(name.value or "").casefold()
        yield _judge_value(f"product.name contains {_show(wanted)}", holds, name, "name", data.warnings)
    yield from _judge_recipe_lists(expect.get("recipe_lists", {}), data)
    if "json_ld_count" in expect:
        found = Value(len(data.json_ld))
        holds = found.value == expect["json_ld_count"]
        yield _judge_value(f"{expect['json_ld_count']} objects of JSON-LD", holds, found, "", data.warnings)
    yield from _judge_opengraph(expect.get("og", {}), data)


def _judge_recipe_lists(expect: Mapping[str, Sequence[str]], data: _Data) -> Iterator[Judgment]:
    judge = partial(_judge_value, warnings=data.warnings)
    for name in ("ingredients", "instructions"):
        found = data.value("recipe", name)
        lines = [str(line) for line in found.value or ()]
        if name in expect:
            holds = _same_lists(values.same_text, expect[name], lines)
            yield judge(f"recipe.{name} = {_show(expect[name])}", holds, found, name)
        for part in expect.get(f"{name}_contains", ()):
            holds = any(part.casefold() in line.casefold() for line in lines)
            yield judge(f"recipe.{name} contains {_show(part)}", holds, found, name)


def _judge_opengraph(expect: Mapping[str, Any], data: _Data) -> Iterator[Judgment]:
    judge = partial(_judge_value, name="", warnings=data.warnings)
    objects = list(_objects(list(data.opengraph)))
    if "images" in expect:
        pictures = {url for one in objects for name, url in _texts(one) if name.endswith("image") or name == "url"}
        yield judge(f"{expect['images']} OpenGraph images", len(pictures) == expect["images"], Value(sorted(pictures)))
    for picture in expect.get("pictures", ()):
        described = next((one for one in objects if picture["url"] in one.values()), {})
        sizes = [one for _, one in _texts(described) if one.isdecimal()]
        holds = bool(described) and sizes == picture.get("sizes", []) and picture.get("alt", "") in _alts(described)
        yield judge(f"{_show(picture)} in one object", holds, Value(described))


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield all objects in a value."""
    if isinstance(value, Mapping):
        yield value
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for part in parts:
        yield from _objects(part)


def _texts(one: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of an object with their names; each text of a list has the name of the list."""
    for name, value in one.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str | int):
                yield name, str(text)


def _alts(one: Mapping[str, Any]) -> list[str]:
    return ["", *(text for name, text in _texts(one) if name.endswith("alt"))]


def _judge_fields(case: Case, file: str) -> Iterator[Judgment]:
    expect = case.data["expect"]
    fields = extract_fields(case, file)
    if isinstance(fields, Exception):
        for name in _OF_FIELDS:
            parts = expect[name].items() if name in ("fields", "price_by_title") and name in expect else ()
            shown = [f"{part} = {_show(wanted)}" for part, wanted in parts] or [f"{name} = {_show(expect.get(name))}"]
            yield from (Judgment(one, False, found=str(fields)) for one in shown if name in expect)
        return
    certain = {name: one.confidence for name, one in fields.evidence.items()}
    for name, wanted in expect.get("fields", {}).items():
        found = Value(fields.values.get(name), certain.get(name, 0.0))
        holds_value = values.same_value("", wanted, found)
        yield _judge_value(f"{name} = {_show(wanted)}", holds_value, found, name, fields.warnings)
    yield from _judge_records(expect, list(case.data.get("fields") or ()), fields.records, certain, fields.warnings)
    if "next" in expect:
        found = Value(fields.next_page)
        holds_next = (expect["next"] or "") == fields.next_page
        yield _judge_value(f"next = {_show(expect['next'])}", holds_next, found, "", fields.warnings)


def _judge_records(
    expect: Mapping[str, Any],
    names: Sequence[str],
    records: Sequence[Mapping[str, Any]],
    certain: Mapping[str, float],
    warnings: Sequence[str],
) -> Iterator[Judgment]:
    """Judge the rows of a list; `certain` has the confidence of the columns that carry one."""
    judge = partial(_judge_value, warnings=warnings)
    if "rows" in expect:
        yield judge(f"{expect['rows']} rows", len(records) == expect["rows"], Value(len(records)), "")
    for name in _COLUMNS.keys() & expect.keys():
        column = _column(name, records)
        same = values.same_amount if name == "prices" else values.same_text
        cells = [record.get(column) for record in records]
        holds = _same_lists(same, expect[name], cells)
        found = Value(None if not any(cells) else cells, certain.get(column))
        yield judge(f"{name} = {_show(expect[name])}", holds, found, "")
    for title, price in expect.get("price_by_title", {}).items():
        found = Value(next((one.get("price") for one in records if title in str(one.get("title"))), None))
        holds = _same_or_absent(values.same_amount, price, found.value)
        yield judge(f"price of {title} = {_show(price)}", holds, found, "")
    rows = [[record.get(one) for one in names or record] for record in records]
    tables = {"table": (expect.get("table", ()), rows), "first": ([expect.get("first", ())], rows[:1])}
    for name in tables.keys() & expect.keys():
        wanted, table = tables[name]
        wrong = _wrong_columns(wanted, table)
        confidences = [certain[names[at]] for at in wrong if at < len(names) and names[at] in certain]
        found = Value(table, max(confidences, default=None))
        yield judge(f"{name} = {_show(expect[name])}", not wrong, found, "")


def _column(name: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of a column; titles may be in the first one."""
    known = list(dict.fromkeys(key for record in records for key in record))
    first = known[0] if known and name == "titles" else ""
    return next((one for one in _COLUMNS[name] if one in known), first)


def _wrong_columns(wanted: Sequence[Sequence[Any]], rows: Sequence[Sequence[Any]]) -> list[int]:
    """Return the numbers of the columns that differ; all of them if the number of rows differs."""
    width = max(map(len, [*wanted, *rows]), default=0)
    padded = [[[*row, *[None] * (width - len(row))] for row in table] for table in (wanted, rows)]
    columns = [list(zip(*table, strict=True)) or [()] * width for table in padded]
    return [at for at in range(width) if not _same_lists(values.same_text, columns[0][at], columns[1][at])]


async def _judge_page(case: Case, file: str, product: Product) -> list[Judgment]:
    answer = await product.read(case, file)
    return [
        _judge_value(
            f"{name} = {_show(case.data['expect'][name])}",
            _same_or_absent(same, case.data["expect"][name], answer.facts.get(name)),
            Value(answer.error or answer.facts.get(name), 0.0 if answer.error else None),
            "",
            answer.warnings,
        )
        for name, same in _OF_PAGE.items()
        if name in case.data["expect"]
    ]


def _same_or_absent(same: Callable[[str, object], bool], wanted: str | None, found: object) -> bool:
    return same(wanted, found) if wanted else not found


def _judge_value(expectation: str, holds: bool, found: Value, name: str, warnings: Sequence[str]) -> Judgment:
    """Judge a value. A failure is silent if the value is certain, or has no confidence, and no warning names it."""
    is_certain = found.confidence is None or (found.confidence >= CERTAIN and found.value is not None)
    is_silent = not holds and is_certain and not announces_loss(warnings, name)
    return Judgment(expectation, holds, is_silent, _show(found.value)[:_MAX_FOUND])


def _same_lists(same: Callable[[Any, Any], bool], wanted: Sequence[Any], found: Sequence[Any]) -> bool:
    return len(wanted) == len(found) and all(map(same, wanted, found))


def _show(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)

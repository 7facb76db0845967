"""Render the extracted fields or records of pages as a table or JSON, within one token budget."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scraper.errors import ScraperError
from scraper.facts.fields.model import PageFields
from scraper.render.json_truncation import compact_json, drop_empty
from scraper.render.page import BODY_BUDGET
from scraper.render.untrusted_text import UNTRUSTED_NOTICE, display_url, error_sentence, full_url, mark_untrusted
from scraper.text import token_estimate
from scraper.text.sanitize import clean_line
from scraper.values.text import truncate

_MAX_URL = 2_000
_MAX_WARNING = 300
_HEADER_TOKENS = 150
_IN_NUMBERS = frozenset("0123456789 .,()/%€$£¥-\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\t\n")


def as_json(fields: PageFields, *, budget: int = BODY_BUDGET) -> dict[str, object]:
    """Return fields with evidence and recipe, or the records that fit the budget and the URL of the next page."""
    answer: dict[str, object] = {"url": fields.url}
    notes = [clean_line(warning, _MAX_WARNING) for warning in fields.warnings]
    if fields.values:
        answer["values"] = dict(fields.values)
    else:
        answer["records"], left_out = _fit_rows(fields, budget)
        notes += left_out
        if fields.next_page:
            answer["more"] = {"next_page": fields.next_page}
    if fields.values or fields.evidence:
        answer["evidence"] = {
            name: {"source": one.source, "confidence": one.confidence}
            | drop_empty({"alternatives": list(one.alternatives)})
            for name, one in fields.evidence.items()
        }
    recipe = json.loads(fields.recipe) if fields.recipe else None
    return answer | drop_empty({"recipe": recipe, "warnings": notes}) | {"notice": UNTRUSTED_NOTICE}


def as_markdown(fields: PageFields, requested: str, *, region: str, budget: int = BODY_BUDGET) -> str:
    """Return a header, and a table of fields or records in an untrusted region."""
    url = display_url(fields.url, requested=requested)
    header = [f"URL: {url}"]
    full = [("Full URL", full_url(fields.url, url, _MAX_URL))]
    notes = [clean_line(warning, _MAX_WARNING) for warning in fields.warnings]
    if fields.values:
        rows = [_value_row(fields, name, value) for name, value in fields.values.items()]
    else:
        rows, left_out = _fit_rows(fields, budget)
        notes += left_out
        header.append(f"Records: {len(fields.records)}")
        if fields.next_page:
            next_page = display_url(fields.next_page, requested="")
            header.append(f"Next page: {next_page}")
            full.append(("Full URL of the next page", full_url(fields.next_page, next_page, _MAX_URL)))
    header += [f"Warning: {note}" for note in notes]
    recipe = ""
    if fields.recipe:
        # The id of a stored recipe is enough for a later call.
        recipe = f"\n\nRecipe for other pages of this kind: {json.loads(fields.recipe).get('id', fields.recipe)}"
    urls = "".join(f"{name}: {whole}\n\n" for name, whole in full if whole)
    return "\n".join(header) + "\n" + mark_untrusted(urls + _table(rows) + recipe, region)


def pages_as_json(outcomes: Sequence[tuple[str, PageFields | ScraperError]], *, budget: int) -> dict[str, object]:
    """Return one object per page, each within an equal share of the budget; the recipe is written once for all."""
    share = budget // len(outcomes)
    rows: list[dict[str, object]] = []
    for url, found in outcomes:
        if isinstance(found, ScraperError):
            rows.append({"url": url, "error": error_sentence(found)})
        else:
            row = as_json(replace(found, recipe=""), budget=share)
            del row["notice"]
            rows.append(row)
    answer: dict[str, object] = {"url": outcomes[0][0], "pages": rows, "notice": UNTRUSTED_NOTICE}
    recipe = next((found.recipe for _, found in outcomes if isinstance(found, PageFields) and found.recipe), "")
    return answer | ({"recipe": json.loads(recipe)} if recipe else {})


def pages_as_markdown(outcomes: Sequence[tuple[str, PageFields | ScraperError]], *, region: str, budget: int) -> str:
    """Return one section per page, each within an equal share of the budget; the recipe is written once."""
    share = budget // len(outcomes)
    recipes = (found.recipe if isinstance(found, PageFields) else "" for _, found in outcomes)
    last = max((number for number, recipe in enumerate(recipes, start=1) if recipe), default=0)
    sections: list[str] = []
    for number, (url, found) in enumerate(outcomes, start=1):
        title = f"## {number}. {display_url(url)}"
        if isinstance(found, ScraperError):
            sections.append(f"{title}\n\n{error_sentence(found)}")
        else:
            shown = found if number == last else replace(found, recipe="")
            sections.append(f"{title}\n\n{as_markdown(shown, url, region=region, budget=share)}")
    return "\n\n".join(sections)


def _value_row(fields: PageFields, name: str, value: str | None) -> dict[str, Any]:
    one = fields.evidence.get(name)
    row: dict[str, Any] = {"field": name, "value": value}
    if one is None:
        return row | {"source": "not on the page", "confidence": ""}
    row |= {"source": one.source, "confidence": one.confidence}
    return row | drop_empty({"alternatives": "; ".join(one.alternatives)})


def _fit_rows(fields: PageFields, budget: int) -> tuple[list[dict[str, Any]], list[str]]:
    left = budget - _HEADER_TOKENS
    rows: list[dict[str, Any]] = []
    for record in fields.records:
        row = dict(record)
        for name, value in record.items():
            if isinstance(value, str):
                is_url = name in ("url", "image") or value.startswith(("http://", "https://"))
                row[name] = truncate(value, _MAX_URL if is_url else 300)
        left -= token_estimate.estimate(compact_json(row))
        if left < 0:
            break
        rows.append(row)
    notes = []
    if len(rows) < len(fields.records):
        notes.append(f"{len(fields.records) - len(rows)} more records are left out: the answer is full.")
    return rows, notes


def csv_cell(value: Any) -> str:
    """Return a value for CSV; a formula begins with an apostrophe, but no amount or phone number with a sign."""
    text = "" if value is None else str(value)
    is_formula = text.startswith(("+", "-")) and not _IN_NUMBERS.issuperset(text[1:])
    return f"'{text}" if is_formula or text.startswith(("=", "@", "\t", "\r")) else text


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [f"| {' | '.join(map(_cell, names))} |", f"|{'---|' * len(names)}"]
    lines += [f"| {' | '.join(_cell(row.get(name)) for name in names)} |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return "" if value is None else clean_line(str(value), _MAX_URL).replace("|", "\\|")

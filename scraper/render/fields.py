"""Render the requested values of a page as a table or as JSON within one budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scraper.extract.fields.model import PageFields
from scraper.extract.text import token_estimate
from scraper.extract.text.sanitize import clean_line
from scraper.render.answer_text import EXPLANATION, seal
from scraper.render.json_truncation import compact
from scraper.render.page import BODY_BUDGET

_MAX_URL = 2_000
_MAX_WARNING = 300
_MAX_CELL = 300
_HEADER_TOKENS = 150


def as_json(found: PageFields, *, budget: int = BODY_BUDGET) -> dict[str, object]:
    """Return the rows that the budget allows, with the URL of the next part of the list."""
    rows, notes = _fit_rows(found, budget)
    answer: dict[str, object] = {"url": found.url, "records": rows}
    if found.next_page:
        answer["more"] = {"next_page": found.next_page}
    if notes:
        answer["warnings"] = notes
    return answer


def as_markdown(found: PageFields, *, region: str, budget: int = BODY_BUDGET) -> str:
    """Return a header and a table of the rows in an untrusted region."""
    rows, notes = _fit_rows(found, budget)
    header = [f"URL: {clean_line(found.url, _MAX_URL)}", f"Records: {len(found.records)}"]
    if found.next_page:
        header.append(f"Next page: {clean_line(found.next_page, _MAX_URL)}")
    header += [f"Warning: {note}" for note in notes]
    header.append(EXPLANATION.format(region=region))
    return "\n".join(header) + "\n\n" + seal(_table(rows), region)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of all columns in the order of their first use."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _fit_rows(found: PageFields, budget: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the first rows within the budget, with long values cut, and the warnings."""
    left = budget - _HEADER_TOKENS
    rows: list[dict[str, Any]] = []
    for record in found.records:
        row = {name: _cut(value, name) for name, value in record.items()}
        left -= token_estimate.estimate(compact(row))
        if left < 0:
            break
        rows.append(row)
    notes = [clean_line(warning, _MAX_WARNING) for warning in found.warnings]
    if len(rows) < len(found.records):
        notes.append(f"{len(found.records) - len(rows)} more records are left out: the answer is full.")
    return rows, notes


def _cut(value: Any, name: str) -> Any:
    limit = _MAX_URL if name in ("url", "image") else _MAX_CELL
    return value if not isinstance(value, str) or len(value) <= limit else value[: limit - 1].rstrip() + "…"


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    names = columns_of(rows)
    lines = [f"| {' | '.join(map(_cell, names))} |", f"|{'---|' * len(names)}"]
    lines += [f"| {' | '.join(_cell(row.get(name)) for name in names)} |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return "" if value is None else clean_line(str(value), _MAX_URL).replace("|", "\\|")

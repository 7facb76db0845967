"""What is filled in on the forms of a PDF, by the names of its fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from scraper.extract.text.sanitize import clean_line

FILLED_ELSEWHERE = frozenset({2, 3})
"""Kinds of forms (PDFium's FPDF_GetFormType) that live in XML of Adobe's own, XFA, and not in the pages."""

_MOST = 500
_MAX_NAME, _MAX_VALUE = 120, 1_000
_PASSWORD = 1 << 13
"""Flag of a field whose text nobody is to see: PDF 32000-1, 12.7.4.3."""
_OPEN = "[ ]"
_CHOICES = ("combobox", "listbox")


def form_text(fields: Iterable[Any]) -> str:
    """The filled fields of one page as a list; empty where nothing is filled in."""
    found: dict[str, str] = {}
    empty: set[str] = set()
    filled = False
    for field in fields:
        name, value = _name(field), _value(field)
        if value is None or len(found) >= _MOST:
            continue
        filled = filled or value not in ("", _OPEN)
        if not value:
            empty.add(name)
        elif found.setdefault(name, value) != value and value not in found[name].split(", "):
            found[name] += f", {value}"
    return "\n".join(_lines(found, len(empty - set(found)))) if filled else ""


def _lines(found: dict[str, str], empty: int) -> Iterator[str]:
    yield "Filled in on this form:"
    yield ""
    for name, value in found.items():
        yield f"- {name}: {value}"
    if empty:
        yield f"- ({empty} more {'field is' if empty == 1 else 'fields are'} empty)"


def _name(field: Any) -> str:
    """What a field is called: as its author explains it, or the end of its path."""
    said = clean_line(str(field.alternate_name or ""), _MAX_NAME)
    return said or clean_line(str(field.name or "").rpartition(".")[2], _MAX_NAME) or "(without a name)"


def _value(field: Any) -> str | None:
    """What stands in a field; empty for nothing, None for what is no field to fill in."""
    if field.type == "checkbox":
        return "[x]" if field.checked else _OPEN
    if field.type == "radio":
        return clean_line(str(field.export_value or field.value or ""), _MAX_VALUE) if field.checked else ""
    if field.type in _CHOICES:
        chosen = ", ".join(map(str, field.selected_options or ())) or str(field.value or "")
        return clean_line(chosen, _MAX_VALUE)
    if field.type == "text":
        hidden = int(field.field_flags or 0) & _PASSWORD
        return "(hidden)" if hidden and field.value else clean_line(str(field.value or ""), _MAX_VALUE)
    return None

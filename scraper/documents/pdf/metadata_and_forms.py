"""Title, author and form fields of a PDF, from XMP, the document information dictionary and PDFium."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from typing import Any

from scraper.text.sanitize import clean_line

_TITLE = re.compile(r"<dc:title>.{0,200}?<rdf:li[^>]*>([^<]{1,1000})<", re.DOTALL)
_CREATOR = re.compile(r"<dc:creator>.{0,200}?<rdf:li[^>]*>([^<]{1,1000})<", re.DOTALL)
_PROGRAM = re.compile(r"^(?:Microsoft (?:Word|PowerPoint|Excel)|PowerPoint) - ")
_NO_TITLE = re.compile(
    r"(?:untitled|title|powerpoint presentation|document\d*|slide \d+|print"
    r"|.*\.(?:docx?|pptx?|xlsx?|indd|qxd|tex|dvi|pdf|cdr))",
    re.IGNORECASE,
)
"""Titles that programs set: file names and placeholders."""


def choose_metadata(declared: Mapping[str, str], xmp: str) -> tuple[str | None, str | None]:
    """Return title and author of XMP, else of the document information dictionary."""
    title = _PROGRAM.sub("", declared.get("Title", "")).strip()
    title = _read_xmp(_TITLE, xmp) or ("" if _NO_TITLE.fullmatch(title) else title)
    return title or None, _read_xmp(_CREATOR, xmp) or declared.get("Author") or None


def _read_xmp(pattern: re.Pattern[str], xmp: str) -> str:
    found = pattern.search(xmp)
    return html.unescape(found[1]).strip() if found else ""


XFA_FORMS = frozenset({2, 3})
"""Form types (PDFium's FPDF_GetFormType) whose content is Adobe's XML (XFA) instead of the pages."""

_MAX_FIELDS = 500
_MAX_NAME_CHARS, _MAX_VALUE_CHARS = 120, 1_000
_PASSWORD_FLAG = 1 << 13
"""Flag of a password field, whose text is never shown: PDF 32000-1, 12.7.4.3."""
_UNCHECKED = "[ ]"
_CHOICES = ("combobox", "listbox")


def format_form(fields: Iterable[Any]) -> str:
    """Return the form fields of a page (from liteparse) as a list; empty if none is filled."""
    found: dict[str, str] = {}
    empty: set[str] = set()
    has_input = False
    for field in fields:
        name, value = _field_name(field), _field_value(field)
        if value is None or len(found) >= _MAX_FIELDS:
            continue
        has_input = has_input or value not in ("", _UNCHECKED)
        if not value:
            empty.add(name)
        elif found.setdefault(name, value) != value and value not in found[name].split(", "):
            found[name] += f", {value}"
    if not has_input:
        return ""
    lines = ["Filled in on this form:", "", *(f"- {name}: {value}" for name, value in found.items())]
    if count := len(empty - set(found)):
        lines.append(f"- ({count} more {'field is' if count == 1 else 'fields are'} empty)")
    return "\n".join(lines)


def _field_name(field: Any) -> str:
    """Return the label of a field: its tooltip, or the last part of its path."""
    label = clean_line(str(field.alternate_name or ""), _MAX_NAME_CHARS)
    return label or clean_line(str(field.name or "").rpartition(".")[2], _MAX_NAME_CHARS) or "(without a name)"


def _field_value(field: Any) -> str | None:
    """Return the value of a field; empty for no value, None for a field that cannot be filled in."""
    if field.field_type == "checkbox":
        return "[x]" if field.checked else _UNCHECKED
    if field.field_type == "radio":
        return clean_line(str(field.export_value or field.value or ""), _MAX_VALUE_CHARS) if field.checked else ""
    if field.field_type in _CHOICES:
        selected = ", ".join(map(str, field.selected_options or ())) or str(field.value or "")
        return clean_line(selected, _MAX_VALUE_CHARS)
    if field.field_type == "text":
        is_password = int(field.field_flags or 0) & _PASSWORD_FLAG
        return "(hidden)" if is_password and field.value else clean_line(str(field.value or ""), _MAX_VALUE_CHARS)
    return None

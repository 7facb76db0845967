"""Read what calamine leaves out of cells: errors, leading zeros and links."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scraper.documents.ooxml_parts import find_external_targets, iter_sheet_parts
from scraper.documents.safe_zip import ZipParts

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_STYLES = "xl/styles.xml"
_ERROR = re.compile(rb"(<(?:\w+:)?c\b[^<>]*?\bt=[\"'])e([\"'])")
"""Type of a cell with an error such as #DIV/0!, which calamine leaves out."""
_NUMBER = re.compile(
    rb"(<(?:\w+:)?c\b[^<>]*?\bs=\"(\d{1,5})\"[^<>/]*)(>\s*"
    rb"(?:<(?:\w+:)?f\b[^<>]*(?:/>|>[^<>]*</(?:\w+:)?f>)\s*)?<(?:\w+:)?v>)(\d{1,15})</"
)
"""Cell with a style and a whole number: its tag, its style, the text before the number, and the number."""
_TYPE = re.compile(rb"\st=")
_ZEROS = re.compile(r"0{2,15}")
"""Number format of postal codes and other numbers that keep their leading zeros."""


def read_padded_styles(parts: ZipParts) -> dict[int, int]:
    """Return the number of digits of cell styles that fill numbers with zeros, by index of the style."""
    root = parts.xml_or_none(_STYLES) if _STYLES in parts else None
    if root is None:
        return {}
    codes = {one.get("numFmtId"): str(one.get("formatCode")) for one in root.iter(_S + "numFmt")}
    styles = enumerate(codes.get(style.get("numFmtId"), "") for style in root.iterfind(f"{_S}cellXfs/{_S}xf"))
    return {index: len(code) for index, code in styles if _ZEROS.fullmatch(code)}


def write_as_text(xml: bytes, padded_styles: Mapping[int, int]) -> bytes:
    """Return a sheet in which errors are text, and numbers with leading zeros too."""

    def pad(match: re.Match[bytes]) -> bytes:
        tag, style, before, digits = match.groups()
        width = padded_styles.get(int(style))
        if width is None or _TYPE.search(tag):
            return match[0]
        return tag + b' t="str"' + before + digits.zfill(width) + b"</"

    xml = _ERROR.sub(rb"\1str\2", xml)
    return _NUMBER.sub(pad, xml) if padded_styles else xml


_LINK = re.compile(rb"<(?:\w+:)?hyperlink\b[^<>]*>")
_LINKED_CELL = re.compile(rb"\bref=\"([A-Z]{1,3})(\d{1,7})[:\"]")
_LINK_ID = re.compile(rb"\b\w+:id=\"([^\"]{1,100})\"")
_MAX_LINKS = 20_000
_MAX_LINKED_BYTES = 20_000_000
"""Bytes. Links of larger sheets, of which only the first rows are shown, are left out."""


def read_sheet_links(parts: ZipParts) -> dict[str, dict[tuple[int, int], str]]:
    """Return the addresses of links by sheet name, and by row and column from 0."""
    return {name: links for name, part in iter_sheet_parts(parts) if (links := _read_links(parts, part))}


def _read_links(parts: ZipParts, part: str) -> dict[tuple[int, int], str]:
    targets = find_external_targets(parts, part, "hyperlink")
    if not targets or part not in parts or parts.size_of(part) > _MAX_LINKED_BYTES:
        return {}
    found: dict[tuple[int, int], str] = {}
    for tag in _LINK.findall(parts.read(part))[:_MAX_LINKS]:
        cell, identifier = _LINKED_CELL.search(tag), _LINK_ID.search(tag)
        url = targets.get(identifier[1].decode("utf-8", "replace"), "") if identifier else ""
        if cell and url:
            found[int(cell[2]) - 1, column_number(cell[1]) - 1] = url
    return found


def column_number(name: bytes) -> int:
    """Return the number of a column, from 1 for A."""
    number = 0
    for letter in name:
        number = number * 26 + letter - 64
    return number

"""How the parts of an office file hang together: which part belongs to which sheet."""

from __future__ import annotations

from collections.abc import Iterator

from scraper.extract.documents.safe_zip import Parts
from scraper.extract.dom.xpath import Element

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_WORKBOOK = "xl/workbook.xml"


def sheet_parts(parts: Parts) -> Iterator[tuple[str, str]]:
    """The sheets of a workbook and where they lie."""
    workbook = parts.xml_if_there(_WORKBOOK)
    if workbook is None:
        return
    places = {
        str(relation.get("Id")): _target(parts, _WORKBOOK, relation)
        for relation in _relations(parts, _WORKBOOK)
    }
    for sheet in workbook.iter(_S + "sheet"):
        yield str(sheet.get("name")), places.get(str(sheet.get(_R)), "")


def related(parts: Parts, part: str, kind: str) -> list[str]:
    """The parts that a part names as being of a kind; never what lies outside of the file."""
    return [
        _target(parts, part, relation)
        for relation in _relations(parts, part)
        if str(relation.get("Type", "")).endswith(f"/{kind}") and relation.get("TargetMode") != "External"
    ]


def _relations(parts: Parts, part: str) -> list[Element]:
    folder, _, name = part.rpartition("/")
    root = parts.xml_if_there(f"{folder}/_rels/{name}.rels") if name else None
    return [] if root is None else list(root)


def _target(parts: Parts, part: str, relation: Element) -> str:
    return parts.resolve(part, str(relation.get("Target", "")))

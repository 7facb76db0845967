"""Find parts of Office Open XML files by their relations."""

from __future__ import annotations

from collections.abc import Iterator

from scraper.documents.safe_zip import ZipParts
from scraper.html.dom.xpath import Element

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_WORKBOOK = "xl/workbook.xml"


def iter_sheet_parts(parts: ZipParts) -> Iterator[tuple[str, str]]:
    """Yield name and part of each sheet of a workbook."""
    workbook = parts.xml_or_none(_WORKBOOK)
    if workbook is None:
        return
    relations = _relations(parts, _WORKBOOK)
    targets = {relation.get("Id"): _target(parts, _WORKBOOK, relation) for relation in relations}
    for sheet in workbook.iter(_S + "sheet"):
        yield str(sheet.get("name")), targets.get(sheet.get(_R), "")


def find_related_parts(parts: ZipParts, part: str, kind: str) -> list[str]:
    """Return the parts of this relationship type that a part refers to; never external ones."""
    return [target for _, target in find_relations(parts, part, kind)]


def find_relations(parts: ZipParts, part: str, kind: str) -> list[tuple[str, str]]:
    """Return id and target of the relationships of a part that have this type, without external ones."""
    return [
        (str(relation.get("Id")), _target(parts, part, relation))
        for relation in _relations(parts, part)
        if str(relation.get("Type", "")).endswith(f"/{kind}") and relation.get("TargetMode") != "External"
    ]


def find_external_targets(parts: ZipParts, part: str, kind: str) -> dict[str, str]:
    """Return the addresses outside of the file to which a part refers by relationships of this type, by id."""
    return {
        str(relation.get("Id")): str(relation.get("Target", ""))
        for relation in _relations(parts, part)
        if str(relation.get("Type", "")).endswith(f"/{kind}") and relation.get("TargetMode") == "External"
    }


def _relations(parts: ZipParts, part: str) -> list[Element]:
    folder, _, name = part.rpartition("/")
    root = parts.xml_or_none(f"{folder}/_rels/{name}.rels") if name else None
    return [] if root is None else list(root)


def _target(parts: ZipParts, part: str, relation: Element) -> str:
    return parts.resolve(part, str(relation.get("Target", "")))

"""Fallback Word reader: reads only the main part, as far as possible, of files that mammoth cannot read."""

from __future__ import annotations

import html
import re
import struct
import zlib
from collections.abc import Iterator

from lxml import etree

from scraper.errors import ContentTooLargeError, MalformedDocumentError
from scraper.extract.documents.docx.xml_names import W, convert_to_transitional, get_child_value, is_enabled
from scraper.extract.documents.model import MAX_CHARACTERS, ParsedDocument, ParseRequest
from scraper.extract.documents.office import html_to_markdown
from scraper.extract.documents.safe_zip import MAX_PART_BYTES, Parts, check_entities
from scraper.extract.dom.xpath import Element

_MAIN = "word/document.xml"
_LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
"""PKWARE's APPNOTE, 4.3.7: header before each file of a zip, also present if the directory is missing."""
_STORED, _DEFLATED = 0, 8
_HEADING = re.compile(r"(?:heading|berschrift|titre|titulo|rubrik|kop)\s*([1-9])", re.IGNORECASE)
_DEPTH = 60
_LEVELS = 6
_LEFT_OUT = frozenset(
    {W + name for name in ("del", "moveFrom", "instrText", "delText", "rPr", "pPr", "sectPr", "tblPr", "tcPr")}
    | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
)
_BREAKS = {W + "tab": " ", W + "br": "<br>", W + "cr": "<br>", W + "noBreakHyphen": "-"}


def warm_up(request: ParseRequest | None = None) -> None:
    """Load the modules that the Markdown converter imports late."""
    html_to_markdown("<p>a</p><table><tr><th>a</th><th>b</th></tr></table>", "")


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return paragraphs, headings, lists and tables of the main part, without notes, formulas and numbers.

    Raises:
        MalformedDocumentError, ContentTooLargeError: The main part is missing or cannot be read.
    """
    xml = convert_to_transitional(_main(data))
    check_entities(xml, _MAIN)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        root: Element | None = etree.fromstring(xml, parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    body = None if root is None else root.find(W + "body")
    if body is None:
        raise MalformedDocumentError("The Word file is damaged: its text cannot be made out.")
    return ParsedDocument("docx", html_to_markdown("".join(_bounded(_blocks(body, 0))), request.url))


def _main(data: bytes) -> bytes:
    """Return the main part, found by the directory or, if that is lost, by its local header."""
    try:
        return Parts(data).read(_MAIN)
    except MalformedDocumentError:
        return _recover_main_part(data)


def _recover_main_part(data: bytes) -> bytes:
    """Return as much of the main part as decompresses from a truncated or damaged zip."""
    at = data.find(_MAIN.encode()) - _LOCAL_HEADER.size
    if at < 0 or data[at : at + 4] != b"PK\x03\x04":
        raise MalformedDocumentError("The Word file is damaged: its text is not in it.")
    _, _, _, method, _, _, _, packed, _, name, extra = _LOCAL_HEADER.unpack_from(data, at)
    start = at + _LOCAL_HEADER.size + name + extra
    if method == _STORED:
        return data[start : start + packed]
    if method != _DEFLATED:
        raise MalformedDocumentError("The Word file is damaged, and packed in a way that is not read.")
    return _decompress(data[start:])


def _decompress(packed: bytes) -> bytes:
    """Decompress up to the first damage."""
    inflating, pieces, size = zlib.decompressobj(wbits=-zlib.MAX_WBITS), [], 0
    for at in range(0, len(packed), 1 << 16):
        try:
            piece = inflating.decompress(packed[at : at + (1 << 16)], MAX_PART_BYTES)
        except zlib.error:
            break
        pieces.append(piece)
        size += len(piece)
        if size >= MAX_PART_BYTES:
            raise ContentTooLargeError("The document inflates to more than a document holds.")
        if inflating.eof:
            break
    return b"".join(pieces)


def _bounded(blocks: Iterator[str]) -> Iterator[str]:
    size = 0
    for block in blocks:
        yield block
        size += len(block)
        if size > MAX_CHARACTERS:
            return


def _blocks(parent: Element, depth: int) -> Iterator[str]:
    items: list[str] = []
    for element in parent:
        item = _item(element)
        if item is not None:
            items.append(item)
            continue
        if items:
            yield f"<ul>{''.join(items)}</ul>"
            items = []
        yield from _block(element, depth)
    if items:
        yield f"<ul>{''.join(items)}</ul>"


def _block(element: Element, depth: int) -> Iterator[str]:
    if element.tag in _LEFT_OUT or depth > _DEPTH:
        return
    if element.tag == W + "p":
        yield _paragraph(element)
    elif element.tag == W + "tbl":
        yield _table(element, depth)
    else:
        yield from _blocks(element, depth + 1)


def _paragraph(element: Element) -> str:
    properties = element.find(W + "pPr")
    style, outline = (get_child_value(properties, "pStyle") or "", get_child_value(properties, "outlineLvl") or "")
    text = "".join(_text(element, 0)).strip()
    if not text:
        return ""
    named = _HEADING.search(style)
    if style.lower() == "title":
        return f"<h1>{text}</h1>"
    if named or outline in set("012345678"):
        level = min(_LEVELS, int(named[1]) if named else int(outline) + 1)
        return f"<h{level}>{text}</h{level}>"
    return f"<p>{text}</p>"


def _item(element: Element) -> str | None:
    """Return a list paragraph as an item, or None for other paragraphs."""
    properties = element.find(W + "pPr") if element.tag == W + "p" else None
    numbered = None if properties is None else properties.find(W + "numPr")
    if numbered is None or get_child_value(numbered, "numId") == "0" or get_child_value(properties, "outlineLvl"):
        return None
    if _HEADING.search(get_child_value(properties, "pStyle") or ""):
        return None
    text = "".join(_text(element, 0)).strip()
    return f"<li>{text}</li>" if text else None


def _table(element: Element, depth: int) -> str:
    rows: list[str] = []
    for row in element.iterchildren(W + "tr"):
        cells = ("".join(_blocks(cell, depth + 1)) for cell in row.iterchildren(W + "tc"))
        tag = "td" if rows else "th"
        rows.append("<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>")
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _text(element: Element, depth: int) -> Iterator[str]:
    for child in element:
        if child.tag in _LEFT_OUT or depth > _DEPTH:
            continue
        if child.tag == W + "t":
            yield html.escape(child.text or "", quote=False)
        elif child.tag in _BREAKS:
            yield _BREAKS[str(child.tag)]
        elif child.tag == W + "p":
            yield " " + "".join(_text(child, depth + 1))
        elif not (child.tag == W + "r" and is_enabled(child.find(W + "rPr"), "vanish")):
            yield from _text(child, depth + 1)

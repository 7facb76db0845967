"""Fallback Word reader: reads only the main part, as far as possible, of files that mammoth cannot read."""

from __future__ import annotations

import html
import struct
import zlib
from collections.abc import Iterator
from itertools import groupby

from scraper.documents.model import MAX_CHARACTERS, ParsedDocument, ParseRequest
from scraper.documents.office_markup import HEADING_STYLE, html_to_markdown
from scraper.documents.office_xml import OMITTED_ELEMENTS, W, get_child_value, is_enabled
from scraper.documents.safe_zip import MAX_PART_BYTES, ZipParts, parse_xml
from scraper.errors import ContentTooLargeError, MalformedDocumentError
from scraper.html.dom.xpath import Element

_MAIN = "word/document.xml"
_LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
"""PKWARE's APPNOTE, 4.3.7: header before each file of a zip, also present if the directory is missing."""
_STORED, _DEFLATED = 0, 8
_MAX_DEPTH = 60
_BREAKS = {W + "tab": " ", W + "br": "<br>", W + "cr": "<br>", W + "noBreakHyphen": "-"}


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return paragraphs, headings, lists and tables of the main part, without notes, formulas and list numbers.

    Raises:
        MalformedDocumentError: The text cannot be recovered.
        ContentTooLargeError: The main part is too large.
    """
    try:
        xml = ZipParts(data).read(_MAIN)
    except MalformedDocumentError:
        xml = _recover_main_part(data)
    body = parse_xml(xml, _MAIN, recover=True).find(W + "body")
    if body is None:
        raise MalformedDocumentError("The Word file is damaged: its text cannot be recovered.")
    blocks, size = [], 0
    for block in _blocks(body, 0):
        blocks.append(block)
        size += len(block)
        if size > MAX_CHARACTERS:
            break
    return ParsedDocument("docx", html_to_markdown("".join(blocks), request.url))


def _recover_main_part(data: bytes) -> bytes:
    """Return as much of the main part as decompresses from a truncated or damaged zip."""
    at = data.find(_MAIN.encode()) - _LOCAL_HEADER.size
    if at < 0 or data[at : at + 4] != b"PK\x03\x04":
        raise MalformedDocumentError("The Word file is damaged: it does not contain its text.")
    _, _, _, method, _, _, _, compressed_size, _, name_size, extra_size = _LOCAL_HEADER.unpack_from(data, at)
    start = at + _LOCAL_HEADER.size + name_size + extra_size
    if method == _STORED:
        return data[start : start + compressed_size]
    if method != _DEFLATED:
        raise MalformedDocumentError("The Word file is damaged, and packed in a way that is not read.")
    return _decompress(data[start:])


def _decompress(compressed: bytes) -> bytes:
    decompressor, pieces, size = zlib.decompressobj(wbits=-zlib.MAX_WBITS), [], 0
    for at in range(0, len(compressed), 1 << 16):
        try:
            piece = decompressor.decompress(compressed[at : at + (1 << 16)], MAX_PART_BYTES)
        except zlib.error:  # Damaged from here on.
            break
        pieces.append(piece)
        size += len(piece)
        if size >= MAX_PART_BYTES:
            raise ContentTooLargeError("The document expands to more bytes than the limit.")
        if decompressor.eof:
            break
    return b"".join(pieces)


def _blocks(parent: Element, depth: int) -> Iterator[str]:
    for is_list, group in groupby(
        ((element, _list_item(element)) for element in parent), lambda pair: pair[1] is not None
    ):
        if is_list:
            yield f"<ul>{''.join(item or '' for _, item in group)}</ul>"
            continue
        for element, _ in group:
            if element.tag == W + "p":
                yield _paragraph(element)
            elif element.tag == W + "tbl":
                yield _table(element, depth)
            elif element.tag not in OMITTED_ELEMENTS:
                yield from _blocks(element, depth + 1)


def _paragraph(element: Element) -> str:
    style = get_child_value(element, "pPr", "pStyle") or ""
    outline = get_child_value(element, "pPr", "outlineLvl") or ""
    text = "".join(_text(element, 0)).strip()
    if not text:
        return ""
    named = HEADING_STYLE.search(style)
    if style.lower() == "title":
        return f"<h1>{text}</h1>"
    if named or outline in set("012345678"):
        level = min(6, int(named[1]) if named else int(outline) + 1)
        return f"<h{level}>{text}</h{level}>"
    return f"<p>{text}</p>"


def _list_item(element: Element) -> str | None:
    """Return a list paragraph as an item, or None for other elements."""
    properties = element.find(W + "pPr") if element.tag == W + "p" else None
    numbering = None if properties is None else properties.find(W + "numPr")
    if numbering is None or get_child_value(numbering, "numId") == "0" or get_child_value(properties, "outlineLvl"):
        return None
    if HEADING_STYLE.search(get_child_value(properties, "pStyle") or ""):
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
        if child.tag in OMITTED_ELEMENTS or depth > _MAX_DEPTH:
            continue
        if child.tag == W + "t":
            yield html.escape(child.text or "", quote=False)
        elif child.tag in _BREAKS:
            yield _BREAKS[str(child.tag)]
        elif child.tag == W + "p":
            yield " " + "".join(_text(child, depth + 1))
        elif not (child.tag == W + "r" and is_enabled(child, "rPr", "vanish")):
            yield from _text(child, depth + 1)

"""Fallback Word reader: recovers the main part of a damaged file, and reads it with the styles that its names imply."""

from __future__ import annotations

import struct
import zlib
from html import escape

from lxml import etree

from scraper.documents.docx import reader
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.office_markup import HEADING_STYLE
from scraper.documents.office_xml import W
from scraper.documents.safe_zip import MAX_PART_BYTES, ZipParts, parse_xml, write_zip
from scraper.errors import ContentTooLargeError, MalformedDocumentError
from scraper.html.dom.xpath import Element

_MAIN = "word/document.xml"
_LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
"""PKWARE's APPNOTE, 4.3.7: header before each file of a zip, also present if the directory is missing."""
_STORED, _DEFLATED = 0, 8
warm_up = reader.warm_up


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of the main part, without notes and list numbers.

    Raises:
        MalformedDocumentError: The text cannot be recovered.
        ContentTooLargeError: The main part is too large.
    """
    try:
        xml = ZipParts(data).read(_MAIN)
    except MalformedDocumentError:
        xml = _recover_main_part(data)
    root = parse_xml(xml, _MAIN, recover=True)
    if root.find(W + "body") is None:
        raise MalformedDocumentError("The Word file is damaged: its text cannot be recovered.")
    written = {
        _MAIN: etree.tostring(root),
        "word/styles.xml": _imply_styles(root),
        "word/numbering.xml": _imply_lists(root),
    }
    return reader.read(write_zip(written), request)


def _used(root: Element, name: str) -> list[str]:
    return list(dict.fromkeys(escape(str(one.get(W + "val"))) for one in root.iter(W + name)))


def _imply_styles(root: Element) -> bytes:
    """Return the styles that are used, as headings if their names say so."""
    names = {style: HEADING_STYLE.sub(r"heading \1", style) for style in _used(root, "pStyle")}
    styles = (f'<w:style w:styleId="{style}"><w:name w:val="{name}"/></w:style>' for style, name in names.items())
    return f'<w:styles xmlns:w="{W[1:-1]}">{"".join(styles)}</w:styles>'.encode()


def _imply_lists(root: Element) -> bytes:
    """Return the lists that are used, all with bullets."""
    levels = "".join(f'<w:lvl w:ilvl="{level}"><w:numFmt w:val="bullet"/></w:lvl>' for level in range(9))
    lists = "".join(f'<w:num w:numId="{one}"><w:abstractNumId w:val="0"/></w:num>' for one in _used(root, "numId"))
    pattern = f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>'
    return f'<w:numbering xmlns:w="{W[1:-1]}">{pattern}{lists}</w:numbering>'.encode()


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

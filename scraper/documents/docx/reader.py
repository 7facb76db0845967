"""Word reader: converts a preprocessed document with mammoth, and its HTML to Markdown.

Of a damaged file, it recovers the main part, and reads it with the styles that its names imply.
"""

import copy
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any
from xml.parsers.expat import ExpatError

import mammoth
from lxml import etree

from browsers.http.charset import decode
from scraper.documents import office_markup
from scraper.documents import office_xml as ns
from scraper.documents.completeness import add_missing_lines
from scraper.documents.dispatcher import EmbeddedFile, read_file
from scraper.documents.docx import preprocessing
from scraper.documents.email import read_body
from scraper.documents.model import ParsedDocument, ParseRequest, describe_left_out
from scraper.documents.safe_zip import MAX_PART_BYTES, ZipParts, first_text, parse_xml, write_zip
from scraper.documents.sniff import DocumentKind, sniff_kind
from scraper.errors import ContentTooLargeError, MalformedDocumentError
from scraper.html.dom.parsing import Element

_PARTS = ("[Content_Types].xml", "_rels/", "word/_rels/", "word/numbering", "word/footnotes", "word/endnotes")
"""Parts that mammoth needs in addition to the text; pictures are left out, so that it opens none."""
_MAIN = "word/document.xml"
_STYLES = "word/styles.xml"
_LISTS = "word/numbering.xml"
_COMMENTS = "word/comments.xml"
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")
_MARGINS = ("word/header", "word/footer")
_MAX_LEVEL = 6
_MAX_CHARTS = 100
_CODE_STYLES = ("Source Code", "Code", "HTML Preformatted", "Preformatted Text", "Code Block", "Macro Text")
_CODE_STYLE = "CodeByItsLetters"
_HEADING_STYLE = "HeadingByItsLevel"
_STYLE_MAP = "\n".join(
    [f"p.{_CODE_STYLE} => pre:separator('\\n')"]
    + [f"p.{_HEADING_STYLE}{level} => h{level}:fresh" for level in range(1, _MAX_LEVEL + 1)]
)

_SMALLEST = (
    "<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'>"
    "<w:body><w:p><w:r><w:t>a</w:t></w:r></w:p></w:body></w:document>"
)
_MAMMOTH_ERRORS = (
    KeyError, ValueError, TypeError, AttributeError, IndexError, OSError, zipfile.BadZipFile, ExpatError,
)  # fmt: skip


def warm_up() -> None:
    """Load the modules that mammoth imports late."""
    read(write_zip({_MAIN: _SMALLEST.encode()}), ParseRequest())


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of a Word file.

    Raises:
        MalformedDocumentError: The file is damaged.
    """
    parts = ZipParts(data)
    main = _find_main_part(parts)
    document = parts.xml(main)
    root = parts.xml_or_none(_STYLES)
    styles = {} if root is None else {str(style.get(ns.W + "styleId")): style for style in root.iter(ns.W + "style")}
    notes = {name: tree for name in _NOTES if (tree := parts.xml_or_none(name)) is not None}
    hidden = sum(preprocessing.remove_hidden_runs(tree, styles) for tree in (document, *notes.values()))
    lines = [line for tree in (document, *notes.values()) for line in _lines(tree)]
    lists = parts.xml_or_none(_LISTS)
    comments = _mark_comments(document, parts)
    found = list(ns.find_relations(parts, main, "chart").items())
    charts = {name: ns.format_chart(parts, part) for name, part in found[:_MAX_CHARTS]}
    charts |= {
        name: ns.format_diagram(parts, part) for name, part in ns.find_relations(parts, main, "diagramData").items()
    }
    formulas = preprocessing.write_computed_text(document, styles, preprocessing.Numbering.of(lists), charts)
    chunk_warnings = _insert_chunks(document, parts, main, formulas, request)
    _apply_styles(document, styles)
    rewritten = {main: document, _STYLES: _reduce_styles(styles), **notes}
    if lists is not None:
        preprocessing.convert_to_bullets(lists)
        rewritten[_LISTS] = lists
    for name in parts.names:
        if name not in rewritten and name.startswith(_PARTS) and (part := parts.xml_or_none(name)) is not None:
            rewritten[name] = part
    files = {name: etree.tostring(rewritten[name], encoding="utf-8", xml_declaration=True)
             for name in parts.names if name in rewritten}  # fmt: skip
    try:
        result: Any = mammoth.convert_to_html(
            io.BytesIO(write_zip(files)),
            style_map=_STYLE_MAP,
            convert_image=lambda _: [],  # Ignore images: neither their bytes nor their targets are read.
            external_file_access=False,
        )
    except _MAMMOTH_ERRORS as error:
        raise MalformedDocumentError(f"The Word file is damaged ({type(error).__name__}).") from None
    text = office_markup.html_to_markdown(str(result.value), request.url)
    text = comments.insert(preprocessing.FORMULA_PLACEHOLDER.sub(lambda match: formulas[int(match[1])], text).strip())
    text, warnings = add_missing_lines(text, lines)
    margins = _read_margins(parts)
    if text:
        chunk_warnings += describe_left_out(hidden, margins, text)
    text = text or "\n\n".join(margins)
    core = parts.xml_or_none("docProps/core.xml")
    title, author = first_text(core, "{*}title"), first_text(core, "{*}creator")
    return ParsedDocument("docx", text, title=title, author=author, warnings=(*warnings, *chunk_warnings))


def _insert_chunks(
    document: Element, parts: ZipParts, main: str, formulas: list[str], request: ParseRequest
) -> tuple[str, ...]:
    """Replace imported files by placeholders of their Markdown; return warnings about those that cannot be read."""
    targets = ns.find_relations(parts, main, "aFChunk")
    warnings: list[str] = []
    for chunk in list(document.iter(ns.W + "altChunk")):
        name = targets.get(str(chunk.get(ns.R_ID)), "")
        text, problems = _read_chunk(parts, name, request)
        warnings += (f"{name}: {problem}" for problem in problems)
        if next(chunk.iterancestors(ns.W + "tc"), None) is not None:
            text = " ".join(text.split())
        formulas.append(f"\n\n{text}\n\n")
        parent = chunk.getparent()
        if parent is not None:
            parent.replace(chunk, ns.w("p", ns.w("r", ns.text_element(f"\ue0f0{len(formulas) - 1}\ue0f1"))))
    return tuple(warnings)


def _read_chunk(parts: ZipParts, name: str, request: ParseRequest) -> tuple[str, tuple[str, ...]]:
    try:
        data = parts.read(name)
    except MalformedDocumentError as error:
        return "", (str(error),)
    kind = sniff_kind(data, name=name)
    if kind is DocumentKind.HTML:
        return office_markup.convert_html(decode(data, "text/html"))
    if kind is DocumentKind.EMAIL:
        return read_body(data), ()
    text, warnings, is_read = read_file(EmbeddedFile(name, data), request)
    return text, warnings if is_read else (*warnings, text)


def _lines(root: Element) -> Iterator[str]:
    for paragraph in root.iter(ns.W + "p"):
        if next(paragraph.iterancestors(*ns.OMITTED_ELEMENTS), None) is None:
            yield "".join(ns.visible_texts(paragraph))


def _read_margins(parts: ZipParts) -> list[str]:
    """Return the lines of page headers and footers: the text of a document that has no other."""
    roots = (parts.xml_or_none(name) for name in parts.names if name.startswith(_MARGINS))
    lines = (line for root in roots if root is not None for line in _lines(root) if line.strip())
    return list(dict.fromkeys(lines))


def _find_main_part(parts: ZipParts) -> str:
    targets = ns.find_relations(parts, "", "officeDocument").values()
    main = next((target for target in targets if target in parts), _MAIN)
    if main not in parts:
        raise MalformedDocumentError("The Word file contains no document.")
    return main


def _mark_comments(body: Element, parts: ZipParts) -> office_markup.ReviewComments:
    """Put a placeholder at the end of each commented passage; return the comments in that order."""
    comments = office_markup.ReviewComments()
    root, states = parts.xml_or_none(_COMMENTS), parts.xml_or_none("word/commentsExtended.xml")
    if root is None:
        return comments
    resolved = {
        state.get(ns.W15 + "paraId")
        for state in (states.iter(ns.W15 + "commentEx") if states is not None else ())
        if state.get(ns.W15 + "done") in ("1", "true")
    }
    found = {}
    for comment in root.iter(ns.W + "comment"):
        paragraphs = list(comment.iter(ns.W + "p"))
        text = " ".join(ns.join_texts(paragraph, ns.W + "t") for paragraph in paragraphs)
        is_resolved = any(paragraph.get(ns.W14 + "paraId") in resolved for paragraph in paragraphs)
        author, date = str(comment.get(ns.W + "author", "")), str(comment.get(ns.W + "date", ""))
        found[comment.get(ns.W + "id")] = (author, date, text, is_resolved)
    for reference in list(body.iter(ns.W + "commentReference")):
        parent, comment_id = reference.getparent(), reference.get(ns.W + "id")
        if parent is not None and comment_id in found:
            author, date, text, is_resolved = found[comment_id]
            parent.replace(reference, ns.text_element(comments.add(author, date, text, is_resolved=is_resolved)))
    return comments


def _reduce_styles(styles: Mapping[str, Element]) -> Element:
    """Return names and lists of the styles: with all properties mammoth takes ten times as long."""
    root = ns.w("styles")
    for style in styles.values():
        named = {str(key): str(value) for key, value in style.attrib.items()}
        reduced = etree.SubElement(root, ns.W + "style", {ns.W + "type": "paragraph", **named})
        reduced.extend(copy.copy(child) for name in ("name", "basedOn") for child in style.findall(ns.W + name)[:1])
        numbering = style.find(f"{ns.W}pPr/{ns.W}numPr")
        if numbering is not None:
            reduced.append(ns.w("pPr", copy.copy(numbering)))
    return root


def _apply_styles(document: Element, styles: Mapping[str, Element]) -> None:
    """Give titles, headings and code the styles of `_STYLE_MAP`; headings go one level down below a title."""
    lower = int(any(_style_name(paragraph, styles).lower() == "title" for paragraph in document.iter(ns.W + "p")))
    for paragraph in document.iter(ns.W + "p"):
        name = _style_name(paragraph, styles)
        level = preprocessing.get_outline_level(paragraph)
        if _is_code(paragraph) or (name in _CODE_STYLES and level is None):
            _set_style(paragraph, _CODE_STYLE)
        elif name.lower() == "title":
            _set_style(paragraph, f"{_HEADING_STYLE}1")
        else:
            level = level or preprocessing.get_style_level(ns.get_child_value(paragraph, "pPr", "pStyle"), styles)
            if level:
                _set_style(paragraph, f"{_HEADING_STYLE}{min(level + lower, _MAX_LEVEL)}")


def _style_name(paragraph: Element, styles: Mapping[str, Element]) -> str:
    return ns.get_child_value(styles.get(ns.get_child_value(paragraph, "pPr", "pStyle") or ""), "name") or ""


def _is_code(paragraph: Element) -> bool:
    runs = [run for run in paragraph.iter(ns.W + "r") if any(text.text for text in run.iter(ns.W + "t"))]
    fonts = [run.find(f"{ns.W}rPr/{ns.W}rFonts") for run in runs]
    is_mono = runs and all(
        font is not None and office_markup.MONOSPACED_FONT.search(font.get(ns.W + "ascii") or "") for font in fonts
    )
    return bool(is_mono) and not office_markup.CODE_CHARACTERS.isdisjoint(ns.join_texts(paragraph, ns.W + "t"))


def _set_style(paragraph: Element, style: str) -> None:
    properties = paragraph.find(ns.W + "pPr")
    if properties is None:
        properties = ns.w("pPr")
        paragraph.insert(0, properties)
    name = properties.find(ns.W + "pStyle")
    if name is None:
        name = ns.w("pStyle")
        properties.insert(0, name)
    name.set(ns.W + "val", style)


_LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
"""PKWARE's APPNOTE, 4.3.7: header before each file of a zip, also present if the directory is missing."""
_STORED, _DEFLATED = 0, 8


def read_damaged(data: bytes, request: ParseRequest) -> ParsedDocument:
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
    if root.find(ns.W + "body") is None:
        raise MalformedDocumentError("The Word file is damaged: its text cannot be recovered.")
    names = {style: office_markup.HEADING_STYLE.sub(r"heading \1", style) for style in _used(root, "pStyle")}
    styles = (f'<w:style w:styleId="{style}"><w:name w:val="{name}"/></w:style>' for style, name in names.items())
    levels = "".join(f'<w:lvl w:ilvl="{level}"><w:numFmt w:val="bullet"/></w:lvl>' for level in range(9))
    lists = "".join(f'<w:num w:numId="{one}"><w:abstractNumId w:val="0"/></w:num>' for one in _used(root, "numId"))
    pattern = f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>'
    written = {
        _MAIN: etree.tostring(root),
        _STYLES: f'<w:styles xmlns:w="{ns.W[1:-1]}">{"".join(styles)}</w:styles>'.encode(),
        _LISTS: f'<w:numbering xmlns:w="{ns.W[1:-1]}">{pattern}{lists}</w:numbering>'.encode(),
    }
    return read(write_zip(written), request)


def _used(root: Element, name: str) -> list[str]:
    return list(dict.fromkeys(escape(str(one.get(ns.W + "val"))) for one in root.iter(ns.W + name)))


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
    decompressor, pieces, size = zlib.decompressobj(wbits=-zlib.MAX_WBITS), [], 0
    for at in range(start, len(data), 1 << 16):
        try:
            piece = decompressor.decompress(data[at : at + (1 << 16)], MAX_PART_BYTES)
        except zlib.error:  # Damaged from here on.
            break
        pieces.append(piece)
        size += len(piece)
        if size >= MAX_PART_BYTES:
            raise ContentTooLargeError("The document expands to more bytes than the limit.")
        if decompressor.eof:
            break
    return b"".join(pieces)

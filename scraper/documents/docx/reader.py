"""Word reader: converts a preprocessed document with mammoth, and its HTML to Markdown."""

from __future__ import annotations

import copy
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any
from xml.parsers.expat import ExpatError

import mammoth
from lxml import etree

from browsers.http.charset import decode
from scraper.documents.completeness import add_missing_lines
from scraper.documents.dispatcher import EmbeddedFile, read_file
from scraper.documents.docx import preprocessing
from scraper.documents.email import read_body
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.office_charts import format_chart, format_diagram
from scraper.documents.office_markup import (
    CODE_CHARACTERS,
    MONOSPACED_FONT,
    ReviewComments,
    convert_html,
    html_to_markdown,
)
from scraper.documents.office_xml import (
    OMITTED_ELEMENTS,
    R_ID,
    W14,
    W15,
    W,
    find_relations,
    get_child_value,
    join_texts,
    text_element,
    visible_texts,
    w,
)
from scraper.documents.safe_zip import ZipParts, first_text, write_zip
from scraper.documents.sniff import DocumentKind, sniff_kind
from scraper.errors import MalformedDocumentError
from scraper.html.dom.xpath import Element

_PARTS = re.compile(
    r"\[Content_Types\]\.xml|(?:_rels|word/_rels)/[^/]*\.rels|word/(?:numbering|footnotes|endnotes)\d*\.xml"
)
"""Parts that mammoth needs in addition to the text; pictures are left out, so that it opens none."""
_MAIN = "word/document.xml"
_STYLES = "word/styles.xml"
_LISTS = "word/numbering.xml"
_COMMENTS = "word/comments.xml"
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")
_MARGINS = re.compile(r"word/(?:header|footer)\d*\.xml")
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_MAX_LEVEL = 6
_MAX_CHARTS = 100
_CODE_STYLES = ("Source Code", "Code", "HTML Preformatted", "Preformatted Text", "Code Block", "Macro Text")
_CODE_STYLE = "CodeByItsLetters"
_HEADING_STYLE = "HeadingByItsLevel"

_SMALLEST = (
    "<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'>"
    "<w:body><w:p><w:r><w:t>a</w:t></w:r></w:p></w:body></w:document>"
)
_MAMMOTH_ERRORS = (
    KeyError, ValueError, TypeError, AttributeError, IndexError, OSError, zipfile.BadZipFile, ExpatError,
)  # fmt: skip
"""Errors that mammoth raises for damaged files."""


def warm_up(request: ParseRequest | None = None) -> None:
    """Load the modules that mammoth imports late."""
    read(write_zip({_MAIN: _SMALLEST.encode()}), request or ParseRequest())


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of a Word file.

    Raises:
        MalformedDocumentError: The file is damaged.
    """
    parts = ZipParts(data)
    main = _find_main_part(parts)
    document = parts.xml(main)
    root = parts.xml_or_none(_STYLES)
    styles = {} if root is None else {str(style.get(W + "styleId")): style for style in root.iter(W + "style")}
    notes = {name: tree for name in _NOTES if (tree := parts.xml_or_none(name)) is not None}
    for tree in (document, *notes.values()):
        preprocessing.remove_hidden_runs(tree, styles)
    lines = [line for tree in (document, *notes.values()) for line in _lines(tree)]
    lists = parts.xml_or_none(_LISTS)
    comments = _mark_comments(document, parts)
    found = list(find_relations(parts, main, "chart").items())
    charts = {name: format_chart(parts, part) for name, part in found[:_MAX_CHARTS]}
    charts |= {name: format_diagram(parts, part) for name, part in find_relations(parts, main, "diagramData").items()}
    formulas = preprocessing.write_computed_text(document, styles, preprocessing.Numbering.of(lists), charts)
    chunk_warnings = _insert_chunks(document, parts, main, formulas, request)
    _apply_code_style(document)
    _apply_heading_styles(document, styles)
    rewritten = {main: document, _STYLES: _reduce_styles(styles), **notes}
    if lists is not None:
        preprocessing.convert_to_bullets(lists)
        rewritten[_LISTS] = lists
    for name in parts.names:
        if name not in rewritten and _PARTS.fullmatch(name) and (part := parts.xml_or_none(name)) is not None:
            rewritten[name] = part
    try:
        result: Any = mammoth.convert_to_html(
            io.BytesIO(write_zip({name: _to_bytes(rewritten[name]) for name in parts.names if name in rewritten})),
            style_map=_style_map(styles, document),
            convert_image=lambda _: [],  # Ignore images: neither their bytes nor their targets are read.
            external_file_access=False,
        )
    except _MAMMOTH_ERRORS as error:
        raise MalformedDocumentError(f"The Word file is damaged ({type(error).__name__}).") from None
    text = html_to_markdown(str(result.value), request.url)
    text = comments.insert(preprocessing.FORMULA_PLACEHOLDER.sub(lambda match: formulas[int(match[1])], text).strip())
    text, warnings = add_missing_lines(text, lines)
    core = parts.xml_or_none("docProps/core.xml")
    title, author = first_text(core, "{*}title"), first_text(core, "{*}creator")
    return ParsedDocument(
        "docx", text or _read_margins(parts), title=title, author=author, warnings=(*warnings, *chunk_warnings)
    )


def _insert_chunks(
    document: Element, parts: ZipParts, main: str, formulas: list[str], request: ParseRequest
) -> tuple[str, ...]:
    """Replace imported files by placeholders of their Markdown; return warnings about those that cannot be read."""
    targets = find_relations(parts, main, "aFChunk")
    warnings: list[str] = []
    for chunk in list(document.iter(W + "altChunk")):
        name = targets.get(str(chunk.get(R_ID)), "")
        text, problems = _read_chunk(parts, name, request)
        warnings += (f"{name}: {problem}" for problem in problems)
        if next(chunk.iterancestors(W + "tc"), None) is not None:
            text = " ".join(text.split())
        formulas.append(f"\n\n{text}\n\n")
        parent = chunk.getparent()
        if parent is not None:
            parent.replace(chunk, w("p", w("r", text_element(f"\ue0f0{len(formulas) - 1}\ue0f1"))))
    return tuple(warnings)


def _read_chunk(parts: ZipParts, name: str, request: ParseRequest) -> tuple[str, tuple[str, ...]]:
    try:
        data = parts.read(name)
    except MalformedDocumentError as error:
        return "", (str(error),)
    kind = sniff_kind(data, name=name)
    if kind is DocumentKind.HTML:
        return convert_html(decode(data, "text/html")), ()
    if kind is DocumentKind.EMAIL:
        return read_body(data), ()
    text, warnings, is_read = read_file(EmbeddedFile(name, data), request)
    return text, warnings if is_read else (*warnings, text)


def _lines(root: Element) -> Iterator[str]:
    """Yield the visible text of each paragraph, apart from that of paragraphs inside of it."""
    for paragraph in root.iter(W + "p"):
        if next(paragraph.iterancestors(*OMITTED_ELEMENTS), None) is None:
            yield "".join(visible_texts(paragraph))


def _read_margins(parts: ZipParts) -> str:
    """Return headers and footers: the text of a document that has no other."""
    roots = (parts.xml_or_none(name) for name in parts.names if _MARGINS.fullmatch(name))
    return "\n\n".join(
        dict.fromkeys(line for root in roots if root is not None for line in _lines(root) if line.strip())
    )


def _find_main_part(parts: ZipParts) -> str:
    targets = find_relations(parts, "", "officeDocument").values()
    main = next((target for target in targets if target in parts), _MAIN)
    if main not in parts:
        raise MalformedDocumentError("The Word file contains no document.")
    return main


def _mark_comments(body: Element, parts: ZipParts) -> ReviewComments:
    """Put a placeholder at the end of each commented passage; return the comments in that order."""
    comments = ReviewComments()
    root, states = parts.xml_or_none(_COMMENTS), parts.xml_or_none("word/commentsExtended.xml")
    if root is None:
        return comments
    resolved = {
        state.get(W15 + "paraId")
        for state in (states.iter(W15 + "commentEx") if states is not None else ())
        if state.get(W15 + "done") in ("1", "true")
    }
    found = {}
    for comment in root.iter(W + "comment"):
        paragraphs = list(comment.iter(W + "p"))
        text = " ".join(join_texts(paragraph, W + "t") for paragraph in paragraphs)
        is_resolved = any(paragraph.get(W14 + "paraId") in resolved for paragraph in paragraphs)
        author, date = str(comment.get(W + "author", "")), str(comment.get(W + "date", ""))
        found[comment.get(W + "id")] = (author, date, text, is_resolved)
    for reference in list(body.iter(W + "commentReference")):
        parent, comment_id = reference.getparent(), reference.get(W + "id")
        if parent is not None and comment_id in found:
            author, date, text, is_resolved = found[comment_id]
            parent.replace(reference, text_element(comments.add(author, date, text, is_resolved=is_resolved)))
    return comments


def _reduce_styles(styles: Mapping[str, Element]) -> Element:
    """Return names and lists of the styles: with all properties mammoth takes ten times as long."""
    root = w("styles")
    for style in styles.values():
        named = {str(key): str(value) for key, value in style.attrib.items()}
        reduced = etree.SubElement(root, W + "style", {W + "type": "paragraph", **named})
        reduced.extend(copy.copy(child) for name in ("name", "basedOn") for child in style.findall(W + name)[:1])
        numbering = style.find(f"{W}pPr/{W}numPr")
        if numbering is not None:
            reduced.append(w("pPr", copy.copy(numbering)))
    return root


def _to_bytes(root: Element) -> bytes:
    return etree.tostring(root, encoding="utf-8", xml_declaration=True)


def _style_map(styles: Mapping[str, Element], root: Element) -> str:
    """Map styles to headings, one level lower if the document has a title."""
    used = {get_child_value(properties, "pStyle") for properties in root.iter(W + "pPr")}
    names = {get_child_value(styles[style], "name") or "" for style in used if style is not None and style in styles}
    lower = int(any(name.lower() == "title" for name in names))
    lines = [f"p[style-name='{name}'] => h1:fresh" for name in ("Title", "title")]
    for level in range(1, 10):
        tag = f"h{min(level + lower, _MAX_LEVEL)}:fresh"
        lines += [f"p[style-name='{name} {level}'] => {tag}" for name in ("heading", "Heading")]
        lines.append(f"p.{_HEADING_STYLE}{level} => {tag}")
    lines += [f"p[style-name='{name}'] => pre:separator('\\n')" for name in _CODE_STYLES]
    lines.append(f"p.{_CODE_STYLE} => pre:separator('\\n')")
    for style in sorted(filter(None, used)):
        level_of_style = _heading_level(style, styles) if re.fullmatch(r"[\w-]+", style) else None
        if level_of_style is not None:
            lines.append(f"p.{style} => h{min(level_of_style + lower, _MAX_LEVEL)}:fresh")
    return "\n".join(lines)


def _heading_level(style: str | None, styles: Mapping[str, Element]) -> int | None:
    """Return the level of a style by its name, its outline level or the style it is based on; None for text."""
    for element in preprocessing.inherited_styles(style, styles):
        named = _HEADING.fullmatch(get_child_value(element, "name") or "")
        outline = get_child_value(element, "pPr", "outlineLvl") or ""
        if named or outline in preprocessing.HEADING_LEVELS:
            return int(named[1]) if named else preprocessing.HEADING_LEVELS[outline]
    return None


def _apply_code_style(document: Element) -> None:
    """Apply the code style to paragraphs in a monospaced font that look like code."""
    for paragraph in document.iter(W + "p"):
        runs = [run for run in paragraph.iter(W + "r") if any(text.text for text in run.iter(W + "t"))]
        fonts = [run.find(f"{W}rPr/{W}rFonts") for run in runs]
        if (
            runs
            and all(font is not None and MONOSPACED_FONT.search(font.get(W + "ascii") or "") for font in fonts)
            and CODE_CHARACTERS.search(join_texts(paragraph, W + "t"))
        ):
            _set_style(paragraph, _CODE_STYLE)


def _apply_heading_styles(document: Element, styles: Mapping[str, Element]) -> None:
    """Give paragraphs with their own outline level a style for it, which overrides theirs."""
    for paragraph in document.iter(W + "p"):
        level = preprocessing.get_outline_level(paragraph)
        style = get_child_value(paragraph, "pPr", "pStyle") or ""
        name = get_child_value(styles.get(style), "name") or ""
        if level is not None and style != _CODE_STYLE and name.lower() != "title":
            _set_style(paragraph, f"{_HEADING_STYLE}{level}")


def _set_style(paragraph: Element, style: str) -> None:
    properties = paragraph.find(W + "pPr")
    if properties is None:
        properties = w("pPr")
        paragraph.insert(0, properties)
    name = properties.find(W + "pStyle")
    if name is None:
        name = w("pStyle")
        properties.insert(0, name)
    name.set(W + "val", style)

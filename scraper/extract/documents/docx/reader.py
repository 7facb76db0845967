"""Word reader: converts a preprocessed document with mammoth, and its HTML to Markdown."""

from __future__ import annotations

import copy
import io
import re
import zipfile
from collections.abc import Mapping
from typing import Any
from xml.parsers.expat import ExpatError

import mammoth
from lxml import etree

from scraper.errors import MalformedDocumentError
from scraper.extract.documents.docx.numbering import Numbering, convert_to_bullets
from scraper.extract.documents.docx.preprocessing import FORMULA, get_outline_level, write_computed_text
from scraper.extract.documents.docx.xml_names import W, convert_to_transitional, get_child_value, text_element, w
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.office import ReviewComment, ReviewComments, html_to_markdown
from scraper.extract.documents.safe_zip import Parts, parse_xml
from scraper.extract.dom.xpath import Element

_WORD_2010 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_WORD_2012 = "{http://schemas.microsoft.com/office/word/2012/wordml}"


def read_comments(parts: Parts, root: Element | None) -> dict[str, ReviewComment]:
    """Return the comments of a file by number."""
    found: dict[str, ReviewComment] = {}
    if root is None:
        return found
    done = _resolved(parts)
    for comment in root.iter(W + "comment"):
        paragraphs = list(comment.iter(W + "p"))
        said = ("".join(text.text or "" for text in paragraph.iter(W + "t")) for paragraph in paragraphs)
        found[str(comment.get(W + "id"))] = ReviewComment(
            str(comment.get(W + "author", "")),
            str(comment.get(W + "date", "")),
            " ".join(said),
            any(str(paragraph.get(_WORD_2010 + "paraId")) in done for paragraph in paragraphs),
        )
    return found


def mark_comments(body: Element, comments: Mapping[str, ReviewComment]) -> ReviewComments:
    """Put a placeholder at the end of each commented passage; return the comments in that order."""
    marked = ReviewComments()
    for reference in list(body.iter(W + "commentReference")):
        parent = reference.getparent()
        comment = comments.get(str(reference.get(W + "id")))
        if parent is not None and comment is not None:
            parent.replace(reference, text_element(marked.mark(comment)))
    return marked


def _resolved(parts: Parts) -> frozenset[str]:
    """Return the paragraph IDs of comments that are marked as resolved."""
    root = parts.xml_or_none("word/commentsExtended.xml")
    return frozenset(
        str(one.get(_WORD_2012 + "paraId"))
        for one in (root.iter(_WORD_2012 + "commentEx") if root is not None else ())
        if one.get(_WORD_2012 + "done") in ("1", "true")
    )


_PARTS = re.compile(
    r"\[Content_Types\]\.xml|(?:_rels|word/_rels)/[^/]*\.rels|word/(?:numbering|footnotes|endnotes)\d*\.xml"
)
"""Parts that mammoth gets besides the text; no pictures, so that it opens none."""
_STYLES = "word/styles.xml"
_LISTS = "word/numbering.xml"
_COMMENTS = "word/comments.xml"
_LEVELS = 6
_CODE_STYLES = ("Source Code", "Code", "HTML Preformatted", "Preformatted Text", "Code Block", "Macro Text")
_CODE_MARKS = re.compile(r"[{}();=<>\[\]$#|]")
_FOUND_CODE = "CodeByItsLetters"
_OUTLINED = "HeadingByItsLevel"
_MONO = re.compile(r"courier|consolas|mono|menlo|monaco", re.IGNORECASE)
_DUBLIN = "{http://purl.org/dc/elements/1.1/}"

_SMALLEST_BODY = (
    "<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'>"
    "<w:body><w:p><w:r><w:t>a</w:t></w:r></w:p></w:body></w:document>"
)
_SMALLEST_RELS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)


def warm_up(request: ParseRequest | None = None) -> None:
    """Load the modules that mammoth imports late."""
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("_rels/.rels", _SMALLEST_RELS)
            archive.writestr("word/document.xml", _SMALLEST_BODY)
        read(file.getvalue(), request or ParseRequest())


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of a Word file.

    Raises:
        MalformedDocumentError, ContentTooLargeError, EncryptedDocumentError: The file cannot be read.
    """
    parts = Parts(data)
    main = find_main_part(parts)
    document = parse_xml(convert_to_transitional(parts.read(main)), main)
    styles = _styles(parts)
    lists = _own_part(parts, _LISTS)
    comments = mark_comments(document, read_comments(parts, _own_part(parts, _COMMENTS)))
    formulas = write_computed_text(document, styles, Numbering.of(lists))
    _write_code(document)
    _write_levels(document, styles)
    changed = {main: _rewrite_workbook(document), _STYLES: _rewrite_workbook(_reduce_styles(styles))}
    if lists is not None:
        convert_to_bullets(lists)
        changed[_LISTS] = _rewrite_workbook(lists)
    text = html_to_markdown(_html(parts, changed, _style_map(styles, document)), request.url)
    title, author = read_core_properties(parts)
    text = comments.written(FORMULA.sub(lambda match: formulas[int(match[1])], text))
    return ParsedDocument("docx", text, title=title, author=author)


def find_main_part(parts: Parts) -> str:
    """Return the name of the main part."""
    relations = parts.xml_or_none("_rels/.rels")
    for relation in relations if relations is not None else ():
        if str(relation.get("Type", "")).endswith("/officeDocument"):
            target = parts.resolve("", str(relation.get("Target", "")))
            if target in parts:
                return target
    if "word/document.xml" not in parts:
        raise MalformedDocumentError("The Word file holds no document.")
    return "word/document.xml"


def read_core_properties(parts: Parts) -> tuple[str | None, str | None]:
    """Return title and author from the core properties."""
    core = parts.xml_or_none("docProps/core.xml")
    if core is None:
        return None, None
    title, author = core.find(_DUBLIN + "title"), core.find(_DUBLIN + "creator")
    return (title.text if title is not None else None), (author.text if author is not None else None)


def _own_part(parts: Parts, name: str) -> Element | None:
    if name not in parts:
        return None
    try:
        return parse_xml(convert_to_transitional(parts.read(name)), name)
    except MalformedDocumentError:
        return None


def _styles(parts: Parts) -> dict[str, Element]:
    root = _own_part(parts, _STYLES)
    found = () if root is None else root.iter(W + "style")
    return {str(style.get(W + "styleId")): style for style in found}


def _reduce_styles(styles: Mapping[str, Element]) -> Element:
    """Keep only names and lists of the styles: with all properties mammoth takes ten times as long."""
    root = w("styles")
    for style in styles.values():
        kept = etree.SubElement(root, W + "style", {str(key): str(value) for key, value in style.attrib.items()})
        properties = style.find(W + "pPr")
        numbered = None if properties is None else properties.find(W + "numPr")
        for child in (style.find(W + "name"), style.find(W + "basedOn")):
            if child is not None:
                kept.append(copy.copy(child))
        if numbered is not None:
            kept.append(w("pPr", copy.copy(numbered)))
    return root


def _rewrite_workbook(root: Element) -> bytes:
    return etree.tostring(root, encoding="utf-8", xml_declaration=True)


def _html(parts: Parts, changed: Mapping[str, bytes], style_map: str) -> str:
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            for name in parts.names:
                if name in changed:
                    archive.writestr(name, changed[name])
                elif _PARTS.fullmatch(name) and (part := _own_part(parts, name)) is not None:
                    archive.writestr(name, _rewrite_workbook(part))
        file.seek(0)
        try:
            result: Any = mammoth.convert_to_html(
                file, style_map=style_map, convert_image=_no_image, external_file_access=False
            )
        except (
            KeyError,
            ValueError,
            TypeError,
            AttributeError,
            IndexError,
            OSError,
            zipfile.BadZipFile,
            ExpatError,
        ) as error:
            raise MalformedDocumentError(f"The Word file is damaged ({type(error).__name__}).") from None
    return str(result.value)


def _no_image(image: Any) -> list[Any]:
    """Ignore an image: neither its bytes nor its targets are read."""
    return []


def _style_map(styles: Mapping[str, Element], root: Element) -> str:
    """Map styles to headings, one level lower if the document has a title."""
    used = {get_child_value(properties, "pStyle") for properties in root.iter(W + "pPr")}
    names = {get_child_value(styles[style], "name") or "" for style in used if style is not None and style in styles}
    lower = int(any(name.lower() == "title" for name in names))
    lines = ["p[style-name='Title'] => h1:fresh", "p[style-name='title'] => h1:fresh"]
    for level in range(1, 10):
        tag = f"h{min(level + lower, _LEVELS)}:fresh"
        lines += [f"p[style-name='{name} {level}'] => {tag}" for name in ("heading", "Heading")]
        lines.append(f"p.{_OUTLINED}{level} => {tag}")
    lines += [f"p[style-name='{name}'] => pre:separator('\\n')" for name in _CODE_STYLES]
    lines.append(f"p.{_FOUND_CODE} => pre:separator('\\n')")
    lines += [_map_style(style, styles, lower) for style in sorted(filter(None, used))]
    return "\n".join(filter(None, lines))


def _map_style(style: str, styles: Mapping[str, Element], lower: int) -> str:
    """Return the mapping of a style by its outline level or the style it is based on."""
    at: str | None = style
    for _ in range(10):
        element = styles.get(at or "")
        if element is None or not re.fullmatch(r"[\w-]+", style):
            return ""
        named = re.fullmatch(r"heading ([1-9])", get_child_value(element, "name") or "", re.IGNORECASE)
        properties = element.find(W + "pPr")
        outline = get_child_value(properties, "outlineLvl")
        level = int(named[1]) if named else int(outline) + 1 if outline in set("012345678") else None
        if level is not None:
            return f"p.{style} => h{min(level + lower, _LEVELS)}:fresh"
        at = get_child_value(element, "basedOn")
    return ""


def _write_code(document: Element) -> None:
    """Apply the code style to paragraphs in a monospaced font that look like code."""
    for paragraph in document.iter(W + "p"):
        runs = [run for run in paragraph.iter(W + "r") if any(text.text for text in run.iter(W + "t"))]
        if not runs or not all(_is_mono(run) for run in runs):
            continue
        text = "".join(text.text or "" for text in paragraph.iter(W + "t"))
        if _CODE_MARKS.search(text):
            _set_style(paragraph, _FOUND_CODE)


def _write_levels(document: Element, styles: Mapping[str, Element]) -> None:
    """Give paragraphs with their own outline level a style for it, which overrides theirs."""
    for paragraph in document.iter(W + "p"):
        level = get_outline_level(paragraph)
        style = get_child_value(paragraph.find(W + "pPr"), "pStyle") or ""
        name = get_child_value(styles.get(style), "name") or ""
        if level is not None and style != _FOUND_CODE and name.lower() != "title":
            _set_style(paragraph, f"{_OUTLINED}{level}")


def _is_mono(run: Element) -> bool:
    properties = run.find(W + "rPr")
    fonts = None if properties is None else properties.find(W + "rFonts")
    return fonts is not None and _MONO.search(fonts.get(W + "ascii") or "") is not None


def _set_style(paragraph: Element, style: str) -> None:
    properties = paragraph.find(W + "pPr")
    if properties is None:
        properties = etree.Element(W + "pPr")
        paragraph.insert(0, properties)
    named = properties.find(W + "pStyle")
    if named is None:
        named = etree.Element(W + "pStyle")
        properties.insert(0, named)
    named.set(W + "val", style)

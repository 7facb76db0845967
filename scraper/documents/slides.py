"""PowerPoint reader: text of each slide in visual order, tables, charts, diagrams, comments and notes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER
from pptx.exc import PythonPptxError

from scraper.documents.completeness import (
    WHOLE_LINES,
    count_letters,
    find_lost_letters,
    find_missing_lines,
    is_incomplete,
)
from scraper.documents.markdown_writing import pipe_table, write_link
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.office_charts import format_chart
from scraper.documents.office_xml import MC, A, find_related_parts
from scraper.documents.safe_zip import ZipParts
from scraper.errors import MalformedDocumentError
from scraper.text.sanitize import clean_line

MAX_SLIDES = 1_000
_MAX_GROUP_DEPTH = 20
_MAX_SHAPES = 2_000
_TITLES = (PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE)
_OMITTED_PLACEHOLDERS = (PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.HEADER)
_BODIES = (PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT)
_LAST = 1 << 40
_MAX_NAME_CHARS, _MAX_COMMENT_CHARS = 100, 4_000
_PPTX_ERRORS = (KeyError, ValueError, TypeError, AttributeError, IndexError, NotImplementedError)
"""Errors that python-pptx raises for damaged files."""


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the slides of a presentation, at most `MAX_SLIDES`.

    Raises:
        MalformedDocumentError: It is damaged.
        ContentTooLargeError: It decompresses to more than the limit.
    """
    parts = ZipParts(data)
    for name in parts.names:  # Check the limits: python-pptx decompresses every part, of any size.
        parts.read(name)
    try:
        presentation = Presentation(io.BytesIO(data))
        slides = list(presentation.slides)
        properties = presentation.core_properties
        title, author = properties.title or None, properties.author or None
    except (PythonPptxError, zipfile.BadZipFile, etree.XMLSyntaxError, OSError, *_PPTX_ERRORS) as error:
        raise MalformedDocumentError(f"The presentation is damaged ({type(error).__name__}).") from None
    authors = _read_authors(parts)
    shown: set[str] = set()
    texts = [
        _complete_slide(_format_slide(slide, parts), slide, parts, authors, shown) for slide in slides[:MAX_SLIDES]
    ]
    pages = (f"<!-- page {number} -->\n\n{text}".rstrip() for number, text in enumerate(texts, 1))
    markdown = "\n\n".join(pages) if any(map(str.strip, texts)) else ""
    warnings = (f"Only the first {MAX_SLIDES:,} slides are shown.",) if len(slides) > MAX_SLIDES else ()
    return ParsedDocument("pptx", markdown, title=title, author=author, pages=len(slides), warnings=warnings)


def _format_slide(slide: Any, parts: ZipParts) -> str:
    try:
        shapes = sorted(_flatten_groups(slide.shapes, 0), key=_position)[:_MAX_SHAPES]
        blocks = [block for shape in shapes for block in _format_shape(shape, parts)]
        frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        notes = frame.text.strip() if frame is not None else ""
    except _PPTX_ERRORS:
        return ""
    mark = ["(hidden slide)"] if slide._element.get("show") in ("0", "false") else []
    return "\n\n".join([*mark, *blocks, *([f"Notes: {notes}"] if notes else [])])


def _complete_slide(markdown: str, slide: Any, parts: ZipParts, authors: Mapping[str, str], shown: set[str]) -> str:
    """Add content that python-pptx does not read: diagrams, alternative shapes, comments; each repeated footer once.

    `shown` collects the lines added to earlier slides.
    """
    part = str(slide.part.partname).lstrip("/")
    diagrams = [parts.xml_or_none(name) for name in find_related_parts(parts, part, "diagramData")]
    lines = [line for root in (slide._element, *diagrams) if root is not None for line in _paragraph_texts(root)]
    letters = count_letters("\n".join(lines))
    lost = find_lost_letters(letters, markdown)
    missing = find_missing_lines(lines, markdown, lost, WHOLE_LINES) if is_incomplete(lost, letters) else []
    added = [line for line in dict.fromkeys(missing) if line not in shown]
    shown.update(added)
    comments = (comment for name in find_related_parts(parts, part, "comments")
                for comment in _format_comments(parts.xml_or_none(name), authors))  # fmt: skip
    return "\n\n".join(filter(None, (markdown, *added, *comments)))


def _paragraph_texts(root: Any) -> Iterator[str]:
    """Yield the text of paragraphs, without second copies and without fields such as the slide number."""
    for paragraph in root.iter(A + "p"):
        if next(paragraph.iterancestors(MC + "Fallback"), None) is None:
            yield "".join(text.text or "" for text in paragraph.iterfind(f"{A}r/{A}t"))


def _read_authors(parts: ZipParts) -> dict[str, str]:
    """Return the names of the authors of comments, by number or ID."""
    roots = (parts.xml_or_none(name) for name in ("ppt/commentAuthors.xml", "ppt/authors.xml"))
    found = (author for root in roots if root is not None for author in root)
    return {str(author.get("id")): clean_line(str(author.get("name", "")), _MAX_NAME_CHARS) for author in found}


def _format_comments(root: Any, authors: Mapping[str, str]) -> Iterator[str]:
    """Yield the comments and replies of a part: their text is in `p:text`, or since 2021 in paragraphs."""
    for comment in root.iter("{*}cm", "{*}reply") if root is not None else ():
        text = " ".join(
            text.text or "" for child in comment if not str(child.tag).endswith("}replyLst")
            for text in child.iter("{*}text", A + "t")
        )  # fmt: skip
        if text.strip():
            author = authors.get(str(comment.get("authorId")))
            date = str(comment.get("dt") or comment.get("created") or "")[:10]
            facts = ", ".join(filter(None, (f"Comment by {author}" if author else "Comment", date)))
            yield f"{facts}: {clean_line(text, _MAX_COMMENT_CHARS)}"


def _flatten_groups(shapes: Iterable[Any], depth: int) -> Iterator[Any]:
    for shape in shapes:
        try:
            is_group = shape.shape_type == MSO_SHAPE_TYPE.GROUP
        except _PPTX_ERRORS:  # A type of shape that python-pptx does not support.
            is_group = False
        if is_group and depth < _MAX_GROUP_DEPTH:
            yield from sorted(_flatten_groups(shape.shapes, depth + 1), key=_position)
        else:
            yield shape


def _position(shape: Any) -> tuple[bool, int, int]:
    """Return a sort key: titles first, then from top to bottom; shapes without a position last."""
    try:
        top, left = shape.top, shape.left
    except _PPTX_ERRORS:
        top = left = None
    return not _is_placeholder(shape, _TITLES), _LAST if top is None else top, _LAST if left is None else left


def _is_placeholder(shape: Any, types: tuple[Any, ...]) -> bool:
    return bool(shape.is_placeholder) and shape.placeholder_format.type in types


def _format_shape(shape: Any, parts: ZipParts) -> Iterator[str]:
    if _is_placeholder(shape, _OMITTED_PLACEHOLDERS):
        return
    if getattr(shape, "has_table", False):
        rows = _table_rows(shape.table)
        if any(map(any, rows)):
            yield pipe_table(rows)
    elif getattr(shape, "has_chart", False):
        text = format_chart(parts, str(shape.chart.part.partname).lstrip("/"))
        if text:
            yield text
    elif shape.has_text_frame:
        yield from _format_paragraphs(shape)


def _table_rows(table: Any) -> list[list[str]]:
    """Return the texts of a table; a merged cell's text appears in all its positions."""
    rows = [[" ".join(cell.text.split()) for cell in row.cells] for row in table.rows]
    for y, row in enumerate(table.rows):
        for x, cell in enumerate(row.cells):
            if cell.is_merge_origin:
                for texts in rows[y : y + cell.span_height]:
                    texts[x : x + cell.span_width] = [rows[y][x]] * min(cell.span_width, len(texts) - x)
    return rows


def _format_paragraphs(shape: Any) -> Iterator[str]:
    texts = ((paragraph, _paragraph_text(paragraph)) for paragraph in shape.text_frame.paragraphs)
    paragraphs = [(paragraph, text) for paragraph, text in texts if text]
    if paragraphs and _is_placeholder(shape, _TITLES):
        yield "# " + " ".join(text for _, text in paragraphs)
        return
    for is_list, group in groupby(paragraphs, key=lambda pair: _is_item(pair[0], shape)):
        if not is_list:
            yield from (text for _, text in group)
            continue
        items = []
        for number, (paragraph, text) in enumerate(group, 1):
            mark = f"{number}." if _has_property(paragraph, "buAutoNum") else "-"
            items.append(f"{'  ' * min(paragraph.level, 8)}{mark} {text}")
        yield "\n".join(items)


def _paragraph_text(paragraph: Any) -> str:
    """Return the text of a paragraph, with the addresses of its links."""
    text, done = " ".join(paragraph.text.split()), 0
    for run in paragraph.runs:
        label = " ".join(run.text.split())
        at = text.find(label, done) if label else -1
        if at >= 0:
            link = write_link(label, _read_address(run))
            text, done = text[:at] + link + text[at + len(label) :], at + len(link)
    return text


def _read_address(run: Any) -> str:
    """Return the address of the link of a run; empty if it has none or the file is damaged."""
    try:
        return str(run.hyperlink.address or "")
    except _PPTX_ERRORS:
        return ""


def _is_item(paragraph: Any, shape: Any) -> bool:
    """Return True if a paragraph has a bullet or number, its own or that of a slide body."""
    if _has_property(paragraph, "buNone"):
        return False
    if any(_has_property(paragraph, name) for name in ("buChar", "buAutoNum", "buBlip")):
        return True
    return _is_placeholder(shape, _BODIES) and len(shape.text_frame.paragraphs) > 1


def _has_property(paragraph: Any, name: str) -> bool:
    properties = paragraph._p.pPr
    return properties is not None and properties.find(A + name) is not None

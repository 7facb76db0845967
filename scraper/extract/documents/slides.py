"""PowerPoint reader: text of each slide in visual order, tables, charts and notes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER
from pptx.exc import PythonPptxError

from scraper.errors import MalformedDocumentError
from scraper.extract.documents.charts import format_chart
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.safe_zip import Parts
from scraper.extract.documents.tables import pipe_table

MAX_SLIDES = 1_000
_DEPTH = 20
_MAX_SHAPES = 2_000
_TITLES = (PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE)
_PAGE_FURNITURE = (PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.HEADER)
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_BREAKS = (KeyError, ValueError, TypeError, AttributeError, IndexError, NotImplementedError)
"""Errors that python-pptx raises for damaged files."""


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the slides of a presentation.

    Raises:
        MalformedDocumentError, ContentTooLargeError, EncryptedDocumentError: The presentation cannot be read.
    """
    parts = Parts(data)
    _inflate(parts)
    try:
        presentation = Presentation(io.BytesIO(data))
        slides = list(presentation.slides)[:MAX_SLIDES]
        facts = presentation.core_properties
        title, author = facts.title or None, facts.author or None
    except (PythonPptxError, zipfile.BadZipFile, etree.XMLSyntaxError, OSError, *_BREAKS) as error:
        raise MalformedDocumentError(f"The presentation is damaged ({type(error).__name__}).") from None
    texts = [f"<!-- page {number} -->\n\n{_slide(slide, parts)}".rstrip() for number, slide in enumerate(slides, 1)]
    if not any(text.partition("-->")[2].strip() for text in texts):
        texts = []
    return ParsedDocument("pptx", "\n\n".join(texts), title=title, author=author, pages=len(slides))


def _inflate(parts: Parts) -> None:
    """Decompress all parts once within bounds: python-pptx reads every part, of any size."""
    for name in parts.names:
        parts.read(name)


def _slide(slide: Any, parts: Parts) -> str:
    try:
        shapes = sorted(_flat(slide.shapes, 0), key=_place)[:_MAX_SHAPES]
        blocks = [block for shape in shapes for block in _blocks(shape, parts)]
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        said = notes.text.strip() if notes is not None else ""
    except _BREAKS:
        return ""
    return "\n\n".join([*blocks, *([f"Notes: {said}"] if said else [])])


def _flat(shapes: Iterable[Any], depth: int) -> Iterator[Any]:
    for shape in shapes:
        if _is_group(shape) and depth < _DEPTH:
            yield from sorted(_flat(shape.shapes, depth + 1), key=_place)
        else:
            yield shape


def _is_group(shape: Any) -> bool:
    try:
        return bool(shape.shape_type == MSO_SHAPE_TYPE.GROUP)
    except _BREAKS:  # A type of shape that python-pptx does not support.
        return False


def _place(shape: Any) -> tuple[int, int, int]:
    """Return a sort key: titles first, then from top to bottom; shapes without a position last."""
    try:
        top, left = shape.top, shape.left
    except _BREAKS:
        top = left = None
    return (int(not _is_title(shape)), top if top is not None else 1 << 40, left if left is not None else 1 << 40)


def _is_title(shape: Any) -> bool:
    return shape.is_placeholder and shape.placeholder_format.type in _TITLES


def _blocks(shape: Any, parts: Parts) -> Iterator[str]:
    if shape.is_placeholder and shape.placeholder_format.type in _PAGE_FURNITURE:
        return
    if getattr(shape, "has_table", False):
        rows = _cells(shape.table)
        if any(any(row) for row in rows):
            yield pipe_table(rows)
    elif getattr(shape, "has_chart", False):
        text = format_chart(parts, str(shape.chart.part.partname).lstrip("/"))
        if text:
            yield text
    elif shape.has_text_frame:
        yield from _paragraphs(shape)


def _cells(table: Any) -> list[list[str]]:
    """Return the texts of a table; a merged cell's text appears in all its positions."""
    rows = [[" ".join(cell.text.split()) for cell in row.cells] for row in table.rows]
    for y, row in enumerate(table.rows):
        for x, cell in enumerate(row.cells):
            if cell.is_merge_origin:
                for down in range(y, min(len(rows), y + cell.span_height)):
                    for right in range(x, min(len(rows[down]), x + cell.span_width)):
                        rows[down][right] = rows[y][x]
    return rows


def _paragraphs(shape: Any) -> Iterator[str]:
    texts = [
        (paragraph, " ".join(paragraph.text.replace("\v", " ").split())) for paragraph in shape.text_frame.paragraphs
    ]
    texts = [(paragraph, text) for paragraph, text in texts if text]
    if not texts:
        return
    if _is_title(shape):
        yield "# " + " ".join(text for _, text in texts)
        return
    items: list[str] = []
    for paragraph, text in texts:
        if _is_item(paragraph, shape):
            mark = f"{len(items) + 1}." if _is_counted(paragraph) else "-"
            items.append(f"{'  ' * min(paragraph.level, 8)}{mark} {text}")
            continue
        if items:
            yield "\n".join(items)
            items = []
        yield text
    if items:
        yield "\n".join(items)


def _is_item(paragraph: Any, shape: Any) -> bool:
    """Return True if a paragraph has a bullet or number, its own or that of a slide body."""
    properties = paragraph._p.pPr
    if properties is not None:
        if properties.find(_A + "buNone") is not None:
            return False
        if any(properties.find(_A + name) is not None for name in ("buChar", "buAutoNum", "buBlip")):
            return True
    body = shape.is_placeholder and shape.placeholder_format.type in (PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT)
    return bool(body) and len(shape.text_frame.paragraphs) > 1


def _is_counted(paragraph: Any) -> bool:
    properties = paragraph._p.pPr
    return properties is not None and properties.find(_A + "buAutoNum") is not None

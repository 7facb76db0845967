"""PowerPoint reader: text of each slide in visual order, tables, charts, diagrams, comments and notes."""

import contextlib
import io
import itertools
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER
from pptx.exc import PythonPptxError

from scraper.documents import completeness
from scraper.documents import office_xml as ns
from scraper.documents.docx.omml import convert_to_latex
from scraper.documents.markdown_writing import join_pages, pipe_table, write_link
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.office_xml import find_related_parts, find_relations, format_chart, format_diagram
from scraper.documents.safe_zip import ZipParts, parse_xml, write_zip
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


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the slides of a presentation, at most `MAX_SLIDES`.

    Raises:
        MalformedDocumentError: It is damaged.
        ContentTooLargeError: It decompresses to more than the limit.
    """
    parts = ZipParts(data)
    try:
        # Without pictures and other files, which python-pptx would read.
        files = {name: parts.read(name) if name.endswith((".xml", ".rels")) else b"" for name in parts.names}
        for name, xml in files.items():
            if name.startswith("ppt/slides/") and (b"AlternateContent" in xml or b"oMath" in xml):
                files[name] = _simplify(parse_xml(xml, name))
        presentation = Presentation(io.BytesIO(write_zip(files)))
        slides = list(presentation.slides)
        properties = presentation.core_properties
        title, author = properties.title or None, properties.author or None
    except (PythonPptxError, zipfile.BadZipFile, etree.XMLSyntaxError, OSError, *_PPTX_ERRORS) as error:
        raise MalformedDocumentError(f"The presentation is damaged ({type(error).__name__}).") from None
    roots = (parts.xml_or_none(name) for name in ("ppt/commentAuthors.xml", "ppt/authors.xml"))
    people = (author for root in roots if root is not None for author in root)
    authors = {str(one.get("id")): clean_line(str(one.get("name", "")), _MAX_NAME_CHARS) for one in people}
    warnings = [f"Only the first {MAX_SLIDES:,} slides are shown."] if len(slides) > MAX_SLIDES else []
    shown: set[str] = set()
    texts = []
    for number, slide in enumerate(slides[:MAX_SLIDES], 1):
        text, is_whole = _format_slide(slide, parts)
        texts.append((number, _complete_slide(text, slide, parts, authors, shown)))
        if not is_whole:
            warnings.append(f"Slide {number} is damaged: its text is not in order.")
    pages = len(slides)
    return ParsedDocument("pptx", join_pages(texts), title=title, author=author, pages=pages, warnings=tuple(warnings))


def _simplify(root: Any) -> bytes:
    """Return a slide with the first known one of alternative shapes, and with formulas as LaTeX."""
    for alternatives in list(root.iter(ns.MC + "AlternateContent")):
        parent = alternatives.getparent()
        of_shapes = parent.tag in (ns.P + "spTree", ns.P + "grpSp")
        known = (one for one in alternatives if not of_shapes or all(child.tag.startswith(ns.P) for child in one))
        if (chosen := next(known, None)) is not None:
            at = parent.index(alternatives)
            parent[at : at + 1] = list(chosen)
        else:
            del alternatives[1:]
    for formula in list(root.iter(ns.M + "oMath")):
        frame = next(formula.iterancestors("{*}m"), formula)
        run = etree.Element(ns.A + "r")
        etree.SubElement(run, ns.A + "t").text = f"${convert_to_latex(formula)}$"
        frame.addprevious(run)
    for frame in list(root.iter(ns.M14 + "m")):
        frame.getparent().remove(frame)
    return etree.tostring(root)


def _format_slide(slide: Any, parts: ZipParts) -> tuple[str, bool]:
    """Return the text of the shapes, and False if the slide is damaged."""
    try:
        part = str(slide.part.partname).lstrip("/")
        diagrams = find_relations(parts, part, "diagramData")
        shapes = itertools.islice(_flatten_groups(slide.shapes, 0), _MAX_SHAPES)
        blocks = [block for shape in shapes for block in _format_shape(shape, parts, diagrams)]
    except _PPTX_ERRORS:
        return "", False
    mark = ["(hidden slide)"] if slide._element.get("show") in ("0", "false") else []
    return "\n\n".join([*mark, *blocks]), True


def _complete_slide(markdown: str, slide: Any, parts: ZipParts, authors: Mapping[str, str], shown: set[str]) -> str:
    """Add content that python-pptx does not read: unknown shapes, notes, comments; each repeated footer once."""
    # Fields such as the slide number are no runs.
    lines = [
        "".join(text.text or "" for text in paragraph.iterfind(f"{ns.A}r/{ns.A}t"))
        for paragraph in slide._element.iter(ns.A + "p")
    ]
    letters = completeness.count_letters("\n".join(lines))
    lost = completeness.find_lost_letters(letters, markdown)
    missing = (
        completeness.find_missing_lines(lines, markdown, lost, completeness.WHOLE_LINES)
        if completeness.is_incomplete(lost, letters)
        else []
    )
    added = [line for line in dict.fromkeys(missing) if line not in shown]
    shown.update(added)
    notes = ""
    with contextlib.suppress(*_PPTX_ERRORS):
        frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        notes = frame.text.strip() if frame is not None else ""
    part = str(slide.part.partname).lstrip("/")
    comments = (comment for name in find_related_parts(parts, part, "comments")
                for comment in _format_comments(parts.xml_or_none(name), authors))  # fmt: skip
    return "\n\n".join(filter(None, (markdown, *added, notes and f"Notes: {notes}", *comments)))


def _format_comments(root: Any, authors: Mapping[str, str]) -> Iterator[str]:
    """Yield the comments and replies of a part: their text is in `p:text`, or since 2021 in paragraphs."""
    for comment in root.iter("{*}cm", "{*}reply") if root is not None else ():
        text = " ".join(
            text.text or "" for child in comment if not str(child.tag).endswith("}replyLst")
            for text in child.iter("{*}text", ns.A + "t")
        )  # fmt: skip
        if text.strip():
            author = authors.get(str(comment.get("authorId")))
            date = str(comment.get("dt") or comment.get("created") or "")[:10]
            facts = ", ".join(filter(None, (f"Comment by {author}" if author else "Comment", date)))
            yield f"{facts}: {clean_line(text, _MAX_COMMENT_CHARS)}"


def _flatten_groups(shapes: Iterable[Any], depth: int) -> Iterator[Any]:
    """Yield shapes from top to bottom, those of a group in its place, by its own coordinates."""
    for shape in _in_order([(shape, _place(shape)) for shape in shapes]):
        try:
            is_group = shape.shape_type == MSO_SHAPE_TYPE.GROUP
        except _PPTX_ERRORS:  # A type of shape that python-pptx does not support.
            is_group = False
        if is_group and depth < _MAX_GROUP_DEPTH:
            yield from _flatten_groups(shape.shapes, depth + 1)
        else:
            yield shape


def _in_order(shapes: list[tuple[Any, tuple[bool, int, int, int]]]) -> Iterator[Any]:
    """Yield titles first, then shapes row by row; one belongs to a row if it begins in the upper half of both."""
    row: list[tuple[int, Any]] = []
    is_text, row_top, row_height = False, -_LAST, 0
    for shape, (is_shape_text, top, left, height) in sorted(shapes, key=lambda pair: pair[1]):
        if is_shape_text != is_text or top > row_top + min(height, row_height) // 2:
            yield from (one for _, one in sorted(row, key=itemgetter(0)))
            row = []
        if not row:
            is_text, row_top, row_height = is_shape_text, top, height
        row.append((left, shape))
    yield from (one for _, one in sorted(row, key=itemgetter(0)))


def _place(shape: Any) -> tuple[bool, int, int, int]:
    try:
        top, left, height = shape.top, shape.left, shape.height
    except _PPTX_ERRORS:
        top = left = height = None
    top, left = (_LAST if value is None else value for value in (top, left))
    return not _is_placeholder(shape, _TITLES), top, left, height or 0


def _is_placeholder(shape: Any, types: tuple[Any, ...]) -> bool:
    return bool(shape.is_placeholder) and shape.placeholder_format.type in types


def _format_shape(shape: Any, parts: ZipParts, diagrams: Mapping[str, str]) -> Iterator[str]:
    if _is_placeholder(shape, _OMITTED_PLACEHOLDERS):
        return
    if getattr(shape, "has_table", False):
        rows = [[" ".join(cell.text.split()) for cell in row.cells] for row in shape.table.rows]
        for y, row in enumerate(shape.table.rows):
            for x, cell in enumerate(row.cells):
                if cell.is_merge_origin:
                    for texts in rows[y : y + cell.span_height]:
                        texts[x : x + cell.span_width] = [rows[y][x]] * min(cell.span_width, len(texts) - x)
        if any(map(any, rows)):
            yield pipe_table(rows)
    elif getattr(shape, "has_chart", False):
        yield from filter(None, [format_chart(parts, str(shape.chart.part.partname).lstrip("/"))])
    elif (diagram := next(shape._element.iter(ns.DIAGRAM + "relIds"), None)) is not None:
        yield from filter(None, [format_diagram(parts, diagrams.get(diagram.get(ns.R_DIAGRAM), ""))])
    elif shape.has_text_frame:
        yield from _format_paragraphs(shape)


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
    text, done = " ".join(paragraph.text.split()), 0
    for run in paragraph.runs:
        label = " ".join(run.text.split())
        at = text.find(label, done) if label else -1
        if at >= 0:
            link = label
            with contextlib.suppress(*_PPTX_ERRORS):
                link = write_link(label, str(run.hyperlink.address or ""))
            text, done = text[:at] + link + text[at + len(label) :], at + len(link)
    return text


def _is_item(paragraph: Any, shape: Any) -> bool:
    """Return True if a paragraph has a bullet or number, its own or that of a slide body."""
    own = [name for name in ("buNone", "buChar", "buAutoNum", "buBlip") if _has_property(paragraph, name)]
    return own[0] != "buNone" if own else _is_placeholder(shape, _BODIES) and len(shape.text_frame.paragraphs) > 1


def _has_property(paragraph: Any, name: str) -> bool:
    properties = paragraph._p.pPr
    return properties is not None and properties.find(ns.A + name) is not None

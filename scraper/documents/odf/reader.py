"""Read OpenDocument files as Markdown: texts and presentations by way of HTML, and tables of spreadsheets directly."""

import html
from collections.abc import Iterator
from itertools import islice

from scraper.documents import office_xml as ns
from scraper.documents.completeness import add_missing_lines
from scraper.documents.markdown_writing import format_regions
from scraper.documents.model import ParsedDocument, ParseRequest, describe_left_out, locked_error
from scraper.documents.odf.styles import OdfStyles
from scraper.documents.odf.tables import MAX_COLUMNS, EmbeddedObjects, read_grid
from scraper.documents.odf.text import OdfTextWriter, join_lists
from scraper.documents.office_markup import html_to_markdown
from scraper.documents.office_xml import get_attribute
from scraper.documents.safe_zip import ZipParts, first_text
from scraper.documents.sniff import DocumentKind, sniff_kind
from scraper.html.dom.parsing import Element, text_of
from scraper.values.text import read_table

_OMITTED_CLASSES = frozenset({"page-number", "footer", "date-time", "header", "page"})
_MARGINS = tuple(ns.STYLE + name for name in ("header", "header-left", "footer", "footer-left"))
_PARAGRAPHS = (ns.TEXT + "p", ns.TEXT + "h")
_FAMILIES = {ns.TEXT + "p": "paragraph", ns.TEXT + "h": "paragraph", ns.TEXT + "span": "text"}
_HIDDEN = ns.qualify(read_table(__package__, "names.toml")["hidden"])
"""Elements whose text is not displayed, or is displayed in another form."""
_MAX_TITLE_CHARS = 120
_TITLE_SIZE_RATIO = 1.15
"""Ratio of a title's font size to the next largest one of its slide."""
_MAX_SHEETS = 200
_MAX_COMMENTS = 500


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return a text or a presentation; page headers and footers if there is no other text.

    Raises:
        EncryptedDocumentError: The document needs a password.
    """
    kind = sniff_kind(data)
    parts = _open(data)
    content, common = parts.xml("content.xml"), parts.xml_or_none("styles.xml")
    styles = OdfStyles((content,) if common is None else (content, common))
    writer = OdfTextWriter(styles, EmbeddedObjects(parts))
    body = content.find(ns.OFFICE + "body")
    slides = [] if body is None or kind is not DocumentKind.ODP else list(body.iter(ns.DRAW + "page"))
    if slides:
        markdown = "\n\n".join(
            _format_slide(number, slide, writer, styles, request.url) for number, slide in enumerate(slides, 1)
        )
    else:
        markdown = "" if body is None else html_to_markdown(writer.document(body), request.url)
    title, author = _read_metadata(parts)
    markdown = writer.comments.insert(markdown)
    markdown, warnings = add_missing_lines(markdown, [] if body is None else list(_lines(body, styles)))
    lines = () if common is None else (line for part in common.iter(*_MARGINS) for line in _lines(part, styles))
    margins = list(dict.fromkeys(filter(str.strip, lines)))
    if markdown and not slides:
        warnings += describe_left_out(0, margins, markdown)
    markdown = markdown or "\n\n".join(margins)
    return ParsedDocument(
        kind.value, markdown, title=title, author=author, pages=len(slides) or None, warnings=warnings
    )


def _lines(body: Element, styles: OdfStyles) -> Iterator[str]:
    for paragraph in body.iter(*_PARAGRAPHS):
        if not any(_is_hidden(element, styles) for element in (paragraph, *paragraph.iterancestors())):
            yield "".join(_visible_texts(paragraph, styles))


def _visible_texts(element: Element, styles: OdfStyles) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag == ns.TEXT + "s":
            yield " "
        elif isinstance(child.tag, str) and child.tag not in _PARAGRAPHS and not _is_hidden(child, styles):
            yield from _visible_texts(child, styles)
        yield child.tail or ""


def _is_hidden(element: Element, styles: OdfStyles) -> bool:
    family = _FAMILIES.get(str(element.tag))
    return (
        element.tag in _HIDDEN
        or not _is_content(element)
        or element.get(ns.TEXT + "display") in ("none", "condition")
        or (family is not None and styles.text_format(element, family).hidden)
    )


def _open(data: bytes) -> ZipParts:
    parts = ZipParts(data)
    if "META-INF/manifest.xml" in parts and b"encryption-data" in parts.read("META-INF/manifest.xml"):
        raise locked_error("The document")
    return parts


def _read_metadata(parts: ZipParts) -> tuple[str | None, str | None]:
    meta = parts.xml_or_none("meta.xml")
    return first_text(meta, ns.DUBLIN + "title"), first_text(meta, ns.META + "initial-creator", ns.DUBLIN + "creator")


def _format_slide(number: int, page: Element, writer: OdfTextWriter, styles: OdfStyles, url: str) -> str:
    join_lists(page)
    shapes = list(filter(_is_content, page))
    title = next((shape for shape in shapes if get_attribute(shape, ns.PRESENTATION + "class") == "title"), None)
    if title is None or not _text(title):
        title = _find_title_by_size(shapes, styles)
    heading = f"<h1>{html.escape(_text(title))}</h1>" if title is not None else ""
    notes = ""
    body = []
    for shape in shapes:
        if shape.tag == ns.PRESENTATION + "notes":
            frames = filter(_is_content, shape.iter(ns.DRAW + "frame"))
            notes = " ".join(filter(None, map(_text, frames)))
        elif shape is not title:
            body.append(writer.blocks([shape], 0))
    text = html_to_markdown("".join([heading, *body]), url)
    return "\n\n".join(filter(None, (f"<!-- page {number} -->", text, f"Notes: {notes}" if notes else "")))


def _is_content(shape: Element) -> bool:
    return get_attribute(shape, ns.PRESENTATION + "class") not in _OMITTED_CLASSES


def _find_title_by_size(shapes: list[Element], styles: OdfStyles) -> Element | None:
    """Return the first shape with one short paragraph if its font is the largest by far."""
    sizes = {}
    for shape in shapes:
        if shape.tag != ns.PRESENTATION + "notes":
            texts = [element for element in shape.iter(ns.TEXT + "span", ns.TEXT + "p") if text_of(element).strip()]
            formats = (styles.text_format(element, _FAMILIES[str(element.tag)]) for element in texts)
            sizes[shape] = max((one.points or 0.0 for one in formats), default=0.0)
    shown = [shape for shape, size in sizes.items() if size]
    if not shown or len(_text(shown[0])) > _MAX_TITLE_CHARS or len(_paragraphs(shown[0])) != 1:
        return None
    return shown[0] if all(sizes[shown[0]] >= sizes[other] * _TITLE_SIZE_RATIO for other in shown[1:]) else None


def _paragraphs(shape: Element) -> list[str]:
    texts = (" ".join(text_of(paragraph).split()) for paragraph in shape.iter(ns.TEXT + "p"))
    return list(filter(None, texts))


def _text(shape: Element) -> str:
    return " ".join(_paragraphs(shape))


def read_sheets(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the sheets of a workbook, each as a heading with tables, charts and comments.

    Raises:
        EncryptedDocumentError: The workbook needs a password.
    """
    parts = _open(data)
    content = parts.xml("content.xml")
    sheets = content.findall(f"{ns.OFFICE}body/{ns.OFFICE}spreadsheet/{ns.TABLE}table")
    objects = EmbeddedObjects(parts)
    hidden_styles = {
        get_attribute(style, ns.STYLE + "name")
        for style in content.iter(ns.STYLE + "style")
        for properties in style.iter(ns.STYLE + "table-properties")
        if get_attribute(properties, ns.TABLE + "display") == "false"
    }
    texts, warnings = [], []
    for number, sheet in enumerate(sheets[:_MAX_SHEETS], 1):
        name = get_attribute(sheet, ns.TABLE + "name") or f"Sheet {number}"
        grid = read_grid(sheet, _cell_text)
        if grid.has_more_rows:
            warnings.append(f"Sheet {name[:60]}: only the first {len(grid.rows):,} rows are shown.")
        if grid.has_more_columns:
            warnings.append(f"Sheet {name[:60]}: only the first {MAX_COLUMNS} columns are shown.")
        mark = " (hidden sheet)" if get_attribute(sheet, ns.TABLE + "style-name") in hidden_styles else ""
        texts += [f"<!-- page {number} -->\n\n## {name}{mark}", *format_regions(grid.split_merged_cells())]
        charts = (html_to_markdown(objects.chart(one), "") for one in sheet.iter(ns.DRAW + "object"))
        comments = []
        for comment in islice(filter(_text, sheet.iter(ns.OFFICE + "annotation")), _MAX_COMMENTS):
            written_by = (first_text(comment, ns.DUBLIN + "creator") or "").strip()[:100]
            cell = comment.getparent()
            place = "" if cell is None else _cell_text(cell)[:60]
            comments.append(f"- {place and f'{place}: '}{written_by and f'({written_by}) '}{_text(comment)}")
        texts += [*filter(None, charts), *(["\n".join(["Comments:", "", *comments])] if comments else [])]
    if len(sheets) > _MAX_SHEETS:
        warnings.append(f"Only the first {_MAX_SHEETS} sheets are shown.")
    title, author = _read_metadata(parts)
    return ParsedDocument(
        "ods", "\n\n".join(texts), title=title, author=author, pages=len(sheets), warnings=tuple(warnings)
    )


def _cell_text(cell: Element) -> str:
    texts = (" ".join(text_of(paragraph).split()) for paragraph in cell.iterchildren(ns.TEXT + "p"))
    return " ".join(filter(None, texts))

"""Read the text of PDF pages by direct calls of PDFium, to check the text from liteparse, which brings the library."""

import ctypes
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from scraper.documents.model import ParseRequest
from scraper.documents.pdf import hidden_text, item_corrections
from scraper.documents.pdf.hidden_text import HiddenText, HiddenTextSearch
from scraper.documents.pdf.pdfium import Box, open_document, open_page, pdfium, render_gray
from scraper.documents.pdf.text_assembly import is_right_to_left

T = TypeVar("T")
_MIN_SIZE = 1.0
"""Points. Smaller letters are hidden marks of programs. A box without a size gives no information."""
_MIN_PICTURE_SHARE = 0.1
"""Ratio to the page. Smaller pictures on a page without text are logos."""
_MAX_LAYERED_PAGES = 50
_UNITS = 10
"""Device units of a point: PDFium computes device coordinates as integers."""
_MAX_COORDINATE = 1e6
_MAX_INFORMATION_BYTES = 8_000
_MAX_FILES = 1_000
_UNMAPPED = frozenset(map(chr, range(32))) - set("\2\t\r\n")
"""Codes of glyphs in place of characters; U+0002 is a hyphen at the end of a line."""


@dataclass(frozen=True, slots=True)
class PageText:
    """Text of a page as PDFium reads it."""

    text: str
    """Without text that cannot be seen."""
    hidden_text: str = ""
    hidden: tuple[Box, ...] = ()
    """Boxes of hidden text, in points from the top left of the page as displayed."""
    visible: tuple[Box, ...] = ()
    """Boxes of the other text, if some is hidden."""
    superscripts: tuple[tuple[str, Box], ...] = ()
    bold: tuple[Box, ...] = ()
    """Boxes of bold text."""
    glyphs: tuple[item_corrections.PlacedGlyph, ...] = ()
    """All characters, if the items of liteparse are not right: see `_text_of_page`."""
    is_vertical: bool = False
    """True if lines run from top to bottom."""
    unknown: int = 0
    """Number of glyphs for which the file names no character."""


class DocumentFacts(NamedTuple):
    """Declared title and author of a PDF, and the names of the files in it."""

    title: str = ""
    author: str = ""
    files: tuple[str, ...] = ()


def render_page(data: bytes, request: ParseRequest) -> dict[str, Any]:
    """Render the page `request.picture_of` as `render_gray` does; return an empty dict if that fails."""
    with open_document(data, request.password) as document:
        if not document:
            return {}
        with open_page(document, request.picture_of, has_text=False) as (page, _, _):
            return render_gray(page) if page else {}


def read_document(data: bytes, pages: Sequence[int], password: str | None) -> tuple[dict[int, PageText], DocumentFacts]:
    """Return the text of pages, counted from 1, and the facts of the file.

    Pages that PDFium cannot load are left out.
    """
    with open_document(data, password) as document:
        if not document:
            return {}, DocumentFacts()
        texts: dict[int, PageText | None] = {}
        layered, scan_pixels = 0, hidden_text.MAX_SCAN_PIXELS
        for page in pages:
            texts[page], found = _text_of_page(document, page, layered < _MAX_LAYERED_PAGES, scan_pixels)
            layered += found.has_layers
            scan_pixels -= min(scan_pixels, found.scan_pixels)
        library, buffer = pdfium(), ctypes.create_string_buffer(_MAX_INFORMATION_BYTES)

        def text_of(size: int) -> str:
            text = buffer.raw[: size - 2].decode("utf-16-le", "replace") if 2 < size <= len(buffer) else ""
            return " ".join(text.replace("\0", "").split())

        title = text_of(library.FPDF_GetMetaText(document, b"Title", buffer, len(buffer)))
        author = text_of(library.FPDF_GetMetaText(document, b"Author", buffer, len(buffer)))
        attached = (library.FPDFDoc_GetAttachment(document, number)
                    for number in range(min(_MAX_FILES, library.FPDFDoc_GetAttachmentCount(document))))  # fmt: skip
        files = [text_of(library.FPDFAttachment_GetName(one, buffer, len(buffer))) or "unnamed" for one in attached]
    known = {page: text for page, text in texts.items() if text is not None}
    return known, DocumentFacts(title, author, tuple(files))


def find_picture_pages(data: bytes, pages: Sequence[int], password: str | None) -> Iterator[int]:
    """Yield the pages, counted from 1, with pictures that may show text, also in many strips."""
    with open_document(data, password) as document:
        for number in pages if document else ():
            with open_page(document, number, has_text=False) as (page, _, _):
                if page and HiddenTextSearch(page).picture_share > _MIN_PICTURE_SHARE:
                    yield number


def read_visible_lines(data: bytes, pages: Sequence[int], password: str | None) -> dict[int, list[str]]:
    """Return the lines of pages, counted from 1, without hidden text and text outside of its clipping path."""
    lines: dict[int, list[str]] = {}
    with open_document(data, password) as document:
        scan_pixels = hidden_text.MAX_SCAN_PIXELS
        if not document:
            return lines
        for page in pages:
            with open_page(document, page) as (handle, text, count):
                lines[page] = []
                if count:
                    found = HiddenTextSearch(handle).find(check_clips=True, max_scan_pixels=scan_pixels)
                    lines[page] = _split_characters(text, count, found)[0].splitlines()
                    scan_pixels -= min(scan_pixels, found.scan_pixels)
    return lines


def _text_of_page(
    document: int, number: int, check_layers: bool, max_scan_pixels: int
) -> tuple[PageText | None, HiddenText]:
    with open_page(document, number) as (page, text, count):
        if not text or not count:
            return PageText("") if text else None, HiddenText({})
        found = HiddenTextSearch(page).find(check_layers=check_layers, max_scan_pixels=max_scan_pixels)
        superscripts = tuple(_to_device(page, item_corrections.find_superscripts(text, found.plain)))
        bold = tuple(box for _, box in _to_device(page, item_corrections.find_bold(found.plain)))
        unseen, unknown = "", 0
        hidden, visible = (
            tuple(box for _, box in _to_device(page, enumerate(boxes)))
            for boxes in (found.hidden.values(), found.visible)
        )
        if found.hidden:
            content, unseen = _split_characters(text, count, found)
        else:
            buffer = (ctypes.c_uint16 * (count + 1))()
            written = pdfium().FPDFText_GetText(text, 0, count, buffer)
            content = bytes(buffer)[: max(0, written - 1) * 2].decode("utf-16-le", "replace")
            unknown = count + 1 - written + sum(map(content.count, _UNMAPPED)) if written > 0 else 0
        from_right = is_right_to_left(content)
        has_wrong_spaces = not from_right and item_corrections.has_wrong_spaces(content)
        is_vertical = item_corrections.is_vertical(text, content)
        glyphs: Iterable[item_corrections.PlacedGlyph] = ()
        if from_right or has_wrong_spaces or is_vertical or max(content, default="") > "\uffff":
            glyphs = item_corrections.read_glyphs(text, count, found.hidden, as_drawn=has_wrong_spaces)
        placed = tuple(glyph._replace(box=box) for glyph, box in _to_device(page, ((one, one.box) for one in glyphs)))
        return PageText(content, unseen, hidden, visible, superscripts, bold, placed, is_vertical, unknown), found


def _split_characters(text: int, count: int, found: HiddenText) -> tuple[str, str]:
    box = [ctypes.c_double() for _ in range(4)]
    left, right, bottom, top = box
    library = pdfium()
    seen: list[int] = []
    unseen: list[int] = []
    for index in range(count):
        unit = library.FPDFText_GetUnicode(text, index) & 0xFFFF
        is_hidden = bool(found.hidden) and library.FPDFText_GetTextObject(text, index) in found.hidden
        is_letter = not is_hidden and chr(unit).isalnum()
        if is_letter and library.FPDFText_GetCharBox(text, index, *map(ctypes.byref, box)):
            is_hidden = 0 < max(top.value - bottom.value, right.value - left.value) < _MIN_SIZE
        (unseen if is_hidden else seen).append(unit)
    return _decode(seen), _decode(unseen)


def _decode(units: Sequence[int]) -> str:
    return bytes((ctypes.c_uint16 * len(units))(*units)).decode("utf-16-le", "replace")


def _to_device(page: int, found: Iterable[tuple[T, Box]]) -> Iterator[tuple[T, Box]]:
    """Yield what was found with its box in points from the top left of the page as displayed: cropped and rotated."""
    library = pdfium()
    width, height = (round(_UNITS * side(page)) for side in (library.FPDF_GetPageWidthF, library.FPDF_GetPageHeightF))
    x, y = ctypes.c_int(), ctypes.c_int()
    for one, box in found:
        if not all(math.isfinite(edge) and abs(edge) < _MAX_COORDINATE for edge in box):
            continue
        corners = []
        for corner in ((box.x0, box.y0), (box.x1, box.y1)):
            library.FPDF_PageToDevice(page, 0, 0, width, height, 0, *corner, ctypes.byref(x), ctypes.byref(y))
            corners.append((x.value / _UNITS, y.value / _UNITS))
        yield one, Box.around(corners)

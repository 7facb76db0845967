"""Read the text of PDF pages by direct calls of PDFium, to check the text from liteparse, which brings the library."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import liteparse

from scraper.documents.pdf import hidden_text, rendered_contrast
from scraper.documents.pdf.boxes import Box
from scraper.documents.pdf.hidden_text import HiddenText, find_hidden_text
from scraper.documents.pdf.superscripts import find_superscripts
from scraper.documents.pdf.word_spacing import Glyph, has_wrong_spaces, read_glyphs

_MIN_SIZE = 1.0
"""Points. Smaller letters are hidden marks of programs. A box without a size gives no information."""
_MAX_PAGE_CHARS = 1_000_000
_MAX_LAYERED_PAGES = 50
"""Pages of which layers are rendered twice, to find layers that are switched off."""
_UNITS = 10
"""Device units of a point: PDFium computes device coordinates as integers."""
_MAX_COORDINATE = 1e6
_MAX_INFORMATION_BYTES = 8_000
_POINTERS = ("FPDF_LoadMemDocument64", "FPDF_LoadPage", "FPDFText_LoadPage")


@cache
def load_library() -> ctypes.CDLL | None:
    """Load the PDFium library in the package liteparse, once per process; return None if there is none."""
    folder = Path(liteparse.__file__).parent
    path = next((path for path in sorted(folder.iterdir()) if "pdfium" in path.name), None)
    if path is None:
        return None
    library = ctypes.PyDLL(
        str(path)
    )  # Unlike CDLL it keeps the interpreter's lock: a short call takes a quarter less time.
    for name in _POINTERS:
        getattr(library, name).restype = ctypes.c_void_p
    pointer, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    library.FPDF_LoadMemDocument64.argtypes = [text, ctypes.c_size_t, text]
    library.FPDF_LoadPage.argtypes = [pointer, number]
    for name in ("FPDFText_LoadPage", "FPDFText_CountChars", "FPDFText_ClosePage", "FPDF_ClosePage"):
        getattr(library, name).argtypes = [pointer]
    library.FPDF_CloseDocument.argtypes = [pointer]
    library.FPDFText_GetText.argtypes = [pointer, number, number, pointer]
    library.FPDFTextObj_GetText.argtypes = [pointer, pointer, pointer, ctypes.c_ulong]
    library.FPDFTextObj_GetText.restype = ctypes.c_ulong
    library.FPDFText_GetUnicode.argtypes = [pointer, number]
    library.FPDFText_GetUnicode.restype = ctypes.c_uint
    library.FPDFText_GetCharBox.argtypes = [pointer, number, *[ctypes.POINTER(ctypes.c_double)] * 4]
    library.FPDFText_GetTextObject.argtypes = [pointer, number]
    library.FPDFText_GetTextObject.restype = pointer
    library.FPDF_GetMetaText.argtypes = [pointer, text, pointer, ctypes.c_ulong]
    library.FPDF_GetMetaText.restype = ctypes.c_ulong
    rendered_contrast.declare_functions(library)
    hidden_text.declare_functions(library)
    library.FPDF_InitLibrary()
    return library


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
    """Small raised numbers, with their boxes."""
    glyphs: tuple[Glyph, ...] = ()
    """All characters, with the boxes of their drawings, if spaces are in wrong places."""


def read_document(
    data: bytes, pages: Sequence[int], password: str | None
) -> tuple[dict[int, PageText], Mapping[str, str]]:
    """Return the text of pages, counted from 1, and the declared title and author.

    Pages that PDFium cannot load are left out.
    """
    with open_document(data, password) as document:
        if not document:
            return {}, {}
        texts: dict[int, PageText | None] = {}
        layered, scan_pixels = 0, hidden_text.MAX_SCAN_PIXELS
        for page in pages:
            texts[page], found = _text_of_page(*document, page, layered < _MAX_LAYERED_PAGES, scan_pixels)
            layered += found.has_layers
            scan_pixels -= min(scan_pixels, found.scan_pixels)
        declared = {name: _read_information(*document, name) for name in ("Title", "Author")}
    return {page: text for page, text in texts.items() if text is not None}, declared


def _read_information(library: ctypes.CDLL, document: int, name: str) -> str:
    """Return an entry of the document information dictionary."""
    buffer = ctypes.create_string_buffer(_MAX_INFORMATION_BYTES)
    size = library.FPDF_GetMetaText(document, name.encode(), buffer, len(buffer))
    text = buffer.raw[: size - 2].decode("utf-16-le", "replace") if 2 < size <= len(buffer) else ""
    return " ".join(text.replace("\0", "").split())


def read_visible_lines(data: bytes, pages: Sequence[int], password: str | None) -> dict[int, list[str]]:
    """Return the lines of pages, counted from 1, without hidden text and text outside of its clipping path."""
    lines: dict[int, list[str]] = {}
    with open_document(data, password) as document:
        scan_pixels = hidden_text.MAX_SCAN_PIXELS
        if not document:
            return lines
        for page in pages:
            lines[page], found = _lines_of_page(*document, page, scan_pixels)
            scan_pixels -= min(scan_pixels, found.scan_pixels)
    return lines


@contextmanager
def open_document(data: bytes, password: str | None) -> Iterator[tuple[ctypes.CDLL, int] | None]:
    """Yield the library and the handle of a document, or None if PDFium cannot open it."""
    library = load_library()
    encoded = password.encode("utf-8", "replace") if password else None
    document = library.FPDF_LoadMemDocument64(data, len(data), encoded) if library else None
    if library is None or not document:
        yield None
        return
    try:
        yield library, document
    finally:
        library.FPDF_CloseDocument(document)


@contextmanager
def _open_page(library: ctypes.CDLL, document: int, number: int) -> Iterator[tuple[int, int, int]]:
    """Yield the handles of a page and of its text, and its number of characters; 0 if it cannot be loaded."""
    page = library.FPDF_LoadPage(document, number - 1)
    text = library.FPDFText_LoadPage(page) if page else None
    try:
        count = min(_MAX_PAGE_CHARS, max(0, library.FPDFText_CountChars(text))) if text else 0
        yield page or 0, text or 0, count
    finally:
        if text:
            library.FPDFText_ClosePage(text)
        if page:
            library.FPDF_ClosePage(page)


def _text_of_page(
    library: ctypes.CDLL, document: int, number: int, check_layers: bool, max_scan_pixels: int
) -> tuple[PageText | None, HiddenText]:
    """Return the text of a page, and its hidden text objects."""
    with _open_page(library, document, number) as (page, text, count):
        if not text or not count:
            return PageText("") if text else None, HiddenText({})
        found = find_hidden_text(library, page, check_layers=check_layers, max_scan_pixels=max_scan_pixels)
        raised = list(find_superscripts(library, text, found.plain))
        places = _to_device(library, page, (box for _, box in raised))
        superscripts = tuple(zip((number for number, _ in raised), places, strict=len(places) == len(raised)))
        if found.hidden:
            seen, unseen = _split_characters(library, text, count, found)
            hidden, visible = (_to_device(library, page, boxes) for boxes in (found.hidden.values(), found.visible))
            return PageText(seen, unseen, hidden, visible, superscripts), found
        buffer = (ctypes.c_uint16 * (count + 1))()
        written = library.FPDFText_GetText(text, 0, count, buffer)
        content = bytes(buffer)[: max(0, written - 1) * 2].decode("utf-16-le", "replace")
        glyphs = list(read_glyphs(library, text, count)) if has_wrong_spaces(content) else []
        places = _to_device(library, page, (box for _, box in glyphs))
        drawn = tuple(zip((character for character, _ in glyphs), places, strict=len(places) == len(glyphs)))
        return PageText(content, superscripts=superscripts, glyphs=drawn), found


def _lines_of_page(
    library: ctypes.CDLL, document: int, number: int, max_scan_pixels: int
) -> tuple[list[str], HiddenText]:
    with _open_page(library, document, number) as (page, text, count):
        if not count:
            return [], HiddenText({})
        found = find_hidden_text(library, page, check_clips=True, max_scan_pixels=max_scan_pixels)
        return _split_characters(library, text, count, found)[0].splitlines(), found


def _split_characters(library: ctypes.CDLL, text: int, count: int, found: HiddenText) -> tuple[str, str]:
    """Return the visible characters of a page, and the hidden ones."""
    box = [ctypes.c_double() for _ in range(4)]
    left, right, bottom, top = box
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


def _to_device(library: ctypes.CDLL, page: int, boxes: Iterable[Box]) -> tuple[Box, ...]:
    """Return boxes in points from the top left of the page as displayed: cropped and rotated."""
    width, height = (round(_UNITS * side(page)) for side in (library.FPDF_GetPageWidthF, library.FPDF_GetPageHeightF))
    x, y = ctypes.c_int(), ctypes.c_int()
    found = []
    for box in boxes:
        corners = []
        for corner in ((box.x0, box.y0), (box.x1, box.y1)):
            if all(map(math.isfinite, corner)) and max(map(abs, corner)) < _MAX_COORDINATE:
                library.FPDF_PageToDevice(page, 0, 0, width, height, 0, *corner, ctypes.byref(x), ctypes.byref(y))
                corners.append((x.value / _UNITS, y.value / _UNITS))
        if len(corners) == 2:
            (x0, y0), (x1, y1) = corners
            found.append(Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)))
    return tuple(found)

"""Text of PDF pages as PDFium itself reads it: an independent count, from the library inside of liteparse."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import liteparse

_MIN_SIZE = 1.0
"""Points. Smaller letters are hidden marks of programs. A box without a size says nothing."""
_MAX_PAGE_CHARS = 1_000_000
_POINTERS = ("FPDF_LoadMemDocument64", "FPDF_LoadPage", "FPDFText_LoadPage")


@cache
def load_library() -> ctypes.CDLL | None:
    """Return the PDFium library that liteparse brings, or None if this system has it elsewhere."""
    folder = Path(liteparse.__file__).parent
    path = next((path for path in sorted(folder.iterdir()) if "pdfium" in path.name), None)
    if path is None:
        return None
    library = ctypes.CDLL(str(path))
    for name in _POINTERS:
        getattr(library, name).restype = ctypes.c_void_p
    pointer, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    library.FPDF_LoadMemDocument64.argtypes = [text, ctypes.c_size_t, text]
    library.FPDF_LoadPage.argtypes = [pointer, number]
    for name in ("FPDFText_LoadPage", "FPDFText_CountChars", "FPDFText_ClosePage", "FPDF_ClosePage"):
        getattr(library, name).argtypes = [pointer]
    library.FPDF_CloseDocument.argtypes = [pointer]
    library.FPDFText_GetText.argtypes = [pointer, number, number, pointer]
    library.FPDFText_GetUnicode.argtypes = [pointer, number]
    library.FPDFText_GetUnicode.restype = ctypes.c_uint
    library.FPDFText_GetCharBox.argtypes = [pointer, number, *[ctypes.POINTER(ctypes.c_double)] * 4]
    library.FPDF_InitLibrary()
    return library


def read_texts(data: bytes, pages: Sequence[int], password: str | None) -> dict[int, str]:
    """Return the text of pages, counted from 1; leave out pages that PDFium cannot load."""
    with _open_document(data, password) as document:
        texts = {page: _text_of_page(*document, page) for page in pages} if document else {}
    return {page: text for page, text in texts.items() if text is not None}


def read_visible_lines(data: bytes, pages: Sequence[int], password: str | None) -> dict[int, list[str]]:
    """Return the lines of pages without letters too small to be seen."""
    with _open_document(data, password) as document:
        return {page: _lines_of_page(*document, page) for page in pages} if document else {}


@contextmanager
def _open_document(data: bytes, password: str | None) -> Iterator[tuple[ctypes.CDLL, int] | None]:
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
def _open_page(library: ctypes.CDLL, document: int, number: int) -> Iterator[tuple[int, int]]:
    """Yield the handle of a page's text and its number of characters; 0 characters if it cannot be loaded."""
    page = library.FPDF_LoadPage(document, number - 1)
    text = library.FPDFText_LoadPage(page) if page else None
    try:
        yield text or 0, min(_MAX_PAGE_CHARS, max(0, library.FPDFText_CountChars(text))) if text else 0
    finally:
        if text:
            library.FPDFText_ClosePage(text)
        if page:
            library.FPDF_ClosePage(page)


def _text_of_page(library: ctypes.CDLL, document: int, number: int) -> str | None:
    with _open_page(library, document, number) as (text, count):
        if not text:
            return None
        buffer = (ctypes.c_uint16 * (count + 1))()
        written = library.FPDFText_GetText(text, 0, count, buffer) if count else 0
        return bytes(buffer)[: max(0, written - 1) * 2].decode("utf-16-le", "replace")


def _lines_of_page(library: ctypes.CDLL, document: int, number: int) -> list[str]:
    box = [ctypes.c_double() for _ in range(4)]
    left, right, bottom, top = box
    units: list[int] = []
    with _open_page(library, document, number) as (text, count):
        for index in range(count):
            unit = library.FPDFText_GetUnicode(text, index) & 0xFFFF
            if chr(unit).isalnum() and library.FPDFText_GetCharBox(text, index, *map(ctypes.byref, box)):
                size = max(top.value - bottom.value, right.value - left.value)
                if 0 < size < _MIN_SIZE:
                    continue
            units.append(unit)
    return bytes((ctypes.c_uint16 * len(units))(*units)).decode("utf-16-le", "replace").splitlines()

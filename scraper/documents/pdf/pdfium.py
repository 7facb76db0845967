"""Direct calls of PDFium, the library that liteparse brings: its functions, documents and pages."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import liteparse

_MAX_PAGE_CHARS = 1_000_000
_TYPES = {
    "p": ctypes.c_void_p, "i": ctypes.c_int, "I": ctypes.c_uint, "L": ctypes.c_ulong, "z": ctypes.c_size_t,
    "s": ctypes.c_char_p, "d": ctypes.c_double, "f": ctypes.c_float,
}  # fmt: skip
_SIGNATURES = (
    "FPDF_LoadMemDocument64 p szs", "FPDF_CloseDocument i p", "FPDF_GetMetaText L pspL", "FPDF_LoadPage p pi",
    "FPDF_ClosePage i p", "FPDF_GetPageWidthF f p", "FPDF_GetPageHeightF f p", "FPDF_GetPageBoundingBox i pp",
    "FPDF_PageToDevice i piiiiiddpp", "FPDF_RenderPageBitmap i ppiiiiii", "FPDFBitmap_CreateEx p iiipi",
    "FPDFBitmap_FillRect i piiiiL", "FPDFBitmap_GetStride i p", "FPDFBitmap_GetBuffer p p", "FPDFBitmap_Destroy i p",
    "FPDFText_LoadPage p p", "FPDFText_ClosePage i p", "FPDFText_CountChars i p", "FPDFText_GetText i piip",
    "FPDFText_GetUnicode I pi", "FPDFText_GetCharBox i pipppp", "FPDFText_GetLooseCharBox i pip",
    "FPDFText_GetCharOrigin i pipp", "FPDFText_GetTextObject p pi", "FPDFText_IsGenerated i pi",
    "FPDFPage_CountObjects i p",
    "FPDFPage_GetObject p pL", "FPDFFormObj_CountObjects i p",
    "FPDFFormObj_GetObject p pL", "FPDFPageObj_GetType i p", "FPDFPageObj_GetBounds i ppppp",
    "FPDFPageObj_GetFillColor i ppppp", "FPDFPageObj_GetMatrix i pp", "FPDFPageObj_HasTransparency i p",
    "FPDFPageObj_SetIsActive i pi", "FPDFPageObj_CountMarks i p", "FPDFPageObj_GetMark p pL",
    "FPDFPageObj_GetMarkedContentID i p", "FPDFPageObjMark_GetName i ppLp", "FPDFPageObj_GetClipPath p p",
    "FPDFClipPath_CountPaths i p",
    "FPDFClipPath_CountPathSegments i pi", "FPDFClipPath_GetPathSegment p pii", "FPDFPathSegment_GetPoint i ppp",
    "FPDFPath_CountSegments i p", "FPDFPath_GetDrawMode i ppp", "FPDFImageObj_GetImagePixelSize i ppp",
    "FPDFTextObj_GetTextRenderMode i p", "FPDFTextObj_GetFontSize i pp", "FPDFTextObj_GetText L pppL",
)  # fmt: skip
"""Name, type of the result, and types of the arguments of each function, by the letters of `_TYPES`."""


@cache
def pdfium() -> ctypes.PyDLL:
    """Load the PDFium library in the package liteparse, once per process.

    Raises:
        FileNotFoundError: The package has no such library.
    """
    folder = Path(liteparse.__file__).parent
    path = next((path for path in sorted(folder.iterdir()) if "pdfium" in path.name), None)
    if path is None:
        raise FileNotFoundError("liteparse has no PDFium library.")
    # Unlike CDLL it keeps the interpreter's lock: a short call takes a quarter less time.
    library = ctypes.PyDLL(str(path))
    for name, result, arguments in map(str.split, _SIGNATURES):
        function = getattr(library, name)
        function.restype, function.argtypes = _TYPES[result], [_TYPES[letter] for letter in arguments]
    library.FPDF_InitLibrary()
    return library


@contextmanager
def open_document(data: bytes, password: str | None) -> Iterator[int]:
    """Yield the handle of a document, or 0 if PDFium cannot open it."""
    encoded = password.encode("utf-8", "replace") if password else None
    try:
        document: int = pdfium().FPDF_LoadMemDocument64(data, len(data), encoded) or 0
    except FileNotFoundError:
        document = 0
    try:
        yield document
    finally:
        if document:
            pdfium().FPDF_CloseDocument(document)


@contextmanager
def open_page(document: int, number: int, *, has_text: bool = True) -> Iterator[tuple[int, int, int]]:
    """Yield the handles of a page and of its text, and its number of characters; 0 for what cannot be loaded."""
    library = pdfium()
    page = library.FPDF_LoadPage(document, number - 1)
    text = library.FPDFText_LoadPage(page) if page and has_text else None
    try:
        count = min(_MAX_PAGE_CHARS, max(0, library.FPDFText_CountChars(text))) if text else 0
        yield page or 0, text or 0, count
    finally:
        if text:
            library.FPDFText_ClosePage(text)
        if page:
            library.FPDF_ClosePage(page)

"""Render pages of a PDF as gray pixels, for text recognition."""

from __future__ import annotations

import base64
import ctypes
import zlib
from typing import Any

from scraper.documents.model import ParseRequest
from scraper.documents.pdf import liteparse_items, pdfium_text

_DPI = 200
"""Dots per inch. Recognition of text of 10 points gets worse below."""
_POINTS_PER_INCH = 72
_MAX_SIDE = 4_000
_GRAY = 1
"""Format of a bitmap with one byte per pixel (fpdfview.h)."""
_WHITE = 0xFFFFFFFF
_FAST = 1
"""Level of zlib: it reduces a scan to a third, in a twentieth of the time for its recognition."""


def warm_up(request: ParseRequest | None = None) -> None:
    """Load PDFium."""
    liteparse_items.warm_up()
    pdfium_text.load_library()


def render_page(data: bytes, request: ParseRequest) -> dict[str, Any]:
    """Render the page `request.picture_of` in gray; return an empty dict if it cannot be rendered.

    The dict contains `width` (bytes of a pixel row), `height`, `dpi`, and `pixels` (zlib, then Base64).
    """
    with pdfium_text.open_document(data, request.password) as document:
        if document is None:
            return {}
        library, handle = document
        page = library.FPDF_LoadPage(handle, request.picture_of - 1)
        if not page:
            return {}
        try:
            return _render(library, page)
        finally:
            library.FPDF_ClosePage(page)


def _render(library: ctypes.CDLL, page: int) -> dict[str, Any]:
    sides = library.FPDF_GetPageWidthF(page), library.FPDF_GetPageHeightF(page)
    scale = min(_DPI / _POINTS_PER_INCH, _MAX_SIDE / max(1.0, *sides))
    width, height = (max(1, int(side * scale)) for side in sides)
    bitmap = library.FPDFBitmap_CreateEx(width, height, _GRAY, None, 0)
    if not bitmap:
        return {}
    try:
        library.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, _WHITE)
        library.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, 0)
        stride = library.FPDFBitmap_GetStride(bitmap)
        pixels = ctypes.string_at(library.FPDFBitmap_GetBuffer(bitmap), stride * height)
    finally:
        library.FPDFBitmap_Destroy(bitmap)
    packed = base64.b64encode(zlib.compress(pixels, _FAST)).decode("ascii")
    return {"width": stride, "height": height, "dpi": int(scale * _POINTS_PER_INCH), "pixels": packed}

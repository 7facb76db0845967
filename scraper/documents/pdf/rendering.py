"""Render PDF pages, for text recognition and to check in a low resolution if letters contrast with their background."""

from __future__ import annotations

import base64
import ctypes
import zlib
from collections.abc import Sequence
from typing import Any

from scraper.documents.pdf.pdfium import Box, PageObject, pdfium

_GRAY, _BGRX = 1, 3
"""Formats of a bitmap with one and with four bytes per pixel (fpdfview.h)."""
_WITH_ANNOTATIONS = 0x01
_WHITE = 0xFFFFFFFF
_SCALE = 1.5
"""Pixels per point."""
_MAX_PIXELS = 1_600
_MIN_CONTRAST = 24
"""Difference of a color channel, of 255, within a column of pixels."""
_MIN_INKED_SHARE = 0.15
"""Ratio of columns with contrast. Letters leave gaps; a neighbor's edge fills a column or two."""
_MARGIN_SHARE = 0.15
"""Ratio of the rows at the top and at the bottom of a box that do not count: rules touch them."""
_DPI = 200
"""Dots per inch. Recognition of text of 10 points gets worse below."""
_POINTS_PER_INCH = 72
_MAX_SIDE = 4_000
_FAST = 1
"""Level of zlib: it reduces a scan to a third, in a twentieth of the time for its recognition."""


def _render(
    page: int, size: tuple[int, int], place: tuple[int, int, int, int], kind: int, flags: int = 0
) -> tuple[int, bytes]:
    """Return the bytes per row and the pixels of a bitmap, on which the page takes a place; 0 and none if it fails."""
    library = pdfium()
    bitmap = library.FPDFBitmap_CreateEx(*size, kind, None, 0) if min(size) > 0 else None
    if not bitmap:
        return 0, b""
    try:
        library.FPDFBitmap_FillRect(bitmap, 0, 0, *size, _WHITE)
        library.FPDF_RenderPageBitmap(bitmap, page, *place, 0, flags)
        stride = library.FPDFBitmap_GetStride(bitmap)
        return stride, ctypes.string_at(library.FPDFBitmap_GetBuffer(bitmap), stride * size[1])
    finally:
        library.FPDFBitmap_Destroy(bitmap)


def render_gray(page: int) -> dict[str, Any]:
    """Render a page in gray; return an empty dict if it cannot be rendered.

    The dict contains `width` (bytes of a pixel row), `height`, `dpi`, and `pixels` (zlib, then Base64).
    """
    sides = pdfium().FPDF_GetPageWidthF(page), pdfium().FPDF_GetPageHeightF(page)
    scale = min(_DPI / _POINTS_PER_INCH, _MAX_SIDE / max(1.0, *sides))
    width, height = (max(1, int(side * scale)) for side in sides)
    stride, pixels = _render(page, (width, height), (0, 0, width, height), _GRAY)
    packed = base64.b64encode(zlib.compress(pixels, _FAST)).decode("ascii")
    dpi = int(scale * _POINTS_PER_INCH)
    return {"width": stride, "height": height, "dpi": dpi, "pixels": packed} if pixels else {}


class PagePixels:
    """Pixels of a page as displayed, around some boxes."""

    def __init__(self, page: int, boxes: Sequence[Box]) -> None:
        """Render the smallest rectangle around all boxes, given in points of the page."""
        self._page, library = page, pdfium()
        sides = library.FPDF_GetPageWidthF(page), library.FPDF_GetPageHeightF(page)
        scale = min(_SCALE, _MAX_PIXELS / max(1.0, *sides))
        self._page_size = tuple(int(max(1, side * scale + 0.5)) for side in sides)
        self._left = self._top = 0
        corners = [self._to_pixel(x, y) for box in boxes for x, y in ((box.x0, box.y0), (box.x1, box.y1))]
        columns, lines = [column for column, _ in corners], [line for _, line in corners]
        self._left, self._top = max(0, min(columns)), max(0, min(lines))
        self._width = min(self._page_size[0], max(columns) + 1) - self._left
        self._height = min(self._page_size[1], max(lines) + 1) - self._top
        place = (-self._left, -self._top, self._page_size[0], self._page_size[1])
        self._stride, self._pixels = _render(page, (self._width, self._height), place, _BGRX, _WITH_ANNOTATIONS)

    def has_ink(self, box: Box) -> bool:
        """Return True if a part of a box, given in points of the page, contrasts with its background."""
        left, top, right, bottom = self._place(box)
        margin = int((bottom - top) * _MARGIN_SHARE)
        rows = [
            self._pixels[row * self._stride + left * 4 : row * self._stride + right * 4]
            for row in range(top + margin, bottom - margin)
        ]
        if not self._pixels or not rows or right <= left:
            return False
        inked = 0
        for at in range(0, 4 * (right - left), 4):
            channels = ([row[at + channel] for row in rows] for channel in range(3))  # Blue, green and red.
            inked += any(max(column) - min(column) >= _MIN_CONTRAST for column in channels)
        return inked >= max(1.0, _MIN_INKED_SHARE * (right - left))

    def differs_from(self, other: PagePixels, box: Box) -> bool:
        """Return True if a box, given in points of the page, looks different in another rendering of the same boxes."""
        left, top, right, bottom = self._place(box)
        rows = range(top * self._stride, bottom * self._stride, self._stride)
        pairs = ((row + left * 4, row + right * 4) for row in rows)
        return any(self._pixels[start:end] != other._pixels[start:end] for start, end in pairs)

    def _place(self, box: Box) -> tuple[int, int, int, int]:
        left, top = self._to_pixel(box.x0, box.y0)
        right, bottom = self._to_pixel(box.x1, box.y1)
        left, right = max(0, min(left, right)), min(self._width, max(left, right) + 1)
        return left, max(0, min(top, bottom)), right, min(self._height, max(top, bottom) + 1)

    def _to_pixel(self, x: float, y: float) -> tuple[int, int]:
        column, line = ctypes.c_int(), ctypes.c_int()
        place = (self._page, 0, 0, *self._page_size, 0, x, y, ctypes.byref(column), ctypes.byref(line))
        pdfium().FPDF_PageToDevice(*place)
        return column.value - self._left, line.value - self._top


def find_invisible(page: int, texts: Sequence[PageObject]) -> set[int]:
    """Return the handles of texts whose removal changes no pixel in their boxes."""
    if not texts:
        return set()
    boxes = [one.box for one in texts]
    before = PagePixels(page, boxes)
    try:
        for one in texts:
            pdfium().FPDFPageObj_SetIsActive(one.handle, False)
        after = PagePixels(page, boxes)
    finally:
        for one in texts:
            pdfium().FPDFPageObj_SetIsActive(one.handle, True)
    return {one.handle for one in texts if not before.differs_from(after, one.box)}

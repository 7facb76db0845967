"""Render a part of a PDF page in a low resolution, to check if letters contrast with their background."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from scraper.documents.pdf.boxes import Box
from scraper.documents.pdf.page_objects import PageObject

_BGRX = 3
"""Format of a bitmap with four bytes per pixel (fpdfview.h)."""
_WITH_ANNOTATIONS = 0x01
_OPAQUE_WHITE = 0xFFFFFFFF
_SCALE = 1.5
"""Pixels per point."""
_MAX_PIXELS = 1_600
_MIN_CONTRAST = 24
"""Difference of a color channel, of 255, within a column of pixels."""
_MIN_INKED_SHARE = 0.15
"""Ratio of columns with contrast. Letters leave gaps; a neighbor's edge fills a column or two."""
_MARGIN_SHARE = 0.15
"""Ratio of the rows at the top and at the bottom of a box that do not count: rules touch them."""


def declare_functions(library: ctypes.CDLL) -> None:
    """Declare the ctypes signatures of the PDFium functions that this module calls."""
    pointer, number = ctypes.c_void_p, ctypes.c_int
    library.FPDFPageObj_SetIsActive.argtypes = [pointer, number]
    library.FPDFBitmap_CreateEx.argtypes = [number, number, number, pointer, number]
    library.FPDFBitmap_CreateEx.restype = pointer
    library.FPDFBitmap_FillRect.argtypes = [pointer, *[number] * 4, ctypes.c_ulong]
    library.FPDFBitmap_GetStride.argtypes = [pointer]
    library.FPDFBitmap_GetBuffer.argtypes = [pointer]
    library.FPDFBitmap_GetBuffer.restype = pointer
    library.FPDFBitmap_Destroy.argtypes = [pointer]
    library.FPDF_RenderPageBitmap.argtypes = [pointer, pointer, *[number] * 6]
    library.FPDF_PageToDevice.argtypes = [
        pointer, *[number] * 5, *[ctypes.c_double] * 2, *[ctypes.POINTER(number)] * 2,
    ]  # fmt: skip
    for name in ("FPDF_GetPageWidthF", "FPDF_GetPageHeightF"):
        getattr(library, name).argtypes, getattr(library, name).restype = [pointer], ctypes.c_float


class PagePixels:
    """Pixels of a page as displayed, around some boxes."""

    def __init__(self, library: ctypes.CDLL, page: int, boxes: Sequence[Box]) -> None:
        """Render the smallest rectangle around all boxes, given in points of the page."""
        self._library, self._page = library, page
        sides = library.FPDF_GetPageWidthF(page), library.FPDF_GetPageHeightF(page)
        scale = min(_SCALE, _MAX_PIXELS / max(1.0, *sides))
        self._page_width, self._page_height = (int(max(1, side * scale + 0.5)) for side in sides)
        self._left = self._top = self._stride = 0
        self._pixels = b""
        corners = [self._to_pixel(x, y) for box in boxes for x, y in ((box.x0, box.y0), (box.x1, box.y1))]
        columns, lines = [column for column, _ in corners], [line for _, line in corners]
        self._left, self._top = max(0, min(columns)), max(0, min(lines))
        self._width: int = min(self._page_width, max(columns) + 1) - self._left
        self._height: int = min(self._page_height, max(lines) + 1) - self._top
        inside = self._width > 0 and self._height > 0
        bitmap = library.FPDFBitmap_CreateEx(self._width, self._height, _BGRX, None, 0) if inside else None
        if not bitmap:
            return
        try:
            library.FPDFBitmap_FillRect(bitmap, 0, 0, self._width, self._height, _OPAQUE_WHITE)
            place = -self._left, -self._top, self._page_width, self._page_height
            library.FPDF_RenderPageBitmap(bitmap, page, *place, 0, _WITH_ANNOTATIONS)
            self._stride = library.FPDFBitmap_GetStride(bitmap)
            self._pixels = ctypes.string_at(library.FPDFBitmap_GetBuffer(bitmap), self._stride * self._height)
        finally:
            library.FPDFBitmap_Destroy(bitmap)

    def has_ink(self, x0: float, y0: float, x1: float, y1: float) -> bool:
        """Return True if a part of a box, given in points of the page, contrasts with its background."""
        left, top, right, bottom = self._place(x0, y0, x1, y1)
        margin = int((bottom - top) * _MARGIN_SHARE)
        rows = [
            self._pixels[row * self._stride + left * 4 : row * self._stride + right * 4]
            for row in range(top + margin, bottom - margin)
        ]
        if not self._pixels or not rows or right <= left:
            return False
        inked: int = sum(
            any(max(column) - min(column) >= _MIN_CONTRAST for column in self._channels(rows, at))
            for at in range(right - left)
        )
        return inked >= max(1.0, _MIN_INKED_SHARE * (right - left))

    def differs_from(self, other: PagePixels, box: Box) -> bool:
        """Return True if a box, given in points of the page, looks different in another rendering of the same boxes."""
        left, top, right, bottom = self._place(*box)
        rows = range(top * self._stride, bottom * self._stride, self._stride)
        pairs = ((row + left * 4, row + right * 4) for row in rows)
        return any(self._pixels[start:end] != other._pixels[start:end] for start, end in pairs)

    def _place(self, x0: float, y0: float, x1: float, y1: float) -> tuple[int, int, int, int]:
        """Return left, top, right and bottom of a box in pixels; right and bottom are exclusive."""
        left, top = self._to_pixel(x0, y0)
        right, bottom = self._to_pixel(x1, y1)
        left, right = max(0, min(left, right)), min(self._width, max(left, right) + 1)
        return left, max(0, min(top, bottom)), right, min(self._height, max(top, bottom) + 1)

    @staticmethod
    def _channels(rows: list[bytes], at: int) -> list[bytes]:
        """Return blue, green and red of one column of pixels."""
        return [bytes(row[at * 4 + channel] for row in rows) for channel in range(3)]

    def _to_pixel(self, x: float, y: float) -> tuple[int, int]:
        column, line = ctypes.c_int(), ctypes.c_int()
        self._library.FPDF_PageToDevice(
            self._page, 0, 0, self._page_width, self._page_height, 0, x, y, ctypes.byref(column), ctypes.byref(line)
        )
        return column.value - self._left, line.value - self._top


def find_invisible(library: ctypes.CDLL, page: int, texts: Sequence[PageObject]) -> set[int]:
    """Return the handles of texts whose removal changes no pixel in their boxes."""
    if not texts:
        return set()
    boxes = [one.box for one in texts]
    before = PagePixels(library, page, boxes)
    try:
        for one in texts:
            library.FPDFPageObj_SetIsActive(one.handle, False)
        after = PagePixels(library, page, boxes)
    finally:
        for one in texts:
            library.FPDFPageObj_SetIsActive(one.handle, True)
    return {one.handle for one in texts if not before.differs_from(after, one.box)}

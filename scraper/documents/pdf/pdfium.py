"""Direct calls of PDFium, the library that liteparse brings: documents, pages, page objects and renderings.

Pages are rendered for text recognition, and in a low resolution to check if letters contrast with their background.
"""

from __future__ import annotations

import base64
import ctypes
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import liteparse

from scraper.values.text import read_file

_MAX_PAGE_CHARS = 1_000_000
_TYPES = {
    "p": ctypes.c_void_p, "i": ctypes.c_int, "I": ctypes.c_uint, "L": ctypes.c_ulong, "z": ctypes.c_size_t,
    "s": ctypes.c_char_p, "d": ctypes.c_double, "f": ctypes.c_float,
}  # fmt: skip
_SIGNATURES = read_file(__package__, "functions.txt").splitlines()
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


TEXT, PATH, IMAGE, SHADING, FORM = 1, 2, 3, 4, 5
"""Types of page objects (fpdf_edit.h)."""
NO_TEXT = -1
"""Text rendering mode of an object that is not text."""
OPAQUE = 255
_MARK_BYTES, _LAYER_MARK = 64, "OC\0".encode("utf-16-le")
_MAX_RECTANGLE_SEGMENTS, _MAX_CLIP_PATHS, _MAX_CLIP_SEGMENTS = 6, 8, 50
_SLACK = 1.0
"""Points by which a covered box may extend beyond the covering one."""


class Box(NamedTuple):
    """Rectangle in points. In PDFium the origin is the bottom left of the page, in `PageText` the top left."""

    x0: float
    y0: float
    x1: float
    y1: float

    @classmethod
    def around(cls, points: Iterable[tuple[float, float]]) -> Box:
        """Return the smallest box that holds some points."""
        xs, ys = zip(*points, strict=True)
        return cls(min(xs), min(ys), max(xs), max(ys))

    @property
    def area(self) -> float:
        """Area in square points; 0 for a box without width or height."""
        return self.overlap(self)

    @property
    def center(self) -> tuple[float, float]:
        """Center of the box."""
        x0, y0, x1, y1 = self
        return (x0 + x1) / 2, (y0 + y1) / 2

    def holds(self, x: float, y: float) -> bool:
        """Return True if the point is inside."""
        x0, y0, x1, y1 = self
        return x0 <= x <= x1 and y0 <= y <= y1

    def covers(self, other: Box) -> bool:
        """Return True if the other box is inside, with a little slack."""
        return (
            self.x0 - _SLACK <= other.x0 and other.x1 <= self.x1 + _SLACK
            and self.y0 - _SLACK <= other.y0 and other.y1 <= self.y1 + _SLACK
        )  # fmt: skip

    def overlap(self, other: Box) -> float:
        """Return the area that both share."""
        x0, y0, x1, y1 = self
        left, bottom, right, top = other
        # Comparisons take a third of the time of `min` and `max`, for the same result.
        width = (right if right < x1 else x1) - (left if left > x0 else x0)
        height = (top if top < y1 else y1) - (bottom if bottom > y0 else y0)
        return width * height if width > 0 and height > 0 else 0.0

    def grow(self, points: float) -> Box:
        """Return a box that is larger on each side."""
        return Box(self.x0 - points, self.y0 - points, self.x1 + points, self.y1 + points)

    def intersect(self, other: Box) -> Box:
        """Return the part that both boxes share; its sides are in reverse order if they share none."""
        return Box(max(self.x0, other.x0), max(self.y0, other.y0), min(self.x1, other.x1), min(self.y1, other.y1))


class TransformMatrix(ctypes.Structure):
    """Transformation of a form (FS_MATRIX): x' = ax + cy + e, y' = bx + dy + f."""

    _fields_ = tuple((name, ctypes.c_float) for name in "abcdef")

    @property
    def scale(self) -> float:
        """Factor by which it enlarges, along the axis that it enlarges more."""
        return max(math.hypot(self.a, self.b), math.hypot(self.c, self.d))


Matrices = tuple[TransformMatrix, ...]
"""Matrices of the forms that hold an object, from the innermost outwards."""


def transform(box: Box, matrices: Matrices) -> Box:
    """Return the bounding box of a transformed box."""
    for m in matrices:
        corners = ((x, y) for x in (box.x0, box.x1) for y in (box.y0, box.y1))
        box = Box.around((m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f) for x, y in corners)
    return box


Fill = tuple[int, int, int, int]
"""Red, green, blue and opacity."""


class PageObject(NamedTuple):
    """A page object with its box on the page, in the order of painting."""

    kind: int
    handle: int
    box: Box
    order: int
    matrices: Matrices
    mode: int
    fill: Fill | None
    """Color of the fill; None for patterns."""


def read_objects(
    prefix: str, parent: int, count: int
) -> Iterator[tuple[int, int, tuple[float, ...] | None, Fill | None]]:
    """Yield handle, text rendering mode, sides and fill color of the first objects of a page or form.

    The prefix of functions is FPDFPage or FPDFFormObj; missing values are None.
    """
    library = pdfium()
    get_object, sides, color = getattr(library, f"{prefix}_GetObject"), (ctypes.c_float * 4)(), (ctypes.c_uint * 4)()
    side_references, color_references = ([ctypes.byref(four, 4 * at) for at in range(4)] for four in (sides, color))
    for number in range(count):
        handle = get_object(parent, number)
        has_box = library.FPDFPageObj_GetBounds(handle, *side_references)
        has_color = library.FPDFPageObj_GetFillColor(handle, *color_references)
        mode = library.FPDFTextObj_GetTextRenderMode(handle)
        red, green, blue, opacity = color
        yield handle, mode, tuple(sides) if has_box else None, (red, green, blue, opacity) if has_color else None


def read_matrix(handle: int) -> TransformMatrix:
    """Return the matrix of an object."""
    matrix = TransformMatrix()
    pdfium().FPDFPageObj_GetMatrix(handle, ctypes.byref(matrix))
    return matrix


def font_size(handle: int, matrices: Matrices) -> float:
    """Return the size of a text's font on the page in points; 0 if unknown."""
    size = ctypes.c_float()
    if not pdfium().FPDFTextObj_GetFontSize(handle, ctypes.byref(size)):
        return 0.0
    return abs(size.value) * read_matrix(handle).scale * math.prod(matrix.scale for matrix in matrices)


def pixel_count(image: PageObject) -> int:
    """Return the number of pixels of an image."""
    width, height = ctypes.c_uint(), ctypes.c_uint()
    pdfium().FPDFImageObj_GetImagePixelSize(image.handle, ctypes.byref(width), ctypes.byref(height))
    return width.value * height.value


def is_filled(path: PageObject) -> bool:
    """Return True if the inside of a path is painted."""
    fill = ctypes.c_int()
    pdfium().FPDFPath_GetDrawMode(path.handle, ctypes.byref(fill), ctypes.byref(ctypes.c_int()))
    return fill.value != 0


def is_rectangle(path: PageObject) -> bool:
    """Return True for a path with as few segments as a rectangle."""
    segments: int = pdfium().FPDFPath_CountSegments(path.handle)
    return 4 <= segments <= _MAX_RECTANGLE_SEGMENTS


def clip_box(one: PageObject) -> Box | None:
    """Return the box of the page in which an object is painted; None if nothing clips it."""
    library = pdfium()
    clip = library.FPDFPageObj_GetClipPath(one.handle)
    count = library.FPDFClipPath_CountPaths(clip) if clip else 0
    box: Box | None = None
    x, y = ctypes.c_float(), ctypes.c_float()
    for path in range(min(max(0, count), _MAX_CLIP_PATHS)):
        points = []
        for index in range(min(_MAX_CLIP_SEGMENTS, max(0, library.FPDFClipPath_CountPathSegments(clip, path)))):
            segment = library.FPDFClipPath_GetPathSegment(clip, path, index)
            if segment and library.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y)):
                points.append((x.value, y.value))
        if points:
            part = transform(Box.around(points), one.matrices)
            box = part if box is None else box.intersect(part)
    return box


def group_by_layer(texts: Iterable[PageObject]) -> dict[int, list[PageObject]]:
    """Return the text of optional content (layers), by the handle of its mark."""
    library = pdfium()
    is_layer: dict[int, bool] = {}
    layers: dict[int, list[PageObject]] = {}
    name = ctypes.create_string_buffer(_MARK_BYTES)
    for one in texts:
        for index in range(library.FPDFPageObj_CountMarks(one.handle)):
            mark = library.FPDFPageObj_GetMark(one.handle, index)
            if mark not in is_layer:
                library.FPDFPageObjMark_GetName(mark, name, len(name), ctypes.byref(ctypes.c_ulong()))
                is_layer[mark] = name.raw.startswith(_LAYER_MARK)
            if is_layer[mark]:
                layers.setdefault(mark, []).append(one)
    return layers


_SAME_COLOR = 8
"""Difference of each color channel, of 255, that is not visible."""
WHITE = (255, 255, 255, OPAQUE)


def is_same_color(one: Fill, other: Fill) -> bool:
    """Return True if the difference of two colors is not visible, apart from their opacity."""
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]), abs(one[2] - other[2])) <= _SAME_COLOR


_GRAY, _BGRX = 1, 3
"""Formats of a bitmap with one and with four bytes per pixel (fpdfview.h)."""
_WITH_ANNOTATIONS = 0x01
_WHITE = 0xFFFFFFFF
_PIXELS_PER_POINT = 1.5
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
        scale = min(_PIXELS_PER_POINT, _MAX_PIXELS / max(1.0, *sides))
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

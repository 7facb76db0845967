"""Boxes and page objects of PDFium: boxes, text modes and colors in batches, single properties, and colors compared.

A document of a hundred pages has 50,000 objects. `map` calls a function of the library in half of the time that a
loop takes.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, repeat
from typing import Any, NamedTuple

from scraper.documents.pdf.pdfium import pdfium

TEXT, PATH, IMAGE, SHADING, FORM = 1, 2, 3, 4, 5
"""Types of page objects (fpdf_edit.h)."""
NO_TEXT = -1
"""Text rendering mode of an object that is not text."""
OPAQUE = 255
_MARK_BYTES, _LAYER_MARK = 64, "OC\0".encode("utf-16-le")
_BATCH_OBJECTS = 512
"""Objects per batch."""
_SIDES = _VALUE_BYTES = 4
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
SimpleObject = tuple[int, tuple[float, float, float, float], int, Matrices]
"""Handle, box, order and matrices of an object: the first fields of `PageObject`."""
Fields = tuple[int, int, tuple[float, float, float, float] | None, Fill | None]
"""Handle, text rendering mode, left, bottom, right and top, and fill color."""


class PageObject(NamedTuple):
    """A page object with its box on the page, in the order of painting."""

    kind: int
    handle: int
    box: Box
    order: int
    matrices: Matrices = ()
    mode: int = NO_TEXT
    """Text rendering mode."""
    fill: Fill | None = None
    """Color of the fill; None for patterns."""


class _Slots:
    """Memory for one batch, with a reference to each value: PDFium returns four values of an object by reference."""

    def __init__(self, kind: type[ctypes._SimpleCData[Any]], code: str) -> None:
        """Reserve memory for four values of this type per object; `code` is the type in the notation of `struct`."""
        self.values = (kind * (_SIDES * _BATCH_OBJECTS))()
        self._quadruple = struct.Struct(f"={_SIDES}{code}")
        places = range(0, _BATCH_OBJECTS * _SIDES * _VALUE_BYTES, _SIDES * _VALUE_BYTES)
        self.references = [
            [ctypes.byref(self.values, place + _VALUE_BYTES * side) for place in places] for side in range(_SIDES)
        ]

    def read(self, found: Sequence[int]) -> Sequence[Any]:
        """Return the values of each object, or None if PDFium found none."""
        used = memoryview(self.values).cast("B")[: len(found) * self._quadruple.size]
        quadruples = list(self._quadruple.iter_unpack(used))
        if all(found):
            return quadruples
        return [four if has_values else None for four, has_values in zip(quadruples, found, strict=True)]


@cache
def _slots() -> tuple[_Slots, _Slots]:
    """Return the memory for boxes and colors; like PDFium, only one thread may use it."""
    return _Slots(ctypes.c_float, "f"), _Slots(ctypes.c_uint, "I")


def read_objects(prefix: str, parent: int, count: int) -> Iterator[Fields]:
    """Return the first objects of a page (FPDFPage) or form (FPDFFormObj), read in batches; missing values are None."""
    starts = range(0, count, _BATCH_OBJECTS)
    return chain.from_iterable(
        _read_batch(prefix, parent, range(start, min(count, start + _BATCH_OBJECTS))) for start in starts
    )


def _read_batch(prefix: str, parent: int, numbers: range) -> Iterator[Fields]:
    library, (boxes, colors) = pdfium(), _slots()
    handles = list(map(getattr(library, f"{prefix}_GetObject"), repeat(parent), numbers))
    modes = list(map(library.FPDFTextObj_GetTextRenderMode, handles))
    has_box = list(map(library.FPDFPageObj_GetBounds, handles, *boxes.references))
    has_color = list(map(library.FPDFPageObj_GetFillColor, handles, *colors.references))
    return zip(handles, modes, boxes.read(has_box), colors.read(has_color), strict=True)


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


class ContrastCache(dict[Fill, bool]):
    """Cache by text fill: True if the fill is visible on all backgrounds."""

    def __init__(self, backgrounds: Sequence[Fill]) -> None:
        """Compare with these backgrounds; call `clear` after one is added."""
        super().__init__()
        self._backgrounds = backgrounds

    def __missing__(self, fill: Fill) -> bool:
        """Compare a fill with the backgrounds, and cache the result."""
        self[fill] = fill[3] != 0 and not any(is_same_color(fill, other) for other in self._backgrounds)
        return self[fill]

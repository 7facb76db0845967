"""Read PDF page objects: boxes, text modes and colors in batches, and single properties; compare colors.

A document of a hundred pages has 50,000 objects. `map` calls a function of the library in half of the time that a
loop takes.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import repeat
from typing import Any, NamedTuple

from scraper.documents.pdf.boxes import Box, TransformMatrix, intersect, scale, transform

TEXT, PATH, IMAGE, SHADING, FORM = 1, 2, 3, 4, 5
"""Types of page objects (fpdf_edit.h)."""
NO_TEXT = -1
"""Text rendering mode of an object that is not text."""
OPAQUE = 255
_MARK_BYTES, _LAYER_MARK = 64, "OC\0".encode("utf-16-le")
BATCH_OBJECTS = 512
"""Objects per batch."""
_SIDES = 4
_VALUE_BYTES = 4
_MAX_RECTANGLE_SEGMENTS, _MAX_CLIP_PATHS, _MAX_CLIP_SEGMENTS = 6, 8, 50

Fill = tuple[int, int, int, int]
"""Red, green, blue and opacity."""
SimpleObject = tuple[int, tuple[float, float, float, float], int, tuple[TransformMatrix, ...]]
"""Handle, box, order and matrices of an object: the first fields of `PageObject`."""
Fields = tuple[int, int, tuple[float, float, float, float] | None, Fill | None]
"""Handle, text rendering mode, left, bottom, right and top, and fill color."""


class PageObject(NamedTuple):
    """A page object with its box on the page, in the order of painting."""

    kind: int
    handle: int
    box: Box
    order: int
    matrices: tuple[TransformMatrix, ...] = ()
    """Matrices of the forms that hold it, from the innermost outwards."""
    mode: int = NO_TEXT
    """Text rendering mode."""
    fill: Fill | None = None
    """Color of the fill; None for patterns."""


def declare_functions(library: ctypes.CDLL) -> None:
    """Declare the ctypes signatures of the PDFium functions that this module calls."""
    pointer, number = ctypes.c_void_p, ctypes.c_int
    values = [pointer] * 4
    for name in (
        "FPDFPage_CountObjects", "FPDFFormObj_CountObjects", "FPDFPageObj_GetType", "FPDFTextObj_GetTextRenderMode",
        "FPDFPath_CountSegments", "FPDFPageObj_CountMarks", "FPDFPageObj_GetClipPath", "FPDFClipPath_CountPaths",
    ):  # fmt: skip
        getattr(library, name).argtypes = [pointer]
    library.FPDFPageObj_GetClipPath.restype = pointer
    for name in ("FPDFPage_GetObject", "FPDFFormObj_GetObject"):
        getattr(library, name).argtypes = [pointer, ctypes.c_ulong]
        getattr(library, name).restype = pointer
    library.FPDFPageObj_GetBounds.argtypes = [pointer, *values]
    library.FPDFPageObj_GetFillColor.argtypes = [pointer, *values]
    library.FPDFPageObj_GetMatrix.argtypes = [pointer, ctypes.POINTER(TransformMatrix)]
    library.FPDFTextObj_GetFontSize.argtypes = [pointer, ctypes.POINTER(ctypes.c_float)]
    library.FPDFPath_GetDrawMode.argtypes = [pointer, ctypes.POINTER(number), ctypes.POINTER(number)]
    library.FPDFClipPath_CountPathSegments.argtypes = [pointer, number]
    library.FPDFClipPath_GetPathSegment.argtypes = [pointer, number, number]
    library.FPDFClipPath_GetPathSegment.restype = pointer
    library.FPDFPathSegment_GetPoint.argtypes = [pointer, *values[:2]]
    library.FPDFPageObj_GetMark.argtypes = [pointer, ctypes.c_ulong]
    library.FPDFPageObj_GetMark.restype = pointer
    library.FPDFImageObj_GetImagePixelSize.argtypes = [pointer, *values[:2]]
    library.FPDFPageObjMark_GetName.argtypes = [pointer, pointer, ctypes.c_ulong, pointer]


class _Slots:
    """Memory for one batch, with a reference to each value: PDFium returns four values of an object by reference."""

    def __init__(self, kind: type[ctypes._SimpleCData[Any]], code: str) -> None:
        """Reserve memory for four values of this type per object; `code` is the type in the notation of `struct`."""
        self.values = (kind * (_SIDES * BATCH_OBJECTS))()
        self._quadruple = struct.Struct(f"={_SIDES}{code}")
        places = range(0, BATCH_OBJECTS * _SIDES * _VALUE_BYTES, _SIDES * _VALUE_BYTES)
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


def read_batch(library: ctypes.CDLL, prefix: str, parent: int, start: int, end: int) -> Iterator[Fields]:
    """Return up to `BATCH_OBJECTS` objects of a page (FPDFPage) or form (FPDFFormObj); missing values are None."""
    boxes, colors = _slots()
    handles = list(map(getattr(library, f"{prefix}_GetObject"), repeat(parent), range(start, end)))
    modes = list(map(library.FPDFTextObj_GetTextRenderMode, handles))
    has_box = list(map(library.FPDFPageObj_GetBounds, handles, *boxes.references))
    has_color = list(map(library.FPDFPageObj_GetFillColor, handles, *colors.references))
    return zip(handles, modes, boxes.read(has_box), colors.read(has_color), strict=True)


def read_matrix(library: ctypes.CDLL, handle: int) -> TransformMatrix:
    """Return the matrix of an object."""
    matrix = TransformMatrix()
    library.FPDFPageObj_GetMatrix(handle, ctypes.byref(matrix))
    return matrix


def font_size(library: ctypes.CDLL, handle: int, matrices: tuple[TransformMatrix, ...]) -> float:
    """Return the size of a text's font on the page in points; 0 if unknown."""
    size = ctypes.c_float()
    if not library.FPDFTextObj_GetFontSize(handle, ctypes.byref(size)):
        return 0.0
    own = read_matrix(library, handle)
    return abs(size.value) * max(math.hypot(own.a, own.b), math.hypot(own.c, own.d)) * scale(matrices)


def pixel_count(library: ctypes.CDLL, image: PageObject) -> int:
    """Return the number of pixels of an image."""
    width, height = ctypes.c_uint(), ctypes.c_uint()
    library.FPDFImageObj_GetImagePixelSize(image.handle, ctypes.byref(width), ctypes.byref(height))
    return width.value * height.value


def is_filled(library: ctypes.CDLL, path: PageObject) -> bool:
    """Return True if the inside of a path is painted."""
    fill = ctypes.c_int()
    library.FPDFPath_GetDrawMode(path.handle, ctypes.byref(fill), ctypes.byref(ctypes.c_int()))
    return fill.value != 0


def is_rectangle(library: ctypes.CDLL, path: PageObject) -> bool:
    """Return True for a path with as few segments as a rectangle."""
    segments: int = library.FPDFPath_CountSegments(path.handle)
    return 4 <= segments <= _MAX_RECTANGLE_SEGMENTS


def clip_box(library: ctypes.CDLL, one: PageObject) -> Box | None:
    """Return the box of the page in which an object is painted; None if nothing clips it."""
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
            xs, ys = zip(*points, strict=True)
            part = transform(Box(min(xs), min(ys), max(xs), max(ys)), one.matrices)
            box = part if box is None else intersect(box, part)
    return box


def group_by_layer(library: ctypes.CDLL, texts: Iterable[PageObject]) -> dict[int, list[PageObject]]:
    """Return the text of optional content (layers), by the handle of its mark."""
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

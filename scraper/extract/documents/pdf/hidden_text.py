"""Find text of a PDF page that a person cannot see, from the page objects of PDFium.

Hidden text may be an instruction to a model. It stays where something visible stands for it: the text layer over the
picture of a scanned page is invisible, too.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple

from scraper.extract.documents.pdf.boxes import Box, Matrix, center, intersect, scale, transform, widen
from scraper.extract.documents.pdf.page_pixels import PagePixels

_TEXT, _PATH, _IMAGE, _SHADING, _FORM = 1, 2, 3, 4, 5
"""Types of page objects (fpdf_edit.h)."""
_FILLED, _INVISIBLE, _FILLED_CLIP, _CLIP = 0, 3, 4, 7
"""Text rendering modes (ISO 32000-1, 9.3.6)."""
_MIN_SIZE = 1.0
"""Points of the font. Smaller letters cannot be seen."""
_MIN_WIDTH = 0.05
"""Points. Spaces have no width."""
_SAME_COLOR = 8
"""Difference of each color channel, of 255, that nobody sees."""
_OPAQUE = 255
_MAX_RECTANGLE_SEGMENTS = 6
_MAX_OBJECTS, _MAX_DEPTH, _MAX_CLIP_PATHS = 50_000, 6, 8
_MAX_COVERS, _MAX_COLORS = 400, 50
_MIN_BACKGROUND = 4.0
"""Points. Thinner rectangles are rules."""
_WHITE = (255, 255, 255)


@dataclass(frozen=True, slots=True)
class HiddenText:
    """Text objects of a page that cannot be seen, by handle, and the boxes of the others."""

    hidden: Mapping[int, Box]
    visible: tuple[Box, ...]


class _Painted(NamedTuple):
    """A page object with its box on the page, in the order of painting."""

    kind: int
    handle: int
    box: Box
    matrix: tuple[Matrix, ...]
    """Matrices of the forms that hold it, from the innermost outwards."""


def declare_functions(library: ctypes.CDLL) -> None:
    """Declare the types of the functions that this module calls."""
    pointer, number = ctypes.c_void_p, ctypes.c_int
    values = [pointer] * 4
    for name in (
        "FPDFPage_CountObjects", "FPDFFormObj_CountObjects", "FPDFPageObj_GetType", "FPDFTextObj_GetTextRenderMode",
        "FPDFPageObj_HasTransparency", "FPDFPath_CountSegments", "FPDFPageObj_GetClipPath", "FPDFClipPath_CountPaths",
    ):  # fmt: skip
        getattr(library, name).argtypes = [pointer]
    library.FPDFPageObj_GetClipPath.restype = pointer
    for name in ("FPDFPage_GetObject", "FPDFFormObj_GetObject"):
        getattr(library, name).argtypes = [pointer, ctypes.c_ulong]
        getattr(library, name).restype = pointer
    library.FPDFPageObj_GetBounds.argtypes = [pointer, *values]
    library.FPDFPageObj_GetFillColor.argtypes = [pointer, *values]
    library.FPDFPageObj_GetMatrix.argtypes = [pointer, ctypes.POINTER(Matrix)]
    library.FPDFTextObj_GetFontSize.argtypes = [pointer, ctypes.POINTER(ctypes.c_float)]
    library.FPDFPath_GetDrawMode.argtypes = [pointer, ctypes.POINTER(number), ctypes.POINTER(number)]
    library.FPDFClipPath_CountPathSegments.argtypes = [pointer, number]
    library.FPDFClipPath_GetPathSegment.argtypes = [pointer, number, number]
    library.FPDFClipPath_GetPathSegment.restype = pointer
    library.FPDFPathSegment_GetPoint.argtypes = [pointer, *values[:2]]
    library.FPDF_GetPageBoundingBox.argtypes = [pointer, ctypes.POINTER(ctypes.c_float)]


def find_hidden_text(library: ctypes.CDLL, page: int, *, check_clips: bool = False) -> HiddenText:
    """Return the text objects of a page that cannot be seen; `check_clips` also finds text outside of its clip."""
    return _PageScan(library, page).find(check_clips=check_clips)


class _PageScan:
    """Looks for hidden text among the objects of one page."""

    def __init__(self, library: ctypes.CDLL, page: int) -> None:
        self._library, self._page = library, page
        self._floats, self._color = (ctypes.c_float * 4)(), (ctypes.c_uint * 4)()
        self._float_refs = [ctypes.byref(self._floats, 4 * index) for index in range(4)]
        self._color_refs = [ctypes.byref(self._color, 4 * index) for index in range(4)]
        self._remaining = _MAX_OBJECTS
        self._painted = list(self._objects(page, "FPDFPage", (), 0))
        self._pictures = [one.box for one in self._painted if one.kind in (_IMAGE, _SHADING)]
        self._page_box = self._read_page_box()
        self._covers = self._find_covers()
        self._below: list[_Painted] = []
        """Large objects below the text that is examined."""
        self._colors = [_WHITE]
        """Colors of the page and of these objects."""
        self._contrasts: dict[tuple[int, int, int], bool] = {}
        """Colors of text by whether all of these colors differ from them."""

    def find(self, *, check_clips: bool) -> HiddenText:
        """Return the text objects by whether they can be seen."""
        hidden: dict[int, Box] = {}
        pixels: PagePixels | None = None
        for order, one in enumerate(self._painted):
            if one.kind != _TEXT:
                self._add_background(one)
                continue
            if one.box.x1 - one.box.x0 < _MIN_WIDTH:
                continue
            mode = self._library.FPDFTextObj_GetTextRenderMode(one.handle)
            if self._is_plain(one, mode, order) and not check_clips:
                continue
            x, y = center(one.box)
            has_picture = any(box.holds(x, y) for box in self._pictures)
            if (
                self._is_unpainted(one, mode, order, has_picture=has_picture)
                or (self._page_box is not None and not self._page_box.overlap(widen(one.box)))
                or (check_clips and self._is_clipped(one))
            ):
                hidden[one.handle] = one.box
            elif not has_picture and (self._is_covered(one, order) or self._has_color_of_background(one, mode)):
                pixels = pixels or PagePixels(self._library, self._page)
                if not pixels.has_ink(*one.box):
                    hidden[one.handle] = one.box
        if not hidden:
            return HiddenText({}, ())
        visible = (one.box for one in self._painted if one.kind == _TEXT and one.handle not in hidden)
        return HiddenText(hidden, tuple(visible))

    def _is_plain(self, text: _Painted, mode: int, order: int) -> bool:
        """Return True for text that is certainly seen: nearly all text, so this decides about the speed."""
        box, page = text.box, self._page_box
        if mode != _FILLED or box.y1 - box.y0 < _MIN_SIZE or (self._covers and self._is_covered(text, order)):
            return False
        if page is None or box.x0 < page.x0 or box.x1 > page.x1 or box.y0 < page.y0 or box.y1 > page.y1:
            return False
        color = self._read_color(text)
        if color is None or self._color[3] == 0:
            return False
        if color not in self._contrasts:
            self._contrasts[color] = not any(_is_same(color, other) for other in self._colors)
        return self._contrasts[color]

    def _add_background(self, one: _Painted) -> None:
        """Remember an object that may be the background of text."""
        if one.kind != _PATH:
            self._below.append(one)
        elif _is_large(one.box) and self._is_filled(one):
            self._below.append(one)
            color = self._read_color(one)
            if color is not None and color not in self._colors and len(self._colors) < _MAX_COLORS:
                self._colors.append(color)
                self._contrasts.clear()

    def _is_covered(self, text: _Painted, order: int) -> bool:
        return any(at > order and box.covers(text.box) for at, box in self._covers)

    def _find_covers(self) -> list[tuple[int, Box]]:
        """Return the opaque rectangles that are painted after the first text, with their place in the order."""
        painted = self._painted
        first_text = next((order for order, one in enumerate(painted) if one.kind == _TEXT), len(painted))
        later = [
            (order, one) for order, one in enumerate(painted)
            if order > first_text and one.kind == _PATH and _is_large(one.box)
        ]  # fmt: skip
        later = nlargest(_MAX_COVERS, later, key=lambda pair: pair[1].box.overlap(pair[1].box))
        return [(order, one.box) for order, one in later if self._is_cover(one)]

    def _objects(self, parent: int, prefix: str, matrix: tuple[Matrix, ...], depth: int) -> Iterator[_Painted]:
        """Yield the objects of a page or form with their boxes on the page."""
        library = self._library
        get_object, get_type = getattr(library, f"{prefix}_GetObject"), library.FPDFPageObj_GetType
        for index in range(min(self._remaining, getattr(library, f"{prefix}_CountObjects")(parent))):
            self._remaining -= 1
            handle = get_object(parent, index)
            kind = get_type(handle) if handle else 0
            if kind == _FORM and depth < _MAX_DEPTH:
                own = Matrix()
                library.FPDFPageObj_GetMatrix(handle, ctypes.byref(own))
                yield from self._objects(handle, "FPDFFormObj", (own, *matrix), depth + 1)
            elif kind and library.FPDFPageObj_GetBounds(handle, *self._float_refs):
                box = Box(*self._floats)
                yield _Painted(kind, handle, transform(box, matrix) if matrix else box, matrix)

    def _read_page_box(self) -> Box | None:
        rectangle = (ctypes.c_float * 4)()  # FS_RECTF: left, top, right, bottom.
        if not self._library.FPDF_GetPageBoundingBox(self._page, rectangle):
            return None
        return Box(rectangle[0], rectangle[3], rectangle[2], rectangle[1])

    def _is_unpainted(self, text: _Painted, mode: int, order: int, *, has_picture: bool) -> bool:
        """Return True for text that is not painted at all, unless a picture or outlines of letters stand there."""
        if mode == _INVISIBLE:
            return not has_picture and not any(
                one.kind == _PATH and one.box.overlap(text.box) and not self._is_rectangle(one) for one in self._painted
            )
        if mode == _CLIP:  # It shows what is painted later.
            later = self._painted[order:]
            return not any(one.kind != _TEXT and one.box.overlap(text.box) for one in later)
        if mode in (_FILLED, _FILLED_CLIP) and self._read_color(text) is not None and self._color[3] == 0:
            return True
        return text.box.y1 - text.box.y0 < _MIN_SIZE and 0 < self._font_size(text) < _MIN_SIZE

    def _font_size(self, text: _Painted) -> float:
        """Return the size of the font on the page in points; 0 if unknown."""
        size, own = ctypes.c_float(), Matrix()
        if not self._library.FPDFTextObj_GetFontSize(text.handle, ctypes.byref(size)):
            return 0.0
        if not self._library.FPDFPageObj_GetMatrix(text.handle, ctypes.byref(own)):
            return 0.0
        return abs(size.value) * max(math.hypot(own.a, own.b), math.hypot(own.c, own.d)) * scale(text.matrix)

    def _has_color_of_background(self, text: _Painted, mode: int) -> bool:
        """Return True if filled letters have the color of what is below them; a picture has no one color."""
        color = self._read_color(text) if mode in (_FILLED, _FILLED_CLIP) else None
        if color is None:
            return False
        is_white = _is_same(color, _WHITE)
        x, y = center(text.box)
        for one in reversed(self._below):
            if not one.box.holds(x, y):
                continue
            if one.kind != _PATH:
                return False
            background = self._read_color(one)
            if background is None or self._color[3] != _OPAQUE:
                return False
            if self._is_rectangle(one):
                return _is_same(color, background)
            if is_white and not _is_same(background, _WHITE):
                return False
        return is_white

    def _read_color(self, one: _Painted) -> tuple[int, int, int] | None:
        """Return red, green and blue of the fill; None for patterns. The opacity is then in `_color`."""
        if not self._library.FPDFPageObj_GetFillColor(one.handle, *self._color_refs):
            return None
        red, green, blue, _ = self._color
        return red, green, blue

    def _is_filled(self, path: _Painted) -> bool:
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        self._library.FPDFPath_GetDrawMode(path.handle, ctypes.byref(fill), ctypes.byref(stroke))
        return fill.value != 0

    def _is_rectangle(self, path: _Painted) -> bool:
        segments: int = self._library.FPDFPath_CountSegments(path.handle)
        return 4 <= segments <= _MAX_RECTANGLE_SEGMENTS

    def _is_cover(self, path: _Painted) -> bool:
        """Return True for an opaque filled rectangle that no clip reduces."""
        if not self._is_rectangle(path) or not self._is_filled(path):
            return False
        if self._library.FPDFPageObj_HasTransparency(path.handle) or self._read_color(path) is None:
            return False
        clip = self._clip_box(path)
        return self._color[3] == _OPAQUE and (clip is None or clip.covers(path.box))

    def _is_clipped(self, text: _Painted) -> bool:
        clip = self._clip_box(text)
        return clip is not None and not clip.overlap(widen(text.box))

    def _clip_box(self, one: _Painted) -> Box | None:
        """Return the box of the page in which an object is painted; None if nothing clips it."""
        library = self._library
        clip = library.FPDFPageObj_GetClipPath(one.handle)
        count = library.FPDFClipPath_CountPaths(clip) if clip else 0
        box: Box | None = None
        x, y = self._float_refs[:2]
        for path in range(min(max(0, count), _MAX_CLIP_PATHS)):
            points = []
            for index in range(min(50, max(0, library.FPDFClipPath_CountPathSegments(clip, path)))):
                segment = library.FPDFClipPath_GetPathSegment(clip, path, index)
                if segment and library.FPDFPathSegment_GetPoint(segment, x, y):
                    points.append((self._floats[0], self._floats[1]))
            if points:
                xs, ys = zip(*points, strict=True)
                part = transform(Box(min(xs), min(ys), max(xs), max(ys)), one.matrix)
                box = part if box is None else intersect(box, part)
        return box


def _is_large(box: Box) -> bool:
    """Return False for rules and dots, which are no background."""
    return box.x1 - box.x0 >= _MIN_BACKGROUND and box.y1 - box.y0 >= _MIN_BACKGROUND


def _is_same(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]), abs(one[2] - other[2])) <= _SAME_COLOR

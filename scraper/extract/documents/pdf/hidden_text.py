"""Find hidden text of a PDF page, from the page objects of PDFium.

Hidden text may be an instruction to a model. The invisible text layer over the image of a scanned page stays.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple

from scraper.extract.documents.pdf.boxes import Box, Matrix, center, intersect, scale, transform, widen
from scraper.extract.documents.pdf.page_objects import BATCH, WHITE, Contrasts, is_same_color, read_batch
from scraper.extract.documents.pdf.page_pixels import PagePixels

_TEXT, _PATH, _IMAGE, _SHADING, _FORM = 1, 2, 3, 4, 5
"""Types of page objects (fpdf_edit.h)."""
_NO_TEXT, _FILLED, _INVISIBLE, _FILLED_CLIP, _CLIP = -1, 0, 3, 4, 7
"""Text rendering modes (ISO 32000-1, 9.3.6)."""
_MIN_SIZE = 1.0
"""Points of the font. Smaller letters are not visible."""
_MIN_WIDTH = 0.05
"""Points. Spaces have no width."""
_OPAQUE, _MAX_RECTANGLE_SEGMENTS = 255, 6
_MAX_OBJECTS, _MAX_DEPTH, _MAX_CLIP_PATHS = 50_000, 6, 8
_MAX_COVERS, _MAX_COLORS, _MAX_TESTS, _MAX_LOOKS = 100, 50, 1_000_000, 2_000
_MIN_BACKGROUND = 4.0
"""Points. Thinner rectangles are rules."""


@dataclass(frozen=True, slots=True)
class HiddenText:
    """Hidden text objects of a page, by handle, and the boxes of the visible ones, or nothing if none is hidden."""

    hidden: Mapping[int, Box]
    visible: tuple[Box, ...]


class _Painted(NamedTuple):
    """A page object with its box on the page, in the order of painting."""

    kind: int
    handle: int
    box: Box
    matrix: tuple[Matrix, ...]
    """Matrices of the forms that hold it, from the innermost outwards."""
    order: int


def declare_functions(library: ctypes.CDLL) -> None:
    """Declare the ctypes signatures of the PDFium functions that this module calls."""
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
    """Return the hidden text objects of a page; `check_clips` also finds text outside of its clipping path."""
    return _PageScan(library, page).find(check_clips=check_clips)


class _PageScan:
    """Search the objects of one page for hidden text."""

    def __init__(self, library: ctypes.CDLL, page: int) -> None:
        self._library, self._page = library, page
        self._floats, self._color = (ctypes.c_float * 4)(), (ctypes.c_uint * 4)()
        self._float_refs = [ctypes.byref(self._floats, 4 * index) for index in range(4)]
        self._color_refs = [ctypes.byref(self._color, 4 * index) for index in range(4)]
        self._remaining, self._remaining_tests = _MAX_OBJECTS, _MAX_TESTS
        self._page_box = self._read_page_box()
        self._below: list[_Painted] = []
        """Large objects below the text that is examined."""
        self._colors = [WHITE]
        """Colors of the page and of these objects."""
        self._contrasts = Contrasts(self._colors)
        self._plain: list[tuple[int, tuple[float, float, float, float], int]] = []
        """Handle, box and order of text that can be seen unless it is covered or clipped: nearly all text."""
        self._suspects: list[tuple[_Painted, int, bool]] = []
        """Other text, with its mode and whether it has the color of its background."""
        self._others: list[_Painted] = []
        for one in self._objects(page, "FPDFPage", (), 0):
            if one.kind != _TEXT:
                self._others.append(one)
                self._add_background(one)
            elif one.box.x1 - one.box.x0 >= _MIN_WIDTH:
                mode = library.FPDFTextObj_GetTextRenderMode(one.handle)
                self._suspects.append((one, mode, self._has_color_of_background(one, mode)))

    def find(self, *, check_clips: bool) -> HiddenText:
        """Return the hidden text objects and the boxes of the visible ones."""
        orders = [*(order for _, _, order in self._plain[:1]), *(one.order for one, _, _ in self._suspects)]
        covers = self._find_covers(min(orders, default=0))
        texts = self._texts() if covers or check_clips else []
        pictures = [one.box for one in self._others if one.kind in (_IMAGE, _SHADING)]
        hidden: dict[int, Box] = {}
        covered: list[_Painted] = []
        for one, mode, has_color_of_background in self._suspects:
            x, y = center(one.box)
            may_be_scan = mode == _INVISIBLE or has_color_of_background
            has_picture = may_be_scan and any(box.holds(x, y) for box in pictures)
            is_outside = self._page_box is not None and not self._page_box.overlap(widen(one.box))
            if is_outside or self._is_unpainted(one, mode, has_picture=has_picture):
                hidden[one.handle] = one.box
            elif has_color_of_background and not has_picture:
                covered.append(one)
        for one in texts if covers else ():
            if any(cover.order > one.order and cover.box.covers(one.box) for cover in covers):
                x, y = center(one.box)
                covered += [] if any(box.holds(x, y) for box in pictures) else [one]
        pixels = PagePixels(self._library, self._page, [one.box for one in covered]) if covered else None
        for looks, one in enumerate(covered):
            if pixels is None or looks >= _MAX_LOOKS or not pixels.has_ink(*one.box):
                hidden[one.handle] = one.box
        hidden |= {one.handle: one.box for one in texts if check_clips and self._is_clipped(one)}
        if not hidden:
            return HiddenText({}, ())
        return HiddenText(hidden, tuple(one.box for one in texts or self._texts() if one.handle not in hidden))

    def _texts(self) -> list[_Painted]:
        plain = [_Painted(_TEXT, handle, Box(*box), (), order) for handle, box, order in self._plain]
        return plain + [one for one, _, _ in self._suspects]

    def _objects(self, parent: int, prefix: str, matrix: tuple[Matrix, ...], depth: int) -> Iterator[_Painted]:
        """Yield the objects of a page or form with their boxes on the page, without plain text.

        It runs for each word of a document, so it calls as little as possible.
        """
        library, add_plain, contrasts = self._library, self._plain.append, self._contrasts
        left, bottom, right, top = self._page_box if self._page_box and not matrix else (0.0, 0.0, 0.0, 0.0)
        count = min(self._remaining, getattr(library, f"{prefix}_CountObjects")(parent))
        for start in range(0, count, BATCH):
            for handle, mode, box, fill in read_batch(library, prefix, parent, start, min(count, start + BATCH)):
                self._remaining -= 1
                if mode == _FILLED and box and fill and contrasts[fill]:
                    x0, y0, x1, y1 = box
                    if left <= x0 and x1 <= right and bottom <= y0 and y1 - y0 >= _MIN_SIZE and y1 <= top:
                        add_plain((handle, box, _MAX_OBJECTS - self._remaining))
                        continue
                kind = _TEXT if mode != _NO_TEXT else library.FPDFPageObj_GetType(handle)
                if kind == _FORM and depth < _MAX_DEPTH:
                    own = Matrix()
                    library.FPDFPageObj_GetMatrix(handle, ctypes.byref(own))
                    yield from self._objects(handle, "FPDFFormObj", (own, *matrix), depth + 1)
                elif kind > 0 and box:
                    placed = transform(Box(*box), matrix) if matrix else Box(*box)
                    yield _Painted(kind, handle, placed, matrix, _MAX_OBJECTS - self._remaining)

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

    def _find_covers(self, first_order: int) -> list[_Painted]:
        """Return the opaque rectangles that are painted after the first text."""
        paths = (one for one in self._others if one.order > first_order and one.kind == _PATH and _is_large(one.box))
        return list(filter(self._is_cover, nlargest(_MAX_COVERS, paths, key=lambda one: one.box.overlap(one.box))))

    def _read_page_box(self) -> Box | None:
        rectangle = (ctypes.c_float * 4)()  # FS_RECTF: left, top, right, bottom.
        if not self._library.FPDF_GetPageBoundingBox(self._page, rectangle):
            return None
        return Box(rectangle[0], rectangle[3], rectangle[2], rectangle[1])

    def _is_unpainted(self, text: _Painted, mode: int, *, has_picture: bool) -> bool:
        """Return True for text that is not painted, unless an image or outlines of letters are at its position."""
        if mode in (_INVISIBLE, _CLIP):
            self._remaining_tests -= len(self._others)
        overlapping = (one for one in self._others if self._remaining_tests > 0 and one.box.overlap(text.box))
        if mode == _INVISIBLE:
            return not has_picture and not any(one.kind == _PATH and not self._is_rectangle(one) for one in overlapping)
        if mode == _CLIP:  # It shows what is painted later.
            return not any(one.order > text.order for one in overlapping)
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
        """Return True if filled letters have the color of their background; an image counts as different."""
        color = self._read_color(text) if mode in (_FILLED, _FILLED_CLIP) else None
        if color is None:
            return False
        is_white = is_same_color(color, WHITE)
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
                return is_same_color(color, background)
            if is_white and not is_same_color(background, WHITE):
                return False
        return is_white

    def _read_color(self, one: _Painted) -> tuple[int, int, int] | None:
        """Return red, green and blue of the fill; None for patterns. The opacity is then in `_color`."""
        if not self._library.FPDFPageObj_GetFillColor(one.handle, *self._color_refs):
            return None
        return self._color[0], self._color[1], self._color[2]

    def _is_filled(self, path: _Painted) -> bool:
        fill = ctypes.c_int()
        self._library.FPDFPath_GetDrawMode(path.handle, ctypes.byref(fill), ctypes.byref(ctypes.c_int()))
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

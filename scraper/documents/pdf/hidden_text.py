"""Find hidden text of a PDF page, from the page objects of PDFium.

Hidden text may be an instruction to a model. The invisible text layer over the image of a scanned page stays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from itertools import chain

from scraper.documents.pdf import page_objects
from scraper.documents.pdf.boxes import Box, TransformMatrix, center, grow, transform, widen
from scraper.documents.pdf.page_objects import (
    BATCH_OBJECTS,
    FORM,
    IMAGE,
    NO_TEXT,
    OPAQUE,
    PATH,
    SHADING,
    TEXT,
    WHITE,
    ContrastCache,
    Fill,
    PageObject,
    SimpleObject,
    clip_box,
    font_size,
    group_by_layer,
    is_filled,
    is_rectangle,
    is_same_color,
    pixel_count,
    read_batch,
    read_matrix,
)
from scraper.documents.pdf.rendered_contrast import PagePixels, find_invisible

_FILLED, _INVISIBLE, _FILLED_CLIP, _CLIP = 0, 3, 4, 7
"""Text rendering modes (ISO 32000-1, 9.3.6)."""
_MIN_SIZE = 1.0
"""Points of the font. Smaller letters are not visible."""
_MIN_WIDTH = 0.05
"""Points. Spaces have no width."""
_MAX_OBJECTS, _MAX_DEPTH = 50_000, 6
_MAX_COVERS, _MAX_COLORS, _MAX_TESTS, _MAX_LOOKS = 100, 50, 1_000_000, 2_000
MAX_SCAN_PIXELS = 40_000_000
"""Pixels of all scans of a document. A page of 300 dots per inch has nine million."""
_SCAN_SLACK = 0.25
"""Ratio of the line height. The text layer of a scan may be so far from its letters."""
_LAYER_SAMPLES = 3
"""Texts of a layer that are rendered."""
_MIN_BACKGROUND = 4.0
"""Points. Thinner rectangles are rules."""


@dataclass(frozen=True, slots=True)
class HiddenText:
    """Hidden text objects of a page, by handle, and the boxes of the visible ones, or nothing if none is hidden."""

    hidden: Mapping[int, Box]
    visible: tuple[Box, ...] = ()
    has_layers: bool = False
    """True if layers of the page were rendered."""
    plain: Sequence[SimpleObject] = ()
    """Text objects without any sign of hidden text, in the order of painting."""
    scan_pixels: int = 0
    """Pixels of the scans whose text layer was compared."""


def declare_functions(library: ctypes.CDLL) -> None:
    """Declare the ctypes signatures of the PDFium functions that this module calls."""
    page_objects.declare_functions(library)
    library.FPDFPageObj_HasTransparency.argtypes = [ctypes.c_void_p]
    library.FPDF_GetPageBoundingBox.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_float)]


def find_hidden_text(
    library: ctypes.CDLL, page: int, *, check_clips: bool = False, check_layers: bool = True, max_scan_pixels: int
) -> HiddenText:
    """Return the hidden text objects of a page.

    Args:
        library: PDFium.
        page: Handle of the page.
        check_clips: Also find text outside of its clipping path.
        check_layers: Render text of layers, to find layers that are switched off.
        max_scan_pixels: Compare the text layer of a scan with its picture if that has no more pixels.
    """
    scan = _PageScan(library, page)
    return scan.find(check_clips=check_clips, check_layers=check_layers, max_scan_pixels=max_scan_pixels)


class _PageScan:
    """Search the objects of one page for hidden text."""

    def __init__(self, library: ctypes.CDLL, page: int) -> None:
        self._library, self._page = library, page
        self._remaining, self._remaining_tests = _MAX_OBJECTS, _MAX_TESTS
        self._page_box = self._read_page_box()
        self._below: list[PageObject] = []
        """Large objects below the text that is examined."""
        self._colors: list[Fill] = [WHITE]
        """Colors of the page and of these objects."""
        self._contrasts = ContrastCache(self._colors)
        self._plain: list[SimpleObject] = []
        """Text that can be seen unless it is covered or clipped: nearly all text."""
        self._suspects: list[tuple[PageObject, bool]] = []
        """Other text, and whether it has the color of its background."""
        self._small_paths: list[SimpleObject] = []
        """Paths that are not background."""
        self._others: list[PageObject] = []
        for one in self._objects(page, "FPDFPage", (), 0):
            if one.kind != TEXT:
                self._others.append(one)
                self._add_background(one)
            elif one.box.x1 - one.box.x0 >= _MIN_WIDTH:
                self._suspects.append((one, self._has_color_of_background(one)))

    def find(self, *, check_clips: bool, check_layers: bool, max_scan_pixels: int) -> HiddenText:
        """Return the hidden text objects and the boxes of the visible ones."""
        orders = [*(order for _, _, order, _ in self._plain[:1]), *(one.order for one, _ in self._suspects)]
        covers = self._find_covers(min(orders, default=0))
        photos = self._find_photos(min(orders, default=0))
        layers = group_by_layer(self._library, self._texts_in_marks()) if check_layers else {}
        scans = [one for one in self._others if one.kind == IMAGE and self._is_scan(one)]
        texts = self._texts() if covers or photos or scans or check_clips else []
        pictures = [one.box for one in self._others if one.kind in (IMAGE, SHADING)]
        hidden: dict[int, Box] = {}
        covered: list[PageObject] = []
        scanned = [one for one in texts if any(scan.order > one.order and scan.box.covers(one.box) for scan in scans)]
        for one, has_color_of_background in self._suspects:
            x, y = center(one.box)
            may_be_scan = one.mode == _INVISIBLE or has_color_of_background
            has_picture = may_be_scan and any(box.holds(x, y) for box in pictures)
            is_outside = self._page_box is not None and not self._page_box.overlap(widen(one.box))
            if is_outside or self._is_unpainted(one, has_picture=has_picture):
                hidden[one.handle] = one.box
            elif has_color_of_background and not has_picture:
                covered.append(one)
            elif one.mode == _INVISIBLE and any(scan.order < one.order and scan.box.holds(x, y) for scan in scans):
                scanned.append(one)
        for one in texts if covers else ():
            if any(cover.order > one.order and cover.box.covers(one.box) for cover in covers):
                x, y = center(one.box)
                covered += [] if any(box.holds(x, y) for box in pictures) else [one]
        pixels = PagePixels(self._library, self._page, [one.box for one in covered]) if covered else None
        for looks, one in enumerate(covered):
            if pixels is None or looks >= _MAX_LOOKS or not pixels.has_ink(*one.box):
                hidden[one.handle] = one.box
        scan_pixels = sum(pixel_count(self._library, scan) for scan in scans) if scanned else 0
        if scan_pixels > max_scan_pixels:
            scan_pixels = 0
        if scan_pixels:
            hidden |= {one.handle: one.box for one in self._find_blank(scanned)}
        hidden |= {one.handle: one.box for one in texts if check_clips and self._is_clipped(one)}
        below = [one for one in texts if any(photo.order > one.order and photo.box.covers(one.box) for photo in photos)]
        samples = [one for layer in layers.values() for one in layer[:_LAYER_SAMPLES]]
        invisible = find_invisible(self._library, self._page, [*below[:_MAX_LOOKS], *samples])
        hidden |= {one.handle: one.box for one in below if one.handle in invisible}
        for layer in layers.values():
            if all(one.handle in invisible for one in layer[:_LAYER_SAMPLES]):
                hidden |= {one.handle: one.box for one in layer}
        if not hidden:
            return HiddenText({}, (), bool(layers), self._plain, scan_pixels)
        visible = tuple(one.box for one in texts or self._texts() if one.handle not in hidden)
        return HiddenText(hidden, visible, bool(layers), self._plain, scan_pixels)

    def _find_blank(self, texts: Sequence[PageObject]) -> Iterator[PageObject]:
        """Yield the texts at whose place nothing is to be seen, although lines of a scan may be a little apart."""
        boxes = [grow(one.box, _SCAN_SLACK * (one.box.y1 - one.box.y0)) for one in texts[:_MAX_LOOKS]]
        pixels = PagePixels(self._library, self._page, boxes)
        return (one for one, box in zip(texts, boxes, strict=False) if not pixels.has_ink(*box))

    def _is_scan(self, image: PageObject) -> bool:
        """Return True for an image that fills half of the page."""
        page = self._page_box.overlap(self._page_box) if self._page_box else 0.0
        return image.box.overlap(image.box) >= page / 2

    def _find_photos(self, first_order: int) -> list[PageObject]:
        """Return the images that are painted after the first text, without scans: the text below is their layer."""
        images = [one for one in self._others if one.kind == IMAGE and one.order > first_order]
        return [one for one in images if not self._is_scan(one)][:_MAX_COVERS]

    def _texts_in_marks(self) -> list[PageObject]:
        """Return all text if some of it is in marked content."""
        handles = (handle for handle, *_ in self._plain)
        return self._texts() if any(list(map(self._library.FPDFPageObj_CountMarks, handles))) else []

    def _texts(self) -> list[PageObject]:
        plain = [PageObject(TEXT, handle, Box(*box), order, inside) for handle, box, order, inside in self._plain]
        return plain + [one for one, _ in self._suspects]

    def _objects(
        self, parent: int, prefix: str, matrices: tuple[TransformMatrix, ...], depth: int
    ) -> Iterator[PageObject]:
        """Yield the objects of a page or form with their boxes on the page, without plain text and small paths.

        It runs for each word of a document, so it calls as little as possible.
        """
        library, add_plain, contrasts = self._library, self._plain.append, self._contrasts
        left, bottom, right, top = self._page_box or (0.0, 0.0, 0.0, 0.0)
        count = min(self._remaining, getattr(library, f"{prefix}_CountObjects")(parent))
        for start in range(0, count, BATCH_OBJECTS):
            for handle, mode, own_box, fill in read_batch(
                library, prefix, parent, start, min(count, start + BATCH_OBJECTS)
            ):
                self._remaining -= 1
                box = transform(Box(*own_box), matrices) if matrices and own_box else own_box
                if mode == _FILLED and box and fill and contrasts[fill]:
                    x0, y0, x1, y1 = box
                    is_inside = left <= x0 and x1 <= right and bottom <= y0 and y1 <= top
                    if is_inside and (y1 - y0 >= _MIN_SIZE or font_size(library, handle, matrices) >= _MIN_SIZE):
                        add_plain((handle, box, _MAX_OBJECTS - self._remaining, matrices))
                        continue
                kind = TEXT if mode != NO_TEXT else library.FPDFPageObj_GetType(handle)
                if kind == FORM and depth < _MAX_DEPTH:
                    own = read_matrix(library, handle)
                    yield from self._objects(handle, "FPDFFormObj", (own, *matrices), depth + 1)
                elif kind == PATH and box and not _is_large(*box):
                    self._small_paths.append((handle, box, _MAX_OBJECTS - self._remaining, matrices))
                elif kind > 0 and box:
                    order = _MAX_OBJECTS - self._remaining
                    yield PageObject(kind, handle, Box(*box), order, matrices, mode, fill)

    def _add_background(self, one: PageObject) -> None:
        """Remember an object that may be the background of text."""
        if one.kind != PATH:
            self._below.append(one)
        elif _is_large(*one.box) and is_filled(self._library, one):
            self._below.append(one)
            if one.fill is not None and one.fill not in self._colors and len(self._colors) < _MAX_COLORS:
                self._colors.append(one.fill)
                self._contrasts.clear()

    def _find_covers(self, first_order: int) -> list[PageObject]:
        """Return the opaque rectangles that are painted after the first text."""
        paths = (one for one in self._others if one.order > first_order and one.kind == PATH and _is_large(*one.box))
        found = list(paths)
        if len(found) > _MAX_COVERS:
            found = nlargest(_MAX_COVERS, found, key=lambda one: one.box.overlap(one.box))
        return list(filter(self._is_cover, found))

    def _read_page_box(self) -> Box | None:
        rectangle = (ctypes.c_float * 4)()  # FS_RECTF: left, top, right, bottom.
        if not self._library.FPDF_GetPageBoundingBox(self._page, rectangle):
            return None
        return Box(rectangle[0], rectangle[3], rectangle[2], rectangle[1])

    def _is_unpainted(self, text: PageObject, *, has_picture: bool) -> bool:
        """Return True for text that is not painted, unless an image or outlines of letters are at its position."""
        if text.mode == _INVISIBLE:
            return not has_picture and not any(
                one.kind == PATH and not is_rectangle(self._library, one) for one in self._overlapping(text)
            )
        if text.mode == _CLIP:  # It shows what is painted later.
            return not any(one.order > text.order for one in self._overlapping(text))
        if text.mode in (_FILLED, _FILLED_CLIP) and text.fill is not None and text.fill[3] == 0:
            return True
        is_flat = text.box.y1 - text.box.y0 < _MIN_SIZE
        return is_flat and 0 < font_size(self._library, text.handle, text.matrices) < _MIN_SIZE

    def _overlapping(self, text: PageObject) -> Iterator[PageObject]:
        """Yield the objects at the position of a text, up to a number of tests in total."""
        self._remaining_tests -= len(self._others) + len(self._small_paths)
        if self._remaining_tests > 0:
            yield from (one for one in chain(self._others, self._small) if one.box.overlap(text.box))

    @cached_property
    def _small(self) -> list[PageObject]:
        return [PageObject(PATH, handle, Box(*box), order, inside) for handle, box, order, inside in self._small_paths]

    def _has_color_of_background(self, text: PageObject) -> bool:
        """Return True if filled letters have the color of their background; an image counts as different."""
        color = text.fill if text.mode in (_FILLED, _FILLED_CLIP) else None
        if color is None:
            return False
        is_white = is_same_color(color, WHITE)
        x, y = center(text.box)
        for one in reversed(self._below):
            if not one.box.holds(x, y):
                continue
            if one.kind != PATH:
                return False
            if one.fill is None or one.fill[3] != OPAQUE:
                return False
            if is_rectangle(self._library, one):
                return is_same_color(color, one.fill)
            if is_white and not is_same_color(one.fill, WHITE):
                return False
        return is_white

    def _is_cover(self, path: PageObject) -> bool:
        """Return True for an opaque filled rectangle that no clip reduces."""
        if path.fill is None or path.fill[3] != OPAQUE:
            return False
        if not is_rectangle(self._library, path) or not is_filled(self._library, path):
            return False
        if self._library.FPDFPageObj_HasTransparency(path.handle):
            return False
        clip = clip_box(self._library, path)
        return clip is None or clip.covers(path.box)

    def _is_clipped(self, text: PageObject) -> bool:
        clip = clip_box(self._library, text)
        return clip is not None and not clip.overlap(widen(text.box))


def _is_large(x0: float, y0: float, x1: float, y1: float) -> bool:
    """Return False for rules and dots, which are not background."""
    return x1 - x0 >= _MIN_BACKGROUND and y1 - y0 >= _MIN_BACKGROUND

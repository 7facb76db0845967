"""Find hidden text of a PDF page, from the page objects of PDFium.

Hidden text may be an instruction to a model. The invisible text layer over the image of a scanned page stays.
"""

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain

from scraper.documents.pdf import pdfium as objects
from scraper.documents.pdf.pdfium import IMAGE, OPAQUE, PATH, TEXT, WHITE, Box, Fill, PageObject, pdfium

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
_WIDENING = 0.1
"""Points. Boxes of text are that much larger on each side, because spaces and thin letters may have no area."""
_MIN_BACKGROUND = 4.0
"""Points. Thinner rectangles are rules."""


@dataclass(frozen=True, slots=True)
class HiddenText:
    """Hidden text objects of a page, by handle, and the boxes of the visible ones, or nothing if none is hidden."""

    hidden: Mapping[int, Box]
    visible: tuple[Box, ...] = ()
    has_layers: bool = False
    """True if layers of the page were rendered."""
    plain: Sequence[PageObject] = ()
    """Text objects without any sign of hidden text, in the order of painting."""
    scan_pixels: int = 0
    """Pixels of the scans whose text layer was compared."""


class HiddenTextSearch:
    """Search of one page for hidden text."""

    def __init__(self, page: int) -> None:
        """Read the objects of the page with this handle."""
        self._page = page
        self._remaining, self._remaining_tests = _MAX_OBJECTS, _MAX_TESTS
        sides = (ctypes.c_float * 4)()  # FS_RECTF: left, top, right, bottom.
        has_box = pdfium().FPDF_GetPageBoundingBox(page, sides)
        self._page_box = Box(sides[0], sides[3], sides[2], sides[1]) if has_box else None
        self._below: list[PageObject] = []
        """Large objects below the text that is examined."""
        self._colors: list[Fill] = [WHITE]
        """Colors of the page and of these objects."""
        self._contrasts: dict[Fill, bool] = {}
        """True for each fill that is visible on all these colors."""
        self._plain: list[PageObject] = []
        """Text that can be seen unless it is covered or clipped: nearly all text."""
        self._suspects: list[tuple[PageObject, bool]] = []
        """Other text, and whether it has the color of its background."""
        self._small_paths: list[PageObject] = []
        """Paths that are not background."""
        self._others: list[PageObject] = []
        self._read_objects(page, "FPDFPage", (), 0)
        self._texts = [*self._plain, *(one for one, _ in self._suspects)]
        self._pictures = [one.box for one in self._others if one.kind in (IMAGE, objects.SHADING)]
        half = (self._page_box.area if self._page_box else 0.0) / 2
        self._scans = [one for one in self._others if one.kind == IMAGE and one.box.area >= half]

    @property
    def picture_share(self) -> float:
        """Ratio of the areas of all pictures to that of the page."""
        page = self._page_box or Box(0.0, 0.0, 0.0, 0.0)
        return sum(one.box.overlap(page) for one in self._others if one.kind == IMAGE) / max(1.0, page.area)

    def find(self, *, check_clips: bool = False, check_layers: bool = True, max_scan_pixels: int) -> HiddenText:
        """Return the hidden text objects and the boxes of the visible ones.

        Args:
            check_clips: Also find text outside of its clipping path.
            check_layers: Render text of layers, to find layers that are switched off.
            max_scan_pixels: Compare the text layer of a scan with its picture if that has no more pixels.
        """
        covers, photos = self._find_covers_and_photos()
        in_marks = check_layers and any(pdfium().FPDFPageObj_CountMarks(one.handle) for one in self._plain)
        layers = objects.group_by_layer(self._texts) if in_marks else {}
        scanned = list(self._texts_below(self._scans))
        found, unclear = self._judge_suspects(scanned)
        unclear += (one for one in self._texts_below(covers) if not self._is_on_picture(one))
        found += [*unclear[_MAX_LOOKS:], *self._find_blank(unclear)]
        pixels = sum(map(objects.pixel_count, self._scans)) if scanned else 0
        scan_pixels = pixels if pixels <= max_scan_pixels else 0
        found += self._find_blank(scanned if scan_pixels else (), _SCAN_SLACK)
        if check_clips:
            clips = ((one, objects.clip_box(one)) for one in self._texts)
            found += (one for one, clip in clips if clip is not None and not clip.overlap(one.box.grow(_WIDENING)))
        found += self._find_unchanged(list(self._texts_below(photos)), list(layers.values()))
        hidden = {one.handle: one.box for one in found}
        visible = tuple(one.box for one in self._texts if one.handle not in hidden) if hidden else ()
        return HiddenText(hidden, visible, bool(layers), self._plain, scan_pixels)

    def _judge_suspects(self, scanned: list[PageObject]) -> tuple[list[PageObject], list[PageObject]]:
        """Return the hidden texts, and those that a rendering must show; add the layer of a scan to `scanned`."""
        hidden, unclear = [], []
        for one, has_color_of_background in self._suspects:
            may_be_scan = _is_unseen(one) or has_color_of_background
            has_picture = may_be_scan and self._is_on_picture(one)
            is_outside = self._page_box is not None and not self._page_box.overlap(one.box.grow(_WIDENING))
            if is_outside or self._is_unpainted(one, has_picture=has_picture):
                hidden.append(one)
            elif has_color_of_background and not has_picture:
                unclear.append(one)
            elif _is_unseen(one) and any(
                scan.order < one.order and scan.box.holds(*one.box.center) for scan in self._scans
            ):
                scanned.append(one)
        return hidden, unclear

    def _is_on_picture(self, text: PageObject) -> bool:
        x, y = text.box.center
        return any(box.holds(x, y) for box in self._pictures)

    def _find_blank(self, texts: Sequence[PageObject], slack: float = 0.0) -> Iterator[PageObject]:
        """Yield the texts at whose place nothing is to be seen; `slack` is a ratio to the line height."""
        if not texts:
            return
        boxes = [one.box.grow(slack * (one.box.y1 - one.box.y0)) for one in texts[:_MAX_LOOKS]]
        pixels = objects.PagePixels(self._page, boxes)
        yield from (one for one, box in zip(texts, boxes, strict=False) if not pixels.has_ink(box))

    def _find_unchanged(
        self, below: Sequence[PageObject], layers: Sequence[Sequence[PageObject]]
    ) -> Iterator[PageObject]:
        """Yield the texts below photos and the texts of layers without which the page looks the same."""
        samples = [one for layer in layers for one in layer[:_LAYER_SAMPLES]]
        invisible = objects.find_invisible(self._page, [*below[:_MAX_LOOKS], *samples])
        yield from (one for one in below if one.handle in invisible)
        for layer in layers:
            if all(one.handle in invisible for one in layer[:_LAYER_SAMPLES]):
                yield from layer

    def _texts_below(self, covers: Sequence[PageObject]) -> Iterator[PageObject]:
        for one in self._texts if covers else ():
            if any(cover.order > one.order and cover.box.covers(one.box) for cover in covers):
                yield one

    def _read_objects(self, parent: int, prefix: str, matrices: objects.Matrices, depth: int) -> None:
        """Sort the objects of a page or form, with their boxes on the page."""
        library = pdfium()
        count = min(self._remaining, getattr(library, f"{prefix}_CountObjects")(parent))
        for handle, mode, sides, fill in objects.read_objects(prefix, parent, count):
            self._remaining -= 1
            kind = TEXT if mode != objects.NO_TEXT else library.FPDFPageObj_GetType(handle)
            if kind == objects.FORM and depth < _MAX_DEPTH:
                own = objects.read_matrix(handle)
                self._read_objects(handle, "FPDFFormObj", (own, *matrices), depth + 1)
            elif kind > 0 and sides:
                box = objects.transform(Box(*sides), matrices)
                self._add(PageObject(kind, handle, box, _MAX_OBJECTS - self._remaining, matrices, mode, fill))

    def _add(self, one: PageObject) -> None:
        """Add a text, or an object that may hide text or be its background."""
        x0, y0, x1, y1 = one.box
        is_large = x1 - x0 >= _MIN_BACKGROUND and y1 - y0 >= _MIN_BACKGROUND
        if one.kind == TEXT:
            if self._is_plain(one):
                self._plain.append(one)
            elif x1 - x0 >= _MIN_WIDTH:
                self._suspects.append((one, self._has_color_of_background(one)))
        elif one.kind == PATH and not is_large:
            self._small_paths.append(one)
        else:
            self._others.append(one)
            if one.kind == PATH and not objects.is_filled(one):
                return
            self._below.append(one)
            is_new = one.kind == PATH and one.fill is not None and one.fill not in self._colors
            if is_new and len(self._colors) < _MAX_COLORS:
                self._colors.append(one.fill or WHITE)
                self._contrasts.clear()

    def _is_plain(self, text: PageObject) -> bool:
        """Return True for text on the page that is painted in a visible size and color."""
        fill, page = text.fill, self._page_box or Box(0.0, 0.0, 0.0, 0.0)
        if text.mode != _FILLED or fill is None:
            return False
        if fill not in self._contrasts:
            is_same = any(objects.is_same_color(fill, other) for other in self._colors)
            self._contrasts[fill] = fill[3] != 0 and not is_same
        x0, y0, x1, y1 = text.box
        is_inside = page.x0 <= x0 and x1 <= page.x1 and page.y0 <= y0 and y1 <= page.y1
        is_high = y1 - y0 >= _MIN_SIZE or objects.font_size(text.handle, text.matrices) >= _MIN_SIZE
        return self._contrasts[fill] and is_inside and is_high

    def _find_covers_and_photos(self) -> tuple[list[PageObject], list[PageObject]]:
        """Return the opaque rectangles and the images that are painted after the first text."""
        first = min((one.order for one in self._texts), default=0)
        later = [one for one in self._others if one.order > first]
        paths = nlargest(_MAX_COVERS, (one for one in later if one.kind == PATH), key=lambda one: one.box.area)
        photos = [one for one in later if one.kind == IMAGE and one not in self._scans]
        return list(filter(self._is_cover, paths)), photos[:_MAX_COVERS]

    def _is_unpainted(self, text: PageObject, *, has_picture: bool) -> bool:
        if _is_unseen(text):
            return not has_picture and not any(
                one.kind == PATH and not objects.is_rectangle(one) for one in self._overlapping(text)
            )
        if text.mode == _CLIP:  # It shows what is painted later.
            return not any(one.order > text.order for one in self._overlapping(text))
        is_flat = text.box.y1 - text.box.y0 < _MIN_SIZE
        return is_flat and 0 < objects.font_size(text.handle, text.matrices) < _MIN_SIZE

    def _overlapping(self, text: PageObject) -> Iterator[PageObject]:
        """Yield the objects at the position of a text, up to a number of tests in total."""
        self._remaining_tests -= len(self._others) + len(self._small_paths)
        if self._remaining_tests > 0:
            yield from (one for one in chain(self._others, self._small_paths) if one.box.overlap(text.box))

    def _has_color_of_background(self, text: PageObject) -> bool:
        """Return True if filled letters have the color of their background; an image counts as different."""
        color = text.fill if text.mode in (_FILLED, _FILLED_CLIP) else None
        if color is None:
            return False
        is_white = objects.is_same_color(color, WHITE)
        x, y = text.box.center
        for one in reversed(self._below):
            if not one.box.holds(x, y):
                continue
            if one.kind != PATH or one.fill is None or one.fill[3] != OPAQUE:
                return False
            if objects.is_rectangle(one):
                return objects.is_same_color(color, one.fill)
            if is_white and not objects.is_same_color(one.fill, WHITE):
                return False
        return is_white

    def _is_cover(self, path: PageObject) -> bool:
        if path.fill is None or path.fill[3] != OPAQUE:
            return False
        if not objects.is_rectangle(path) or not objects.is_filled(path):
            return False
        if pdfium().FPDFPageObj_HasTransparency(path.handle):
            return False
        clip = objects.clip_box(path)
        return clip is None or clip.covers(path.box)


def _is_unseen(text: PageObject) -> bool:
    """Return True for text that is not painted, or with an opacity of 0, as programs write the layer of a scan."""
    is_clear = text.mode in (_FILLED, _FILLED_CLIP) and text.fill is not None and text.fill[3] == 0
    return is_clear or text.mode == _INVISIBLE

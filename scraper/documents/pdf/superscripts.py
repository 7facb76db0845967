"""Write small raised numbers of PDF pages as superscript characters: 10 to the sixth must not be read as 106.

PDFium's reader joins them to their base, so they are found among the page objects.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from scraper.documents.pdf.boxes import Box, center
from scraper.documents.pdf.liteparse_items import PdfItem
from scraper.documents.pdf.page_objects import SimpleObject, font_size

_SMALL = 0.86
"""Ratio to the font size of the base."""
_MIN_RISE, _MAX_SINK = 0.25, 0.2
"""Multiples of the height of the base: its foot is at least so far below, its top at most so far above."""
_MAX_WIDTH, _OVERLAP, _GAP = 2.0, 0.3, 0.4
"""Multiples of the height of the base."""
_MAX_CHARS, _MAX_SUPERSCRIPTS = 8, 1_000
"""Characters of one number, and superscripts of one page. A page of a scientific paper has fifty."""
_NUMBER = re.compile(r"[-+\u2212]?\d{1,4}(?:,\d{1,3})*|n")
_CHARACTERS = str.maketrans(
    "0123456789+-\u2212n", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b\u207b\u207f"
)


def find_superscripts(library: ctypes.CDLL, text_page: int, texts: Sequence[SimpleObject]) -> Iterator[tuple[str, Box]]:
    """Yield the small raised numbers that follow another text object, with their boxes in points of the page."""
    for (base_handle, base, _, base_matrices), (handle, box, _, matrices) in pairwise(texts):
        height = base[3] - base[1]
        if (
            base[1] + _MIN_RISE * height < box[1]
            and base[3] - _MAX_SINK * height < box[3]
            and box[2] - box[0] < _MAX_WIDTH * height
            and -_OVERLAP * height < box[0] - base[2] < _GAP * height
            and font_size(library, handle, matrices) <= _SMALL * font_size(library, base_handle, base_matrices)
        ):
            text = _read_text(library, text_page, handle)
            if _NUMBER.fullmatch(text):
                yield text, Box(*box)


def _read_text(library: ctypes.CDLL, text_page: int, handle: int) -> str:
    buffer = (ctypes.c_uint16 * (_MAX_CHARS + 1))()
    size: int = library.FPDFTextObj_GetText(handle, text_page, buffer, ctypes.sizeof(buffer))
    return bytes(buffer)[: max(0, size - 2)].decode("utf-16-le", "replace").strip() if size <= len(buffer) * 2 else ""


def write_superscripts(items: Iterable[PdfItem], superscripts: Sequence[tuple[str, Box]]) -> list[PdfItem]:
    """Return the items of a page with superscript characters for the numbers at these boxes."""
    places = [(number, box.x0, *center(box)) for number, box in superscripts[:_MAX_SUPERSCRIPTS]]
    return [_write(item, places) for item in items]


def _write(item: PdfItem, places: Sequence[tuple[str, float, float, float]]) -> PdfItem:
    """Return an item with superscript characters for numbers, each given with its left edge and its center."""
    left, top, right, bottom = item.x, item.y, item.x + item.width, item.y + item.height
    for number, x0, x, y in places:
        if not (top <= y <= bottom and left <= x <= right):
            continue
        start = 0
        for index, word in enumerate(item.words):
            start = item.text.find(word.text, start)
            if start < 0:
                break
            if word.x <= x <= word.x + word.width:
                at = _find_number(word.text, number, (x0 - word.x) / max(1.0, word.width))
                if at is not None and (at or start):
                    raised = number.translate(_CHARACTERS)
                    text = word.text[:at] + raised + word.text[at + len(number) :]
                    words = (*item.words[:index], word._replace(text=text), *item.words[index + 1 :])
                    whole = item.text[:start] + text + item.text[start + len(word.text) :]
                    item = item._replace(text=whole, words=words)
                break
            start += len(word.text)
    return item


def _find_number(word: str, number: str, share: float) -> int | None:
    """Return the position of a number in a word, the nearest to a share of its width."""
    places = [match.start() for match in re.finditer(re.escape(number), word)]
    return min(places, key=lambda at: abs(at - share * len(word)), default=None)

"""Read words of right-to-left scripts from the places of their glyphs.

Some programs store such text as displayed, others as read, and PDFium guesses which one it is. The places are certain:
words run from right to left, with Latin words and numbers in them from left to right.
"""

from __future__ import annotations

import ctypes
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from scraper.documents.pdf.liteparse_items import PdfItem, PdfWord
from scraper.documents.pdf.page_objects import Box
from scraper.documents.pdf.pdfium import pdfium
from scraper.documents.pdf.text_assembly import group_adjacent

_WORD_GAP = 0.22
"""Multiple of the font size. Letters are up to .15 apart, words from .25 on."""
_SPACE_WIDTH = 1.0
"""Points: what counts of a space, whose own box may be empty."""
_SAME_LINE, _ASCENT = 0.3, 0.8
"""Multiples of the font size: distance of the feet of letters on one line, and height of a letter above its foot."""
_BAND = 50.0
"""Points: height of the parts of a page in which the items near a glyph are looked up."""
_MAX_HEIGHT, _MAX_PAIRS = 10_000.0, 20_000_000
"""Points: height and place of an item. Glyphs times items of a page; a page of prose has a million."""
_LEFT_TO_RIGHT, _BETWEEN_DIGITS = frozenset({"L", "EN", "AN"}), frozenset({"CS", "ES", "ET"})
"""Bidirectional classes: Unicode Standard Annex 9, table 4."""
_MIRRORED = str.maketrans("()[]{}<>\u00ab\u00bb", ")(][}{><\u00bb\u00ab")
_LAM, _ALEFS = "\u0644", frozenset("\u0622\u0623\u0625\u0627")


class PlacedGlyph(NamedTuple):
    """A character, its left and right edge with its foot as both heights, and its marked content ID, if it has one."""

    character: str
    box: Box
    mark: int | None


def read_places(text_page: int, count: int, hidden: Container[int]) -> Iterator[PlacedGlyph]:
    """Yield the characters of a page in points of the page, without those of hidden text objects."""
    library = pdfium()
    edges = (ctypes.c_float * 4)()
    x, y = ctypes.c_double(), ctypes.c_double()
    for index in range(count):
        character = chr(library.FPDFText_GetUnicode(text_page, index) & 0xFFFF)
        if library.FPDFText_IsGenerated(text_page, index):
            continue
        if library.FPDFText_GetLooseCharBox(text_page, index, edges) and library.FPDFText_GetCharOrigin(
            text_page, index, ctypes.byref(x), ctypes.byref(y)
        ):
            if character.isspace():
                edges[0], edges[2] = x.value, x.value + _SPACE_WIDTH
            handle = library.FPDFText_GetTextObject(text_page, index)
            mark = library.FPDFPageObj_GetMarkedContentID(handle) if handle else -1
            if handle not in hidden:
                yield PlacedGlyph(character, Box(edges[0], y.value, edges[2], y.value), mark if mark >= 0 else None)


def rebuild_words(items: Sequence[PdfItem], glyphs: Sequence[PlacedGlyph]) -> list[PdfItem]:
    """Return the items of a page with those that are level rebuilt, one for each word, in the order of reading.

    Args:
        items: Items of the page.
        glyphs: Its characters by `read_places`, in points from the top left of the page.
    """
    if len(items) * len(glyphs) > _MAX_PAIRS:
        return list(items)
    bands: defaultdict[int, list[PdfItem]] = defaultdict(list)
    for item in items:
        if not item.rotation and 0 < item.height < _MAX_HEIGHT and abs(item.y) < _MAX_HEIGHT:
            for band in range(int(item.y // _BAND) - 1, int((item.y + item.height) // _BAND) + 2):
                bands[band].append(item)
    owned = [(glyph, owner) for glyph in glyphs if (owner := _find_owner(glyph.box, bands[int(glyph.box.y0 // _BAND)]))]
    owned.sort(key=lambda one: (one[0].box.y0, one[0].box.x0))
    lines = group_adjacent(owned, lambda line, one: one[0].box.y0 - line[0][0].box.y0 < _SAME_LINE * _size(one[1]))
    rebuilt = {id(item) for _, item in owned}
    return [word for line in lines for word in _words(line)] + [item for item in items if id(item) not in rebuilt]


def _size(item: PdfItem) -> float:
    return item.font_height or item.font_size or item.height


def _find_owner(box: Box, items: Sequence[PdfItem]) -> PdfItem | None:
    """Return the item that a glyph belongs to: it has its font and its mark."""
    middle = box.center[0]
    near = [item for item in items if item.x - 1 <= middle <= item.x + item.width + 1]
    owner = min(near, key=lambda item: abs(item.y + item.height / 2 - box.y0), default=None)
    return owner if owner is not None and abs(owner.y + owner.height / 2 - box.y0) < 1.5 * _size(owner) else None


def _words(line: Sequence[tuple[PlacedGlyph, PdfItem]]) -> Iterator[PdfItem]:
    is_arabic = any(unicodedata.bidirectional(glyph.character) == "AL" for glyph, _ in line)
    for group in group_adjacent(sorted(line, key=lambda one: one[0].box.center[0]), _is_same_word):
        if group[0][0].character.isspace():
            continue
        boxes = [glyph.box for glyph, _ in group]
        x0, x1, item = min(box.x0 for box in boxes), max(box.x1 for box in boxes), group[0][1]
        top = boxes[0].y0 - _ASCENT * _size(item)
        text = read_in_order([glyph for glyph, _ in group], is_arabic=is_arabic)
        word = PdfWord(text, x0, top, x1 - x0, _size(item))
        yield item._replace(
            text=text, x=x0, y=top, width=x1 - x0, height=_size(item), words=(word,), mcid=group[0][0].mark
        )


def _is_same_word(word: Sequence[tuple[PlacedGlyph, PdfItem]], one: tuple[PlacedGlyph, PdfItem]) -> bool:
    glyph, item = one
    if glyph.character.isspace() or word[-1][0].character.isspace():
        return False
    right = max(before.box.x1 for before, _ in word)
    return glyph.mark == word[-1][0].mark and glyph.box.x0 - right <= _WORD_GAP * _size(item)


def read_in_order(glyphs: Sequence[PlacedGlyph], *, is_arabic: bool) -> str:
    """Return the text of a word in the order of reading, from its glyphs from left to right.

    Signs such as `%` stay at the right of their number, but not beside Arabic letters, where they move to its left.
    """
    reading = list(reversed(glyphs))
    for at in range(len(reading) - 1):
        first, second = reading[at], reading[at + 1]
        marks_letter = unicodedata.combining(first.character) and not unicodedata.combining(second.character)
        # Lam and alef are often one glyph, whose letters have one place.
        is_ligature = first.character in _ALEFS and second.character == _LAM and first.box == second.box
        if marks_letter or is_ligature:
            reading[at : at + 2] = second, first
    text = "".join(glyph.character for glyph in reading)
    classes = [unicodedata.bidirectional(character) for character in text]
    turned = ""
    for is_turned, group in groupby(range(len(text)), key=lambda at: _reads_from_left(classes, at, is_arabic)):
        part = "".join(text[at] for at in group)
        turned += part[::-1] if is_turned else part.translate(_MIRRORED)
    return turned


def _reads_from_left(classes: Sequence[str], at: int, is_arabic: bool) -> bool:
    """Return True for a letter or digit that is read from left to right, and for a sign that belongs to them.

    Rules W2, W4 and W5 of Unicode Standard Annex 9.
    """
    if classes[at] == "ET" and not is_arabic:
        return "EN" in classes[max(0, at - 1) : at + 2]
    if classes[at] in _BETWEEN_DIGITS:
        return {*classes[at - 1 : at], *classes[at + 1 : at + 2]} <= _LEFT_TO_RIGHT and 0 < at < len(classes) - 1
    return classes[at] in _LEFT_TO_RIGHT

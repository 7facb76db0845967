"""Separate the words of pages whose fonts declare wrong widths, by the gaps between the glyphs as drawn.

PDFium places spaces by the declared widths: too small ones split words, too large ones join them.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from statistics import median

from scraper.documents.pdf.boxes import Box
from scraper.documents.pdf.liteparse_items import PdfItem, PdfWord
from scraper.documents.pdf.text_assembly import group_adjacent

Glyph = tuple[str, Box]
"""A character, and the box of its drawing."""

_LETTERS = re.compile("[A-Za-z\u00c0-\u052f]+")
"""Words of scripts that separate words by spaces: Latin, Greek, Cyrillic."""
_MIN_MEAN, _MAX_MEAN = 2.2, 12.0
"""Mean letters of a word on a page with wrong spaces: fewer, or more."""
_MIN_WORDS, _MIN_LETTERS = 12, 40
"""A page with less text gives no evidence."""
_WORD_GAP = 0.36
"""Ratio to the median height of a line's glyphs. In Liberation Sans, gaps are up to .21 within words, .64 between."""
_SAME_LINE, _MAX_GAP, _EDGE = 0.5, 1.5, 2.0
"""Points, a multiple of the font size, and points."""


def has_wrong_spaces(text: str) -> bool:
    """Return True if most words of a page are single letters, or are as long as several words."""
    pieces = len(text.split())
    if pieces and _MIN_MEAN + 1 <= len(text) / pieces <= _MAX_MEAN:
        return False
    words = _LETTERS.findall(text)
    letters = sum(map(len, words))
    if letters > _MAX_MEAN * len(words):
        return letters >= _MIN_LETTERS
    return letters < _MIN_MEAN * len(words) and len(words) >= _MIN_WORDS


def read_glyphs(library: ctypes.CDLL, text_page: int, count: int) -> Iterator[Glyph]:
    """Yield the characters of a page with the boxes of their drawings, in points of the page."""
    box = [ctypes.c_double() for _ in range(4)]
    left, right, bottom, top = box
    for index in range(count):
        character = chr(library.FPDFText_GetUnicode(text_page, index) & 0xFFFF)
        if not character.isspace() and library.FPDFText_GetCharBox(text_page, index, *map(ctypes.byref, box)):
            yield character, Box(left.value, bottom.value, right.value, top.value)


def separate_words(items: Sequence[PdfItem], glyphs: Sequence[Glyph]) -> list[PdfItem]:
    """Return the items of a page with spaces where their glyphs are apart, or unchanged if that explains no words.

    Args:
        items: Items of the page.
        glyphs: Its characters, with their boxes in points from the top left of the page.
    """
    lines = group_adjacent(items, lambda line, item: _is_same_line(line[-1], item))
    separated = [one for line in lines for one in _separate_line(line, glyphs)]
    return list(items) if has_wrong_spaces(" ".join(item.text for item in separated)) else separated


def _is_same_line(before: PdfItem, item: PdfItem) -> bool:
    return (
        before.rotation == item.rotation == 0
        and before.font_name == item.font_name
        and before.font_size == item.font_size
        and abs(before.y - item.y) < _SAME_LINE
        and abs(item.x - before.x - before.width) < _MAX_GAP * item.height
    )


def _separate_line(line: Sequence[PdfItem], glyphs: Sequence[Glyph]) -> Sequence[PdfItem]:
    """Return one item for a line, or its items if other glyphs are there, or in another order."""
    first = line[0]
    left, right = min(item.x for item in line) - _EDGE, max(item.x + item.width for item in line) + _EDGE
    own = [
        glyph
        for glyph in glyphs
        if left <= glyph[1].x0 <= right and first.y <= (glyph[1].y0 + glyph[1].y1) / 2 <= first.y + first.height
    ]
    own.sort(key=lambda glyph: glyph[1].x0 + glyph[1].x1)
    expected = "".join("".join(item.text for item in line).split())
    if first.rotation or not own or expected != "".join(character for character, _ in own):
        return line
    gap = _WORD_GAP * median(box.y1 - box.y0 for _, box in own)
    words = []
    for word in group_adjacent(own, lambda word, glyph: glyph[1].x0 - max(box.x1 for _, box in word) <= gap):
        x0, x1 = word[0][1].x0, max(box.x1 for _, box in word)
        words.append(PdfWord("".join(character for character, _ in word), x0, first.y, x1 - x0, first.height))
    text, last = " ".join(word.text for word in words), words[-1]
    return [first._replace(text=text, x=words[0].x, width=last.x + last.width - words[0].x, words=tuple(words))]

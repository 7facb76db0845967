"""Correct the text items of liteparse by the objects and characters that PDFium finds on a page.

Small raised numbers become superscript characters: 10 to the sixth must not be read as 106. PDFium's reader joins them
to their base. Words of fonts that declare wrong widths are separated by the gaps between the glyphs as drawn: PDFium
places spaces by the declared widths, so too small ones split words, and too large ones join them.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median

from scraper.documents.pdf.liteparse_items import PdfItem, PdfWord
from scraper.documents.pdf.page_objects import Box, SimpleObject, font_size
from scraper.documents.pdf.pdfium import pdfium
from scraper.documents.pdf.text_assembly import group_adjacent

_SMALL = 0.86
"""Ratio to the font size of the base."""
_MIN_RISE, _MAX_SINK = 0.25, 0.2
"""Multiples of the height of the base: its foot is at least so far below, its top at most so far above."""
_MAX_WIDTH, _LAP, _GAP = 2.0, 0.3, 0.4
"""Multiples of the height of the base."""
_MAX_CHARS, _MAX_SUPERSCRIPTS = 8, 1_000
"""Characters of one number, and superscripts of one page. A page of a scientific paper has fifty."""
_NUMBER = re.compile(r"[-+\u2212]?\d{1,4}(?:,\d{1,3})*|n")
_CHARACTERS = str.maketrans(
    "0123456789+-\u2212n", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b\u207b\u207f"
)


def find_superscripts(text_page: int, texts: Sequence[SimpleObject]) -> Iterator[tuple[str, Box]]:
    """Yield the small raised numbers that follow another text object, with their boxes in points of the page."""
    for (base_handle, base, _, base_matrices), (handle, box, _, matrices) in pairwise(texts):
        height = base[3] - base[1]
        if (
            base[1] + _MIN_RISE * height < box[1]
            and base[3] - _MAX_SINK * height < box[3]
            and box[2] - box[0] < _MAX_WIDTH * height
            and -_LAP * height < box[0] - base[2] < _GAP * height
            and font_size(handle, matrices) <= _SMALL * font_size(base_handle, base_matrices)
        ):
            text = _read_text(text_page, handle)
            if _NUMBER.fullmatch(text):
                yield text, Box(*box)


def _read_text(text_page: int, handle: int) -> str:
    buffer = (ctypes.c_uint16 * (_MAX_CHARS + 1))()
    size: int = pdfium().FPDFTextObj_GetText(handle, text_page, buffer, ctypes.sizeof(buffer))
    return bytes(buffer)[: max(0, size - 2)].decode("utf-16-le", "replace").strip() if size <= len(buffer) * 2 else ""


def write_superscripts(items: Iterable[PdfItem], superscripts: Sequence[tuple[str, Box]]) -> list[PdfItem]:
    """Return the items of a page with superscript characters for the numbers at these boxes."""
    places = [(number, box.x0, *box.center) for number, box in superscripts[:_MAX_SUPERSCRIPTS]]
    return [_write(item, places) for item in items]


def _write(item: PdfItem, places: Sequence[tuple[str, float, float, float]]) -> PdfItem:
    """Return an item with superscript characters for numbers, each given with its left edge and its center.

    Of several such numbers in a word, the nearest to the place is meant.
    """
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
                share = (x0 - word.x) / max(1.0, word.width)
                found = (at for at in range(len(word.text)) if word.text.startswith(number, at))
                at = min(found, key=lambda at: abs(at - share * len(word.text)), default=None)
                if at is not None and (at or start):
                    raised = number.translate(_CHARACTERS)
                    text = word.text[:at] + raised + word.text[at + len(number) :]
                    words = (*item.words[:index], word._replace(text=text), *item.words[index + 1 :])
                    whole = item.text[:start] + text + item.text[start + len(word.text) :]
                    item = item._replace(text=whole, words=words)
                break
            start += len(word.text)
    return item


Glyph = tuple[str, Box]
"""A character, and the box of its drawing."""

_LETTERS = re.compile("[A-Za-z\u00c0-\u052f]+")
"""Words of scripts that separate words by spaces: Latin, Greek, Cyrillic."""
_MIN_MEAN, _MAX_MEAN = 2.2, 12.0
"""Mean letters of a word on a page with wrong spaces: fewer, or more."""
_MAX_SHORT_MEAN = 3.2
"""Mean letters of the words of a line, up to which its spaces are compared. In English it is 4.7."""
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


def use_spaces_of(items: Iterable[PdfItem], text: str) -> list[PdfItem]:
    """Return the items of a page, lines of many short words with the spaces of PDFium's own text."""
    squashed = ""
    at_letter: list[int] = []
    corrected: list[PdfItem] = []
    for item in items:
        letters = "".join(item.text.split())
        if item.text.count(" ") < _MIN_WORDS or len(letters) > _MAX_SHORT_MEAN * (item.text.count(" ") + 1):
            corrected.append(item)
            continue
        if not at_letter:
            at_letter = [at for at, character in enumerate(text) if not character.isspace()]
            squashed = "".join(text[at] for at in at_letter)
        start = squashed.find(letters)
        if start >= 0:
            found = " ".join(text[at_letter[start] : at_letter[start + len(letters) - 1] + 1].split())
            item = item._replace(text=found, words=()) if found.count(" ") < item.text.count(" ") else item
        corrected.append(item)
    return corrected


def read_glyphs(text_page: int, count: int) -> Iterator[Glyph]:
    """Yield the characters of a page with the boxes of their drawings, in points of the page."""
    box = [ctypes.c_double() for _ in range(4)]
    left, right, bottom, top = box
    library = pdfium()
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
    area = Box(left, first.y, right, first.y + first.height)
    own = sorted(
        (glyph for glyph in glyphs if area.holds(glyph[1].x0, glyph[1].center[1])),
        key=lambda glyph: glyph[1].x0 + glyph[1].x1,
    )
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

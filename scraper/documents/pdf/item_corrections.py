"""Correct the text items of liteparse by the objects and characters that PDFium finds on a page.

Small raised numbers, which PDFium's reader joins to their base, become superscript characters. Words are read from the
places of their glyphs in fonts that declare wrong widths, and in right-to-left scripts, because files store such text
as displayed or as read.
"""

import ctypes
import re
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from scraper.documents.pdf.pdfium import Box, PageObject, font_size, pdfium
from scraper.documents.pdf.text_assembly import group_adjacent


class PdfWord(NamedTuple):
    """A word of an item, in points from the top left of the page."""

    text: str
    x: float
    y: float
    width: float
    height: float


class PdfItem(NamedTuple):
    """Text of one font on one line, as liteparse reads it."""

    text: str
    x: float
    y: float
    width: float
    height: float
    rotation: float
    font_name: str | None
    font_size: float | None
    font_height: float | None
    font_weight: int | None
    mcid: int | None
    words: tuple[PdfWord, ...]

    @property
    def size(self) -> float:
        """Size of the font in points."""
        return self.font_height or self.font_size or self.height


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


def find_superscripts(text_page: int, texts: Sequence[PageObject]) -> Iterator[tuple[str, Box]]:
    """Yield the small raised numbers that follow another text object, with their boxes in points of the page."""
    buffer = (ctypes.c_uint16 * (_MAX_CHARS + 1))()
    for before, one in pairwise(texts):
        base, box = before.box, one.box
        height = base.y1 - base.y0
        if (
            base.y0 + _MIN_RISE * height < box.y0
            and base.y1 - _MAX_SINK * height < box.y1
            and box.x1 - box.x0 < _MAX_WIDTH * height
            and -_LAP * height < box.x0 - base.x1 < _GAP * height
            and font_size(one.handle, one.matrices) <= _SMALL * font_size(before.handle, before.matrices)
        ):
            size: int = pdfium().FPDFTextObj_GetText(one.handle, text_page, buffer, ctypes.sizeof(buffer))
            is_short = size <= len(buffer) * 2
            text = bytes(buffer)[: max(0, size - 2)].decode("utf-16-le", "replace").strip() if is_short else ""
            if _NUMBER.fullmatch(text):
                yield text, box


def write_superscripts(items: Iterable[PdfItem], superscripts: Sequence[tuple[str, Box]]) -> list[PdfItem]:
    """Return the items of a page with superscript characters for the numbers at these boxes."""
    places = [(number, box.x0, *box.center) for number, box in superscripts[:_MAX_SUPERSCRIPTS]]
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


_BOLD = re.compile(r"bold|black|heavy|semibd|demi\b|-bd\b|(?:^|\+)(?:cm|sf|ec|tc|lm)bx|-medi\b", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|typewriter|menlo|inconsolata|cmtt|lmtt", re.IGNORECASE)
_MATH = re.compile(r"katex|mathjax|math|stix|xits|euclid|mt-?extra|^(?:\w+\+)?symbol", re.IGNORECASE)
_BOLD_WEIGHT, _MAX_FONT_NAME = 600, 128


@lru_cache(maxsize=256)
def read_font(name: str, weight: int) -> tuple[bool, bool, bool]:
    """Return True for a bold font, for a font of a fixed width, and for one made for formulas."""
    is_bold = weight >= _BOLD_WEIGHT or _BOLD.search(name) is not None
    return is_bold, _MONO.search(name) is not None, _MATH.search(name) is not None


def find_bold(texts: Sequence[PageObject]) -> Iterator[tuple[None, Box]]:
    """Yield the boxes of bold text objects in points of the page."""
    library, bold = pdfium(), dict[int, bool]()
    for one in texts:
        font = library.FPDFTextObj_GetFont(one.handle) or 0
        if font and font not in bold:
            name = ctypes.create_string_buffer(_MAX_FONT_NAME)
            library.FPDFFont_GetBaseFontName(font, name, _MAX_FONT_NAME)
            bold[font], *_ = read_font(name.value.decode("utf-8", "replace"), library.FPDFFont_GetWeight(font))
        if bold.get(font):
            yield None, one.box


def split_bold(items: Iterable[PdfItem], bold: Sequence[Box]) -> Iterator[PdfItem]:
    """Yield the items of a page, a bold beginning apart: liteparse gives a line the font of its first letter."""
    for item in items:
        if len(item.words) < 2 or not read_font(item.font_name or "", item.font_weight or 0)[0]:
            yield item
            continue
        row = [box for box in bold if box.y0 < item.y + item.height / 2 < box.y1]
        middles = (word.x + word.width / 2 for word in item.words)
        plain = [not any(box.x0 <= x <= box.x1 for box in row) for x in middles]
        at = plain.index(True) if True in plain else 0
        before, found, after = item.text.partition(f" {item.words[at].text}")
        if not at or not found or len(before.split()) != at:
            yield item
            continue
        yield item._replace(text=before, words=item.words[:at], width=sum(item.words[at - 1][1:4:2]) - item.x)
        start = item.words[at].x
        yield item._replace(
            text=(found + after).lstrip(), words=item.words[at:], x=start, width=item.x + item.width - start,
            font_name=None, font_weight=0,
        )  # fmt: skip


_LETTERS = re.compile("[A-Za-z\u00c0-\u052f]+")
"""Words of scripts that separate words by spaces: Latin, Greek, Cyrillic."""
_MIN_MEAN, _MAX_MEAN = 2.2, 12.0
"""Mean letters of a word on a page with wrong spaces: fewer, or more."""
_MAX_SHORT_MEAN = 3.2
"""Mean letters of the words of a line, up to which its spaces are compared. In English it is 4.7."""
_MIN_WORDS, _MIN_LETTERS = 12, 40
"""A page with less text gives no evidence."""


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


_WORD_GAP = 0.22
"""Multiple of the font size. Letters are up to .15 apart, words from .25 on; as drawn, letters up to .12, words .35."""
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
_OPENING, _CLOSING = frozenset("([{\u00ab"), frozenset(")]}\u00bb")
_LAM, _ALEFS = "\u0644", frozenset("\u0622\u0623\u0625\u0627")


class PlacedGlyph(NamedTuple):
    """A character, its left and right edge with its foot as both heights, and its marked content ID, if it has one."""

    character: str
    box: Box
    mark: int | None


def read_glyphs(text_page: int, count: int, hidden: Container[int], *, as_drawn: bool) -> Iterator[PlacedGlyph]:
    """Yield the characters of a page in points of the page, without those of hidden text objects.

    With `as_drawn`, the edges are those of the drawings instead of those that the font declares, and spaces are left
    out.
    """
    library = pdfium()
    edges = (ctypes.c_float * 4)()
    drawn = [ctypes.c_double() for _ in range(4)]
    x, y = ctypes.c_double(), ctypes.c_double()
    for index in range(count):
        character = chr(library.FPDFText_GetUnicode(text_page, index) & 0xFFFF)
        handle = library.FPDFText_GetTextObject(text_page, index)
        if library.FPDFText_IsGenerated(text_page, index) or handle in hidden:
            continue
        if not library.FPDFText_GetCharOrigin(text_page, index, ctypes.byref(x), ctypes.byref(y)):
            continue
        if as_drawn:
            if character.isspace() or not library.FPDFText_GetCharBox(text_page, index, *map(ctypes.byref, drawn)):
                continue
            left, right = drawn[0].value, drawn[1].value
        elif library.FPDFText_GetLooseCharBox(text_page, index, edges):
            is_space = character.isspace()
            left, right = (x.value, x.value + _SPACE_WIDTH) if is_space else (edges[0], edges[2])
        else:
            continue
        mark = library.FPDFPageObj_GetMarkedContentID(handle) if handle else -1
        yield PlacedGlyph(character, Box(left, y.value, right, y.value), mark if mark >= 0 else None)


def rebuild_words(items: Sequence[PdfItem], glyphs: Sequence[PlacedGlyph], *, from_right: bool) -> list[PdfItem]:
    """Return the items of a page with those that are level rebuilt, one for each word, in the order of reading.

    Text from the left stays unchanged if the places of the glyphs explain no words.

    Args:
        items: Items of the page.
        glyphs: Its characters by `read_glyphs`, in points from the top left of the page.
        from_right: Read letters from the right, and other text within them from the left.
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
    lines = group_adjacent(owned, lambda line, one: one[0].box.y0 - line[0][0].box.y0 < _SAME_LINE * one[1].size)
    rebuilt = {id(item) for _, item in owned}
    words = [word for line in lines for word in _words(line, from_right=from_right)]
    if not from_right and not _explains_words(words, [item for item in items if id(item) in rebuilt]):
        return list(items)
    return words + [item for item in items if id(item) not in rebuilt]


def add_astral_letters(items: Sequence[PdfItem], glyphs: Sequence[PlacedGlyph]) -> list[PdfItem]:
    """Return the items of a page with the letters beyond U+FFFF, which liteparse drops, but those for private use."""
    found = list(items)
    around = [glyph.character for glyph in glyphs]
    for number, (first, second) in enumerate(pairwise(glyphs)):
        pair = (first.character + second.character).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        if len(pair) != 1 or unicodedata.category(pair) == "Co":
            continue
        x, width = first.box.x0, first.box.x1 - first.box.x0
        on_line = (
            index for index, item in enumerate(found)
            if not item.rotation and item.y - 1 <= first.box.y0 <= item.y + item.height + 1
        )  # fmt: skip
        nearest = min(on_line, key=lambda at: max(found[at].x - x, x - found[at].x - found[at].width), default=None)
        if nearest is None:
            continue
        owner = found[nearest]
        if owner.x < x < owner.x + owner.width:
            before, after = "".join(around[max(0, number - 1) : number]), "".join(around[number + 2 : number + 3])
            found[nearest] = _insert(owner, PdfWord(pair, x, owner.y, width, owner.height), before, after)
        else:
            word = PdfWord(pair, x, owner.y, width, owner.height)
            found.append(owner._replace(text=pair, x=x, width=width, words=(word,), mcid=first.mark))
    return found


def _insert(item: PdfItem, letter: PdfWord, before: str, after: str) -> PdfItem:
    """Return an item with a letter that stands between these two, in or after the word that begins before it."""
    start, index, word = 0, 0, PdfWord(item.text, item.x, item.y, item.width, item.height)
    for at, one in enumerate(item.words):
        if one.x <= letter.x:
            start, index, word = item.text.find(one.text, start), at, one
    end = len(word.text)
    if not before.isspace():
        share = end * min(1.0, (letter.x - word.x) / max(1.0, word.width))
        ends = [at for at in range(end + 1) if word.text[:at].endswith(before)] or [round(share)]
        end = min(ends, key=lambda at: abs(at - share))
    text = f"{word.text[:end]}{before if before.isspace() else ''}{letter.text}{word.text[end:]}"
    rest = item.text[start + len(word.text) :]
    rest = rest if after.isspace() or end < len(word.text) else rest.lstrip()
    right = max(word.x + word.width, letter.x + letter.width)
    words = (*item.words[:index], word._replace(text=text, width=right - word.x), *item.words[index + 1 :])
    return item._replace(text=f"{item.text[:start]}{text}{rest}", words=words)


_VERTICAL_SAMPLE = 400


def is_vertical(text_page: int, text: str) -> bool:
    """Return True if most East Asian letters of a page stand below the one before."""
    if max(text, default="") < "\u3000" or 2 * sum("\u3000" <= character <= "\uffdc" for character in text) < len(text):
        return False
    x, y = ctypes.c_double(), ctypes.c_double()
    places = []
    for index in range(min(len(text), _VERTICAL_SAMPLE)):
        pdfium().FPDFText_GetCharOrigin(text_page, index, ctypes.byref(x), ctypes.byref(y))
        places.append((x.value, y.value))
    moves = [(right - left, low - high) for (left, high), (right, low) in pairwise(places)]
    return 2 * sum(down < -1 and abs(across) < 1 for across, down in moves) > len(moves)


def rebuild_columns(items: Sequence[PdfItem], glyphs: Sequence[PlacedGlyph]) -> list[PdfItem]:
    """Return the columns of vertical text as items that are turned by 90 degrees; other text is left out.

    Args:
        items: Items of the page.
        glyphs: Its characters by `read_glyphs`, in points from the top left of the page.
    """
    columns = []
    boxes = [(Box(one.x - 1, one.y - 1, one.x + one.width, one.y + one.height), one) for one in items]
    for column in group_adjacent(glyphs, _is_below):
        feet = [(glyph.box.x0, glyph.box.y0 - 1) for glyph in column]
        owner = next((one for foot in feet for box, one in boxes if box.holds(*foot)), None)
        if owner is not None and len(column) > 1:
            text = "".join(glyph.character for glyph in column).replace("\0", "")
            top = feet[0][1] - owner.size
            columns.append(owner._replace(
                text=text, x=feet[0][0], y=top, width=owner.size, height=feet[-1][1] - top, rotation=90.0, words=(),
                mcid=column[0].mark,
            ))  # fmt: skip
    return columns


def _is_below(column: Sequence[PlacedGlyph], one: PlacedGlyph) -> bool:
    before = column[-1].box
    step = column[1].box.y0 - column[0].box.y0 if len(column) > 1 else one.box.y0 - before.y0
    aside = min(abs(one.box.x0 - before.x0), abs(one.box.x1 - before.x1))  # Punctuation is narrower.
    return aside < step / 2 and 0 < one.box.y0 - before.y0 < 1.5 * step


def _explains_words(words: Sequence[PdfItem], items: Sequence[PdfItem]) -> bool:
    """Return True if words have usual lengths and the letters of these items."""
    texts = [" ".join(one.text for one in each) for each in (words, items)]
    written, expected = (sorted("".join(text.split())) for text in texts)
    return written == expected and not has_wrong_spaces(texts[0])


def _find_owner(box: Box, items: Sequence[PdfItem]) -> PdfItem | None:
    """Return the item that a glyph belongs to: it has its font and its mark."""
    middle = box.center[0]
    near = [item for item in items if item.x - 1 <= middle <= item.x + item.width + 1]
    owner = min(near, key=lambda item: abs(item.y + item.height / 2 - box.y0), default=None)
    return owner if owner is not None and abs(owner.y + owner.height / 2 - box.y0) < 1.5 * owner.size else None


def _words(line: Sequence[tuple[PlacedGlyph, PdfItem]], *, from_right: bool) -> Iterator[PdfItem]:
    is_arabic = any(unicodedata.bidirectional(glyph.character) == "AL" for glyph, _ in line)
    for group in group_adjacent(sorted(line, key=lambda one: one[0].box.center[0]), _is_same_word):
        if group[0][0].character.isspace():
            continue
        boxes = [glyph.box for glyph, _ in group]
        x0, x1, item = min(box.x0 for box in boxes), max(box.x1 for box in boxes), group[0][1]
        top = boxes[0].y0 - _ASCENT * item.size
        glyphs = [glyph for glyph, _ in group]
        text = (
            read_in_order(glyphs, is_arabic=is_arabic) if from_right else "".join(glyph.character for glyph in glyphs)
        )
        word = PdfWord(text, x0, top, x1 - x0, item.size)
        yield item._replace(
            text=text, x=x0, y=top, width=x1 - x0, height=item.size, words=(word,), mcid=group[0][0].mark
        )


def _is_same_word(word: Sequence[tuple[PlacedGlyph, PdfItem]], one: tuple[PlacedGlyph, PdfItem]) -> bool:
    glyph, item = one
    if glyph.character.isspace() or word[-1][0].character.isspace():
        return False
    right = max(before.box.x1 for before, _ in word)
    return glyph.mark == word[-1][0].mark and glyph.box.x0 - right <= _WORD_GAP * item.size


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
    # Brackets open at the start and close at the end of a word; PDFium turns those of some lines.
    is_wrong = len(turned) > 1 and (turned[0] in _CLOSING or turned[-1] in _OPENING)
    return turned.translate(_MIRRORED) if is_wrong else turned


def _reads_from_left(classes: Sequence[str], at: int, is_arabic: bool) -> bool:
    """Return True for a letter or digit that is read from left to right, and for a sign that belongs to them.

    Rules W2, W4 and W5 of Unicode Standard Annex 9.
    """
    if classes[at] == "ET" and not is_arabic:
        return "EN" in classes[max(0, at - 1) : at + 2]
    if classes[at] in _BETWEEN_DIGITS:
        return {*classes[at - 1 : at], *classes[at + 1 : at + 2]} <= _LEFT_TO_RIGHT and 0 < at < len(classes) - 1
    return classes[at] in _LEFT_TO_RIGHT

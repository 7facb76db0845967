"""Split Markdown text into the units of a quotation: sentences, list items, table rows and code blocks."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from scraper.model import Heading
from scraper.text.markdown_structure import AtomicBlock, find_atomic_blocks, find_headings, is_table_row
from scraper.words.matcher import WordPattern

MAX_CHARACTERS = 600
"""Characters of a unit. One sentence in a hundred is longer; it is split at a pause."""
_MAX_BYTES = 1_500
"""Bytes of a unit in UTF-8. A code block up to this size is not split; longer ones are split into lines."""
_MIN_BYTES = 25
"""Bytes. A shorter sentence joins its neighbor in the paragraph."""

_BLANK = re.compile(r"\n(?:[ \t>]*\n)+")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_ASCII_SENTENCE_END = re.compile(r"[.!?][\"')\]*_]*\s+")
_SENTENCE_END = re.compile(
    # The first character is consumed before the alternatives, because the search for one of a set is fast.
    r"[.!?…。！？；।؟።။\u0e2f\s](?:(?<=[.!?…])[\"'”’»)\]*_]*\s+|(?<=[。！？；])[”’」』）]*|(?<=[।؟።။])\s*|(?<=[\u0e2f\s])"
    # Thai, Lao, Burmese and Khmer write a space only at the end of a phrase.
    rf"(?:(?<=\s)\s+|(?<=\u0e2f)\s{{2,}}|(?<=[{_UNSPACED}]\s)\s*(?=[{_UNSPACED}])))"
)
_ABBREVIATION = WordPattern(r"(?:^|[\s(\[“\"'])(?:[a-z]|{search.abbreviation})\.$")
"""Ends of texts that are not the end of a sentence."""
_LOWER_LINE = re.compile(r"[ \t>]*[a-zß-öø-ÿа-яα-ω]")
_MARKER = re.compile(r"[ \t>]*(?:[-*+|]|\d{1,9}[.)])\s")
_TABLE_DELIMITER = re.compile(r"[ >]*\|(?: *:?-+:? *\|)+[ \t]*(?:\n|\Z)")
_PAUSES = ("; ", "；", "、", "，", ", ", " ")


@dataclass(frozen=True, slots=True)
class Sentence:
    """Offsets of a unit, its paragraph, and the headings above it, outermost first."""

    start: int
    """Offset of the heading directly above the unit, or of its own text."""
    text_start: int
    """Offset of the text of the unit, after its headings."""
    end: int
    paragraph: int
    """Number of the paragraph in the text."""
    headings: tuple[str, ...] = ()
    outer_headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """Offsets of a heading or unit, and True for a heading and for the end of a paragraph."""

    start: int
    end: int
    is_heading: bool = False
    ends_paragraph: bool = False


def split_sentences(markdown: str) -> list[Sentence]:
    """Return the units in order. Together they contain all text except the white space between them.

    A heading belongs to the unit that follows it.
    """
    above = deque(find_headings(markdown))
    path: list[Heading] = []
    sentences: list[Sentence] = []
    paragraph = 0
    start, end = -1, 0
    outer: tuple[str, ...] = ()
    for part in _parts(markdown):
        while above and above[0].start <= part.start:
            path = [*(one for one in path if one.level < above[0].level), above.popleft()]
        headings = tuple(one.text for one in path)
        if part.is_heading:
            if start < 0:
                start, outer = part.start, headings[:-1]
            end = part.end
            continue
        if start < 0:
            start, outer = part.start, headings
        sentences.append(Sentence(start, part.start, part.end, paragraph, headings, outer))
        paragraph += part.ends_paragraph
        start = -1
    if start >= 0:
        sentences.append(Sentence(start, start, end, paragraph, outer, outer))
    return sentences


def _parts(markdown: str) -> Iterator[_Part]:
    at = 0
    for block in find_atomic_blocks(markdown, len(markdown)):
        yield from _text_parts(markdown, at, block.start)
        yield from _code_parts(markdown, block)
        at = block.end
    yield from _text_parts(markdown, at, len(markdown))


def _code_parts(markdown: str, block: AtomicBlock) -> Iterator[_Part]:
    if len(markdown[block.start : block.end].encode("utf-8", "replace")) <= _MAX_BYTES:
        yield _Part(block.start, block.end, ends_paragraph=True)
        return
    begin = at = block.start
    while at < block.end:
        line_end = _line_end(markdown, at, block.end)
        if line_end - begin > MAX_CHARACTERS and at > begin:
            yield from _split_long(markdown, begin, at - 1)
            begin = at
        at = line_end + 1
    yield from _split_long(markdown, begin, block.end, ends_paragraph=True)


def _text_parts(markdown: str, start: int, end: int) -> Iterator[_Part]:
    at = start
    while at < end:
        gap = _BLANK.search(markdown, at, end)
        yield from _block_parts(markdown, at, gap.start() if gap else end)
        at = gap.end() if gap else end


def _block_parts(markdown: str, start: int, end: int) -> Iterator[_Part]:
    """Yield the units of the lines between two blank ones. A line may continue the sentence of the line above."""
    at = start
    while at < end:
        line_end = _line_end(markdown, at, end)
        if markdown.startswith(("# ", "## ", "### ", "#### ", "##### ", "###### "), at):
            yield _Part(at, line_end, is_heading=True)
        elif is_table_row(markdown[at : min(line_end, at + MAX_CHARACTERS)]):
            for _ in range(2 * (_TABLE_DELIMITER.match(markdown, line_end + 1, end) is not None)):
                line_end = min(end, _line_end(markdown, line_end + 1, end))  # a head alone says nothing
            yield from _split_long(markdown, at, line_end, ends_paragraph=line_end >= end)
        elif markdown[at:line_end].strip():
            while line_end < end and _LOWER_LINE.match(markdown, line_end + 1):
                line_end = _line_end(markdown, line_end + 1, end)
            ends = line_end >= end or not _MARKER.match(markdown, at)
            yield from _line_parts(markdown, at, line_end, ends_paragraph=ends)
        at = line_end + 1


def _line_parts(markdown: str, start: int, end: int, *, ends_paragraph: bool) -> Iterator[_Part]:
    pattern = _ASCII_SENTENCE_END if markdown[start:end].isascii() else _SENTENCE_END
    stops = [stop.end() for stop in pattern.finditer(markdown, start, end)]
    ends = [stop for stop in dict.fromkeys((*stops, end)) if stop > start]
    spans = list(zip((start, *ends), ends, strict=False))
    spans = _join_short(markdown, spans)
    for number, (first, last) in enumerate(spans):
        yield from _split_long(markdown, first, last, ends_paragraph=ends_paragraph and number == len(spans) - 1)


def _join_short(markdown: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join parts that end with an abbreviation, and short ones, with their neighbor."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined:
            first, last = joined[-1]
            before = markdown[first:last].rstrip()
            is_part = (
                _ABBREVIATION.search(before[-12:])
                or _measure(before) < _MIN_BYTES
                or _measure(markdown[start:end].rstrip()) < _MIN_BYTES
            )
            if is_part and end - first <= MAX_CHARACTERS:
                joined[-1] = (first, end)
                continue
        joined.append((start, end))
    return joined


def _split_long(markdown: str, start: int, end: int, *, ends_paragraph: bool = False) -> Iterator[_Part]:
    while end - start > MAX_CHARACTERS or _measure(markdown[start:end]) > _MAX_BYTES:
        limit = start + min(MAX_CHARACTERS, _MAX_BYTES // 4 if not markdown[start:end].isascii() else MAX_CHARACTERS)
        if limit >= end:
            break
        middle = (start + limit) // 2
        stops = (markdown.rfind(pause, middle, limit) + len(pause) for pause in _PAUSES)
        stop = next((stop for stop in stops if stop > middle), limit)
        yield _Part(start, stop)
        start = stop
    yield _Part(start, end, ends_paragraph=ends_paragraph)


def _line_end(markdown: str, start: int, end: int) -> int:
    at = markdown.find("\n", start, end)
    return end if at < 0 else at


def _measure(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))

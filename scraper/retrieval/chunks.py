"""A Markdown text in the pieces of which excerpts are made: a few sentences, list items or rows each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from scraper.extract.text.markdown_structure import AtomicBlock, find_atomic_blocks, find_headings

TARGET_BYTES = 500
"""Size of a piece in UTF-8, which is nearer to tokens than characters are; a character of three bytes counts
as four. About 110 tokens at the most in any script."""

_CODE_BYTES = 3 * TARGET_BYTES
"""A block of code up to this size stays whole."""

_LONGEST_BYTES = 4 * TARGET_BYTES
"""No piece is longer: a sentence, line or row beyond it is divided where a word ends."""

_BLANK = re.compile(r"\n(?:[ \t>]*\n)+")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])[\"'”’»)\]*_]*\s+|(?<=[。！？；])[”’」』）]*|(?<=[।؟።។။])\s*|\u0e2f?\s{2,}"
    # Thai, Lao, Burmese and Khmer leave a space where a phrase ends, and nowhere else.
    rf"|(?<=[{_UNSPACED}])\s+(?=[{_UNSPACED}])"
)
_WIDE_LEADS = bytes(range(0xE0, 0xF0))
"""First bytes of characters of three bytes."""
_HEADING = re.compile(r"#{1,6} ")
_PAUSES = ("、", "，", ", ", " ")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece from `start` to `end`, and the headings above it, outermost first, without its own."""

    start: int
    end: int
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Atom:
    """What is not divided further."""

    start: int
    end: int
    size: int
    is_heading: bool = False
    ends_block: bool = False


def split_chunks(markdown: str) -> list[Chunk]:
    """The pieces in order; together they hold all of the text but the white space between them."""
    paths = _Paths(markdown)
    return [_unit(atoms, paths) for atoms in _packed(markdown)]


def _unit(atoms: list[_Atom], paths: _Paths) -> Chunk:
    headings = paths.at(atoms[0].start)
    return Chunk(atoms[0].start, atoms[-1].end, headings[:-1] if atoms[0].is_heading else headings)


def _packed(markdown: str) -> Iterator[list[_Atom]]:
    """Atoms that stand together: up to the size, and never across a heading."""
    pack: list[_Atom] = []
    size = 0
    for atom in _atoms(markdown):
        begins_section = atom.is_heading and not all(other.is_heading for other in pack)
        full = size + atom.size > TARGET_BYTES or (size > TARGET_BYTES // 2 and pack[-1].ends_block)
        bare = all(other.is_heading for other in pack)
        if pack and (begins_section or (full and not bare)):
            yield pack
            pack, size = [], 0
        pack.append(atom)
        size += atom.size
    if pack:
        yield pack


def _atoms(markdown: str) -> Iterator[_Atom]:
    at = 0
    for fence in find_atomic_blocks(markdown, len(markdown)):
        yield from _text_atoms(markdown, at, fence.start)
        yield from _code_atoms(markdown, fence)
        at = fence.end
    yield from _text_atoms(markdown, at, len(markdown))


def _code_atoms(markdown: str, fence: AtomicBlock) -> Iterator[_Atom]:
    if _size(markdown, fence.start, fence.end) <= _CODE_BYTES:
        yield _atom(markdown, fence.start, fence.end, ends_block=True)
    else:
        yield from _lines(markdown, fence.start, fence.end)


def _text_atoms(markdown: str, start: int, end: int) -> Iterator[_Atom]:
    at = start
    while at < end:
        gap = _BLANK.search(markdown, at, end)
        block_end = gap.start() if gap else end
        yield from _block_atoms(markdown, at, block_end)
        at = gap.end() if gap else end


def _block_atoms(markdown: str, start: int, end: int) -> Iterator[_Atom]:
    while start < end and markdown[start] == "\n":
        start += 1
    if not markdown[start:end].strip():
        return
    if _HEADING.match(markdown, start):
        line_end = markdown.find("\n", start, end)
        line_end = end if line_end < 0 else line_end
        yield _atom(markdown, start, line_end, is_heading=True)
        yield from _block_atoms(markdown, line_end, end)
    elif end - start <= TARGET_BYTES // 4 or _size(markdown, start, end) <= TARGET_BYTES:
        yield _atom(markdown, start, end, ends_block=True)
    else:
        yield from _lines(markdown, start, end)


def _lines(markdown: str, start: int, end: int) -> Iterator[_Atom]:
    at = start
    while at < end:
        line_end = markdown.find("\n", at, end)
        line_end = end if line_end < 0 else line_end
        if _size(markdown, at, line_end) <= TARGET_BYTES or markdown[at:line_end].lstrip(" >").startswith(
            "|"
        ):
            if line_end > at:
                yield from _bounded(markdown, at, line_end, ends_block=line_end == end)
        else:
            yield from _sentences(markdown, at, line_end)
        at = line_end + 1


def _sentences(markdown: str, start: int, end: int) -> Iterator[_Atom]:
    at = start
    for stop in _SENTENCE_END.finditer(markdown, start, end):
        if stop.end() > at:
            yield from _bounded(markdown, at, stop.end())
            at = stop.end()
    if at < end:
        yield from _bounded(markdown, at, end, ends_block=True)


def _bounded(markdown: str, start: int, end: int, *, ends_block: bool = False) -> Iterator[_Atom]:
    while _size(markdown, start, end) > _LONGEST_BYTES:
        limit = start + _LONGEST_BYTES // 4
        stops = (markdown.rfind(pause, start, limit) + len(pause) for pause in _PAUSES)
        stop = next((stop for stop in stops if stop > start + _LONGEST_BYTES // 8), limit)
        yield _atom(markdown, start, stop)
        start = stop
    yield _atom(markdown, start, end, ends_block=ends_block)


def _atom(
    markdown: str, start: int, end: int, *, is_heading: bool = False, ends_block: bool = False
) -> _Atom:
    return _Atom(start, end, _size(markdown, start, end), is_heading, ends_block)


def _size(markdown: str, start: int, end: int) -> int:
    text = markdown[start:end]
    if text.isascii():
        return len(text)
    data = text.encode("utf-8", "replace")
    return 2 * len(data) - len(data.translate(None, _WIDE_LEADS))


class _Paths:
    """The headings above a place; asked in order."""

    def __init__(self, markdown: str) -> None:
        self._headings = list(reversed(find_headings(markdown)))
        self._path: list[tuple[int, str]] = []

    def at(self, place: int) -> tuple[str, ...]:
        while self._headings and self._headings[-1].start <= place:
            heading = self._headings.pop()
            self._path = [entry for entry in self._path if entry[0] < heading.level]
            self._path.append((heading.level, heading.text))
        return tuple(text for _, text in self._path)

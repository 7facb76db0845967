"""Split Markdown text into chunks of a few sentences, list items or rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from scraper.extract.text.markdown_structure import AtomicBlock, find_atomic_blocks, find_headings

TARGET_BYTES = 500
"""Bytes of a chunk in UTF-8, a better measure of tokens than characters; a character of three bytes counts as four. The
limit is about 110 tokens in any script."""

_CODE_BYTES = 3 * TARGET_BYTES
"""Bytes. A code block up to this size is not split."""

_MAX_BYTES = 4 * TARGET_BYTES
"""Bytes of a chunk. A longer sentence, line or row is split between words."""

_BLANK = re.compile(r"\n(?:[ \t>]*\n)+")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])[\"'”’»)\]*_]*\s+|(?<=[。！？；])[”’」』）]*|(?<=[।؟።។။])\s*|\u0e2f?\s{2,}"
    # Thai, Lao, Burmese and Khmer write a space only at the end of a phrase.
    rf"|(?<=[{_UNSPACED}])\s+(?=[{_UNSPACED}])"
)
_THREE_BYTE_LEADS = bytes(range(0xE0, 0xF0))
"""First bytes of characters of three bytes."""
_HEADING = re.compile(r"#{1,6} ")
_PAUSES = ("、", "，", ", ", " ")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Offsets of a chunk, and the headings above it, outermost first, without its own."""

    start: int
    end: int
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Atom:
    """A part of the text that is not split further."""

    start: int
    end: int
    size: int
    is_heading: bool = False
    ends_block: bool = False


def split_chunks(markdown: str, target_bytes: int = TARGET_BYTES) -> list[Chunk]:
    """Return the chunks in order. Together they contain all text except the white space between them.

    A chunk has about `target_bytes` at most, unless a sentence, row or code block is longer.
    """
    paths = _HeadingPaths(markdown)
    return [_build_chunk(atoms, paths) for atoms in _pack(markdown, target_bytes)]


def _build_chunk(atoms: list[_Atom], paths: _HeadingPaths) -> Chunk:
    headings = paths.at(atoms[0].start)
    return Chunk(atoms[0].start, atoms[-1].end, headings[:-1] if atoms[0].is_heading else headings)


def _pack(markdown: str, target: int) -> Iterator[list[_Atom]]:
    """Yield lists of atoms that form a chunk, up to the target size and never across a heading."""
    pack: list[_Atom] = []
    size = 0
    for atom in _atoms(markdown, target):
        begins_section = atom.is_heading and not all(other.is_heading for other in pack)
        is_full = size + atom.size > target or (size > target // 2 and pack[-1].ends_block)
        has_only_headings = all(other.is_heading for other in pack)
        if pack and (begins_section or (is_full and not has_only_headings)):
            yield pack
            pack, size = [], 0
        pack.append(atom)
        size += atom.size
    if pack:
        yield pack


def _atoms(markdown: str, target: int) -> Iterator[_Atom]:
    at = 0
    for fence in find_atomic_blocks(markdown, len(markdown)):
        yield from _text_atoms(markdown, at, fence.start, target)
        yield from _code_atoms(markdown, fence, target)
        at = fence.end
    yield from _text_atoms(markdown, at, len(markdown), target)


def _code_atoms(markdown: str, fence: AtomicBlock, target: int) -> Iterator[_Atom]:
    if _measure(markdown, fence.start, fence.end) <= _CODE_BYTES:
        yield _make_atom(markdown, fence.start, fence.end, ends_block=True)
    else:
        yield from _split_lines(markdown, fence.start, fence.end, target)


def _text_atoms(markdown: str, start: int, end: int, target: int) -> Iterator[_Atom]:
    at = start
    while at < end:
        gap = _BLANK.search(markdown, at, end)
        block_end = gap.start() if gap else end
        yield from _block_atoms(markdown, at, block_end, target)
        at = gap.end() if gap else end


def _block_atoms(markdown: str, start: int, end: int, target: int) -> Iterator[_Atom]:
    while start < end and markdown[start] == "\n":
        start += 1
    if not markdown[start:end].strip():
        return
    if _HEADING.match(markdown, start):
        line_end = markdown.find("\n", start, end)
        line_end = end if line_end < 0 else line_end
        yield _make_atom(markdown, start, line_end, is_heading=True)
        yield from _block_atoms(markdown, line_end, end, target)
    elif end - start <= target // 4 or _measure(markdown, start, end) <= target:
        yield _make_atom(markdown, start, end, ends_block=True)
    else:
        yield from _split_lines(markdown, start, end, target)


def _split_lines(markdown: str, start: int, end: int, target: int) -> Iterator[_Atom]:
    at = start
    while at < end:
        line_end = markdown.find("\n", at, end)
        line_end = end if line_end < 0 else line_end
        if _measure(markdown, at, line_end) <= target or markdown[at:line_end].lstrip(" >").startswith("|"):
            if line_end > at:
                yield from _split_long(markdown, at, line_end, ends_block=line_end == end)
        else:
            yield from _split_sentences(markdown, at, line_end)
        at = line_end + 1


def _split_sentences(markdown: str, start: int, end: int) -> Iterator[_Atom]:
    at = start
    for stop in _SENTENCE_END.finditer(markdown, start, end):
        if stop.end() > at:
            yield from _split_long(markdown, at, stop.end())
            at = stop.end()
    if at < end:
        yield from _split_long(markdown, at, end, ends_block=True)


def _split_long(markdown: str, start: int, end: int, *, ends_block: bool = False) -> Iterator[_Atom]:
    while _measure(markdown, start, end) > _MAX_BYTES:
        limit = start + _MAX_BYTES // 4
        stops = (markdown.rfind(pause, start, limit) + len(pause) for pause in _PAUSES)
        stop = next((stop for stop in stops if stop > start + _MAX_BYTES // 8), limit)
        yield _make_atom(markdown, start, stop)
        start = stop
    yield _make_atom(markdown, start, end, ends_block=ends_block)


def _make_atom(markdown: str, start: int, end: int, *, is_heading: bool = False, ends_block: bool = False) -> _Atom:
    return _Atom(start, end, _measure(markdown, start, end), is_heading, ends_block)


def _measure(markdown: str, start: int, end: int) -> int:
    text = markdown[start:end]
    if text.isascii():
        return len(text)
    data = text.encode("utf-8", "replace")
    return 2 * len(data) - len(data.translate(None, _THREE_BYTE_LEADS))


class _HeadingPaths:
    """Return the headings above a position. Positions must be passed in ascending order."""

    def __init__(self, markdown: str) -> None:
        self._headings = list(reversed(find_headings(markdown)))
        self._path: list[tuple[int, str]] = []

    def at(self, place: int) -> tuple[str, ...]:
        while self._headings and self._headings[-1].start <= place:
            heading = self._headings.pop()
            self._path = [entry for entry in self._path if entry[0] < heading.level]
            self._path.append((heading.level, heading.text))
        return tuple(text for _, text in self._path)

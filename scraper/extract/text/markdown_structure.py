"""Find headings, fenced blocks, displayed formulas and table heads of a Markdown text with their offsets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scraper.extract.math.tex import MAX_TEX
from scraper.extract.text.sanitize import clean_line
from scraper.model import Heading

MAX_HEADINGS = 500
_MAX_HEADING_TEXT = 200

_HEADING_OR_FENCE = re.compile(r"\n(?:(#{1,6}) (.+)|[ >]*(?:(?:[-*+:]|\d{1,9}[.)]) +)*+(`{3,}|~{3,})(.*))")
"""Matches after a line end rather than at a line start, because `re` can jump to line ends."""

_LINK = re.compile(r"(?P<escaped>\\.)|!?\[(?P<label>(?:[^\[\]\\]|\\.)*+)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
"""Links and images. Escaped characters match too, so that an escaped bracket opens nothing."""
_MARKUP = re.compile(r"\\(?=[*_`#\[\]])|[*`]{1,3}")


def find_headings(markdown: str) -> tuple[Heading, ...]:
    """Return the ATX headings outside of code, with their offsets."""
    if "#" not in markdown:
        return ()
    headings: list[Heading] = []
    fence = ""
    for match in _HEADING_OR_FENCE.finditer(f"\n{markdown}"):
        hashes, text, mark, rest = match.groups()
        if mark:
            closes = mark[0] == fence[:1] and len(mark) >= len(fence) and not rest.strip()
            fence = "" if closes else fence or mark
        elif not fence and len(headings) < MAX_HEADINGS:
            headings.append(Heading(len(hashes), _strip_markup(text), match.start()))
    return tuple(headings)


def _strip_markup(text: str) -> str:
    labels = _LINK.sub(lambda match: match["escaped"] or match["label"], text)
    return clean_line(_MARKUP.sub("", labels), _MAX_HEADING_TEXT)


_MAX_TABLE_HEAD = 1_000
"""Characters. A longer table head is not repeated on every page."""

_FENCE_LINE = re.compile(
    r"^(?P<indent>[ >]*(?:(?:[-*+:]|\d{1,9}[.)]) +)*)(?P<mark>`{3,}|~{3,}|\$\$(?=[ \t]*$))(?P<info>[^\n]*)$",
    re.MULTILINE,
)
_FORMULA_MARK = "$$"
_FENCE_MARKS = ("```", "~~~", _FORMULA_MARK)
"""First characters of blocks. If none occurs, the search takes a hundredth of the time."""
_TABLE_ROW = re.compile(r"[ >]*(?:(?:[-*+:]|\d{1,9}[.)]) +)*\|")
_TABLE_DELIMITER = re.compile(r"[ >]*\|(?: *:?-+:? *\|)+ *")
_LIST_MARK = re.compile(r"[^ >]")


@dataclass(frozen=True, slots=True)
class AtomicBlock:
    """A code block or displayed formula that must not be split.

    The offsets reach from its first character to the end of its last line.
    """

    start: int
    end: int
    indent: str
    mark: str
    info: str

    @property
    def opening(self) -> str:
        """Line that opens the block again after a split."""
        return f"{self._continued}{self.mark}{self.info}\n"

    @property
    def closing(self) -> str:
        """Line that closes the block."""
        return f"{self._continued}{self.mark}"

    @property
    def _continued(self) -> str:
        """Indent of the lines after the first, without the list marker."""
        return _LIST_MARK.sub(" ", self.indent)


def find_atomic_blocks(markdown: str, until: int) -> list[AtomicBlock]:
    """Return the code blocks and displayed formulas that begin before the offset `until`."""
    if not any(mark[0] in markdown and mark in markdown for mark in _FENCE_MARKS):
        return []
    found: list[AtomicBlock] = []
    opening_line: re.Match[str] | None = None
    for fence_line in _FENCE_LINE.finditer(markdown):
        if opening_line is not None and _is_too_long_formula(opening_line, fence_line.start()):
            opening_line = None
        if opening_line is None:
            if fence_line.start() >= until:
                break
            if fence_line["mark"][0] in "~$" or "`" not in fence_line["info"]:
                opening_line = fence_line
        elif fence_line["mark"].startswith(opening_line["mark"]) and not fence_line["info"].strip():
            found.append(_build_block(opening_line, fence_line.end()))
            opening_line = None
    if opening_line is not None and opening_line["mark"] != _FORMULA_MARK:
        found.append(_build_block(opening_line, len(markdown)))
    return found


def _is_too_long_formula(opening_line: re.Match[str], at: int) -> bool:
    """Return True if an opening `$$` is not closed in time: restaurants are rated with dollar signs."""
    return opening_line["mark"] == _FORMULA_MARK and at - opening_line.start() > MAX_TEX


def is_table_row(text: str) -> bool:
    """Return True if a line is a table row."""
    return _TABLE_ROW.match(text) is not None


def find_table_head(markdown: str, at: int) -> str:
    """Return header and delimiter of the table that has a later row at offset `at`, or ""."""
    if not is_table_row(markdown[at : at + _MAX_TABLE_HEAD]):
        return ""
    first = second = at
    while first:
        before = markdown.rfind("\n", 0, first - 1) + 1
        if not is_table_row(markdown[before : min(before + _MAX_TABLE_HEAD, first)]):
            break
        first, second = before, first
    rows_above = markdown[first:at]
    delimiter = markdown[second : markdown.find("\n", second)]
    if rows_above.count("\n") < 2 or not _TABLE_DELIMITER.fullmatch(delimiter):
        return ""
    head = markdown[first : second + len(delimiter) + 1]
    return head if len(head) <= _MAX_TABLE_HEAD else ""


def _build_block(opening_line: re.Match[str], end: int) -> AtomicBlock:
    return AtomicBlock(opening_line.start(), end, opening_line["indent"], opening_line["mark"], opening_line["info"])

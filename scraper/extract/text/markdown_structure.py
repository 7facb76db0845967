"""Find headings, fenced blocks, displayed formulas and table heads of a Markdown text with their offsets."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from scraper.extract.math.tex_delimiters import MAX_TEX
from scraper.extract.text.sanitize import clean_line
from scraper.model import Heading

MAX_HEADINGS = 500
"""Headings of one text that are returned."""
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
            labels = _LINK.sub(lambda link: link["escaped"] or link["label"], text)
            plain = clean_line(_MARKUP.sub("", labels), _MAX_HEADING_TEXT)
            headings.append(Heading(len(hashes), plain, match.start()))
    return tuple(headings)


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
    """A code block or displayed formula that must not be split."""

    start: int
    end: int
    """Offset of the end of its last line."""
    indent: str
    mark: str
    """Characters that open and close the block: backticks, tildes or `$$`."""
    info: str
    """Text after the opening mark, such as the language of the code."""

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
    """Return the code blocks and displayed formulas that begin before the offset `until`.

    A code block that is not closed ends at the end of the text; a formula that is not closed is ignored.
    """
    if not any(mark[0] in markdown and mark in markdown for mark in _FENCE_MARKS):
        return []
    found: list[AtomicBlock] = []
    block: AtomicBlock | None = None
    for line in _FENCE_LINE.finditer(markdown):
        if block is not None and block.mark == _FORMULA_MARK and line.start() - block.start > MAX_TEX:
            block = None  # dollar signs that rate a restaurant
        if block is None:
            if line.start() >= until:
                break
            if line["mark"][0] in "~$" or "`" not in line["info"]:
                block = AtomicBlock(line.start(), len(markdown), line["indent"], line["mark"], line["info"])
        elif line["mark"].startswith(block.mark) and not line["info"].strip():
            found.append(replace(block, end=line.end()))
            block = None
    if block is not None and block.mark != _FORMULA_MARK:
        found.append(block)
    return found


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

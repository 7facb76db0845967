"""The headings of a Markdown text and where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scraper.extract.math.tex import MAX_TEX
from scraper.extract.text.sanitize import clean_line
from scraper.model import Heading

MAX_HEADINGS = 500
_MAX_TEXT = 200

_HEADING_OR_FENCE = re.compile(r"\n(?:(#{1,6}) (.+)|[ >]*(?:(?:[-*+:]|\d{1,9}[.)]) +)*+(`{3,}|~{3,})(.*))")
"""Behind the end of a line rather than at the beginning of one: to the ends one can jump."""

_LINK = re.compile(
    r"(?P<escaped>\\.)|!?\[(?P<label>(?:[^\[\]\\]|\\.)*+)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)"
)
"""What is escaped is matched too: a bracket in it opens nothing, and is not tried as one."""
_MARKUP = re.compile(r"\\(?=[*_`#\[\]])|[*`]{1,3}")


def find_headings(markdown: str) -> tuple[Heading, ...]:
    """ATX headings outside of code, with their offsets."""
    if "#" not in markdown:
        return ()
    headings: list[Heading] = []
    fence = ""
    for match in _HEADING_OR_FENCE.finditer(f"\n{markdown}"):
        hashes, text, ticks, rest = match.groups()
        if ticks:
            closes = ticks[0] == fence[:1] and len(ticks) >= len(fence) and not rest.strip()
            fence = "" if closes else fence or ticks
        elif not fence and len(headings) < MAX_HEADINGS:
            headings.append(Heading(len(hashes), _plain(text), match.start()))
    return tuple(headings)


def _plain(text: str) -> str:
    labels = _LINK.sub(lambda match: match["escaped"] or match["label"], text)
    return clean_line(_MARKUP.sub("", labels), _MAX_TEXT)


_MAX_HEAD = 1_000
"""A longer table head is not repeated on every page."""

_FENCE_LINE = re.compile(
    r"^(?P<indent>[ >]*(?:(?:[-*+:]|\d{1,9}[.)]) +)*)(?P<ticks>`{3,}|~{3,}|\$\$(?=[ \t]*$))(?P<info>[^\n]*)$",
    re.MULTILINE,
)
_DOLLARS = "$$"
_TICKS = ("```", "~~~", _DOLLARS)
"""What each begins with: to look for these first takes a hundredth of the time, where there are none."""
_ROW = re.compile(r"[ >]*(?:(?:[-*+:]|\d{1,9}[.)]) +)*\|")
_DELIMITER = re.compile(r"[ >]*\|(?: *:?-+:? *\|)+ *")
_LIST_MARK = re.compile(r"[^ >]")


@dataclass(frozen=True, slots=True)
class AtomicBlock:
    """A block of code or a displayed formula: from its first character to the end of its last line."""

    start: int
    end: int
    indent: str
    ticks: str
    info: str

    @property
    def opening(self) -> str:
        """The line that opens the block once more."""
        return f"{self._continued}{self.ticks}{self.info}\n"

    @property
    def closing(self) -> str:
        """The line that closes the block."""
        return f"{self._continued}{self.ticks}"

    @property
    def _continued(self) -> str:
        """The indent of the lines after the first: a list marker stands once."""
        return _LIST_MARK.sub(" ", self.indent)


def find_atomic_blocks(markdown: str, until: int) -> list[AtomicBlock]:
    """The blocks of code and the displayed formulas that begin before `until`."""
    if not any(ticks[0] in markdown and ticks in markdown for ticks in _TICKS):
        return []
    found: list[AtomicBlock] = []
    opened: re.Match[str] | None = None
    for fence_line in _FENCE_LINE.finditer(markdown):
        if opened is not None and _is_stray(opened, fence_line.start()):
            opened = None
        if opened is None:
            if fence_line.start() >= until:
                break
            if fence_line["ticks"][0] in "~$" or "`" not in fence_line["info"]:
                opened = fence_line
        elif fence_line["ticks"].startswith(opened["ticks"]) and not fence_line["info"].strip():
            found.append(_fence(opened, fence_line.end()))
            opened = None
    if opened is not None and opened["ticks"] != _DOLLARS:
        found.append(_fence(opened, len(markdown)))
    return found


def _is_stray(opened: re.Match[str], at: int) -> bool:
    """Whether two dollars on a line open no formula: none is closed in time. Restaurants are rated so."""
    return opened["ticks"] == _DOLLARS and at - opened.start() > MAX_TEX


def is_table_row(text: str) -> bool:
    """Whether a line is the row of a table."""
    return _ROW.match(text) is not None


def find_table_head(markdown: str, at: int) -> str:
    """Header and delimiter of the table whose later row begins at `at`; empty where there is none."""
    if not is_table_row(markdown[at : at + _MAX_HEAD]):
        return ""
    first = second = at
    while first:
        before = markdown.rfind("\n", 0, first - 1) + 1
        if not is_table_row(markdown[before : min(before + _MAX_HEAD, first)]):
            break
        first, second = before, first
    rows_above = markdown[first:at]
    delimiter = markdown[second : markdown.find("\n", second)]
    if rows_above.count("\n") < 2 or not _DELIMITER.fullmatch(delimiter):
        return ""
    head = markdown[first : second + len(delimiter) + 1]
    return head if len(head) <= _MAX_HEAD else ""


def _fence(opened: re.Match[str], end: int) -> AtomicBlock:
    return AtomicBlock(opened.start(), end, opened["indent"], opened["ticks"], opened["info"])

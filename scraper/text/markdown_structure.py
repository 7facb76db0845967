"""Write code blocks of Markdown, find blocks, headings and table heads, and divide a text between them.

The pieces of a divided text join without gap or overlap, and each piece is valid Markdown by itself.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

from scraper.errors import InvalidArgumentError
from scraper.model import Heading
from scraper.text.sanitize import clean, clean_line
from scraper.values.text import MAX_TEX

PAGE_MARK = re.compile(r"^<!-- page (\d{1,9}) -->$", re.MULTILINE)
"""Line before each page in the Markdown of a document, with the page number."""
_TICKS = re.compile(r"`{3,}")


def fence(code: str, language: str) -> str:
    """Return a fenced block with a fence that is longer than any in the code."""
    longest = max((len(run) for run in _TICKS.findall(code)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{code}\n{ticks}"


_MAX_FORMATTED_JSON = 300_000
"""Characters. Longer JSON stays as it is: indenting it costs more than it helps."""


def format_json(text: str) -> str:
    """Return valid JSON with indentation if it is short, else the text without surrounding white space."""
    if len(text) > _MAX_FORMATTED_JSON:
        return text.strip()
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text.strip()


MAX_HEADINGS = 500
"""Headings of one text that are returned."""
_MAX_HEADING_TEXT = 200

_HEADING_OR_FENCE = re.compile(r"\n(?:(#{1,6}) (.+)|[ >]*(?:(?:[-*+:]|\d{1,9}[.)]) +)*+(`{3,}|~{3,})(.*))")
"""Matches after a line end rather than at a line start, because `re` can jump to line ends."""

_LABELED = re.compile(r"(?P<escaped>\\.)|!?\[(?P<label>(?:[^\[\]\\]|\\.)*+)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
"""Links and images. Escaped characters match too, so that an escaped bracket opens nothing."""
_HEADING_MARKUP = re.compile(r"\\(?=[*_`#\[\]])|[*`]{1,3}")


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
            labels = _LABELED.sub(lambda link: link["escaped"] or link["label"], text)
            plain = clean_line(_HEADING_MARKUP.sub("", labels), _MAX_HEADING_TEXT)
            headings.append(Heading(len(hashes), plain, match.start()))
    return tuple(headings)


_SPACES_IN_LINE = re.compile(r"(?<=\S) {2,}(?=\S)")


def clean_markdown(markdown: str) -> tuple[str, int]:
    """Remove invisible characters, and the white space that they leave outside of code, which could carry a message.

    Returns:
        The text, and the number of removed invisible characters.
    """
    cleaned, removed = clean(markdown)
    if cleaned == markdown:
        return cleaned, removed
    lines: list[str] = []
    fence = ""
    for line in cleaned.split("\n"):
        mark = _FENCE_LINE.match(line)
        if mark is not None and mark["mark"] != _FORMULA_MARK:
            closes = mark["mark"].startswith(fence) and not mark["info"].strip()
            fence = "" if fence and closes else fence or mark["mark"]
        elif not fence:
            # Markdown ignores a single space at the start or end of a line, and further ones in it.
            text = line.rstrip(" ")
            mark_of_break = "  " if text and len(line) - len(text) > 1 else ""
            text = text[1:] if text.startswith(" ") and not text.startswith("  ") else text
            line = _SPACES_IN_LINE.sub(" ", text) + mark_of_break
            if not line and lines and not lines[-1]:
                continue
        lines.append(line)
    return "\n".join(lines), removed


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
        return "".join(mark if mark == ">" else " " for mark in self.indent)


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


KEEP_WHOLE = 6_000
"""Characters. A code block or table row up to this size stays whole, even if a piece becomes longer than requested."""
_LEAST_SHARE = 8
"""Divisor of the length. A paragraph or line end in the first eighth of a piece is not used for the cut."""
_STOPS = ((". ", "? ", "! ", "。", "？", "！", "।", "؟ "), ("; ", ", ", "，", "、"), (" ",))


@dataclass(frozen=True, slots=True)
class TextCut:
    """A piece of a text: exactly the characters from `start` to `end`.

    `before` and `after` reopen and close a code block or table that was divided.
    """

    text: str
    start: int
    end: int
    total: int
    """Characters of the whole text."""
    before: str = ""
    after: str = ""

    @classmethod
    def whole(cls, text: str) -> Self:
        """Return a whole text as one piece."""
        return cls(text, 0, len(text), len(text))

    @property
    def shown(self) -> str:
        """Piece as valid Markdown, with `before` and `after`."""
        return f"{self.before}{self.text}{self.after}"

    @property
    def next_start(self) -> int | None:
        """Start of the next piece; None at the end of the text."""
        return self.end if self.end < self.total else None


def cut_markdown(markdown: str, start: int, length: int | None, *, keep_whole: int = KEEP_WHOLE) -> TextCut:
    """Return about `length` characters from `start`, cut at the end of a paragraph if possible.

    Code blocks and table rows stay whole up to `keep_whole` characters, even if the piece becomes longer than `length`.
    Longer code blocks are divided between lines. A `start` outside of the text is moved to the nearest end.

    Raises:
        InvalidArgumentError: The length is negative.
    """
    if length is not None and length < 0:
        raise InvalidArgumentError(
            "length must not be negative.", target=str(length), next_step="Give 1 or more, or leave it out."
        )
    total = len(markdown)
    start = max(0, min(start, total))
    limit = total if length is None else min(total, start + length)
    around = find_atomic_blocks(markdown, limit + 1)
    end = limit if limit in (start, total) else _end(markdown, start, limit, keep_whole, around)
    inside = next((block for block in around if block.start < end < block.end), None)
    after = "" if inside is None else ("" if markdown[end - 1] == "\n" else "\n") + inside.closing
    return TextCut(markdown[start:end], start, end, total, before=_before(markdown, start, end, around), after=after)


def _end(markdown: str, start: int, limit: int, keep_whole: int, around: list[AtomicBlock]) -> int:
    block = next((fence for fence in around if fence.start < limit < fence.end), None)
    if block is not None:
        return _end_at_code(markdown, start, limit, keep_whole, block)
    least = start + (limit - start) // _LEAST_SHARE
    paragraph = next(_paragraph_ends(markdown, start, limit, around), start)
    last_line = markdown.rfind("\n", start, limit) + 1
    for end in (paragraph, last_line):
        if end > least and not _is_inside(end, around):
            return end
    # Cut a long line after a sentence or a word; keep a table row whole.
    line = max(start, markdown.rfind("\n", start, limit) + 1)
    if is_table_row(markdown[markdown.rfind("\n", 0, line) + 1 : limit]):
        after = markdown.find("\n", limit) + 1 or len(markdown)
        if line > start:
            return line
        if after - start <= keep_whole:
            return after
    half = max(line, start + (limit - start) // 2)
    for stops in _STOPS:
        ends = [markdown.rfind(stop, half, limit) + len(stop) for stop in stops if stop in markdown[half:limit]]
        if ends:
            return max(ends)
    return limit


def _end_at_code(markdown: str, start: int, limit: int, keep_whole: int, block: AtomicBlock) -> int:
    """Return the end of a piece: before a block that fits the next piece, after a short one, else between its lines."""
    fits = block.end - block.start <= max(limit - start, keep_whole)
    if block.start > start and (fits or block.start - start >= (limit - start) // 2):
        return block.start
    if block.end - max(start, block.start) <= keep_whole:
        return min(block.end + 1, len(markdown))
    body = markdown.find("\n", block.start, block.end) + 1
    line = markdown.rfind("\n", max(start, body), limit) + 1
    return line if line > start else limit


def _paragraph_ends(markdown: str, start: int, limit: int, around: list[AtomicBlock]) -> Iterator[int]:
    """Yield the ends of paragraphs, last first; a heading is never the end of a piece."""
    at = limit + 2
    while (at := markdown.rfind("\n\n", start, at)) > start:
        line = markdown[markdown.rfind("\n", 0, at) + 1 : at]
        if not line.startswith("#") and not _is_inside(at + 1, around):
            yield min(at + 2, limit)
        at += 1


def _is_inside(at: int, around: list[AtomicBlock]) -> bool:
    return any(fence.start < at < fence.end for fence in around)


def _before(markdown: str, start: int, end: int, around: list[AtomicBlock]) -> str:
    if start in (0, end):
        return ""
    for fence in around:
        if markdown.find("\n", fence.start, fence.end) < start < fence.end and fence.start < start:
            return fence.opening
    return find_table_head(markdown, start) if markdown[start - 1] == "\n" else ""


_MARKS = re.compile(
    r"<!--(?:(?!-->|<!--).)*+-->"
    r"|^\s{0,3}#{1,6} "
    r"|^[^\S\n]*+\|(?:[^\S\n]*+:?-++:?[^\S\n]*+\|)++[^\S\n]*+$"
    r"|^```\S*$|<br>|\*\*|\\(?=[\\`*_{}\[\]()#+\-.!|])",
    re.MULTILINE,
)
"""Each alternative stops where the next one could begin or at the end of its line: linear time."""
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_FORMULA = re.compile(r"\$([^$\n]{1,2000})\$")
_COMMAND = re.compile(r"\\(?:[a-zA-Z]+|.)|[{}^_&~]")
_TEX_COMMAND = re.compile(
    r"\\(alpha|beta|gamma|delta|epsilon|theta|lambda|mu|pi|rho|sigma|tau|phi|psi|omega|sum|int|infty|lim|sin|cos"
    r"|tan|log|ln|exp|max|min)(?![a-z])",
    re.IGNORECASE,
)


def strip_markdown(markdown: str) -> str:
    """Remove headings' marks, bold, links, table rules and comments, and write formulas as words, for search.

    Fences of code, line breaks and escapes are removed too; other marks remain.
    """
    text = _LINK.sub(r"\1", _MARKS.sub("", markdown))
    # The names of letters and functions stay.
    text = _FORMULA.sub(lambda tex: " ".join(_COMMAND.sub(" ", _TEX_COMMAND.sub(r" \1 ", tex[1])).split()), text)
    return text.replace(" | ", " ").strip()

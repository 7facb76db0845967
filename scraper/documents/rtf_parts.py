"""Parts of the RTF reader: tokens and tables of control words for its input, paragraphs as HTML for its output."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scraper.documents.office_markup import REPEATED_CHARS

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?"  # Control word and its number.
    rb"|\\'([0-9a-fA-F]{2})"  # Byte of text.
    rb"|\\(.)"  # Control symbol.
    rb"|([{}])"
    rb"|([^\\{}\r\n]+)"
    rb"|[\r\n]+|\\",
    re.DOTALL,
)


class RtfToken(NamedTuple):
    """One token: a brace, a control `word` with or without number, or bytes of text."""

    brace: bytes = b""
    word: str = ""
    number: int | None = None
    text: bytes = b""


_OPEN, _CLOSE = RtfToken(brace=b"{"), RtfToken(brace=b"}")


def tokenize(data: bytes) -> Iterator[RtfToken]:
    """Yield all tokens; skip binary data of pictures."""
    at = 0
    while (match := _TOKEN.match(data, at)) is not None:
        at = match.end()
        word, number, byte, symbol, brace, text = match.groups()
        if word is not None:
            value = int(number) if number is not None else None
            if word == b"bin" and value is not None:
                at += max(0, value)
                continue
            yield RtfToken(word=word.decode("ascii"), number=value)
        elif byte is not None:
            yield RtfToken(text=bytes([int(byte, 16)]))
        elif symbol is not None:
            yield RtfToken(word=symbol.decode("latin-1"))
        elif brace is not None:
            yield _OPEN if brace == b"{" else _CLOSE
        elif text is not None:
            yield RtfToken(text=text)


DESTINATIONS = {
    "fonttbl": "fonts", "stylesheet": "styles", "title": "title", "author": "author",
    "fldinst": "instruction", "fldrslt": "result", "footnote": "note", "listtext": "label", "pntext": "label",
    "annotation": "comment", "atnauthor": "commentator", "shptxt": "box", "info": "info",
}  # fmt: skip
"""Destinations whose text is used, and the names that the reader gives to them."""

SKIPPED_DESTINATIONS = frozenset(
    "colortbl pict object objdata themedata colorschememapping datastore latentstyles generator listtable "
    "listoverridetable rsidtbl revtbl bkmkstart bkmkend nonshppict shppict sp sn sv xmlnstbl filetbl atnid atndate "
    "atnref atntime atnparent atrfstart atrfend do private1 template operator subject keywords comment doccomm "
    "company category manager hlinkbase shprslt nonesttables tc xe rxe ftnsep ftnsepc aftnsep aftnsepc ftncn aftncn "
    "ud panose falt fname mmathPr pgdsctbl userprops blipuid picprop wgrffmtfilter".split()
)
"""Destinations without document text: tables of the file, pictures, private data of programs."""
MARGINS = frozenset("header headerl headerr headerf footer footerl footerr footerf".split())
"""Destinations of page headers and footers."""

TRANSPARENT = frozenset({"shpinst", "moMath", "moMathPara"})
"""Optional destinations whose text belongs to the document."""

CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250",
}  # fmt: skip
"""Encodings by the font's `fcharset` number; 0 is the encoding of the file."""

CHARACTERS = {
    "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "bullet": "•", "tab": " ", "emspace": " ", "enspace": " ", "qmspace": " ", "~": " ", "_": "-",
    "\\": "\\", "{": "{", "}": "}",
}  # fmt: skip
"""Text of control words and symbols."""

TITLE_LEVEL = 0
"""Level of the document's title; with a title, all headings are one level lower."""

_COUNT = re.compile(r"(\d{1,6})[.)]?")
_BULLET = re.compile(r"[\W_]|o", re.IGNORECASE)
_TICKS = {"\u2610": " ", "\u2611": "x", "\u2612": "x", "\u2713": "x", "\u2714": "x"}
_BLOCK_TAGS = ("<pre>", "<table>", "<ul>", "<ol>")
_MAX_LEVEL = 6


@dataclass(frozen=True, slots=True)
class RtfParagraph:
    """One paragraph: its text as HTML, and its type."""

    text: str
    heading: int | None = None
    """Heading level from 1, or `TITLE_LEVEL`; None for other paragraphs."""
    label: str = ""
    """Bullet or number of a list item."""
    is_item: bool = False
    level: int = 0
    """Nesting depth of a list item, from 0."""


class RtfTableColumn(NamedTuple):
    """Definition of one cell of a row."""

    is_merged_left: bool = False
    is_merged_above: bool = False


@dataclass(slots=True)
class RtfBlockWriter:
    """HTML writer that collects the paragraphs, lines of code and table rows of an RTF document."""

    _done: list[tuple[int | None, str]] = field(default_factory=list)
    """Blocks; headings with their levels."""
    _code: list[str] = field(default_factory=list)
    _items: list[RtfParagraph] = field(default_factory=list)
    _cell: list[str] = field(default_factory=list)
    _row: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)

    def add(self, paragraph: RtfParagraph, *, in_table: bool) -> None:
        """Add a paragraph to the current cell with `in_table`, else to the document."""
        if in_table:
            if paragraph.text:
                bullet = f"{html.escape(paragraph.label)} " if paragraph.is_item and paragraph.label else ""
                self._cell.append(f"<p>{bullet}{paragraph.text}</p>")
            return
        self._end_table()
        if not paragraph.text:
            return
        self._end_code()
        if paragraph.is_item:
            self._items.append(paragraph)
            return
        self._end_list()
        self._done.append((paragraph.heading, paragraph.text))

    def add_code(self, line: str) -> None:
        """Add a line of code."""
        self._end_table()
        self._end_list()
        self._code.append(line.rstrip())

    def end_cell(self) -> None:
        """End a cell: it contains the blocks since the last cell."""
        self._row.append("".join(self._cell))
        self._cell = []

    def end_row(self, columns: Sequence[RtfTableColumn]) -> None:
        """End a row: it contains the cells since the last row; merged cells repeat short texts."""
        above = self._rows[-1] if self._rows else []
        for at, column in enumerate(columns[: len(self._row)]):
            if self._row[at]:
                continue
            if column.is_merged_left and at and len(self._row[at - 1]) <= REPEATED_CHARS:
                self._row[at] = self._row[at - 1]
            elif column.is_merged_above and at < len(above) and len(above[at]) <= REPEATED_CHARS:
                self._row[at] = above[at]
        if self._row:
            self._rows.append(self._row)
        self._row = []

    def html(self) -> str:
        """Return all blocks as HTML."""
        if self._cell:
            self.end_cell()
        self.end_row(())
        self._end_table()
        self._end_list()
        self._end_code()
        lower = int(any(level == TITLE_LEVEL for level, _ in self._done))
        return "".join(_write_block(level, lower, text) for level, text in self._done)

    def _end_code(self) -> None:
        if self._code:
            self._done.append((None, f"<pre>{html.escape(chr(10).join(self._code))}</pre>"))
            self._code = []

    def _end_list(self) -> None:
        if self._items:
            self._done.append((None, _write_list(self._items)))
            self._items = []

    def _end_table(self) -> None:
        if not self._rows:
            return
        self._end_code()
        self._end_list()
        has_header = max(map(len, self._rows)) > 1
        lines = []
        for at, row in enumerate(self._rows):
            tag = "th" if has_header and not at else "td"
            lines.append("<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row) + "</tr>")
        self._done.append((None, f"<table>{''.join(lines)}</table>"))
        self._rows = []


def _write_block(level: int | None, lower: int, text: str) -> str:
    if level is None:
        return text if text.startswith(_BLOCK_TAGS) else f"<p>{text}</p>"
    tag = f"h{1 if level == TITLE_LEVEL else max(1, min(_MAX_LEVEL, level + lower))}"
    return f"<{tag}>{text}</{tag}>"


def _write_list(items: Sequence[RtfParagraph]) -> str:
    written: list[str] = []
    open_tags: list[tuple[int, str]] = []
    for item in items:
        count = _COUNT.fullmatch(item.label)
        tag = "ol" if count else "ul"
        while open_tags and (
            open_tags[-1][0] > item.level or (open_tags[-1][0] == item.level and open_tags[-1][1] != tag)
        ):
            written.append(f"</li></{open_tags.pop()[1]}>")
        if open_tags and open_tags[-1][0] == item.level:
            written.append("</li>")
        else:
            written.append(f"<{tag}>")
            open_tags.append((item.level, tag))
        label = ""  # Markdown has no mark for it.
        if item.label in _TICKS:
            label = f"[{_TICKS[item.label]}] "
        elif item.label and not count and not _BULLET.fullmatch(item.label):
            label = f"{html.escape(item.label)} "
        value = f' value="{count[1]}"' if count else ""
        written.append(f"<li{value}><p>{label}{item.text}</p>")
    written += [f"</li></{tag}>" for _, tag in reversed(open_tags)]
    return "".join(written)

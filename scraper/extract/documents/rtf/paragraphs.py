"""RTF paragraphs as HTML: nested lists, table rows, and the character formatting of text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

TITLE = 0
"""Level of the document's title; with a title all headings move one level down."""

_COUNT = re.compile(r"(\d{1,6})[.)]?")
_BULLET = re.compile(r"[\W_]|o", re.IGNORECASE)
_TICKS = {"\u2610": " ", "\u2611": "x", "\u2612": "x", "\u2713": "x", "\u2714": "x"}
_WHOLE = ("<pre>", "<table>", "<ul>", "<ol>")
_LEVELS = 6
_REPEATED_CHARS = 200
"""Characters. As in other tables: merged cells repeat shorter texts."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph: its text as HTML, and its type."""

    text: str
    heading: int | None = None
    label: str = ""
    """Bullet or number of a list item."""
    is_item: bool = False
    level: int = 0


@dataclass(frozen=True, slots=True)
class RtfTableColumn:
    """Definition of one cell of a row."""

    goes_on_left: bool = False
    goes_on_above: bool = False


@dataclass(slots=True)
class Paragraphs:
    """Blocks of one text."""

    _done: list[tuple[int | None, str]] = field(default_factory=list)
    """Blocks; headings with their levels."""
    _code: list[str] = field(default_factory=list)
    _items: list[Paragraph] = field(default_factory=list)
    _cell: list[str] = field(default_factory=list)
    _row: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)

    def add(self, paragraph: Paragraph, *, in_table: bool) -> None:
        """Add a paragraph."""
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
        """End a row: it contains the cells since the last row."""
        above = self._rows[-1] if self._rows else []
        for at, column in enumerate(columns[: len(self._row)]):
            if self._row[at]:
                continue
            if column.goes_on_left and at and len(self._row[at - 1]) <= _REPEATED_CHARS:
                self._row[at] = self._row[at - 1]
            elif column.goes_on_above and at < len(above) and len(above[at]) <= _REPEATED_CHARS:
                self._row[at] = above[at]
        if self._row:
            self._rows.append(self._row)
        self._row = []

    def html(self) -> str:
        """Return all blocks."""
        if self._cell:
            self.end_cell()
        self.end_row(())
        self._end_table()
        self._end_list()
        self._end_code()
        lower = int(any(level == TITLE for level, _ in self._done))
        return "".join(_block(level, lower, text) for level, text in self._done)

    def _end_code(self) -> None:
        if self._code:
            lines = html.escape("\n".join(self._code))
            self._done.append((None, f"<pre>{lines}</pre>"))
            self._code = []

    def _end_list(self) -> None:
        if self._items:
            self._done.append((None, _list(self._items)))
            self._items = []

    def _end_table(self) -> None:
        if not self._rows:
            return
        self._end_code()
        self._end_list()
        wide = max(map(len, self._rows)) > 1
        lines = []
        for at, row in enumerate(self._rows):
            tag = "th" if wide and not at else "td"
            lines.append("<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row) + "</tr>")
        self._done.append((None, f"<table>{''.join(lines)}</table>"))
        self._rows = []


def _block(level: int | None, lower: int, text: str) -> str:
    if level is not None:
        rank = 1 if level == TITLE else max(1, min(_LEVELS, level + lower))
        return f"<h{rank}>{text}</h{rank}>"
    return text if text.startswith(_WHOLE) else f"<p>{text}</p>"


def _own_label(label: str, counted: bool) -> str:
    """Return the part of an item's label that belongs into its text: ticks and numbers no list counts."""
    if label in _TICKS:
        return f"[{_TICKS[label]}] "
    return "" if counted or not label or _BULLET.fullmatch(label) else f"{html.escape(label)} "


def _list(items: Sequence[Paragraph]) -> str:
    """Return items as nested lists."""
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
        own = _own_label(item.label, counted=count is not None)
        value = f' value="{count[1]}"' if count else ""
        written.append(f"<li{value}><p>{own}{item.text}</p>")
    written += [f"</li></{tag}>" for _, tag in reversed(open_tags)]
    return "".join(written)


CHARSETS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250",
}  # fmt: skip
"""Encodings by the font's `fcharset` number."""

SIGNS = {
    "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "bullet": "•", "tab": " ", "emspace": " ", "enspace": " ", "qmspace": " ", "~": " ", "_": "-",
    "\\": "\\", "{": "{", "}": "}",
}  # fmt: skip


@dataclass(slots=True)
class RtfTextFormat:
    """Formatting state of text; each group inherits that of the surrounding group."""

    place: str = "text"
    """Destination of the text: `text`, or `skip`, `fonts`, `styles`, `title`, `instruction`, ..."""
    encoding: str = "cp1252"
    fallback: int = 1
    """Number of fallback characters after a Unicode character."""
    bold: bool = False
    italic: bool = False
    struck: bool = False
    hidden: bool = False
    mono: bool = False
    raised: str = ""
    # Paragraph properties:
    style: int = 0
    outline: int | None = None
    in_table: bool = False
    level: int = 0

    def plain(self) -> None:
        """Reset the character format."""
        self.bold = self.italic = self.struck = self.hidden = self.mono = False
        self.raised = ""

    def begin_paragraph(self) -> None:
        """Reset the paragraph properties."""
        self.style, self.outline, self.in_table, self.level = 0, None, False, 0


def _hide(look: RtfTextFormat, number: int | None) -> None:
    look.hidden = number != 0


def _strike(look: RtfTextFormat, number: int | None) -> None:
    look.struck = number != 0


def _embolden(look: RtfTextFormat, number: int | None) -> None:
    look.bold = number != 0


def _slant(look: RtfTextFormat, number: int | None) -> None:
    look.italic = number != 0


def _rank(look: RtfTextFormat, number: int | None) -> None:
    look.outline = number if number is not None and 0 <= number < 9 else None


def _deepen(look: RtfTextFormat, number: int | None) -> None:
    look.level = max(0, min(8, number or 0))


def _fall_back(look: RtfTextFormat, number: int | None) -> None:
    look.fallback = max(0, min(100, 1 if number is None else number))


def _name(look: RtfTextFormat, number: int | None) -> None:
    look.style = number or 0


def _raise_to(height: str) -> Callable[[RtfTextFormat, int | None], None]:
    def raised(look: RtfTextFormat, number: int | None) -> None:
        look.raised = height if number != 0 else ""

    return raised


def _put_in_table(look: RtfTextFormat, number: int | None) -> None:
    look.in_table = True


SETTINGS: Mapping[str, Callable[[RtfTextFormat, int | None], None]] = {
    "b": _embolden, "i": _slant, "strike": _strike, "striked": _strike, "v": _hide, "deleted": _hide,
    "super": _raise_to("sup"), "sub": _raise_to("sub"), "nosupersub": _raise_to(""), "s": _name,
    "outlinelevel": _rank, "ilvl": _deepen, "uc": _fall_back, "intbl": _put_in_table,
    "pard": lambda look, number: look.begin_paragraph(),
}  # fmt: skip
"""Control words that only change the format."""


def apply_format(text: str, look: RtfTextFormat) -> str:
    """Wrap text in the HTML elements of its format."""
    if not text.strip():
        return text
    tags = [tag for tag, wanted in (("b", look.bold), ("i", look.italic), ("s", look.struck)) if wanted]
    tags += [look.raised] if look.raised else []
    return "".join(f"<{tag}>" for tag in tags) + text + "".join(f"</{tag}>" for tag in reversed(tags))

"""RTF reader: converts headings, lists, tables, links, notes and comments to HTML and then to Markdown."""

import codecs
import contextlib
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter

from scraper.documents import office_markup
from scraper.documents.model import MAX_CHARACTERS, ParsedDocument, ParseRequest
from scraper.errors import MalformedDocumentError
from scraper.values.text import read_table

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?"  # Control word and its number.
    rb"|\\'([0-9a-fA-F]{2})"  # Byte of text.
    rb"|\\(.)"  # Control symbol.
    rb"|([{}])"
    rb"|([^\\{}\r\n]+)"
    rb"|[\r\n]+|\\",
    re.DOTALL,
)
_MAX_BYTES = 50_000_000
_MAX_DEPTH = 2_000
_MAX_COLUMNS = 1_000
_LINK = re.compile(r'HYPERLINK\s+"((?:https?://|mailto:)[^"\s<>]{1,2000})"', re.IGNORECASE)
_TYPED_BULLETS = ("•", "·", "▪", "‣", "\uf0b7")
_SHOWN = frozenset({"text", "note", "comment", "box", "link"})
_SEPARATE_TEXTS = frozenset({"note", "comment", "box"})
_COLLECTED = frozenset({"title", "author", "instruction", "label", "commentator"})
_HIGH_SURROGATES, _LOW_SURROGATES = range(0xD800, 0xDC00), range(0xDC00, 0xE000)
_SYMBOL_FONT_CODES = range(0xF000, 0xF100)
_WORDS = read_table(__package__, "rtf.toml")
_TOGGLES: dict[str, str] = _WORDS["toggles"]
"""Attributes that control words switch on, or off with the number 0."""
_NUMBERS = {"s": ("style", 0, 1 << 31), "ilvl": ("level", 0, 8), "uc": ("fallback_count", 1, 100)}
"""Attributes that control words set to a number, with the number if there is none, and the highest one."""
_RAISED = {"super": "sup", "sub": "sub", "nosupersub": ""}


_DESTINATIONS: dict[str, str] = _WORDS["destinations"]
"""Destinations whose text is used, and the names that the reader gives to them."""

_SKIPPED_DESTINATIONS = frozenset(_WORDS["skipped_destinations"].split())
"""Destinations without document text: tables of the file, pictures, private data of programs."""
_MARGINS = frozenset("header headerl headerr headerf footer footerl footerr footerf".split())

_TRANSPARENT = frozenset({"shpinst", "moMath", "moMathPara"})
"""Optional destinations whose text belongs to the document."""

_CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250",
}  # fmt: skip
"""Encodings by the font's `fcharset` number; 0 is the encoding of the file."""

_CHARACTERS: dict[str, str] = _WORDS["characters"]

_TITLE_LEVEL = 0
"""Level of the document's title; with a title, all headings are one level lower."""

_MAX_DIGITS = 6
_TICKS = {"\u2610": " ", "\u2611": "x", "\u2612": "x", "\u2713": "x", "\u2714": "x"}
_BLOCK_TAGS = ("<pre>", "<table>", "<ul>", "<ol>")
_MAX_LEVEL = 6


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of a file; that of page headers and footers if there is no other.

    Raises:
        MalformedDocumentError: The file does not begin as RTF.
    """
    if not data.startswith(b"{\\rtf"):
        raise MalformedDocumentError("The RTF file is damaged: it does not begin as one.")
    for omitted in (_MARGINS, frozenset[str]()):
        reader = _Reader(omitted)
        reader.process(data[:_MAX_BYTES])
        if text := reader.comments.insert(office_markup.html_to_markdown(reader.html(), request.url)):
            break
    return ParsedDocument("rtf", text, title=reader.property("title"), author=reader.property("author"))


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph as HTML, a line of code, or a row of a table."""

    kind: str
    """`text`, `item`, `code` or `row`."""
    text: str = ""
    heading: int | None = None
    """Heading level from 1, or `_TITLE_LEVEL`; None for other paragraphs."""
    label: str = ""
    level: int = 0
    cells: tuple[str, ...] = ()


@dataclass(slots=True)
class _Text:
    """One text under construction: the document's, a note's or a comment's."""

    blocks: list[_Block] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)
    row: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    label: str = ""
    mono: bool = True
    """All characters so far are monospaced."""

    def add(self, block: _Block, *, in_table: bool) -> None:
        """Add a paragraph to the current cell with `in_table`, else to the text."""
        if in_table and block.text:
            bullet = f"{html.escape(block.label)} " if block.kind == "item" else ""
            self.cell.append(f"<p>{bullet}{block.text}</p>")
        elif not in_table and (block.text or (self.blocks and self.blocks[-1].kind == "row")):
            self.blocks.append(block)  # Without text, it separates two tables.

    def end_cell(self) -> None:
        self.row.append("".join(self.cell))
        self.cell = []

    def end_row(self, columns: Sequence[str]) -> None:
        """End a row of the cells since the last one; those merged to the `left` or `above` repeat short texts."""
        above = self.blocks[-1].cells if self.blocks else ()
        for at, merged in enumerate(columns[: len(self.row)]):
            cells = self.row[at - 1 : at] if merged == "left" else above[at : at + 1] if merged else ()
            if cells and not self.row[at] and len(cells[0]) <= office_markup.REPEATED_CHARS:
                self.row[at] = cells[0]
        if self.row:
            self.blocks.append(_Block("row", cells=tuple(self.row)))
        self.row = []

    def html(self) -> str:
        if self.cell:
            self.end_cell()
        self.end_row(())
        lower = int(any(block.heading == _TITLE_LEVEL for block in self.blocks))
        written: list[str] = []
        for kind, group in groupby(self.blocks, key=attrgetter("kind")):
            if kind == "code":
                written.append(f"<pre>{html.escape(chr(10).join(block.text for block in group))}</pre>")
            elif kind == "item":
                written.append(_write_list(list(group)))
            elif kind == "row":
                written.append(
                    office_markup.write_table([list(map(office_markup.TableCell, block.cells)) for block in group])
                )
            else:
                for block in group:
                    level = None if block.heading is None else block.heading + (lower or block.heading == _TITLE_LEVEL)
                    tag = "p" if level is None else f"h{max(1, min(_MAX_LEVEL, level))}"
                    is_block = level is None and block.text.startswith(_BLOCK_TAGS)
                    written.append(block.text if is_block else f"<{tag}>{block.text}</{tag}>")
        return "".join(written)


def _write_list(items: Sequence[_Block]) -> str:
    written: list[str] = []
    open_tags: list[tuple[int, str]] = []
    for item in items:
        count = item.label[:-1] if item.label.endswith((".", ")")) else item.label
        tag = "ol" if count.isdecimal() and len(count) <= _MAX_DIGITS else "ul"
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
        elif item.label and tag == "ul" and (len(item.label) > 1 or (item.label.isalnum() and item.label not in "oO")):
            label = f"{html.escape(item.label)} "
        value = f' value="{count}"' if tag == "ol" else ""
        written.append(f"<li{value}><p>{label}{item.text}</p>")
    written += [f"</li></{tag}>" for _, tag in reversed(open_tags)]
    return "".join(written)


@dataclass(slots=True)
class _TextFormat:
    """Formatting state of text; each group inherits that of the surrounding group."""

    destination: str = "text"
    """Destination of the text: `text`, or `skip`, `fonts`, `styles`, `title`, `instruction`, ..."""
    encoding: str = "cp1252"
    fallback_count: int = 1
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

    def apply(self, word: str, number: int | None) -> None:
        """Apply a control word that only changes the format; ignore others."""
        if word in _TOGGLES:
            setattr(self, _TOGGLES[word], number != 0)
        elif word in _RAISED:
            self.raised = _RAISED[word] if number != 0 else ""
        elif word in _NUMBERS:
            name, default, most = _NUMBERS[word]
            setattr(self, name, max(0, min(most, default if number is None else number)))
        elif word == "outlinelevel":
            self.outline = number if number in range(9) else None
        elif word == "intbl":
            self.in_table = True
        elif word == "pard":
            self.style, self.outline, self.in_table, self.level = 0, None, False, 0
        elif word == "plain":
            self.bold = self.italic = self.struck = self.hidden = self.mono = False
            self.raised = ""


class _Reader:
    """Interpreter of control words, whose effects end with their group."""

    def __init__(self, omitted: frozenset[str]) -> None:
        self._skipped = _SKIPPED_DESTINATIONS | omitted
        self.comments = office_markup.ReviewComments()
        self.size = 0
        self._format = _TextFormat()
        self._stack: list[_TextFormat] = []
        self._excess_depth = 0
        self._texts = [_Text()]
        self._bytes = b""
        self._skip = 0
        self._high_surrogate: int | None = None
        self._is_group_start = False
        self._is_optional = False
        """The next control word may name an unknown destination, which is skipped."""
        self._collected: dict[str, list[str]] = {}
        self._notes: list[str] = []
        self._encoding = "cp1252"
        self._font_encodings: dict[int, str] = {}
        self._font_names: dict[int, list[str]] = {}
        self._font = 0
        self._styles: dict[int, list[str]] = {}
        self._columns: list[str] = []
        self._column = ""

    def property(self, name: str) -> str | None:
        return "".join(self._collected.get(name, ())).strip() or None

    def html(self) -> str:
        self._flush()
        del self._texts[1:]
        self._end_paragraph()
        notes = f"<ol>{''.join(self._notes)}</ol>" if self._notes else ""
        return self._texts[0].html() + notes

    def process(self, data: bytes) -> None:
        """Process a file, as far as its text is within the limit; skip binary data of pictures."""
        at = 0
        while self.size <= MAX_CHARACTERS and (match := _TOKEN.match(data, at)) is not None:
            at = match.end()
            word, number, byte, symbol, brace, text = match.groups()
            if byte is not None or text is not None:
                self._add_bytes(text or bytes([int(byte, 16)]))
            elif word == b"bin" and number is not None:
                at += max(0, int(number))
            elif brace is not None:
                self._flush()
                if brace == b"{":
                    self._open_group()
                else:
                    self._close_group()
            elif word or symbol:
                self._flush()
                self._process_word((word or symbol).decode("latin-1"), int(number) if number else None)

    def _add_bytes(self, text: bytes) -> None:
        if self._format.destination != "skip":
            self._is_group_start = self._is_optional = False
            skipped = min(self._skip, len(text))
            self._skip -= skipped
            self._bytes += text[skipped:]

    # Groups

    def _open_group(self) -> None:
        if len(self._stack) >= _MAX_DEPTH:
            self._excess_depth += 1
            return
        self._stack.append(self._format)
        self._format = replace(self._format)
        self._is_group_start, self._is_optional, self._skip = True, False, 0

    def _close_group(self) -> None:
        if self._excess_depth:
            self._excess_depth -= 1
        elif self._stack:
            ended, self._format = self._format, self._stack.pop()
            self._is_group_start, self._is_optional, self._skip = False, False, 0
            if ended.destination != self._format.destination:
                self._end_destination(ended.destination)

    def _begin_destination(self, name: str) -> None:
        self._format.destination = name
        if name in _SEPARATE_TEXTS:
            self._texts.append(_Text())
            self._format.apply("pard", None)
        elif name in ("instruction", "label", "commentator"):
            self._collected[name] = []
        elif name == "result":
            outer = self._stack[-1].destination if self._stack else "text"
            link = _LINK.search("".join(self._collected.get("instruction", ())))
            self._format.destination = "link" if link and outer == "text" else outer
            if link and outer == "text":
                self._emit(f'<a href="{html.escape(link[1])}">')

    def _end_destination(self, name: str) -> None:
        if name == "link":
            self._emit("</a>")
            self._collected.pop("instruction", None)
        elif name == "label":
            self._texts[-1].label = "".join(self._collected.get("label", ())).strip()
        elif name in _SEPARATE_TEXTS and len(self._texts) > 1:
            self._end_paragraph()
            content = self._texts.pop().html()
            if name == "box":
                self._texts[-1].pieces.append(content.replace("<p>", " ").replace("</p>", " "))
            elif name == "comment":
                author = "".join(self._collected.get("commentator", ()))
                self._emit(self.comments.add(author, "", html.unescape(office_markup.TAG.sub(" ", content))))
            else:
                number = len(self._notes) + 1
                body = content.replace("</p><p>", "<br>") or "<p></p>"
                self._notes.append(f'<li id="footnote-{number}">{body}</li>')
                self._emit(f'<sup><a href="#footnote-{number}" id="footnote-ref-{number}">[{number}]</a></sup>')

    # Control words

    def _process_word(self, word: str, number: int | None) -> None:
        is_group_start, self._is_group_start = self._is_group_start, False
        if word == "*":  # Inside of a group it means nothing.
            self._is_group_start = self._is_optional = is_group_start
            return
        is_optional, self._is_optional = self._is_optional, False
        if self._format.destination == "skip":
            return
        if is_group_start and word in _DESTINATIONS:
            self._begin_destination(_DESTINATIONS[word])
        elif is_group_start and (word in self._skipped or (is_optional and word not in _TRANSPARENT)):
            self._format.destination = "skip"
        elif word == "u" and number is not None:
            self._add_unicode(number)
        elif word in _CHARACTERS:
            self._add_text(_CHARACTERS[word])
        else:
            self._execute(word, number)

    def _execute(self, word: str, number: int | None) -> None:
        match word:
            case "par" | "sect" | "\n" | "\r":
                if self._format.destination in _SHOWN:
                    self._end_paragraph()
            case "cell":
                self._format.in_table = True
                self._end_paragraph()
                self._texts[-1].end_cell()
            case "row":
                self._texts[-1].end_row(self._columns)
            case "trowd":
                self._columns, self._column = [], ""
            case "cellx":
                if len(self._columns) < _MAX_COLUMNS:
                    self._columns.append(self._column)
                self._column = ""
            case "clmrg" | "clvmrg":
                self._column = "left" if word == "clmrg" else "above"
            case "line" | "nestcell":
                if self._format.destination in _SHOWN and not self._format.hidden:
                    self._emit("<br>")
            case "f":
                self._set_font(number or 0)
            case "fcharset":
                if number in _CHARSETS:
                    self._font_encodings[self._font] = _CHARSETS[number]
            case "ansicpg":
                with contextlib.suppress(LookupError):
                    self._encoding = self._format.encoding = codecs.lookup(
                        "gb18030" if number == 936 else f"cp{number}"
                    ).name
            case _:
                self._format.apply(word, number)
                if word == "plain":
                    self._format.encoding = self._encoding

    def _set_font(self, number: int) -> None:
        self._font = number
        if self._format.destination != "fonts":
            self._format.encoding = self._font_encodings.get(number, self._encoding)
            self._format.mono = (
                office_markup.MONOSPACED_FONT.search("".join(self._font_names.get(number, ()))) is not None
            )

    # Text

    def _add_unicode(self, number: int) -> None:
        code = number % 0x10000
        self._skip = self._format.fallback_count
        if code in _HIGH_SURROGATES:
            self._high_surrogate = code
            return
        if code in _LOW_SURROGATES and self._high_surrogate is not None:
            high, low = self._high_surrogate - _HIGH_SURROGATES.start, code - _LOW_SURROGATES.start
            code = 0x10000 + (high << 10) + low
        self._high_surrogate = None
        if code not in _LOW_SURROGATES:
            self._add_text("•" if code in _SYMBOL_FONT_CODES else chr(code), is_skippable=False)

    def _flush(self) -> None:
        if self._bytes:
            text = self._bytes.decode(self._format.encoding, "replace").replace("\ufffd", "")
            self._bytes = b""
            self._add_text(text, is_skippable=False)

    def _add_text(self, text: str, *, is_skippable: bool = True) -> None:
        if is_skippable and self._skip:
            self._skip -= 1
            return
        style, destination = self._format, self._format.destination
        if destination == "styles":
            self._styles.setdefault(style.style, []).append(text)
        elif destination in _COLLECTED:
            self._collected.setdefault(destination, []).append(text)
        elif destination == "fonts":
            self._font_names.setdefault(self._font, []).append(text)
        elif destination in _SHOWN and not style.hidden:
            self._texts[-1].mono &= style.mono or not text.strip()
            escaped = html.escape(text, quote=False)
            self._emit(
                office_markup.apply_format(
                    escaped, bold=style.bold, italic=style.italic, struck=style.struck, raised=style.raised
                )
            )

    def _emit(self, content: str) -> None:
        self.size += len(content)
        self._texts[-1].pieces.append(content)

    def _end_paragraph(self) -> None:
        text, style = self._texts[-1], self._format
        content, label, mono = "".join(text.pieces), text.label, text.mono
        text.pieces, text.label, text.mono = [], "", True
        code = html.unescape(office_markup.TAG.sub("", content.replace("<br>", "\n")))
        if mono and not (label or style.in_table or office_markup.CODE_CHARACTERS.isdisjoint(code)):
            text.blocks.append(_Block("code", code.rstrip()))
            return
        for tag in ("b", "i", "s"):  # Merge adjacent texts of one format.
            content = re.sub(rf"</{tag}>(\s*)<{tag}>", r"\1", content)
        content = content.strip()
        style_name = "".join(self._styles.get(style.style, ())).strip(" ;")
        named = office_markup.HEADING_STYLE.search(style_name)
        heading = int(named[1]) if named else None if style.outline is None else style.outline + 1
        heading = _TITLE_LEVEL if style_name.lower() == "title" else heading
        if heading is not None:
            content = content.replace("<b>", "").replace("</b>", "")
            if any(character.isalnum() or character == "_" for character in label):
                content, label = f"{html.escape(label.rstrip('.'))} {content}", ""
        if content.startswith(_TYPED_BULLETS) and content[1:2].isspace() and not (label or style.in_table):
            content, label = content[1:].lstrip(), content[0]
        kind = "item" if label and heading is None else "text"
        text.add(_Block(kind, content, heading, label, style.level), in_table=style.in_table)


_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS "
    b"Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b"
    b"\\i\\u\\tab\\tx"
)
_WINDOW = 4_096


def decompress(data: bytes) -> bytes:
    """Return RTF from its compressed form (MS-OXRTFCP), as far as it is there."""
    if data[8:12] == b"MELA":
        return data[16:]
    out, at = bytearray(_DICTIONARY), 16
    while at < len(data):
        flags, at = data[at], at + 1
        for bit in range(8):
            if not flags >> bit & 1:
                out += data[at : at + 1]
                at += 1
                continue
            pair, at = int.from_bytes(data[at : at + 2], "big"), at + 2
            back = (len(out) - (pair >> 4)) % _WINDOW
            if not 0 < back <= len(out):  # The end.
                return bytes(out[len(_DICTIONARY) :])
            for _ in range((pair & 15) + 2):
                out.append(out[-back])
    return bytes(out[len(_DICTIONARY) :])

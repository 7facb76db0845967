"""RTF reader: converts headings, lists, tables, links, notes and comments to HTML and then to Markdown."""

from __future__ import annotations

import codecs
import contextlib
import copy
import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from scraper.errors import MalformedDocumentError
from scraper.extract.documents.model import MAX_CHARACTERS, ParsedDocument, ParseRequest
from scraper.extract.documents.office import ReviewComment, ReviewComments, html_to_markdown
from scraper.extract.documents.rtf.paragraphs import (
    CHARSETS,
    SETTINGS,
    SIGNS,
    TITLE,
    Paragraph,
    Paragraphs,
    RtfTableColumn,
    RtfTextFormat,
    apply_format,
)
from scraper.extract.documents.rtf.tokenizer import PLACES, SKIPPED, TRANSPARENT, RtfToken, tokenize

MAX_BYTES = 50_000_000
_DEPTH = 2_000
_HEADING = re.compile(r"(?:heading|berschrift|titre|titolo|título|rubrik|kop)\s*(\d)\b", re.IGNORECASE)
_LINK = re.compile(r'HYPERLINK\s+"((?:https?://|mailto:)[^"\s<>]{1,2000})"', re.IGNORECASE)
_MONO = re.compile(r"courier|consolas|mono|menlo|monaco", re.IGNORECASE)
_CODE_MARKS = re.compile(r"[{}();=\[\]$#|]")
_TYPED_BULLET = re.compile(r"([•·▪‣\uf0b7])\s+")
_BREAK, _TAG, _WEIGHT = re.compile("<br>"), re.compile(r"<[^>]*>"), re.compile(r"</?b>")
_WRITTEN = frozenset({"text", "note", "comment", "box", "link"})
_MAX_COLUMNS = 1_000
_HIGH, _LOW, _SIGNS_OF_FONTS = range(0xD800, 0xDC00), range(0xDC00, 0xE000), range(0xF000, 0xF100)


def warm_up(request: ParseRequest | None = None) -> None:
    """Load the modules that the Markdown converter imports late."""
    html_to_markdown("<p>a</p><table><tr><th>a</th><th>b</th></tr></table>", "")


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of a file.

    Raises:
        MalformedDocumentError: It is no RTF file.
    """
    if not data.startswith(b"{\\rtf"):
        raise MalformedDocumentError("The RTF file is damaged: it does not begin as one.")
    reader = _Reader()
    for token in tokenize(data[:MAX_BYTES]):
        reader.take(token)
        if reader.size > MAX_CHARACTERS:
            break
    text = html_to_markdown(reader.html(), request.url)
    return ParsedDocument(
        "rtf", reader.comments.written(text), title=reader.fact("title"), author=reader.fact("author")
    )


@dataclass(slots=True)
class _Text:
    """One text under construction: the document's, a note's or a comment's."""

    paragraphs: Paragraphs = field(default_factory=Paragraphs)
    pieces: list[str] = field(default_factory=list)
    label: str = ""
    mono: bool = True
    """All characters so far are monospaced."""


class _Reader:
    """Interpreter of control words, whose effects end with their group."""

    def __init__(self) -> None:
        self.comments = ReviewComments()
        self.size = 0
        self._look = RtfTextFormat()
        self._stack: list[RtfTextFormat] = []
        self._too_deep = 0
        self._texts = [_Text()]
        self._bytes = b""
        self._skip = 0
        self._high: int | None = None
        self._begins = False
        self._may_be_unknown = False
        self._collected: dict[str, list[str]] = {}
        self._notes: list[str] = []
        self._encoding = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font_names: dict[int, list[str]] = {}
        self._font = 0
        self._styles: dict[int, list[str]] = {}
        self._columns: list[RtfTableColumn] = []
        self._column = RtfTableColumn()

    def fact(self, name: str) -> str | None:
        """Return a document property, such as the title."""
        return "".join(self._collected.get(name, ())).strip() or None

    def html(self) -> str:
        """Return the whole text with its notes."""
        self._flush()
        while len(self._texts) > 1:
            self._texts.pop()
        self._end_paragraph()
        notes = f"<ol>{''.join(self._notes)}</ol>" if self._notes else ""
        return self._texts[0].paragraphs.html() + notes

    def take(self, token: RtfToken) -> None:
        """Process the next token."""
        if token.letters:
            self._letters(token.letters)
            return
        self._flush()
        if token.brace == b"{":
            self._open()
        elif token.brace == b"}":
            self._close()
        elif token.word:
            self._word(token.word, token.number)

    # Groups

    def _open(self) -> None:
        if len(self._stack) >= _DEPTH:
            self._too_deep += 1
            return
        self._stack.append(self._look)
        self._look = copy.copy(self._look)
        self._begins, self._may_be_unknown, self._skip = True, False, 0

    def _close(self) -> None:
        if self._too_deep:
            self._too_deep -= 1
            return
        if not self._stack:
            return
        ended, self._look = self._look, self._stack.pop()
        self._begins = self._may_be_unknown = False
        self._skip = 0
        if ended.place != self._look.place:
            self._end_place(ended.place)

    def _begin_place(self, place: str) -> None:
        self._look.place = place
        if place in ("note", "comment", "box"):
            self._texts.append(_Text())
            self._look.begin_paragraph()
        elif place in ("instruction", "label", "commentator"):
            self._collected[place] = []
        elif place == "result":
            around = self._stack[-1].place if self._stack else "text"
            self._look.place = "link" if self._link() and around == "text" else around
            if self._look.place == "link":
                self._emit(f'<a href="{html.escape(self._link())}">')

    def _end_place(self, place: str) -> None:
        if place == "link":
            self._emit("</a>")
            self._collected.pop("instruction", None)
        elif place == "label":
            self._texts[-1].label = "".join(self._collected.get("label", ())).strip()
        elif place in ("note", "comment", "box") and len(self._texts) > 1:
            self._end_paragraph()
            self._end_text(place, self._texts.pop().paragraphs.html())

    def _end_text(self, place: str, written: str) -> None:
        if place == "box":
            self._texts[-1].pieces.append(re.sub(r"</?p>", " ", written))
            return
        if place == "comment":
            said = html.unescape(re.sub(r"<[^>]*>", " ", written))
            self._emit(self.comments.mark(ReviewComment("".join(self._collected.get("commentator", ())), "", said)))
            return
        number = len(self._notes) + 1
        body = re.sub(r"</p><p>", "<br>", written) or "<p></p>"
        self._notes.append(f'<li id="footnote-{number}">{body}</li>')
        self._emit(f'<sup><a href="#footnote-{number}" id="footnote-ref-{number}">[{number}]</a></sup>')

    def _link(self) -> str:
        found = _LINK.search("".join(self._collected.get("instruction", ())))
        return found[1] if found else ""

    # Control words

    def _word(self, word: str, number: int | None) -> None:
        begins, self._begins = self._begins, False
        if word == "*":
            self._begins = self._may_be_unknown = True
            return
        unknown, self._may_be_unknown = self._may_be_unknown, False
        look = self._look
        if begins and look.place != "skip" and self._begun(word, unknown):
            return
        if look.place == "skip":
            return
        if word == "u" and number is not None:
            self._unicode(number)
        elif word in SIGNS:
            self._say(SIGNS[word])
        elif word in SETTINGS:
            SETTINGS[word](look, number)
        elif word in _ACTIONS:
            _ACTIONS[word](self, number)

    def _begun(self, word: str, unknown: bool) -> bool:
        """Return True if the word sets the destination of its group."""
        if word in PLACES:
            self._begin_place(PLACES[word])
            return True
        if word in SKIPPED or (unknown and word not in TRANSPARENT):
            self._look.place = "skip"
            return True
        return False

    def _unicode(self, number: int) -> None:
        code = number % 0x10000
        self._skip = self._look.fallback
        if code in _HIGH:
            self._high = code
            return
        if code in _LOW and self._high is not None:
            code = 0x10000 + ((self._high - _HIGH.start) << 10) + code - _LOW.start
        self._high = None
        if code not in _LOW:
            # Symbol fonts have their characters in a private range.
            self._say("•" if code in _SIGNS_OF_FONTS else chr(code), skipped=False)

    def set_font(self, number: int | None) -> None:
        """Set the font of the following text or, in the font table, the font being defined."""
        self._font = number or 0
        if self._look.place != "fonts":
            self._look.encoding = self._fonts.get(self._font, self._encoding)
            self._look.mono = _MONO.search("".join(self._font_names.get(self._font, ()))) is not None

    def set_charset(self, number: int | None) -> None:
        """Set the character set of a font; 0 is that of the file."""
        if number and number in CHARSETS:
            self._fonts[self._font] = CHARSETS[number]

    def set_encoding(self, number: int | None) -> None:
        """Set the encoding of the file."""
        name = "gb18030" if number == 936 else f"cp{number}"
        with contextlib.suppress(LookupError):
            codecs.lookup(name)
            self._encoding = self._look.encoding = name

    # Text

    def _letters(self, letters: bytes) -> None:
        if self._look.place == "skip":
            return
        self._begins = self._may_be_unknown = False
        dropped = min(self._skip, len(letters))
        self._skip -= dropped
        self._bytes += letters[dropped:]

    def _flush(self) -> None:
        if self._bytes:
            said, self._bytes = self._bytes, b""
            self._say(said.decode(self._look.encoding, "replace").replace("\ufffd", ""), skipped=False)

    def _say(self, text: str, *, skipped: bool = True) -> None:
        if skipped and self._skip:
            self._skip -= 1
            return
        look, place = self._look, self._look.place
        if place == "styles":
            self._styles.setdefault(look.style, []).append(text)
        elif place in ("title", "author", "instruction", "label", "commentator"):
            self._collected.setdefault(place, []).append(text)
        elif place == "fonts":
            self._font_names.setdefault(self._font, []).append(text)
        elif place in _WRITTEN and not look.hidden:
            self._texts[-1].mono &= look.mono or not text.strip()
            self._emit(apply_format(html.escape(text, quote=False), look))

    def _emit(self, written: str) -> None:
        self.size += len(written)
        self._texts[-1].pieces.append(written)

    # Paragraphs

    def _end_paragraph(self) -> None:
        text, look = self._texts[-1], self._look
        written, text.pieces = "".join(text.pieces), []
        (label, text.label), (mono, text.mono) = (text.label, ""), (text.mono, True)
        if mono and not label and not look.in_table and _CODE_MARKS.search(_BREAK.sub("", written)):
            text.paragraphs.add_code(html.unescape(_TAG.sub("", _BREAK.sub("\n", written))))
            return
        written = _merge_adjacent_tags(written)
        name = "".join(self._styles.get(look.style, ())).strip(" ;")
        named = _HEADING.search(name)
        heading = int(named[1]) if named else None if look.outline is None else look.outline + 1
        heading = TITLE if name.lower() == "title" else heading
        if heading is not None:
            written = _WEIGHT.sub("", written)
            if label and not re.fullmatch(r"\W*", label):
                written, label = f"{html.escape(label.rstrip('.'))} {written}", ""
        if bullet := None if label or look.in_table else _TYPED_BULLET.match(written):
            written, label = written[bullet.end() :], bullet[1]
        paragraph = Paragraph(written, heading, label, bool(label) and heading is None, look.level)
        text.paragraphs.add(paragraph, in_table=look.in_table)

    def end_paragraph(self, number: int | None) -> None:
        """End a paragraph."""
        if self._look.place in _WRITTEN:
            self._end_paragraph()

    def end_cell(self, number: int | None) -> None:
        """End a cell and its last paragraph."""
        self._look.in_table = True
        self._end_paragraph()
        self._texts[-1].paragraphs.end_cell()

    def end_row(self, number: int | None) -> None:
        """End a row."""
        self._texts[-1].paragraphs.end_row(self._columns)

    def begin_row(self, number: int | None) -> None:
        """Begin the definition of a row's cells."""
        self._columns, self._column = [], RtfTableColumn()

    def end_column(self, number: int | None) -> None:
        """Define one more cell."""
        if len(self._columns) < _MAX_COLUMNS:
            self._columns.append(self._column)
        self._column = RtfTableColumn()

    def merge_left(self, number: int | None) -> None:
        """Merge the cell being defined with the one before it."""
        self._column = RtfTableColumn(goes_on_left=True)

    def merge_above(self, number: int | None) -> None:
        """Merge the cell being defined with the one above it."""
        self._column = RtfTableColumn(goes_on_above=True)

    def break_line(self, number: int | None) -> None:
        """Break a line within a paragraph, or end a cell of a nested table."""
        if self._look.place in _WRITTEN and not self._look.hidden:
            self._emit("<br>")

    def plain(self, number: int | None) -> None:
        """Reset the character format."""
        self._look.plain()
        self._look.encoding = self._encoding


_ACTIONS: Mapping[str, Callable[[_Reader, int | None], None]] = {
    "par": _Reader.end_paragraph, "sect": _Reader.end_paragraph, "\n": _Reader.end_paragraph,
    "\r": _Reader.end_paragraph, "cell": _Reader.end_cell, "row": _Reader.end_row, "trowd": _Reader.begin_row,
    "cellx": _Reader.end_column, "clmrg": _Reader.merge_left, "clvmrg": _Reader.merge_above,
    "line": _Reader.break_line, "nestcell": _Reader.break_line, "plain": _Reader.plain, "f": _Reader.set_font,
    "fcharset": _Reader.set_charset, "ansicpg": _Reader.set_encoding,
}  # fmt: skip


def _merge_adjacent_tags(written: str) -> str:
    """Merge adjacent texts of one format."""
    for tag in ("b", "i", "s"):
        written = re.sub(rf"</{tag}>(\s*)<{tag}>", r"\1", written)
    return written.strip()

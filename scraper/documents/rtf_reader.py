"""RTF reader: converts headings, lists, tables, links, notes and comments to HTML and then to Markdown."""

from __future__ import annotations

import codecs
import contextlib
import html
import re
from dataclasses import dataclass, field, replace

from scraper.documents.model import MAX_CHARACTERS, ParsedDocument, ParseRequest
from scraper.documents.office_markup import (
    HEADING_STYLE,
    MONOSPACED_FONT,
    ReviewComments,
    apply_format,
    html_to_markdown,
)
from scraper.documents.rtf_parts import (
    CHARACTERS,
    CHARSETS,
    DESTINATIONS,
    MARGINS,
    SKIPPED_DESTINATIONS,
    TITLE_LEVEL,
    TRANSPARENT,
    RtfBlockWriter,
    RtfParagraph,
    RtfTableColumn,
    RtfToken,
    tokenize,
)
from scraper.errors import MalformedDocumentError

_MAX_BYTES = 50_000_000
"""Bytes of a file that are read."""
_MAX_DEPTH = 2_000
_MAX_COLUMNS = 1_000
_LINK = re.compile(r'HYPERLINK\s+"((?:https?://|mailto:)[^"\s<>]{1,2000})"', re.IGNORECASE)
_CODE_CHARACTERS = re.compile(r"[{}();=\[\]$#|]")
_TYPED_BULLET = re.compile(r"([•·▪‣\uf0b7])\s+")
_TAG = re.compile(r"<[^>]*>")
_SHOWN = frozenset({"text", "note", "comment", "box", "link"})
_SEPARATE_TEXTS = frozenset({"note", "comment", "box"})
_COLLECTED = frozenset({"title", "author", "instruction", "label", "commentator"})
_HIGH_SURROGATES, _LOW_SURROGATES = range(0xD800, 0xDC00), range(0xDC00, 0xE000)
_SYMBOL_FONT_CODES = range(0xF000, 0xF100)
_TOGGLES = {
    "b": "bold", "i": "italic", "strike": "struck", "striked": "struck", "v": "hidden", "deleted": "hidden",
}  # fmt: skip
"""Attributes that control words switch on, or off with the number 0."""
_NUMBERS = {"s": ("style", 0, 1 << 31), "ilvl": ("level", 0, 8), "uc": ("fallback_count", 1, 100)}
"""Attributes that control words set to a number, with the number if there is none, and the highest one."""
_RAISED = {"super": "sup", "sub": "sub", "nosupersub": ""}


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of a file; that of page headers and footers if there is no other.

    Raises:
        MalformedDocumentError: The file does not begin as RTF.
    """
    if not data.startswith(b"{\\rtf"):
        raise MalformedDocumentError("The RTF file is damaged: it does not begin as one.")
    for omitted in (MARGINS, frozenset[str]()):
        reader = _Reader(omitted)
        for token in tokenize(data[:_MAX_BYTES]):
            reader.process(token)
            if reader.size > MAX_CHARACTERS:
                break
        if text := reader.comments.insert(html_to_markdown(reader.html(), request.url)):
            break
    return ParsedDocument("rtf", text, title=reader.property("title"), author=reader.property("author"))


@dataclass(slots=True)
class RtfTextFormat:
    """Formatting state of text; each group inherits that of the surrounding group."""

    destination: str = "text"
    """Destination of the text: `text`, or `skip`, `fonts`, `styles`, `title`, `instruction`, ..."""
    encoding: str = "cp1252"
    fallback_count: int = 1
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


@dataclass(slots=True)
class _Text:
    """One text under construction: the document's, a note's or a comment's."""

    paragraphs: RtfBlockWriter = field(default_factory=RtfBlockWriter)
    pieces: list[str] = field(default_factory=list)
    label: str = ""
    mono: bool = True
    """All characters so far are monospaced."""


class _Reader:
    """Interpreter of control words, whose effects end with their group."""

    def __init__(self, omitted: frozenset[str]) -> None:
        self._skipped = SKIPPED_DESTINATIONS | omitted
        self.comments = ReviewComments()
        self.size = 0
        self._format = RtfTextFormat()
        self._stack: list[RtfTextFormat] = []
        self._excess_depth = 0
        self._texts = [_Text()]
        self._bytes = b""
        self._skip = 0
        """Number of fallback characters to skip."""
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
        self._columns: list[RtfTableColumn] = []
        self._column = RtfTableColumn()

    def property(self, name: str) -> str | None:
        """Return a document property, such as the title."""
        return "".join(self._collected.get(name, ())).strip() or None

    def html(self) -> str:
        """Return the whole text with its notes."""
        self._flush()
        del self._texts[1:]
        self._end_paragraph()
        notes = f"<ol>{''.join(self._notes)}</ol>" if self._notes else ""
        return self._texts[0].paragraphs.html() + notes

    def process(self, token: RtfToken) -> None:
        """Process the next token."""
        if token.text:
            if self._format.destination != "skip":
                self._is_group_start = self._is_optional = False
                skipped = min(self._skip, len(token.text))
                self._skip -= skipped
                self._bytes += token.text[skipped:]
            return
        self._flush()
        if token.brace == b"{":
            self._open_group()
        elif token.brace == b"}":
            self._close_group()
        elif token.word:
            self._process_word(token.word, token.number)

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
            content = self._texts.pop().paragraphs.html()
            if name == "box":
                self._texts[-1].pieces.append(content.replace("<p>", " ").replace("</p>", " "))
            elif name == "comment":
                author = "".join(self._collected.get("commentator", ()))
                self._emit(self.comments.add(author, "", html.unescape(_TAG.sub(" ", content))))
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
        if is_group_start and word in DESTINATIONS:
            self._begin_destination(DESTINATIONS[word])
        elif is_group_start and (word in self._skipped or (is_optional and word not in TRANSPARENT)):
            self._format.destination = "skip"
        elif word == "u" and number is not None:
            self._add_unicode(number)
        elif word in CHARACTERS:
            self._add_text(CHARACTERS[word])
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
                self._texts[-1].paragraphs.end_cell()
            case "row":
                self._texts[-1].paragraphs.end_row(self._columns)
            case "trowd":
                self._columns, self._column = [], RtfTableColumn()
            case "cellx":
                if len(self._columns) < _MAX_COLUMNS:
                    self._columns.append(self._column)
                self._column = RtfTableColumn()
            case "clmrg":
                self._column = RtfTableColumn(is_merged_left=True)
            case "clvmrg":
                self._column = RtfTableColumn(is_merged_above=True)
            case "line" | "nestcell":
                if self._format.destination in _SHOWN and not self._format.hidden:
                    self._emit("<br>")
            case "f":
                self._set_font(number or 0)
            case "fcharset":
                if number in CHARSETS:
                    self._font_encodings[self._font] = CHARSETS[number]
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
            self._format.mono = MONOSPACED_FONT.search("".join(self._font_names.get(number, ()))) is not None

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
                apply_format(escaped, bold=style.bold, italic=style.italic, struck=style.struck, raised=style.raised)
            )

    def _emit(self, content: str) -> None:
        self.size += len(content)
        self._texts[-1].pieces.append(content)

    def _end_paragraph(self) -> None:
        text, style = self._texts[-1], self._format
        content, label, mono = "".join(text.pieces), text.label, text.mono
        text.pieces, text.label, text.mono = [], "", True
        if mono and not label and not style.in_table and _CODE_CHARACTERS.search(content.replace("<br>", "")):
            text.paragraphs.add_code(html.unescape(_TAG.sub("", content.replace("<br>", "\n"))))
            return
        for tag in ("b", "i", "s"):  # Merge adjacent texts of one format.
            content = re.sub(rf"</{tag}>(\s*)<{tag}>", r"\1", content)
        content = content.strip()
        style_name = "".join(self._styles.get(style.style, ())).strip(" ;")
        named = HEADING_STYLE.search(style_name)
        heading = int(named[1]) if named else None if style.outline is None else style.outline + 1
        heading = TITLE_LEVEL if style_name.lower() == "title" else heading
        if heading is not None:
            content = content.replace("<b>", "").replace("</b>", "")
            if any(character.isalnum() or character == "_" for character in label):
                content, label = f"{html.escape(label.rstrip('.'))} {content}", ""
        if bullet := None if label or style.in_table else _TYPED_BULLET.match(content):
            content, label = content[bullet.end() :], bullet[1]
        paragraph = RtfParagraph(content, heading, label, bool(label) and heading is None, style.level)
        text.paragraphs.add(paragraph, in_table=style.in_table)

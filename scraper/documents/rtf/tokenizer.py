"""RTF tokenizer: groups, control words and text; tables of control words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

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

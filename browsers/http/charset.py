"""Bytes of a response to text: as declared where that fits, by what fits where it does not."""

from __future__ import annotations

import re

from browsers.http.charset_codecs import read
from browsers.http.charset_detection import guess, score
from browsers.http.charset_labels import codec_of

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))

_PRESCAN_BYTES = 1024
"""How far the standard looks for a declaration in the markup."""
_HEAD_BYTES = 64 * 1024
"""How far browsers go on looking while the head has not ended."""

_HEADER_CHARSET = re.compile(r"""charset\s*+=\s*+["']?\s*+([^\s"';,]+)""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta[\s/][^>]*", re.IGNORECASE)
_META_CHARSET = re.compile(rb"""charset\s*+=\s*+["']?\s*+([^\s"'/>;]+)""", re.IGNORECASE)
_HEAD_END = re.compile(rb"</head|<body", re.IGNORECASE)
_XML = re.compile(rb"""\s*+<\?xml[^>]*?\sencoding\s*+=\s*+["']([^"'>]+)["']""")

# Encodings whose bytes are all ASCII, told by their escape sequences.
_ESCAPES = ((b"\x1b$)C", "iso2022_kr"), (b"\x1b$", "iso2022_jp"), (b"\x1b(J", "iso2022_jp"))
_NOT_EIGHT_BIT = frozenset({"utf-8", "utf-16-le", "utf-16-be", "iso2022_jp", "iso2022_kr", "hz"})
"""A body that is none of UTF-8 and has bytes above ASCII was not made in these."""
_MISTAKABLE = frozenset({"gb18030", "big5hkscs", "cp932", "euc_jp", "cp949", "cp874"})
"""A few characters of these can look like UTF-8."""

_SURE_BYTES = 8
"""Continuation bytes that make valid UTF-8 certain whatever is declared. Of the encodings of the web GBK
comes nearest: 16 of 100 of its common characters look like two bytes of UTF-8, all of eight in three texts of
ten million."""

_TRUSTED = 9
"""So many characters of good UTF-8 for each bad one, and it is UTF-8 with faults."""
_TRIAL_BYTES = 64 * 1024
_ZEROS = 5
"""One zero byte in so many of one parity, and a fifth of that in the other, make UTF-16."""
_HIGH = re.compile(rb"[\x80-\xff]")

_PLAINLY = 0.35
"""By how much another encoding must read better before a declaration is passed over (scores go up to 1)."""
_ENOUGH_HIGH = 6
"""With fewer bytes above ASCII a declaration is never doubted."""

# Encodings that pages declare and that are judged by the letters of a nearly identical one.
_JUDGED_AS = {"iso8859_15": "cp1252"}


def decode(body: bytes, content_type: str) -> str:
    """The text of a body; never raises, and what it returns holds neither NUL nor lone surrogates.

    The order is that of https://html.spec.whatwg.org/#determining-the-character-encoding: byte order mark,
    Content-Type, declaration in the markup; a declaration that plainly does not fit is passed over. Then
    UTF-8, if it is that, and last a guess.
    """
    text = _text(body, content_type)
    return text.replace("\0", "") if "\0" in text else text


def _text(body: bytes, content_type: str) -> str:
    for bom, codec in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(codec, "replace")
    header = _in_header(content_type)
    text = _utf8(body)
    if text is None:
        return read(body, _legacy(body, header or _in_markup(body)))
    other = _in_ascii(body, header) if text.isascii() else _by_chance_utf8(body, text, header)
    return text if other is None else read(body, other)


def _utf8(body: bytes) -> str | None:
    """The text if it is UTF-8, also when a limit has cut its last character in two."""
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        whole = body[: error.start]
        cut = error.reason == "unexpected end of data" and not whole.isascii()
        return whole.decode() if cut else None


def _in_ascii(body: bytes, header: str | None) -> str | None:
    """The encoding of bytes that are all ASCII but stand for other characters."""
    if b"\0" in body:
        return _bare_utf16(body)
    if b"\x1b" in body:
        return next((codec for escape, codec in _ESCAPES if escape in body), None)
    if b"~{" in body and (header or _in_markup(body)) == "hz":
        return "hz"
    return None


def _by_chance_utf8(body: bytes, text: str, header: str | None) -> str | None:
    """The declared encoding of bytes too few to be surely UTF-8, though they are valid as such."""
    if b"\0" in body and (wide := _bare_utf16(body)):
        return wide
    if len(body) - len(text) >= _SURE_BYTES:
        return None
    declared = header or _in_markup(body)
    return declared if declared in _MISTAKABLE and _strictly(body, declared) else None


def _legacy(body: bytes, declared: str | None) -> str:
    """The encoding of bytes that are not UTF-8, or not faultless UTF-8."""
    if b"\0" in body and (wide := _bare_utf16(body)):
        return wide
    if _mostly_utf8(body):
        return "utf-8"
    found = guess(body)
    if declared is None or declared in _NOT_EIGHT_BIT:
        return found.codec
    worth = score(body, _JUDGED_AS.get(declared, declared))
    if worth is None or found.score - worth < _PLAINLY or found.weight < _ENOUGH_HIGH:
        return declared
    return found.codec


def _bare_utf16(body: bytes) -> str | None:
    """UTF-16 without a byte order mark: every other byte of its markup is zero."""
    head = body[:_PRESCAN_BYTES]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) * _ZEROS < len(head) // 2 or min(even, odd) * _ZEROS > max(even, odd):
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _mostly_utf8(body: bytes) -> bool:
    first = _HIGH.search(body)
    if first is None:
        return True
    trial = body[first.start() : first.start() + _TRIAL_BYTES].decode("utf-8", "replace")
    bad = trial.count("\ufffd")
    good = len(trial) - len(trial.encode("ascii", "ignore")) - bad
    return good > 0 and good >= _TRUSTED * bad


def _strictly(body: bytes, codec: str) -> bool:
    try:
        body.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


def _in_header(content_type: str) -> str | None:
    found = _HEADER_CHARSET.search(content_type)
    return codec_of(found[1]) if found else None


def _in_markup(body: bytes) -> str | None:
    """The encoding that the head of a page or an XML declaration names."""
    head = _COMMENT.sub(b"", body[:_HEAD_BYTES])
    end = _HEAD_END.search(head)
    head = head[: max(end.start() if end else 0, _PRESCAN_BYTES)]
    for meta in _META.finditer(head):
        charset = _META_CHARSET.search(meta[0])
        codec = codec_of(charset[1].decode("ascii", "replace")) if charset else None
        if codec is not None:
            # Markup that could be read as ASCII is not UTF-16, whatever it says: the standard's own rule.
            return "utf-8" if codec.startswith("utf-16") else codec
    xml = _XML.match(head)
    return codec_of(xml[1].decode("ascii", "replace")) if xml else None

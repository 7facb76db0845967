"""Decode the body of a response: as UTF-8 if it is valid, else as declared, else with a detected encoding."""

import codecs
import contextlib
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files

from webencodings import LABELS

from browsers.http.charset_detection import ASCII, detect_charset, score_charset

_TABLE = tomllib.loads(files(__package__).joinpath("codecs.toml").read_text(encoding="utf-8"))
_CODECS: Mapping[str, str] = _TABLE["codecs"]
_REPLACED: Mapping[str, str] = _TABLE["replaced"]
_VARIANTS: Mapping[str, list[str]] = _TABLE["variants"]


def find_codec(label: str) -> str | None:
    """Return the Python codec for a label in any spelling, or None if browsers do not know the label."""
    label = label.strip("\t\n\f\r \"'").lower()
    name = LABELS.get(label, "replacement")
    if name == "replacement":
        return _REPLACED.get(label)
    return _CODECS.get(name) or name.replace("iso-8859-", "iso8859_").replace("windows-", "cp").replace("-", "_")


_MAX_REPAIRS = 50_000
"""Maximum of undecodable characters that are repaired. More are not text, and each takes a microsecond or two."""


def decode_with(body: bytes, codec: str) -> str:
    """Decode a body with a Python codec, as browsers do. Undecodable bytes become U+FFFD."""
    text = body.decode(codec, "replace")
    if codec in _ERROR_HANDLERS and 0 < text.count("\ufffd") <= _MAX_REPAIRS:
        text = body.decode(codec, _ERROR_HANDLERS[codec])
    for variants in _VARIANTS.get(codec, ()):
        text = text.replace(variants[0], variants[1])
    return text


def _decode_pair(error: UnicodeError, convert: Callable[[bytes], bytes], codec: str) -> tuple[str, int]:
    """Decode one character of two bytes with another codec, or skip one byte."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if len(pair) == 2 and pair[0] in _PAIR_BYTES and pair[1] in _PAIR_BYTES:
        text = convert(pair).decode(codec, "replace")
        if len(text) == 1 and text != "\ufffd":
            return text, error.start + 2
    return "\ufffd", error.start + 1


def _to_shift_jis(pair: bytes) -> bytes:
    """Convert a character from EUC-JP. Both encode one table (encoding.spec.whatwg.org/#shift_jis-encoder)."""
    high, low = divmod((pair[0] - 0xA1) * 94 + pair[1] - 0xA1, 188)
    return bytes((high + (0x81 if high < 0x1F else 0xC1), low + (0x40 if low < 0x3F else 0x41)))


_PAIR_BYTES = range(0xA1, 0xFF)

# Python finds error handlers by name in its own registry. They have no state.
# The codec for Hong Kong lacks the euro sign and the blocks.
codecs.register_error("browsers.windows-big5", partial(_decode_pair, convert=bytes, codec="cp950"))
# The codec for EUC-JP lacks the vendor rows: circled numbers, units, names of companies.
codecs.register_error("browsers.windows-japanese", partial(_decode_pair, convert=_to_shift_jis, codec="cp932"))
_ERROR_HANDLERS: Mapping[str, str] = {"big5hkscs": "browsers.windows-big5", "euc_jp": "browsers.windows-japanese"}


_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))

_PRESCAN_BYTES = 1024
"""Bytes in which the standard searches for a declaration in the markup."""
_HEAD_BYTES = 64 * 1024
"""Bytes in which browsers continue to search while the head has not ended."""

_HEADER_CHARSET = re.compile(r"""charset\s*+=\s*+["']?\s*+([^\s"';,]+)""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta[\s/][^>]*", re.IGNORECASE)
_META_CHARSET = re.compile(rb"""charset\s*+=\s*+["']?\s*+([^\s"'/>;]+)""", re.IGNORECASE)
_XML = re.compile(rb"""\s*+<\?xml[^>]*?\sencoding\s*+=\s*+["']([^"'>]+)["']""")

# Encodings whose bytes are all ASCII, detected by their escape sequences.
_ESCAPES = ((b"\x1b$)C", "iso2022_kr"), (b"\x1b$", "iso2022_jp"), (b"\x1b(J", "iso2022_jp"))
_NOT_EIGHT_BIT = frozenset({"utf-8", "utf-16-le", "utf-16-be", "iso2022_jp", "iso2022_kr", "hz"})
"""Encodings that are excluded for a body that is not UTF-8 and has bytes above ASCII."""
_LIKE_UTF8 = frozenset({"gb18030", "big5hkscs", "cp932", "euc_jp", "cp949", "cp874"})
"""Encodings of which a few characters can look like UTF-8."""

_CERTAIN_BYTES = 8
"""Number of continuation bytes that make valid UTF-8 certain regardless of the declaration.

GBK is the most similar encoding of the web: 16 of 100 of its common characters look like two bytes of UTF-8, all of
eight in three texts of ten million.
"""

_VALID_PER_INVALID = 9
"""Valid UTF-8 characters for each invalid one. With more, the text is UTF-8 with errors."""
_TRIAL_BYTES = 64 * 1024
_BYTES_PER_ZERO = 5
"""In UTF-16, at least one byte in this many at one parity is zero, and at most a fifth as many at the other parity."""

_MIN_SCORE_LEAD = 0.35
"""Score difference by which another encoding must be better to override a declaration (at most 1)."""
_MIN_HIGH_BYTES = 6
"""Bytes above ASCII. With fewer, a declaration is always trusted."""

# Declared encodings that are scored with the letters of a nearly identical encoding.
_SCORED_AS = {"iso8859_15": "cp1252"}


def decode(body: bytes, content_type: str) -> str:
    """Decode the body of a response and remove NUL characters. This never fails.

    The order is: byte order mark; UTF-8 if (almost) all of the body is valid; the encoding of Content-Type or else of
    the markup, unless another fits clearly better; a detected encoding. Exceptions are UTF-16 without a mark, escape
    sequences, and fewer than 8 continuation bytes with a declared East Asian or Thai encoding.
    """
    text = _decode_text(body, content_type)
    return text.replace("\0", "") if "\0" in text else text


def _decode_text(body: bytes, content_type: str) -> str:
    for bom, codec in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(codec, "replace")
    if b"\0" in body and (wide := _detect_utf16(body)):
        return decode_with(body, wide)
    found = _HEADER_CHARSET.search(content_type)
    header = find_codec(found[1]) if found else None
    text = _decode_utf8(body)
    if text is None:
        return decode_with(body, _choose_legacy(body, header or _read_markup_charset(body)))
    other = _detect_in_ascii(body, header) if text.isascii() else _detect_in_short_utf8(body, text, header)
    return text if other is None else decode_with(body, other)


def _decode_utf8(body: bytes) -> str | None:
    """Return the text if it is UTF-8, also if a size limit has cut its last character."""
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        whole = body[: error.start]
        cut = error.reason == "unexpected end of data" and not whole.isascii()
        return whole.decode() if cut else None


def _detect_in_ascii(body: bytes, header: str | None) -> str | None:
    if b"\x1b" in body:
        return next((codec for escape, codec in _ESCAPES if escape in body), None)
    if b"~{" in body and (header or _read_markup_charset(body)) == "hz":
        return "hz"
    return None


def _detect_in_short_utf8(body: bytes, text: str, header: str | None) -> str | None:
    declared = header or _read_markup_charset(body) if len(body) - len(text) < _CERTAIN_BYTES else None
    if declared in _LIKE_UTF8:
        with contextlib.suppress(UnicodeDecodeError):
            body.decode(declared)
            return declared
    return None


def _choose_legacy(body: bytes, declared: str | None) -> str:
    # Text that is mostly valid UTF-8 is UTF-8.
    trial = body.lstrip(ASCII)[:_TRIAL_BYTES].decode("utf-8", "replace")
    bad = trial.count("\ufffd")
    good = len(trial) - len(trial.encode("ascii", "ignore")) - bad
    if not trial or (good > 0 and good >= _VALID_PER_INVALID * bad):
        return "utf-8"
    found = detect_charset(body)
    if declared is None or declared in _NOT_EIGHT_BIT:
        return found.codec
    score = score_charset(body, _SCORED_AS.get(declared, declared))
    if score is None or found.score - score < _MIN_SCORE_LEAD or found.weight < _MIN_HIGH_BYTES:
        return declared
    return found.codec


def _detect_utf16(body: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark: every second byte of its markup is zero."""
    head = body[:_PRESCAN_BYTES]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) * _BYTES_PER_ZERO < len(head) // 2 or min(even, odd) * _BYTES_PER_ZERO > max(even, odd):
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _read_markup_charset(body: bytes) -> str | None:
    head = _COMMENT.sub(b"", body[:_HEAD_BYTES])
    ends = [at for at in map(head.lower().find, (b"</head", b"<body")) if at >= 0]
    head = head[: max(min(ends, default=0), _PRESCAN_BYTES)]
    for meta in _META.finditer(head):
        charset = _META_CHARSET.search(meta[0])
        codec = find_codec(charset[1].decode("ascii", "replace")) if charset else None
        if codec is not None:
            # Markup that is readable as ASCII is not UTF-16, whatever it declares: a rule of the standard.
            return "utf-8" if codec.startswith("utf-16") else codec
    xml = _XML.match(head)
    return find_codec(xml[1].decode("ascii", "replace")) if xml else None

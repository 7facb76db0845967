"""Text of bytes in a known encoding, as browsers read it: Python's codecs are sometimes of another mind."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from types import MappingProxyType

_JAPANESE_TWINS = ("〜～", "‖∥", "−－", "¢￠", "£￡", "¬￢")

# (as Python reads it, as browsers do): the differences that came out when Chromium was asked for each pair of
# bytes, but for two slashes of Big5 that have twins of their own.
_TWINS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "big5hkscs": ("•‧", "､﹑", "‾¯", "∼～", "♁⊕", "☉⊙", "¥￥", "¢￠", "£￡"),
        "euc_jp": _JAPANESE_TWINS,
        "iso2022_jp": _JAPANESE_TWINS,
        "gb18030": ("\ue5e5\u3000", "\ue7c7ḿ", "\ue78d︐", "\ue78e︒", "\ue78f︑", "\ue790︓", "\ue791︔"),
        "koi8_u": ("╝ў", "╬Ў"),
    }
)

_GAPS_FILLED = 50_000
"""More unreadable characters than this are no text; each one filled costs a microsecond or two."""


def read(body: bytes, codec: str) -> str:
    """The text of a body; what cannot be read becomes U+FFFD."""
    text = body.decode(codec, "replace")
    if codec in _GAPS and 0 < text.count("\ufffd") <= _GAPS_FILLED:
        text = body.decode(codec, _GAPS[codec])
    for twins in _TWINS.get(codec, ()):
        text = text.replace(twins[0], twins[1])
    return text


def _windows_big5(error: UnicodeError) -> tuple[str, int]:
    """The euro sign and the blocks, which the codec for Hong Kong lacks."""
    return _fill(error, lambda pair: pair, "cp950")


def _windows_japanese(error: UnicodeError) -> tuple[str, int]:
    """The makers' rows: circled numbers, units, names of companies."""
    return _fill(error, _as_shift_jis, "cp932")


def _fill(error: UnicodeError, convert: Callable[[bytes], bytes], codec: str) -> tuple[str, int]:
    """Read one character of two bytes in another codec, or give up one byte."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if len(pair) == 2 and pair[0] in _LEADS and pair[1] in _TRAILS:
        text = convert(pair).decode(codec, "replace")
        if len(text) == 1 and text != "\ufffd":
            return text, error.start + 2
    return "\ufffd", error.start + 1


def _as_shift_jis(pair: bytes) -> bytes:
    """A character of EUC-JP in Shift JIS, both being ways to write a place in one table.

    https://encoding.spec.whatwg.org/#shift_jis-encoder
    """
    high, low = divmod((pair[0] - 0xA1) * 94 + pair[1] - 0xA1, 188)
    return bytes((high + (0x81 if high < 0x1F else 0xC1), low + (0x40 if low < 0x3F else 0x41)))


_LEADS = range(0xA1, 0xFF)
_TRAILS = range(0xA1, 0xFF)

# Python's codecs ask handlers by name, so these have to be entered in its own register; they hold no state.
codecs.register_error("browsers.windows-big5", _windows_big5)
codecs.register_error("browsers.windows-japanese", _windows_japanese)
_GAPS: Mapping[str, str] = MappingProxyType(
    {"big5hkscs": "browsers.windows-big5", "euc_jp": "browsers.windows-japanese"}
)

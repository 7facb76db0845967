"""Text of bytes in a known encoding, as browsers read it: Python's codecs are sometimes of another mind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["read"]

_JAPANESE_TWINS = ("〜～", "‖∥", "−－", "¢￠", "£￡", "¬￢")

# (as Python reads it, as browsers do): every difference found by asking Chromium for each pair of bytes.
_TWINS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "big5hkscs": ("•‧", "､﹑", "‾¯", "∼～", "♁⊕", "☉⊙", "¥￥", "¢￠", "£￡"),
        "euc_jp": _JAPANESE_TWINS,
        "iso2022_jp": _JAPANESE_TWINS,
        "gb18030": ("\ue5e5\u3000", "\ue7c7ḿ", "\ue78d︐", "\ue78e︒", "\ue78f︑", "\ue790︓", "\ue791︔"),
        "koi8_u": ("╝ў", "╬Ў"),
    }
)

_EUC_CHARACTER = re.compile(rb"\x8e([\xa1-\xdf])|([\xa1-\xfe])([\xa1-\xfe])|[\x80-\xff]")
_NO_CHARACTER = b"\x85\x9f"


def read(body: bytes, codec: str) -> str:
    """The text of a body; what cannot be read becomes U+FFFD."""
    text = body.decode(codec, "replace")
    for python, browser in _TWINS.get(codec, ()):
        text = text.replace(python, browser)
    if codec == "euc_jp" and "\ufffd" in text:
        # Python's codec lacks the makers' rows: circled numbers, units, names of companies.
        return _fewest_holes(text, _EUC_CHARACTER.sub(_as_shift_jis, body).decode("cp932", "replace"))
    if codec == "big5hkscs" and "\ufffd" in text:
        # It lacks the euro sign and the blocks of Windows' own Big5.
        return _fewest_holes(text, body.decode("cp950", "replace"))
    return text


def _fewest_holes(one: str, other: str) -> str:
    return min(one, other, key=lambda text: text.count("\ufffd"))


def _as_shift_jis(character: re.Match[bytes]) -> bytes:
    """A character of EUC-JP in Shift JIS, both being ways to write a place in one table.

    https://encoding.spec.whatwg.org/#shift_jis-encoder
    """
    kana, lead, trail = character.groups()
    if kana:
        return bytes(kana)
    if not lead:
        return _NO_CHARACTER
    row, cell = lead[0] - 0xA1, trail[0] - 0xA1
    pointer = row * 94 + cell
    high, low = divmod(pointer, 188)
    return bytes((high + (0x81 if high < 0x1F else 0xC1), low + (0x40 if low < 0x3F else 0x41)))

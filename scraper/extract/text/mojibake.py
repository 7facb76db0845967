"""Letters of UTF-8 that somebody read as Latin ones and wrote down so: `â€™` for an apostrophe.

Pages that do so show it to every reader. What is changed can be nothing else: control characters that no page
holds on purpose, or the beginning of a quotation mark that stands nowhere but before one.
"""

from __future__ import annotations

import re

_BYTES = re.compile(
    "[\u00c2-\u00df][\u0080-\u00bf]"
    "|(?:\u00e0[\u00a0-\u00bf]|\u00ed[\u0080-\u009f]|[\u00e1-\u00ec\u00ee\u00ef][\u0080-\u00bf])[\u0080-\u00bf]"
    "|(?:\u00f0[\u0090-\u00bf]|[\u00f1-\u00f3][\u0080-\u00bf]|\u00f4[\u0080-\u008f])[\u0080-\u00bf]{2}"
)
"""Whole letters of two, three and four bytes, as RFC 3629 has them."""

_SURELY_BYTES = re.compile("[\u00c2-\u00f4][\u0080-\u00bf]{0,2}[\u0080-\u009f]")
_PRINT = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
"""What the Latin of Windows has in the place of control characters."""

_BYTE_OF = {letter: letter.encode("cp1252").decode("latin-1") for letter in _PRINT}
_QUOTED = re.compile(f"â€([{_PRINT}\u0080-\u00bf])")
_MAX_ROUNDS = 3
"""It was misread so often at most; nobody has seen more than two."""


def mended(text: str) -> str:
    """`text` with those letters as they were meant."""
    if "â€" in text:
        text = _QUOTED.sub(_quotation_mark, text)
    for _ in range(_MAX_ROUNDS):
        if text.isascii() or _SURELY_BYTES.search(text) is None:
            break
        text = _BYTES.sub(_letter, text)
    return text


def _letter(match: re.Match[str]) -> str:
    return match.group().encode("latin-1").decode()


def _quotation_mark(match: re.Match[str]) -> str:
    return f"â\u0080{_BYTE_OF.get(match[1], match[1])}".encode("latin-1").decode()

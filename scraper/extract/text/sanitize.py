"""Characters that a person cannot see are how a page speaks to a model behind the reader's back; they go."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_NEVER = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1 controls but tab and newline
    "\u00ad"  # soft hyphen
    "\u034f\u115f\u1160\u17b4\u17b5\u180e"  # grapheme joiner, Hangul, Khmer and Mongolian fillers
    "\u200b"  # zero-width space
    "\u202a-\u202e\u2060-\u206f"  # direction overrides and isolates, word joiner, invisible operators
    "\u3164\uffa0"  # Hangul fillers
    "\ufeff\ufff9-\ufffb"  # byte order mark, annotation marks
    "\U0001d173-\U0001d17a"  # musical controls
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"  # tags
)
_IN_PLACE = (
    "\u061c\u200e\u200f"  # direction marks
    "\u200c\u200d"  # joiners
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # variation selectors
)
_SUSPECT = re.compile(f"[{_NEVER}{_IN_PLACE}]")
_NEVER_KEPT = re.compile(f"[{_NEVER}]+")
_REPEATED = re.compile(f"([{_IN_PLACE}])\\1+")
_LATIN = "cp1252"
"""Latin letters with the quotation marks and dashes of print, and of all the suspects only these:"""
_LATIN_SUSPECTS = bytes(code for code in (*range(32), 127, 0xAD) if chr(code) not in "\t\n")
_JOINERS = "\u200c\u200d"
_MARKS = "\u200e\u200f\u061c"
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_MARK_REACH = 40
"""A direction mark belongs where a right-to-left letter stands this near."""

_JOINING = re.compile(
    "[\u0620-\u06ff\u0700-\u07ff\u0840-\u08ff"  # Arabic, Syriac, N'Ko, Mandaic
    "\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af"  # Indic scripts, Myanmar, Khmer, Mongolian
    "\ufb50-\ufdff\ufe70-\ufefc]"
)
_IDEOGRAPH = re.compile("[\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_EMOJI_CATEGORIES = frozenset({"So", "Sm", "Sk", "Po", "Pd", "No"})
_KEYCAP = "\u20e3"


def clean(text: str) -> tuple[str, int]:
    """`text` without its invisible characters, and how many were taken out; misread letters are mended.

    Joiners stay between letters that they join and inside emoji, variation selectors directly after an emoji
    or ideograph, direction marks in right-to-left text.
    """
    if "â€" in text:
        text = repair_mojibake(text)
    if _plain(text) or _SUSPECT.search(text) is None:
        return text, 0
    text = repair_mojibake(text).replace("\r\n", "\n").replace("\r", "\n")
    cleaned = _REPEATED.sub(r"\1", _NEVER_KEPT.sub("", text))
    cleaned = _SUSPECT.sub(_kept, cleaned)
    return cleaned, len(text) - len(cleaned)


def _plain(text: str) -> bool:
    """A cheap yes for the common case: the expression costs three to ten times as much."""
    try:
        encoded = text.encode("ascii" if text.isascii() else _LATIN)
    except UnicodeEncodeError:
        return False
    return len(encoded.translate(None, _LATIN_SUSPECTS)) == len(text)


def clean_line(text: str, limit: int) -> str:
    """`text` as one clean line of at most `limit` characters."""
    cleaned = " ".join(clean(text[: limit * 8])[0].split())
    return cleaned if len(cleaned) <= limit else cleaned[: limit - 1].rstrip() + "…"


def _kept(match: re.Match[str]) -> str:
    character, text, at = match.group(), match.string, match.start()
    before = text[at - 1] if at else ""
    after = text[at + 1 : at + 2]
    if character in _JOINERS:
        keep = _joins_letters(before, after) or _joins_emoji(before, after)
    elif character in _MARKS:
        near = text[max(0, at - _MARK_REACH) : at + _MARK_REACH]
        keep = before not in _MARKS and _RIGHT_TO_LEFT.search(near) is not None
    elif "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
        keep = _takes_variation(before, after)
    else:
        keep = False
    return character if keep else ""


def _joins_letters(before: str, after: str) -> bool:
    return bool(before and after) and bool(_JOINING.match(before)) and bool(_JOINING.match(after))


def _joins_emoji(before: str, after: str) -> bool:
    return bool(before and after) and (before == "\ufe0f" or _is_emoji(before)) and _is_emoji(after)


def _takes_variation(before: str, after: str) -> bool:
    return bool(before) and (after == _KEYCAP or _is_emoji(before) or _IDEOGRAPH.match(before) is not None)


def _is_emoji(character: str) -> bool:
    """Close enough: symbols beyond the Latin blocks, and the two Latin ones that have an emoji form."""
    return character in "©®" or (
        character >= "\u203c" and unicodedata.category(character) in _EMOJI_CATEGORIES
    )


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


def repair_mojibake(text: str) -> str:
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


_FEW_CHARACTERS = 60
_OTHER_WHITE = b"\t\n\v\f\r\x1c\x1d\x1e\x1f"
"""White space in ASCII, as `split` takes it, but for the space."""


def collapse_whitespace(text: str) -> str:
    """The words of a text with one space between any two.

    Most long texts have no white space but single spaces: to see that takes a quarter of taking the words
    apart and putting them together again.
    """
    is_plain = (
        len(text) > _FEW_CHARACTERS
        and text.isascii()
        and "  " not in text
        and len(text.encode().translate(None, _OTHER_WHITE)) == len(text)
    )
    return text.strip(" ") if is_plain else " ".join(text.split())


def join_lines(pieces: Iterable[str | tuple[str] | None]) -> str:
    """Pieces of text joined, a new line at each None, white space folded but in the tuples."""
    lines: list[str] = []
    open_line: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            open_line.append(piece)
            continue
        if open_line:
            lines.append(collapse_whitespace("".join(open_line)))
            open_line.clear()
        if piece is not None:
            lines.append(piece[0])
    lines.append(collapse_whitespace("".join(open_line)))
    return "\n".join(filter(None, lines))

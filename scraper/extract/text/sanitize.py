"""Characters that a person cannot see are how a page speaks to a model behind the reader's back; they go."""

from __future__ import annotations

import re
import unicodedata

from scraper.extract.text import mojibake

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
        text = mojibake.mended(text)
    if _plain(text) or _SUSPECT.search(text) is None:
        return text, 0
    text = mojibake.mended(text).replace("\r\n", "\n").replace("\r", "\n")
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


def line(text: str, limit: int) -> str:
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

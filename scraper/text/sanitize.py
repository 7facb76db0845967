"""Remove invisible characters, repair mojibake and normalize white space.

Invisible characters can carry instructions to a model that people do not see.
"""

import re
import unicodedata
from collections.abc import Iterable

from scraper.values.text import read_table, truncate

_INVISIBLE = read_table(__package__, "invisible.toml")
_ALWAYS_REMOVED, _CONTEXTUAL = ("".join(_INVISIBLE[name]) for name in ("always_removed", "contextual"))
_SUSPECT = re.compile(f"[{_ALWAYS_REMOVED}{_CONTEXTUAL}]")
_ALWAYS_REMOVED_RUN = re.compile(f"[{_ALWAYS_REMOVED}]+")
_REPEATED = re.compile(f"([{_CONTEXTUAL}])\\1+")
_LATIN = "cp1252"
"""Western European letters with typographic punctuation. Of the suspects it only contains `_LATIN_SUSPECTS`."""
_LATIN_SUSPECTS = bytes(code for code in (*range(32), 127, 0xA0, 0xAD) if chr(code) not in "\t\n")
_BLANK_PATTERN = "\u2800"
"""Braille pattern without dots, which looks like a space."""
_JOINERS = "\u200c\u200d"
_DIRECTION_MARKS = "\u200e\u200f\u061c"
_ARABIC = "\u0606-\u061b\u061d-\u06dc\u06de-\u088f\u0892-\u08e1\u08e3-\u08ff\ufb50-\ufdff\ufe70-\ufefc"
"""Arabic, Syriac and further letters of that range, without invisible characters and marks around numbers."""
_RIGHT_TO_LEFT = re.compile(f"[\u0590-\u05ff\ufb1d-\ufb4f{_ARABIC}]")
_DIRECTION_MARK_DISTANCE = 8
"""Characters. A direction mark stays if a right-to-left letter is this near."""
_DIRECTION_MARK_GAP = 4
"""Characters. A direction mark stays if there is no other one in this many characters before it."""

_JOINING = re.compile(
    "[\u0620-\u06ff\u0700-\u07ff\u0840-\u08ff"  # Arabic, Syriac, N'Ko, Mandaic
    "\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af"  # Indic scripts, Myanmar, Khmer, Mongolian
    "\ufb50-\ufdff\ufe70-\ufefc]"
)
_BESIDE_NUMBER_MARK = re.compile(f"[{_ARABIC}]")
_VIRAMA = 9
"""Canonical combining class of the marks beside which a zero-width joiner changes a letter's form."""
_EMOJI = read_table(__package__, "emoji.toml")
_KEYCAP = "\u20e3"
_TEXT_OR_EMOJI = re.compile(_EMOJI["text_or_emoji"])
"""Symbols that are text without a variation selector, and emoji with one."""

_FEW = 20
"""Characters that are replaced one after the other. A hostile text may have thousands."""


def clean(text: str) -> tuple[str, int]:
    """Remove invisible characters and repair mojibake; return the text and the number of removed characters.

    Joiners stay between letters that they join and inside emoji, the variation selector of emoji directly after one,
    direction marks in right-to-left text. All kinds of space are replaced by a plain space, because they could encode a
    message. Code points without a character are removed.
    """
    if "â€" in text:
        text = repair_mojibake(text)
    if _is_plain(text):
        return text, 0
    characters = "".join(set(text))
    has_suspect = _SUSPECT.search(characters) is not None
    if has_suspect:
        text = repair_mojibake(text).replace("\r\n", "\n").replace("\r", "\n")
        characters = "".join(set(text))
    replacements = _replacements(characters)
    if len(replacements) > _FEW:
        text = text.translate({ord(character): replacement for character, replacement in replacements.items()})
    else:  # a replacement costs a hundredth of a translation
        for character, replacement in replacements.items():
            text = text.replace(character, replacement)
    if not has_suspect and "\x00" not in replacements.values():
        return text, 0
    cleaned = _REPEATED.sub(r"\1", _ALWAYS_REMOVED_RUN.sub("", text))
    cleaned = _SUSPECT.sub(_filter_suspect, cleaned)
    return cleaned, len(text) - len(cleaned)


def _replacements(characters: str) -> dict[str, str]:
    """Return the replacements of the characters that no person sees, except those of `_SUSPECT`."""
    found: dict[str, str] = {}
    for character in characters:
        if character == _BLANK_PATTERN:
            found[character] = " "
            continue
        if character.isprintable() or character in "\n\r\t" or _SUSPECT.match(character):
            continue
        category = unicodedata.category(character)
        if category in {"Zs", "Zl", "Zp"}:
            found[character] = " "
        elif category == "Cs":
            found[character] = "\ufffd"
        elif category != "Co":
            # A control character, so that `clean` removes it and counts it.
            found[character] = "\x00"
    return found


def _is_plain(text: str) -> bool:
    """Return True for text that needs no cleaning. The expression costs three to ten times as much."""
    if text.isascii() and text.isprintable():
        return True
    try:
        encoded = text.encode("ascii" if text.isascii() else _LATIN)
    except UnicodeEncodeError:
        return False
    return len(encoded.translate(None, _LATIN_SUSPECTS)) == len(text)


def clean_line(text: str, limit: int) -> str:
    """Return the text as one clean line of at most `limit` characters; a text that was cut ends with `…`."""
    cleaned = " ".join(clean(text[: limit * 8])[0].split())
    return truncate(cleaned, limit)


def _filter_suspect(match: re.Match[str]) -> str:
    character, text, at = match.group(), match.string, match.start()
    before = text[at - 1] if at else ""
    after = text[at + 1 : at + 2]
    if character in _JOINERS:
        is_allowed = _JOINING.match(before) is not None and _JOINING.match(after) is not None
        if character == "\u200d":
            has_virama = is_allowed and _VIRAMA in (unicodedata.combining(before), unicodedata.combining(after))
            is_allowed = has_virama or _joins_emoji(text, at, after)
    elif character in _DIRECTION_MARKS:
        is_first = not any(mark in text[max(0, at - _DIRECTION_MARK_GAP) : at] for mark in _DIRECTION_MARKS)
        near = text[max(0, at - _DIRECTION_MARK_DISTANCE) : at + _DIRECTION_MARK_DISTANCE]
        is_allowed = is_first and _RIGHT_TO_LEFT.search(near) is not None
    elif character == "\ufe0f":
        is_allowed = after == _KEYCAP or _TEXT_OR_EMOJI.match(before) is not None
    elif "\u0600" <= character <= "\u08e2":
        is_allowed = bool(_BESIDE_NUMBER_MARK.match(before) or _BESIDE_NUMBER_MARK.match(after))
    else:
        is_allowed = False
    return character if is_allowed else ""


def _joins_emoji(text: str, at: int, after: str) -> bool:
    before = text[at - 1] if at else ""
    if before == "\ufe0f" or "\U0001f3fb" <= before <= "\U0001f3ff":
        before = text[at - 2] if at > 1 else ""
    return bool(before and after) and any(before in first and after in second for first, second in _EMOJI["joined"])


_MOJIBAKE = re.compile(
    "[\u00c2-\u00df][\u0080-\u00bf]"
    "|(?:\u00e0[\u00a0-\u00bf]|\u00ed[\u0080-\u009f]|[\u00e1-\u00ec\u00ee\u00ef][\u0080-\u00bf])[\u0080-\u00bf]"
    "|(?:\u00f0[\u0090-\u00bf]|[\u00f1-\u00f3][\u0080-\u00bf]|\u00f4[\u0080-\u008f])[\u0080-\u00bf]{2}"
)
"""Letters of two, three and four bytes as in RFC 3629, each byte decoded as Latin-1."""

_CERTAIN_MOJIBAKE = re.compile("[\u00c2-\u00f4][\u0080-\u00bf]{0,2}[\u0080-\u009f]")
_CP1252_PRINTABLE = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
"""Characters of Windows-1252 in the place of the C1 control characters."""

_BYTE_OF = {letter: letter.encode("cp1252").decode("latin-1") for letter in _CP1252_PRINTABLE}
_BROKEN_QUOTATION_MARK = re.compile(f"â€([{_CP1252_PRINTABLE}\u0080-\u00bf])")
_MAX_ROUNDS = 3
"""Rounds. Text was decoded wrongly at most this many times; two is the most ever found."""


def repair_mojibake(text: str) -> str:
    """Return the text with UTF-8 that was decoded as Latin-1 or Windows-1252 decoded correctly: `â€™` is `’`.

    Only unambiguous sequences change: those with control characters, and beginnings of quotation marks.
    """
    if "â€" in text:
        text = _BROKEN_QUOTATION_MARK.sub(
            lambda match: f"â\u0080{_BYTE_OF.get(match[1], match[1])}".encode("latin-1").decode(), text
        )
    for _ in range(_MAX_ROUNDS):
        if text.isascii() or _CERTAIN_MOJIBAKE.search(text) is None:
            break
        text = _MOJIBAKE.sub(lambda match: match.group().encode("latin-1").decode(), text)
    return text


_MIN_SHORTCUT_CHARACTERS = 60
_OTHER_WHITE_SPACE = b"\t\n\v\f\r\x1c\x1d\x1e\x1f"
"""ASCII white space as `str.split` defines it, except the space."""


def collapse_whitespace(text: str) -> str:
    """Return the words of a text separated by single spaces."""
    # Most long texts have single spaces only. The test takes a quarter of the time of splitting and joining.
    has_single_spaces = (
        len(text) > _MIN_SHORTCUT_CHARACTERS
        and text.isascii()
        and "  " not in text
        and len(text.encode().translate(None, _OTHER_WHITE_SPACE)) == len(text)
    )
    return text.strip(" ") if has_single_spaces else " ".join(text.split())


def join_lines(pieces: Iterable[str | tuple[str] | None]) -> str:
    """Join pieces of text into lines. None ends a line; a piece in a tuple is a whole line with its white space."""
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


_NOT_IN_NAMES = bytes(code for code in range(128) if not chr(code).isalnum())


def name_key(text: str | None) -> str:
    """Return the letters and digits of a text in lower case, digits of any script as 0 to 9, to compare names."""
    lowered = (text or "").lower()
    if lowered.isascii():
        return lowered.encode().translate(None, _NOT_IN_NAMES).decode()
    letters = "".join(filter(str.isalnum, lowered))
    return letters if letters.isalpha() else "".join(str(int(one)) if one.isdecimal() else one for one in letters)

"""Write list numbers in the numeral systems of Office documents."""

from __future__ import annotations

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
    (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_EAST_ASIAN = "〇一二三四五六七八九"
_EAST_ASIAN_STYLES = frozenset(
    "chineseCounting chineseCountingThousand ideographDigital japaneseCounting taiwaneseCounting".split()
)


def format_numeral(count: int, style: str) -> str:
    """Format a count in one of Word's number styles; unknown styles give digits."""
    if style in ("lowerRoman", "upperRoman"):
        text = _roman(count)
        return text.upper() if style == "upperRoman" else text
    if style in ("lowerLetter", "upperLetter"):
        letter = chr(ord("a") + (count - 1) % 26) * min(9, (count - 1) // 26 + 1)
        return letter.upper() if style == "upperLetter" else letter
    if style == "decimalZero":
        return f"{count:02}"
    if style in _EAST_ASIAN_STYLES:
        return _east_asian(count)
    return "" if style == "none" else str(count)


def _roman(count: int) -> str:
    text = ""
    for value, letters in _ROMAN:
        while count >= value and len(text) < 20:
            text += letters
            count -= value
    return text


def _east_asian(count: int) -> str:
    if not 0 < count < 100:
        return str(count)
    tens, ones = divmod(count, 10)
    before = ("" if tens == 1 else _EAST_ASIAN[tens]) + "十" if tens else ""
    return before + (_EAST_ASIAN[ones] if ones else "")

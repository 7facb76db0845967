"""Write numbers of lists as digits, letters, Roman numerals and East Asian numerals."""

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
    text = "" if style == "none" else str(count)
    if style in ("lowerRoman", "upperRoman"):
        text = ""
        for value, letters in _ROMAN:
            while count >= value and len(text) < 20:
                text += letters
                count -= value
    elif style == "ordinal":
        text += "th" if count % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    elif style == "decimalEnclosedCircle" and 0 < count <= 20:
        text = chr(ord("①") + count - 1)
    elif style in ("lowerLetter", "upperLetter"):
        text = chr(ord("a") + (count - 1) % 26) * min(9, (count - 1) // 26 + 1)
    elif style == "decimalZero":
        text = f"{count:02}"
    elif style in _EAST_ASIAN_STYLES and 0 < count < 100:
        tens, ones = divmod(count, 10)
        text = ("" if tens < 2 else _EAST_ASIAN[tens]) + ("十" if tens else "") + (_EAST_ASIAN[ones] if ones else "")
    return text.upper() if style.startswith("upper") else text

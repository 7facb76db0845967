"""Quote text of a page safely in outlines and messages."""

_PRINTABLE_BUT_INVISIBLE = dict.fromkeys(map(ord, "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")) | dict.fromkeys(
    (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
)
"""Fillers and variation selectors, which `str.isprintable` accepts."""


def clean_text(text: str) -> str:
    """Return the text on one line, without unprintable and invisible characters."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    # A space in place of an invisible character would show where it was.
    text = "".join(one if one.isprintable() else " " * one.isspace() for one in text)
    return " ".join(text.translate(_PRINTABLE_BUT_INVISIBLE).split())


def truncate(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters with an ellipsis at the end."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def quote(text: str) -> str:
    """Return the text in quotes, with inner quotes replaced, so that the page cannot end the quotation."""
    return '"' + text.replace('"', "'") + '"'


def join_first(names: list[str], limit: int) -> str:
    """Return the first `limit` names, and how many more there are."""
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")

"""Quote text of a page safely in outlines and messages."""

from __future__ import annotations


def clean_text(text: str) -> str:
    """Return the text on one line, without unprintable characters."""
    if not text.isprintable():
        text = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(text.split())


def truncate(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters with an ellipsis at the end."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def quote(text: str) -> str:
    """Return the text in quotes, with inner quotes replaced, so that the page cannot end the quotation."""
    return '"' + text.replace('"', "'") + '"'

"""Text of the site: paragraphs that look like prose and contain marker words."""

from __future__ import annotations

import re

_TEXT = (
    "Note {i} from the harbour office: the morning ferry left with {count} passengers, two bicycles and a "
    "crate of lemons, and the wind stood west all day. The keeper of the lighthouse, who writes everything "
    "down, put the entry under {mark} and closed the book. Nobody has asked for it since, but the figures "
    "agree with those of the pilot boat, which is rare enough to be told. "
)


def mark(name: str, i: int) -> str:
    """Return the marker word of part `i` of the page `name`."""
    return f"MARK-{name}-{i}"


def marks_found(name: str, text: str) -> int:
    """Return the number of different marker words of the page `name` in `text`."""
    return len(set(re.findall(rf"MARK-{re.escape(name)}-\d+", text.replace("\\-", "-"))))


def paragraph(name: str, i: int) -> str:
    """Return one paragraph of about 350 characters as plain text."""
    return _TEXT.format(i=i, count=100 + 7 * i, mark=mark(name, i))


def paragraph_texts(name: str, start: int, stop: int) -> list[str]:
    """Return paragraphs `start` to `stop` as plain text."""
    return [paragraph(name, i) for i in range(start, stop)]


def paragraphs(name: str, start: int, stop: int) -> str:
    """Return paragraphs `start` to `stop` as HTML."""
    return "".join(f"<p>{text}</p>\n" for text in paragraph_texts(name, start, stop))

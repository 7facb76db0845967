"""The headings of a Markdown text and where they stand."""

from __future__ import annotations

import re

from scraper.extract.text.sanitize import line
from scraper.model import Heading

MAX_HEADINGS = 500
_MAX_TEXT = 200

_HEADING_OR_FENCE = re.compile(r"\n(?:(#{1,6}) (.+)|[ >]*(?:(?:[-*+:]|\d{1,9}[.)]) +)*+(`{3,}|~{3,})(.*))")
"""Behind the end of a line rather than at the beginning of one: to the ends one can jump."""

_LINK = re.compile(
    r"(?P<escaped>\\.)|!?\[(?P<label>(?:[^\[\]\\]|\\.)*+)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)"
)
"""What is escaped is matched too: a bracket in it opens nothing, and is not tried as one."""
_MARKUP = re.compile(r"\\(?=[*_`#\[\]])|[*`]{1,3}")


def of_markdown(markdown: str) -> tuple[Heading, ...]:
    """ATX headings outside of code, with their offsets."""
    if "#" not in markdown:
        return ()
    headings: list[Heading] = []
    fence = ""
    for match in _HEADING_OR_FENCE.finditer(f"\n{markdown}"):
        hashes, text, ticks, rest = match.groups()
        if ticks:
            closes = ticks[0] == fence[:1] and len(ticks) >= len(fence) and not rest.strip()
            fence = "" if closes else fence or ticks
        elif not fence and len(headings) < MAX_HEADINGS:
            headings.append(Heading(len(hashes), _plain(text), match.start()))
    return tuple(headings)


def _plain(text: str) -> str:
    labels = _LINK.sub(lambda match: match["escaped"] or match["label"], text)
    return line(_MARKUP.sub("", labels), _MAX_TEXT)

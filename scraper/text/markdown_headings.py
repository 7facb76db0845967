"""Find the headings of a Markdown text."""

from __future__ import annotations

import re

from scraper.model import Heading
from scraper.text.sanitize import clean_line

MAX_HEADINGS = 500
"""Headings of one text that are returned."""
_MAX_HEADING_TEXT = 200

_HEADING_OR_FENCE = re.compile(r"\n(?:(#{1,6}) (.+)|[ >]*(?:(?:[-*+:]|\d{1,9}[.)]) +)*+(`{3,}|~{3,})(.*))")
"""Matches after a line end rather than at a line start, because `re` can jump to line ends."""

_LINK = re.compile(r"(?P<escaped>\\.)|!?\[(?P<label>(?:[^\[\]\\]|\\.)*+)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
"""Links and images. Escaped characters match too, so that an escaped bracket opens nothing."""
_MARKUP = re.compile(r"\\(?=[*_`#\[\]])|[*`]{1,3}")


def find_headings(markdown: str) -> tuple[Heading, ...]:
    """Return the ATX headings outside of code, with their offsets."""
    if "#" not in markdown:
        return ()
    headings: list[Heading] = []
    fence = ""
    for match in _HEADING_OR_FENCE.finditer(f"\n{markdown}"):
        hashes, text, mark, rest = match.groups()
        if mark:
            closes = mark[0] == fence[:1] and len(mark) >= len(fence) and not rest.strip()
            fence = "" if closes else fence or mark
        elif not fence and len(headings) < MAX_HEADINGS:
            labels = _LINK.sub(lambda link: link["escaped"] or link["label"], text)
            plain = clean_line(_MARKUP.sub("", labels), _MAX_HEADING_TEXT)
            headings.append(Heading(len(hashes), plain, match.start()))
    return tuple(headings)

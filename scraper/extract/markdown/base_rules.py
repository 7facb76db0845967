"""What all rules of one conversion share: addresses, what was found on the way, and text kept from harm."""

from __future__ import annotations

import re

from scraper.extract.dom.urls import UrlResolver
from scraper.extract.markdown.tree_converter import TreeConverter

Tags = frozenset[str]
"""The tags around an element, and the pseudo tags `_inline` and `_noformat`."""

_MARK = "\x02"
"""Begins a place for a block; no text holds it: `markup.parse` lets no control character in."""

_PLACE = re.compile("\x02(\\d+)\x03")
_NOTE_INDENT = "    "
_MARKER = re.compile(r"[^>\s]")
_MARKERS = re.compile(r"(?:[\s>]|(?:[-*+:]|\d{1,9}[.)])(?=\s))*+")
"""Of lists, terms and quotations, at the beginning of a line; words before a place indent nothing."""


class Rules(TreeConverter):
    """The state of one conversion."""

    class Options:
        heading_style = "atx"
        bullets = "-"

    def __init__(self, base: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.images: dict[str, str] = {}
        self.addresses = UrlResolver(base)
        self._verbatim: list[str] = []

    def verbatim(self, block: str) -> str:
        """A place for a block that nothing around it may change but by indenting its lines."""
        self._verbatim.append(block)
        return f"\n\n{_MARK}{len(self._verbatim) - 1}\x03\n\n"

    def restored(self, markdown: str) -> str:
        """With the blocks in their places, each line indented as its place is."""
        if not self._verbatim:
            return markdown
        return "\n".join(self._placed(row) if _MARK in row else row for row in markdown.split("\n"))

    def _placed(self, row: str) -> str:
        """A line with its blocks; those that share it are indented alike, each from a line of its own."""
        before, *rest = _PLACE.split(row)
        markers = _MARKERS.match(before)
        inset = _MARKER.sub(" ", markers.group()) if markers else ""
        if before.startswith("[^"):
            inset = _NOTE_INDENT
        blocks = []
        for number, behind in zip(rest[::2], rest[1::2], strict=True):
            block = self._verbatim[int(number)] if int(number) < len(self._verbatim) else ""
            blocks.append(block.replace("\n", "\n" + inset) + behind)
        return before + f"\n{inset}".join(blocks)


def is_inline(tags: Tags) -> bool:
    """Whether blocks must become one line here: in headings and cells."""
    return "_inline" in tags


def block(text: str, tags: Tags) -> str:
    """A block of its own; inside of a line, words set apart."""
    text = text.strip()
    if not text:
        return ""
    return f" {text} " if "_inline" in tags else f"\n\n{text}\n\n"


def around(text: str) -> tuple[str, str]:
    """What stands at both ends of a text that marks will be set around: a space, a line break, or nothing.

    Marks must touch their words, and what stood between these and their neighbours must not be lost with it.
    """
    body = text.strip()
    at = text.find(body)
    return _gap(text[:at]), _gap(text[at + len(body) :])


def _gap(white: str) -> str:
    return white if "\n" in white else " " if white else ""

"""Split the body of a page into texts (leaves), each with its element."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from scraper.extract.dom.tags import UNREADABLE
from scraper.extract.dom.xpath import Element
from scraper.extract.page.page_tree import PageTree

INLINE = frozenset(
    "a b i em strong span small big font u s sub sup abbr cite code mark time q bdi bdo var kbd samp label data wbr br "
    "img ins del strike tt acronym center nobr picture source".split()
)
"""Elements that do not start a new line."""
MAX_ELEMENTS = 30_000
"""Elements of a page that are read; later ones are ignored."""
MAX_VALUE = 2_000
"""Characters of one value."""

_SKIPPED = UNREADABLE | {"select", "option", "textarea", "noscript"}
_WITHOUT_VALUE = frozenset({"br", "img", "wbr"})
_GLUED_AFTER = re.compile(r"[(\[{$€£¥₹#@/‘“-]\Z")
_GLUED_BEFORE = re.compile(r"[.,;:!?)\]}%’”/-]")
_ZERO_WIDTH = str.maketrans("", "", "\u200b\u200c\u200d\u2060\ufeff\u00ad")


@dataclass(slots=True, eq=False)
class TextLeaf:
    """A text that readers see as one unit: of a block, of inline markup in it, or between two blocks."""

    element: Element
    text: str
    number: int
    """Position among the leaves of the page."""
    is_whole: bool
    """True if it is the complete text of the element."""
    line: int
    """Number of the line; leaves of one block share it."""


class ElementTexts:
    """Texts of the elements of a page in document order."""

    def __init__(self, page: PageTree) -> None:
        """Read the texts of all elements."""
        self.page = page
        self.body = page.body
        self.elements: list[Element] = []
        """All readable elements in document order."""
        self.number: dict[Element, int] = {}
        """Position of each element in `elements`."""
        self.end: list[int] = []
        """Position after the last descendant, for each element."""
        self._pieces: list[str] = []
        self._length_before: list[int] = [0]
        """Characters of all pieces before each piece, with one space after each."""
        self.tags: list[str] = []
        """Tag of each element in `elements`; reading it from the element is slow."""
        self.parents: list[int] = []
        """Number of the parent of each element in `elements`; -1 for the first one."""
        self._children: list[list[Element]] = []
        self._bounds: dict[Element, tuple[int, int]] = {}
        self._block_parents: set[Element] = set()
        self._texts: dict[Element, str] = {}
        self._walk()

    def _walk(self) -> None:
        skipped: Element | None = None
        for event, element in etree.iterwalk(self.body, events=("start", "end")):
            if not isinstance(element.tag, str):
                if event == "end" and skipped is None:
                    self._add_piece(element.tail)
                continue
            if event == "start":
                if skipped is None and (element.tag in _SKIPPED or len(self.elements) >= MAX_ELEMENTS):
                    skipped = element
                elif skipped is None:
                    self._add_element(element)
                    self.end.append(0)
                    self._bounds[element] = (len(self._pieces), 0)
                    self._add_piece(element.text)
                continue
            if skipped is None:
                self.end[self.number[element]] = len(self.elements)
                self._bounds[element] = (self._bounds[element][0], len(self._pieces))
                if element.tag not in INLINE or element in self._block_parents:
                    parent = element.getparent()
                    if parent is not None:
                        self._block_parents.add(parent)
            elif skipped is element:
                skipped = None
            else:
                continue
            if element is not self.body:
                self._add_piece(element.tail)

    def _add_element(self, element: Element) -> None:
        number, parent = len(self.elements), element.getparent()
        parent_number = -1 if parent is None else self.number.get(parent, -1)
        if parent_number >= 0:
            self._children[parent_number].append(element)
        self.number[element] = number
        self.elements.append(element)
        self.tags.append(str(element.tag))
        self.parents.append(parent_number)
        self._children.append([])

    def _add_piece(self, text: str | None) -> None:
        if text and (clean := " ".join(text.translate(_ZERO_WIDTH).split())):
            self._pieces.append(clean)
            self._length_before.append(self._length_before[-1] + len(clean) + 1)

    def text(self, element: Element) -> str:
        """Return the text of an element with single spaces; empty for an element that is not readable."""
        text = self._texts.get(element)
        if text is None:
            start, end = self._bounds.get(element, (0, 0))
            text = self._texts[element] = _join(self._pieces[start:end])
        return text

    def length(self, element: Element) -> int:
        """Return the length of an element's text; this is faster than joining it."""
        start, end = self._bounds.get(element, (0, 0))
        return max(0, self._length_before[end] - self._length_before[start] - 1)

    def has_text(self, element: Element) -> bool:
        """Return True if an element contains text."""
        start, end = self._bounds.get(element, (0, 0))
        return end > start

    def children(self, element: Element) -> list[Element]:
        """Return the readable children of an element."""
        return self._children[self.number[element]]

    def descendants(self, element: Element) -> list[Element]:
        """Return an element and all readable elements in it."""
        start = self.number[element]
        return self.elements[start : self.end[start]]

    def has_blocks(self, element: Element) -> bool:
        """Return True if an element contains a block."""
        return element in self._block_parents

    def leaves(self) -> list[TextLeaf]:
        """Return the texts of the page in document order."""
        found: list[TextLeaf] = []
        line = 0
        for element, text, is_whole, starts_line in self._walk_leaves(self.body):
            line += starts_line
            found.append(TextLeaf(element, text[:MAX_VALUE], len(found), is_whole, line))
        return found

    def _walk_leaves(self, element: Element) -> Iterator[tuple[Element, str, bool, bool]]:
        if not self.has_text(element) or element.tag in _WITHOUT_VALUE:
            return
        if not self.has_blocks(element) and element.tag not in ("table", "tr", "tbody", "body"):
            yield element, self.text(element), True, True
            yield from self._walk_parts(element)
            return
        for child, loose in _parts(element):
            if child is not None and child in self.number:
                yield from self._walk_leaves(child)
            if loose:
                yield element, loose, False, True

    def _walk_parts(self, element: Element) -> Iterator[tuple[Element, str, bool, bool]]:
        """Yield the parts of inline markup, each of which may be a value."""
        if not len(element):
            return
        for child, loose in _parts(element):
            if child is not None and child in self.number and child.tag not in _WITHOUT_VALUE:
                text = self.text(child)
                if text:
                    yield child, text, True, False
                    yield from self._walk_parts(child)
            if loose:
                yield element, loose, False, False


def _parts(element: Element) -> Iterator[tuple[Element | None, str]]:
    """Yield the text before the first child, then each child with the text after it."""
    yield None, _clean(element.text)
    for child in element:
        yield (child if isinstance(child.tag, str) else None), _clean(child.tail)


def _clean(text: str | None) -> str:
    return " ".join(text.translate(_ZERO_WIDTH).split()) if text else ""


def _join(pieces: list[str]) -> str:
    """Join pieces by spaces, except beside punctuation."""
    if len(pieces) < 2:
        return pieces[0] if pieces else ""
    joined = [pieces[0]]
    for before, piece in itertools.pairwise(pieces):
        is_glued = _GLUED_BEFORE.match(piece) or _GLUED_AFTER.search(before)
        joined.append(piece if is_glued else f" {piece}")
    return "".join(joined)

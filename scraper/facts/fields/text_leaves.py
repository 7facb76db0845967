"""Split the body of a page into texts (leaves), each with its element."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from scraper.html.dom.parsing import INLINE, UNREADABLE, Element
from scraper.html.page.page_tree import PageTree

MAX_ELEMENTS = 30_000
"""Elements of a page that are read; later ones are ignored."""
MAX_VALUE = 2_000
"""Characters of one value."""

_SKIPPED = UNREADABLE | {"select", "option", "textarea", "noscript"}
_WITHOUT_VALUE = frozenset({"br", "img", "wbr"})
_GLUED_AFTER = frozenset("([{$€£¥₹#@/‘“-")
_GLUED_BEFORE = frozenset(".,;:!?)]}%’”/-")
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
        self._first_pieces: list[int] = []
        """Number of the first piece of each element in `elements`."""
        self._last_pieces: list[int] = []
        """Number after the last piece of each element in `elements`."""
        self._block_parents: set[Element] = set()
        self._texts: dict[Element, str] = {}
        self._walk(page.body, str(page.body.tag), -1)
        before = self._length_before
        self.lengths = [
            max(0, before[last] - before[first] - 1)
            for first, last in zip(self._first_pieces, self._last_pieces, strict=True)
        ]
        """Length of the text of each element in `elements`."""

    def _walk(self, element: Element, tag: str, parent: int) -> bool:
        number = len(self.elements)
        self.number[element] = number
        self.elements.append(element)
        self.tags.append(tag)
        self.parents.append(parent)
        self.end.append(0)
        self._first_pieces.append(len(self._pieces))
        self._last_pieces.append(0)
        children: list[Element] = []
        self._children.append(children)
        self._add_piece(element.text)
        has_blocks = False
        for child in element:
            child_tag = child.tag
            if isinstance(child_tag, str) and child_tag not in _SKIPPED and len(self.elements) < MAX_ELEMENTS:
                children.append(child)
                has_blocks |= self._walk(child, child_tag, number)
            self._add_piece(child.tail)
        self.end[number] = len(self.elements)
        self._last_pieces[number] = len(self._pieces)
        if has_blocks:
            self._block_parents.add(element)
        return has_blocks or tag not in INLINE

    def _add_piece(self, text: str | None) -> None:
        if text and (clean := _clean(text)):
            self._pieces.append(clean)
            self._length_before.append(self._length_before[-1] + len(clean) + 1)

    def text(self, element: Element) -> str:
        """Return the text of an element with single spaces; empty for an element that is not readable."""
        text = self._texts.get(element)
        if text is None:
            at = self.number.get(element)
            pieces = [] if at is None else self._pieces[self._first_pieces[at] : self._last_pieces[at]]
            text = self._texts[element] = _join(pieces)
        return text

    def length(self, element: Element) -> int:
        """Return the length of an element's text; this is faster than joining it."""
        at = self.number.get(element)
        return 0 if at is None else self.lengths[at]

    def has_text(self, element: Element) -> bool:
        """Return True if an element contains text."""
        at = self.number.get(element)
        return at is not None and self._last_pieces[at] > self._first_pieces[at]

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
        for element, text, is_whole, starts_line in self._walk_leaves(self.body, starts_line=True):
            line += starts_line
            found.append(TextLeaf(element, text[:MAX_VALUE], len(found), is_whole, line))
        return found

    def _walk_leaves(self, element: Element, *, starts_line: bool) -> Iterator[tuple[Element, str, bool, bool]]:
        """Yield elements with their texts, whether these are whole, and whether they start a line."""
        if not self.has_text(element) or element.tag in _WITHOUT_VALUE:
            return
        is_line = not self.has_blocks(element) and element.tag not in ("table", "tr", "tbody", "body")
        if is_line or not starts_line:
            yield element, self.text(element), True, starts_line
            starts_line = False
        pieces = (
            [(None, element.text), *((child, child.tail) for child in element)] if len(element) or starts_line else []
        )
        for child, loose in pieces:
            if child is not None and child in self.number:
                yield from self._walk_leaves(child, starts_line=starts_line)
            if clean := _clean(loose):
                yield element, clean, False, starts_line


def _clean(text: str | None) -> str:
    if not text or text.isspace():
        return ""
    return " ".join((text if text.isascii() else text.translate(_ZERO_WIDTH)).split())


def _join(pieces: list[str]) -> str:
    """Join pieces by spaces, except beside punctuation."""
    if len(pieces) < 2:
        return pieces[0] if pieces else ""
    joined = [pieces[0]]
    for before, piece in itertools.pairwise(pieces):
        is_glued = piece[0] in _GLUED_BEFORE or before[-1] in _GLUED_AFTER
        joined.append(piece if is_glued else f" {piece}")
    return "".join(joined)

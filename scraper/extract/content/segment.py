"""A page as a row of text blocks and a table of the elements that hold them: what the model looks at.

A block is the text between two borders of block-level elements and belongs to the innermost of them. An
element's blocks stand in a row, so every figure of a subtree is a difference of two running sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from scraper.extract.reach import FOLDED
from scraper.extract.xpath import Element

__all__ = ["HEADINGS", "MAX_BLOCKS", "Elements", "Segments", "segment"]

MAX_BLOCKS = 20_000
"""Pages that people made stay below 3,000; the model takes 60 us a block."""

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math meter mfrac "
    "mi mn mo mrow msub msup nobr output picture q rp rt ruby s samp small source span strike strong sub sup "
    "svg time tt u var wbr".split()
)
_UNREAD = frozenset(
    "script style template iframe object embed canvas audio video head select datalist textarea input map "
    "link meta applet progress".split()
)
_STRONG = frozenset("b strong em i".split())
_MAX_INLINE_CLASSES = 3
HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}


@dataclass(slots=True)
class Elements:
    """The block-level elements in document order, parents before children; entry 0 is the body."""

    tags: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    """Behind its last block."""
    depths: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Class, then id behind a `#`."""
    roles: list[str] = field(default_factory=list)
    children: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """Which child of its parent it is, inline elements counted."""
    nodes: list[Element] = field(default_factory=list)


@dataclass(slots=True)
class Segments:
    """The blocks of a page in document order."""

    texts: list[str] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    preformatted: list[bool] = field(default_factory=list)
    folded: list[bool] = field(default_factory=list)
    """Out of sight until a click."""
    link_characters: list[int] = field(default_factory=list)
    links: list[int] = field(default_factory=list)
    strong_characters: list[int] = field(default_factory=list)
    images: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    inline_classes: list[tuple[str, ...]] = field(default_factory=list)
    pieces: list[list[tuple[Element, bool]]] = field(default_factory=list)
    """Where each block's text stands: in an element, or (True) behind it."""
    elements: Elements = field(default_factory=Elements)
    cut: bool = False
    """There was more than `MAX_BLOCKS`."""


def segment(body: Element) -> Segments:
    """The blocks of a body."""
    walk = _Walk()
    walk.run(body)
    return walk.segments


class _Open(NamedTuple):
    """An element that has been entered: what comes next in it, and what holds again behind it."""

    element: Element
    children: Iterator[Element]
    is_block: bool
    owner: int
    in_link: bool
    in_strong: bool
    in_pre: bool
    folded: bool


class _Walk:
    """One pass over the tree with a stack of its own: depth costs no recursion."""

    def __init__(self) -> None:
        self.segments = Segments()
        self.elements = self.segments.elements
        self.owner = -1
        self.in_link = self.in_strong = self.in_pre = self.folded = False
        self.text: list[str] = []
        self.lines: list[str] = []
        self.pieces: list[tuple[Element, bool]] = []
        self.classes: list[str] = []
        self.link_characters = self.links = self.strong_characters = self.images = self.times = 0
        self.breaks = 0

    def run(self, body: Element) -> None:
        stack = [self._enter_block(body, 0)]
        places = [0]  # how many children of each have been entered
        while stack:
            child = next(stack[-1].children, None)
            if child is None:
                left = stack.pop()
                places.pop()
                self._leave(left)
                if stack:
                    self._add(left.element, left.element.tail, behind=True)
                continue
            opened = self._enter(child, places)
            if opened is None:
                self._add(child, child.tail, behind=True)
            else:
                stack.append(opened)
                places.append(0)

    def _enter(self, element: Element, places: list[int]) -> _Open | None:
        """Enter an element; None when there is nothing in it, or nothing more."""
        tag: str = element.tag
        if tag in _UNREAD:
            return None
        places[-1] += 1
        if tag == "br":
            self._break()
            return None
        if self.in_pre or tag in _INLINE:
            return self._enter_inline(element, tag)
        return self._enter_block(element, places[-1])

    def _enter_block(self, element: Element, place: int) -> _Open:
        if self.text or self.lines:
            self._flush()
        self.breaks = 0
        elements, parent = self.elements, self.owner
        around = (parent, self.in_link, self.in_strong, self.in_pre, self.folded)
        opened = _Open(element, iter(element), True, *around)
        self.owner = len(elements.tags)
        tag: str = element.tag
        elements.tags.append(tag)
        elements.parents.append(parent)
        elements.first.append(len(self.segments.texts))
        elements.last.append(0)
        elements.depths.append(elements.depths[parent] + 1 if parent >= 0 else 0)
        elements.places.append(place)
        elements.children.append(0)
        elements.nodes.append(element)
        if parent >= 0:
            elements.children[parent] += 1
        attributes = element.attrib
        if attributes:
            take = element.get
            if FOLDED in attributes:
                self.folded = True
            name = take("id")
            elements.names.append(f"{take('class') or ''} #{name}" if name else take("class") or "")
            role, item, kind = take("role"), take("itemprop"), take("itemtype")
            elements.roles.append(
                f"{role or ''} {item or ''} {kind or ''}".lower() if role or item or kind else ""
            )
        else:
            elements.names.append("")
            elements.roles.append("")
        if tag == "pre":
            self.in_pre = True
        self._add(element, element.text, behind=False)
        return opened

    def _enter_inline(self, element: Element, tag: str) -> _Open | None:
        """Enter an inline element; None when it holds no elements and is done with."""
        link, strong = self.in_link, self.in_strong
        if tag == "a":
            self.in_link = True
            self.links += 1
        elif tag in _STRONG:
            self.in_strong = True
        elif tag == "img":
            self.images += 1
            self.pieces.append((element, False))
        elif tag == "time":
            self.times += 1
        if len(self.classes) < _MAX_INLINE_CLASSES:
            name = element.get("class")
            if name and not self.in_pre:
                self.classes.append(name)
        self._add(element, element.text, behind=False)
        if len(element):
            around = (self.owner, link, strong, self.in_pre, self.folded)
            return _Open(element, iter(element), False, *around)
        self.in_link, self.in_strong = link, strong
        return None

    def _leave(self, opened: _Open) -> None:
        if opened.is_block:
            if self.text or self.lines:
                self._flush()
            self.breaks = 0
            self.elements.last[self.owner] = len(self.segments.texts)
        self.owner = opened.owner
        self.in_link, self.in_strong, self.in_pre = opened.in_link, opened.in_strong, opened.in_pre
        self.folded = opened.folded

    def _add(self, element: Element, text: str | None, *, behind: bool) -> None:
        if not text:
            return
        if text.isspace():
            if self.text:
                self.text.append(text if self.in_pre else " ")
                self.pieces.append((element, behind))
            return
        self.text.append(text)
        self.pieces.append((element, behind))
        self.breaks = 0
        if self.in_link:
            self.link_characters += len(text.strip())
        if self.in_strong:
            self.strong_characters += len(text.strip())

    def _break(self) -> None:
        self.breaks += 1
        if self.in_pre:
            self.text.append("\n")
        elif self.breaks > 1:
            self._flush()
        elif self.text:
            self.lines.append("".join(self.text))
            self.text.clear()

    def _flush(self) -> None:
        if self.text:
            self.lines.append("".join(self.text))
            self.text.clear()
        if self.in_pre:
            text = "\n".join(self.lines).strip("\n").rstrip()
        elif len(self.lines) == 1:
            text = " ".join(self.lines[0].split())
        else:
            text = "\n".join(filter(None, (" ".join(line.split()) for line in self.lines)))
        self.lines.clear()
        if text:
            self._note(text)

    def _note(self, text: str) -> None:
        segments = self.segments
        if len(segments.texts) < MAX_BLOCKS:
            segments.texts.append(text)
            segments.owners.append(self.owner)
            segments.preformatted.append(self.in_pre)
            segments.folded.append(self.folded)
            segments.link_characters.append(self.link_characters)
            segments.links.append(self.links)
            segments.strong_characters.append(self.strong_characters)
            segments.images.append(self.images)
            segments.times.append(self.times)
            segments.inline_classes.append(tuple(self.classes))
            segments.pieces.append(self.pieces)
        else:
            segments.cut = True
        self.pieces = []
        self.classes.clear()
        self.link_characters = self.links = self.strong_characters = self.images = self.times = 0

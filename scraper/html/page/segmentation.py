"""Split a page into text blocks and a table of the elements that contain them.

A block is the text between two borders of block-level elements and belongs to the innermost of them. The blocks of an
element are contiguous, so a sum over a subtree is the difference of two prefix sums.
"""

from dataclasses import dataclass, field
from typing import cast

from scraper.html.dom.parsing import COLLAPSED_ATTRIBUTE, EMPHASIS, INLINE, UNREADABLE, Element
from scraper.text.sanitize import collapse_whitespace

MAX_BLOCKS = 20_000
"""Blocks. Pages written by people have fewer than 3,000; the model takes 60 us per block."""

_WITHOUT_TEXT = UNREADABLE | set("audio video select datalist textarea input map applet progress videolink".split())
_MAX_INLINE_CLASSES = 3


@dataclass(slots=True)
class Elements:
    """Block-level elements in document order, parents before children; entry 0 is the body."""

    tags: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    """Index of the parent; -1 for the body."""
    first: list[int] = field(default_factory=list)
    """Index of the first block."""
    last: list[int] = field(default_factory=list)
    """Index after the last block."""
    depths: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Class, then `#` and the id."""
    roles: list[str] = field(default_factory=list)
    """Role, itemprop and itemtype in lower case, separated by spaces; empty without any."""
    children: list[int] = field(default_factory=list)
    """Number of block-level children."""
    positions: list[int] = field(default_factory=list)
    """Position among the children of the parent, inline elements included."""
    nodes: list[Element] = field(default_factory=list)


@dataclass(slots=True)
class Segments:
    """Blocks of a page in document order."""

    texts: list[str] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    """Index of the element that each block belongs to."""
    preformatted: list[bool] = field(default_factory=list)
    collapsed: list[bool] = field(default_factory=list)
    """True for text that is hidden until a click."""
    link_characters: list[int] = field(default_factory=list)
    links: list[int] = field(default_factory=list)
    strong_characters: list[int] = field(default_factory=list)
    images: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    inline_classes: list[tuple[str, ...]] = field(default_factory=list)
    pieces: list[list[tuple[Element, bool]]] = field(default_factory=list)
    """Location of each block's text: in an element, or (True) after it."""
    elements: Elements = field(default_factory=Elements)
    is_truncated: bool = False
    """True if the page has more than `MAX_BLOCKS` blocks."""


def segment_body(body: Element) -> Segments:
    """Return the blocks of a body, in which no element is deeper than `parsing.MAX_DEPTH`."""
    segmenter = _Segmenter()
    segmenter.read_block(body, 0)
    return segmenter.segments


@dataclass(slots=True)
class _Segmenter:
    """State of one pass over the tree. Most methods run a thousand times for a page."""

    segments: Segments = field(default_factory=Segments)
    owner: int = -1
    in_link: bool = False
    in_strong: bool = False
    in_pre: bool = False
    collapsed: bool = False
    text: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    pieces: list[tuple[Element, bool]] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    link_characters: int = 0
    links: int = 0
    strong_characters: int = 0
    images: int = 0
    times: int = 0
    breaks: int = 0

    def read_block(self, element: Element, place: int) -> None:
        """Read a block-level element, the child number `place` of its parent."""
        self._end_block()
        self.breaks = 0
        parent, in_link, in_strong = self.owner, self.in_link, self.in_strong
        in_pre, collapsed = self.in_pre, self.collapsed
        owner = self.owner = self._add_element(element, parent, place)
        if element.tag == "pre":
            self.in_pre = True
        text = element.text
        if text and not text.isspace():
            self._add_text(element, text, behind=False)
        self._read_children(element)
        self._end_block()
        self.breaks = 0
        last = self.segments.elements.last[owner] = len(self.segments.texts)
        if self.segments.elements.first[owner] == last:
            self.pieces = []  # an image alone in an element does not depend on the next block
        self.owner, self.in_link, self.in_strong = parent, in_link, in_strong
        self.in_pre, self.collapsed = in_pre, collapsed

    def _read_children(self, element: Element) -> None:
        place = 0
        for child in element:
            tag: str = child.tag
            if tag not in _WITHOUT_TEXT:
                place += 1
                if tag == "br":
                    self._break_line()
                elif tag in INLINE or self.in_pre:
                    self._read_inline(child, tag)
                else:
                    self.read_block(child, place)
            text = child.tail
            if text and (self.text or not text.isspace()):
                self._add_text(child, text, behind=True)

    def _read_inline(self, element: Element, tag: str) -> None:
        link, strong = self.in_link, self.in_strong
        if tag == "a":
            self.in_link = True
            self.links += 1
        elif tag in EMPHASIS:
            self.in_strong = True
        elif tag == "img":
            self.images += 1
            self.pieces.append((element, False))
        elif tag == "time":
            self.times += 1
        elif tag == "fnref":
            self.pieces.append((element, False))
        if len(self.classes) < _MAX_INLINE_CLASSES and not self.in_pre:
            name = element.get("class")
            if name:
                self.classes.append(name)
        text = element.text
        if text and (self.text or not text.isspace()):
            self._add_text(element, text, behind=False)
        if len(element):
            self._read_children(element)
        self.in_link, self.in_strong = link, strong

    def _add_element(self, element: Element, parent: int, place: int) -> int:
        elements = self.segments.elements
        name = identity = role = item = kind = ""
        for attribute, value in cast("list[tuple[str, str]]", element.items()):
            if attribute == "class":
                name = value
            elif attribute == "id":
                identity = value
            elif attribute == "role":
                role = value
            elif attribute == "itemprop":
                item = value
            elif attribute == "itemtype":
                kind = value
            elif attribute == COLLAPSED_ATTRIBUTE:
                self.collapsed = True
        number = len(elements.tags)
        elements.tags.append(element.tag)
        elements.parents.append(parent)
        elements.first.append(len(self.segments.texts))
        elements.last.append(0)
        elements.depths.append(elements.depths[parent] + 1 if number else 0)
        elements.names.append(f"{name} #{identity}" if identity else name)
        elements.roles.append(f"{role} {item} {kind}".lower() if role or item or kind else "")
        elements.children.append(0)
        elements.positions.append(place)
        elements.nodes.append(element)
        if number:
            elements.children[parent] += 1
        return number

    def _add_text(self, element: Element, text: str, *, behind: bool) -> None:
        self.pieces.append((element, behind))
        if text.isspace():
            self.text.append(text if self.in_pre else " ")
            return
        self.text.append(text)
        self.breaks = 0
        if self.in_link:
            self.link_characters += len(text.strip())
        if self.in_strong:
            self.strong_characters += len(text.strip())

    def _break_line(self) -> None:
        self.breaks += 1
        if self.in_pre:
            self.text.append("\n")
        elif self.breaks > 1:
            self._end_block()
        elif self.text:
            self.lines.append("".join(self.text))
            self.text.clear()

    def _end_block(self) -> None:
        if self.text:
            self.lines.append("".join(self.text))
            self.text.clear()
        elif not self.lines:
            return
        if self.in_pre:
            text = "\n".join(self.lines).strip("\n").rstrip()
        elif len(self.lines) == 1:
            text = collapse_whitespace(self.lines[0])
        else:
            text = "\n".join(filter(None, map(collapse_whitespace, self.lines)))
        self.lines.clear()
        if text:
            self._add_block(text)

    def _add_block(self, text: str) -> None:
        segments = self.segments
        if len(segments.texts) < MAX_BLOCKS:
            segments.texts.append(text)
            segments.owners.append(self.owner)
            segments.preformatted.append(self.in_pre)
            segments.collapsed.append(self.collapsed)
            segments.link_characters.append(self.link_characters)
            segments.links.append(self.links)
            segments.strong_characters.append(self.strong_characters)
            segments.images.append(self.images)
            segments.times.append(self.times)
            segments.inline_classes.append(tuple(self.classes))
            segments.pieces.append(self.pieces)
        else:
            segments.is_truncated = True
        self.pieces = []
        self.classes.clear()
        self.link_characters = self.links = self.strong_characters = self.images = self.times = 0

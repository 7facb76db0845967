"""Parse a page by the rules of the HTML standard into a small tree, independent of the parsers of the readers."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree

import html5lib

VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
"""Elements without an end tag."""

RAW = frozenset("script style xmp iframe noembed noframes plaintext".split())
"""Elements whose text has no character references."""


@dataclass(eq=False, slots=True)
class Node:
    """A part of a page."""

    @property
    def index(self) -> int:
        """Position among the children of the parent."""
        return next(at for at, child in enumerate(_parent_of(self).children) if child is self)

    def replace(self, *nodes: Child) -> None:
        """Put other nodes in the place of this one."""
        parent, at = _parent_of(self), self.index
        del parent.children[at]
        parent.insert(at, *nodes)


@dataclass(eq=False, slots=True)
class Text(Node):
    """A text."""

    data: str
    parent: Element | None = None


@dataclass(eq=False, slots=True)
class Comment(Node):
    """A comment."""

    data: str
    parent: Element | None = None


@dataclass(eq=False, slots=True)
class Element(Node):
    """An element. Its attributes keep the order of the source."""

    tag: str
    attrs: dict[str, str | None] = field(default_factory=dict)
    children: list[Child] = field(default_factory=list)
    parent: Element | None = None

    def get(self, name: str) -> str:
        """Return the value of an attribute; an empty text without it."""
        return self.attrs.get(name) or ""

    @property
    def classes(self) -> list[str]:
        """Names in `class`."""
        return self.get("class").split()

    @property
    def elements(self) -> list[Element]:
        """Children that are elements."""
        return [child for child in self.children if isinstance(child, Element)]

    def nodes(self) -> Iterator[Child]:
        """Yield this element and everything in it, in document order."""
        stack: list[Child] = [self]
        while stack:
            node = stack.pop()
            yield node
            if isinstance(node, Element):
                stack.extend(reversed(node.children))

    def iter(self, *tags: str) -> Iterator[Element]:
        """Yield this element and those in it, in document order; with tags, only elements with one of them."""
        stack = [self]
        while stack:
            element = stack.pop()
            if not tags or element.tag in tags:
                yield element
            stack.extend(child for child in reversed(element.children) if isinstance(child, Element))

    def has(self, *tags: str) -> bool:
        """Return True if this element, or one in it, has one of the tags."""
        return any(True for _ in self.iter(*tags))

    def texts(self) -> Iterator[Text]:
        """Yield all texts in this element."""
        return (node for node in self.nodes() if isinstance(node, Text))

    def text(self) -> str:
        """Return all texts in this element as one."""
        return "".join(node.data for node in self.texts())

    def ancestors(self) -> Iterator[Element]:
        """Yield the elements around this one, the nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def lineage(self) -> Iterator[Element]:
        """Yield this element, then the elements around it."""
        yield self
        yield from self.ancestors()

    def append(self, child: Child) -> None:
        """Add a last child."""
        child.parent = self
        self.children.append(child)

    def insert(self, at: int, *nodes: Child) -> None:
        """Add children before the one at a position."""
        for node in nodes:
            node.parent = self
        self.children[at:at] = nodes

    def copy(self) -> Element:
        """Return a copy with everything in it, and without a parent."""
        twin = Element(self.tag, dict(self.attrs))
        stack = [(self, twin)]
        while stack:
            source, target = stack.pop()
            for child in source.children:
                if isinstance(child, Element):
                    inner = Element(child.tag, dict(child.attrs))
                    stack.append((child, inner))
                    target.append(inner)
                else:
                    target.append(type(child)(child.data))
        return twin


Child = Element | Text | Comment


def _parent_of(node: Node) -> Element:
    assert isinstance(node, Child) and node.parent is not None
    return node.parent


def parse(source: str) -> Element:
    """Return the root element of a page."""
    return _from_etree(html5lib.parse(source, treebuilder="etree", namespaceHTMLElements=False))


def parse_fragment(source: str) -> list[Child]:
    """Return the nodes of a piece of HTML in a body, without a parent."""
    body = next(parse(f"<!DOCTYPE html><html><body>{source}</body></html>").iter("body"))
    for child in body.children:
        child.parent = None
    return body.children


def _from_etree(source: ElementTree.Element) -> Element:
    root = Element(_plain_name(source.tag), _attributes(source))
    stack = [(source, root)]
    while stack:
        old, new = stack.pop()
        if old.text:
            new.append(Text(old.text))
        for child in old:
            if isinstance(child.tag, str):
                inner = Element(_plain_name(child.tag), _attributes(child))
                stack.append((child, inner))
                new.append(inner)
            else:
                new.append(Comment(child.text or ""))
            if child.tail:
                new.append(Text(child.tail))
    return root


def _attributes(element: ElementTree.Element) -> dict[str, str | None]:
    return {_plain_name(name): value for name, value in element.attrib.items()}


def _plain_name(name: str) -> str:
    """Return a name without the namespace of SVG and MathML."""
    return name.rpartition("}")[2]


def serialize(root: Element) -> str:
    """Return the source of a page by the rules of the standard."""
    pieces = ["<!DOCTYPE html>"]
    stack: list[tuple[Child | str, bool]] = [(root, False)]
    while stack:
        item, raw = stack.pop()
        if isinstance(item, Text):
            pieces.append(item.data if raw else escape(item.data))
        elif isinstance(item, Comment):
            pieces.append(f"<!--{item.data}-->")
        elif isinstance(item, Element):
            pieces.append(open_tag(item))
            if item.tag not in VOID:
                stack.append((f"</{item.tag}>", False))
                stack.extend((child, item.tag in RAW) for child in reversed(item.children))
        else:
            pieces.append(item)
    return "".join(pieces)


def escape(text: str) -> str:
    """Return a text with references for the characters that HTML reserves."""
    return html.escape(text, quote=False).replace("\xa0", "&nbsp;")


def open_tag(element: Element) -> str:
    """Return the start tag."""
    attributes = "".join(f' {name}="{html.escape(value or "")}"' for name, value in element.attrs.items())
    return f"<{element.tag}{attributes}>"

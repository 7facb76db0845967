"""markdownify's rules over the lxml tree that is there already: building BeautifulSoup's took most of the
time.

Relied on in markdownify 1.2: `MarkdownConverter`, its options, `get_conv_fn_cached(tag)`, `escape(text,
parent_tags)` and rules `convert_X(el, text, parent_tags)` with the pseudo tags `_inline` and `_noformat`.
Replaced: everything that walks. With the stock rules the output is byte for byte markdownify's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeAlias, cast

from markdownify import MarkdownConverter

from scraper.extract.dom.xpath import Element, text_of

_HEADING = re.compile(r"h\d+")
STOCK_BLOCKS = frozenset(
    "p blockquote article div section ol ul li dl dt dd table thead tbody tfoot tr td th "
    "h1 h2 h3 h4 h5 h6".split()
)
"""White space directly inside these means nothing."""

_LINE_BREAK = re.compile(r"[\t \r\n]*[\r\n][\t \r\n]*")
_BLANKS = re.compile(r"[\t ]+")
_WHITE = " \t\r\n"

MAX_DEPTH = 220
"""Elements deeper than this give their text alone: the walk goes by Python's stack."""


class Node:
    """The part of a BeautifulSoup tag that rules ask for, over one lxml element."""

    __slots__ = ("element", "name")

    def __init__(self, element: Element) -> None:
        self.element = element
        self.name = str(element.tag)

    @property
    def attrs(self) -> Mapping[str, str]:
        return cast("Mapping[str, str]", self.element.attrib)

    @property
    def parent(self) -> Node | None:
        return _node(self.element.getparent())

    def get(self, name: str, default: str | None = None) -> str | None:
        return self.element.get(name, default)

    def __getitem__(self, name: str) -> str:
        return str(self.element.attrib[name])

    def find_all(self, name: str | list[str], attrs: Mapping[str, bool] | None = None) -> list[Node]:
        names = [name] if isinstance(name, str) else name
        found = self.element.iterdescendants(*names)
        return [Node(e) for e in found if all(e.get(attribute) is not None for attribute in attrs or ())]

    def find_previous_siblings(self, name: str | None = None) -> list[Node]:
        return [Node(element) for element in self._before(name)]

    def find_previous_sibling(self, name: str | None = None) -> Node | None:
        return _node(next(self._before(name), None))

    def _before(self, name: str | None) -> Iterator[Element]:
        return self.element.itersiblings(name or "*", preceding=True)


def _node(element: Element | None) -> Node | None:
    return None if element is None else Node(element)


class ConversionContext:
    """Where an element stands: the tags around it, as rules want them, and how deep."""

    __slots__ = ("depth", "indents", "inner", "pre", "tags", "verbatim")

    def __init__(self, tags: frozenset[str] = frozenset(), depth: int = 0, indents: int = 0) -> None:
        self.tags = tags
        self.depth = depth
        self.indents = indents
        """How many elements around indent what is in them."""
        self.pre = "pre" in tags
        self.verbatim = "_noformat" in tags
        self.inner: dict[str, ConversionContext] = {}

    def enter(self, name: str) -> ConversionContext:
        """The context of the children of an element of that name; made once for each path of names."""
        context = self.inner.get(name)
        if context is None:
            added = {name}
            if name in ("td", "th") or _HEADING.match(name):
                added.add("_inline")
            if name in ("pre", "code", "kbd", "samp"):
                added.add("_noformat")
            indents = self.indents + (name in ("li", "blockquote", "dd"))
            context = self.inner[name] = ConversionContext(self.tags | added, self.depth + 1, indents)
        return context


Handler: TypeAlias = Callable[[Any, Element, ConversionContext], "str | None"]


class TreeConverter(MarkdownConverter):
    """The walk. Trees must hold elements and text alone."""

    handlers: ClassVar[dict[str, Handler]] = {}
    """By tag: gives an element's Markdown at once, or None to let it be walked."""

    inner_blocks: ClassVar[frozenset[str]] = STOCK_BLOCKS
    outer_blocks: ClassVar[frozenset[str]] = STOCK_BLOCKS | {"pre"}
    """White space directly beside these means nothing."""

    trims: ClassVar[bool] = False
    """Whether blanks go that begin a line behind a block, or stand behind another."""

    # Missing in markdownify's own stubs.
    get_conv_fn_cached: Callable[[str], Callable[..., str] | None]
    escape: Callable[[str, frozenset[str]], str]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.said: list[str | tuple[str] | None] = []
        """Plain text on the way: pieces as they stand, None where a line ends, lines of code as tuples."""
        self.marked: dict[Element, Handler] = {}
        """Elements with a treatment of their own, whatever their tag."""
        self._rules: dict[str, Callable[..., str] | None] = {}

    def convert_tree(self, root: Element) -> str:
        """The Markdown of what is in `root`."""
        return self.inside(root, ConversionContext()).strip("\n")

    def walk(self, element: Element, context: ConversionContext) -> str:
        """The Markdown of one element in its context."""
        name: str = element.tag
        if self.marked and (marked := self.marked.get(element)) is not None:
            text = marked(self, element, context)
            if text is not None:
                return text
        handler = self.handlers.get(name)
        if handler is not None:
            text = handler(self, element, context)
            if text is not None:
                return text
        if context.depth >= MAX_DEPTH:
            return self.text(text_of(element), context, False, None, None)
        is_block = name in self.outer_blocks
        if is_block:
            self.said.append(None)
        text = self.inside(element, context.enter(name))
        if is_block:
            self.said.append(None)
        rule = self._rules[name] if name in self._rules else self._rules.setdefault(name, self.rule_for(name))
        return text if rule is None else rule(Node(element), text, parent_tags=context.tags)

    def rule_for(self, name: str) -> Callable[..., str] | None:
        """The rule of a tag."""
        return self.get_conv_fn_cached(name)

    def inside(self, element: Element, context: ConversionContext) -> str:
        """The Markdown of an element's text and children, its own rule not applied."""
        in_block = element.tag in self.inner_blocks
        parts: list[str] = []
        before: str | None = None
        text = element.text
        for child in element:
            name: str = child.tag
            if text:
                self.said.append(text)
                part = self.text(text, context, in_block, before, name)
                if part:
                    parts.append(part)
            part = self.walk(child, context)
            if part:
                parts.append(part)
            before = name
            text = child.tail
        if text:
            self.said.append(text)
            part = self.text(text, context, in_block, before, None)
            if part:
                parts.append(part)
        if len(parts) == 1:
            return parts[0]
        return "".join(parts) if context.pre else _joined(parts, trims=self.trims)

    def text(
        self, text: str, context: ConversionContext, in_block: bool, before: str | None, after: str | None
    ) -> str:
        """The Markdown of a text between two elements."""
        opens = before in self.outer_blocks if before else in_block
        closes = after in self.outer_blocks if after else in_block
        if (opens or closes) and not text.strip():
            return ""
        if not context.pre:
            text = self.folded(text)
        if not context.verbatim:
            text = self.escape(text, context.tags)
        if opens:
            text = text.lstrip(_WHITE)
        return text.rstrip() if closes else text

    def folded(self, text: str) -> str:
        """White space outside of preformatted text, as markdownify folds it."""
        if "\n" in text or "\r" in text:
            text = _LINE_BREAK.sub("\n", text)
        return _BLANKS.sub(" ", text)

    def convert_list(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        """markdownify's rule, which asks BeautifulSoup for the next sibling with content."""
        if "li" in parent_tags:
            return "\n" + text.rstrip()
        element = el.element
        after = element.getnext()
        text_follows = bool(element.tail and element.tail.strip())
        before_paragraph = not text_follows and after is not None and after.tag not in ("ul", "ol")
        return "\n\n" + text + ("\n" if before_paragraph else "")

    convert_ul = convert_list
    convert_ol = convert_list


def _joined(parts: list[str], *, trims: bool) -> str:
    """Parts in a row; where line breaks meet, the longer run stays, of two at most.

    `trims`: blanks that begin a line go, and of two blanks that meet one.
    """
    out: list[str] = []
    pending = 0
    for part in parts:
        if part[0] != "\n":
            if pending:
                out.append("\n" * pending)
                pending = 0
                if trims and part[0] == " ":
                    part = part.lstrip(" ")
                    if not part:
                        continue
            elif trims and part[0] == " " and out and out[-1].endswith(" "):
                part = part[1:]
                if not part:
                    continue
        else:
            leading = len(part) - len(part.lstrip("\n"))
            out.append("\n" * (min(2, max(pending, leading)) if pending else leading))
            pending = 0
            part = part[leading:]
            if not part:
                continue
        if part[-1] == "\n":
            body = part.rstrip("\n")
            pending = len(part) - len(body)
            part = body
        out.append(part)
    out.append("\n" * pending)
    return "".join(out)

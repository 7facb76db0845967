"""Apply the rules of markdownify to an lxml tree, without building a BeautifulSoup tree, which took most of the time.

This relies on markdownify 1.2: `MarkdownConverter`, its options, `get_conv_fn_cached(tag)`, `escape(text, parent_tags)`
and rules `convert_X(el, text, parent_tags)` with the pseudo tags `_inline` and `_noformat`. The traversal is replaced.
With the stock rules the output is byte for byte that of markdownify.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, cast

from markdownify import MarkdownConverter

from scraper.html.dom.tags import BLOCKS
from scraper.html.dom.xpath import Element, text_of

_HEADING = re.compile(r"h\d+")
_LINE_BREAK = re.compile(r"[\t \r\n]*[\r\n][\t \r\n]*")
_BLANKS = re.compile(r"[\t ]+")
_WHITE = " \t\r\n"

_MAX_DEPTH = 220
"""Levels. Deeper elements only give their text, since the walk is recursive."""


class SoupTag:
    """The part of a BeautifulSoup tag that rules use, for one lxml element."""

    __slots__ = ("element", "name")

    def __init__(self, element: Element) -> None:
        """Wrap an element."""
        self.element = element
        self.name = str(element.tag)

    @property
    def attrs(self) -> Mapping[str, str]:
        """Attributes of the element."""
        return cast("Mapping[str, str]", self.element.attrib)

    @property
    def parent(self) -> SoupTag | None:
        """Parent node, or None for the root."""
        parent = self.element.getparent()
        return None if parent is None else SoupTag(parent)

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return an attribute, or the default."""
        return self.element.get(name, default)

    def __getitem__(self, name: str) -> str:
        """Return an attribute. Raise KeyError if the element does not have it."""
        return str(self.element.attrib[name])

    def find_all(self, name: str | list[str], attrs: Mapping[str, bool] | None = None) -> list[SoupTag]:
        """Return the descendants of a name that have all attributes whose value is True."""
        names = [name] if isinstance(name, str) else name
        found = self.element.iterdescendants(*names)
        return [SoupTag(e) for e in found if all(e.get(attribute) is not None for attribute in attrs or ())]

    def find_previous_siblings(self, name: str | None = None) -> list[SoupTag]:
        """Return the preceding siblings of a name, nearest first."""
        return [SoupTag(element) for element in self.element.itersiblings(name or "*", preceding=True)]

    def find_previous_sibling(self, name: str | None = None) -> SoupTag | None:
        """Return the nearest preceding sibling of a name, or None."""
        return next(iter(self.find_previous_siblings(name)), None)


@dataclass(slots=True)
class ConversionContext:
    """Position of an element in the tree."""

    tags: frozenset[str] = frozenset()
    """Tags of the ancestors, and pseudo tags, as rules expect them."""
    depth: int = 0
    indents: int = 0
    """Number of ancestors that indent their content."""
    inner: dict[str, ConversionContext] = field(default_factory=dict)
    """Contexts that `enter` created, by tag: one for each path of tags."""

    def enter(self, name: str) -> ConversionContext:
        """Return the context of the children of an element with the tag `name`."""
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


ElementHandler: TypeAlias = Callable[[Any, Element, ConversionContext], "str | None"]
"""Function that converts an element, called with the converter, the element and its context."""


class TreeConverter(MarkdownConverter):
    """Converts a tree that consists of elements and text only."""

    handlers: ClassVar[dict[str, ElementHandler]] = {}
    """Functions by tag. Each returns an element's Markdown, or None to convert it by its rule."""
    blocks_with_loose_edges: ClassVar[frozenset[str]] = BLOCKS
    """Tags. White space directly inside these has no meaning."""
    blocks_with_loose_neighbors: ClassVar[frozenset[str]] = BLOCKS | {"pre"}
    """Tags. White space directly beside these has no meaning."""
    trims_blanks: ClassVar[bool] = False
    """True to remove blanks at the beginning of a line after a block, and double blanks."""

    # Missing in markdownify's own stubs.
    get_conv_fn_cached: Callable[[str], Callable[..., str] | None]
    escape: Callable[[str, frozenset[str]], str]

    def __init__(self, **options: Any) -> None:
        """Pass the options to markdownify."""
        super().__init__(**options)
        self.plain_pieces: list[str | tuple[str] | None] = []
        """Plain text of the converted part: pieces of text, None at line ends, lines of code as tuples."""
        self.element_handlers: dict[Element, ElementHandler] = {}
        """Handlers of single elements, which take precedence over those of their tags."""
        self._rules: dict[str, Callable[..., str] | None] = {}

    def render_tree(self, root: Element) -> str:
        """Return the Markdown of the content of `root`."""
        return self.render_children(root, ConversionContext()).strip("\n")

    def render_element(self, element: Element, context: ConversionContext) -> str:
        """Return the Markdown of one element in its context."""
        name: str = element.tag
        own_handler = self.element_handlers.get(element) if self.element_handlers else None
        if own_handler is not None and (text := own_handler(self, element, context)) is not None:
            return text
        handler = self.handlers.get(name)
        if handler is not None and (text := handler(self, element, context)) is not None:
            return text
        if context.depth >= _MAX_DEPTH:
            return self.render_text(text_of(element), context, False, None, None)
        is_block = name in self.blocks_with_loose_neighbors
        if is_block:
            self.plain_pieces.append(None)
        text = self.render_children(element, context.enter(name))
        if is_block:
            self.plain_pieces.append(None)
        rule = self._rules[name] if name in self._rules else self._rules.setdefault(name, self.find_rule(name))
        return text if rule is None else rule(SoupTag(element), text, parent_tags=context.tags)

    def find_rule(self, name: str) -> Callable[..., str] | None:
        """Return the rule of a tag, or None."""
        # markdownify takes every method `convert_NAME` for the rule of <NAME>, also its `convert_soup`.
        return None if name == "soup" else self.get_conv_fn_cached(name)

    def render_children(self, element: Element, context: ConversionContext) -> str:
        """Return the Markdown of an element's text and children, without applying its own rule."""
        in_block = element.tag in self.blocks_with_loose_edges
        parts: list[str] = []
        before: str | None = None
        text = element.text
        for child in (*element, None):
            after = None if child is None else child.tag
            if text:
                self.plain_pieces.append(text)
                parts.append(self.render_text(text, context, in_block, before, after))
            if child is not None:
                parts.append(self.render_element(child, context))
                before, text = after, child.tail
        parts = list(filter(None, parts))
        if len(parts) == 1:
            return parts[0]
        return "".join(parts) if "pre" in context.tags else _join_parts(parts, trims_blanks=self.trims_blanks)

    def render_text(
        self, text: str, context: ConversionContext, in_block: bool, before: str | None, after: str | None
    ) -> str:
        """Return the Markdown of a text between two elements with the tags `before` and `after`.

        `in_block` is True if white space at the edges of the parent has no meaning.
        """
        opens = before in self.blocks_with_loose_neighbors if before else in_block
        closes = after in self.blocks_with_loose_neighbors if after else in_block
        if (opens or closes) and not text.strip():
            return ""
        if "pre" not in context.tags:
            text = self.collapse_whitespace(text)
        if "_noformat" not in context.tags:
            text = self.escape(text, context.tags)
        if opens:
            text = text.lstrip(_WHITE)
        return text.rstrip() if closes else text

    def collapse_whitespace(self, text: str) -> str:
        """Collapse white space outside of preformatted text as markdownify does."""
        if "\n" in text or "\r" in text:
            text = _LINE_BREAK.sub("\n", text)
        return _BLANKS.sub(" ", text)

    def convert_list(self, el: SoupTag, text: str, parent_tags: frozenset[str]) -> str:
        """Apply markdownify's rule, which looks up the next sibling with content in BeautifulSoup."""
        if "li" in parent_tags:
            return "\n" + text.rstrip()
        element = el.element
        after = element.getnext()
        text_follows = bool(element.tail and element.tail.strip())
        before_paragraph = not text_follows and after is not None and after.tag not in ("ul", "ol")
        return "\n\n" + text + ("\n" if before_paragraph else "")

    convert_ul = convert_list
    convert_ol = convert_list


def _join_parts(parts: list[str], *, trims_blanks: bool) -> str:
    """Join parts. Where line breaks meet, the longer run stays, with two breaks at most.

    With `trims_blanks`, blanks at the beginning of a line and one of two adjacent blanks are removed.
    """
    out: list[str] = []
    pending = 0
    for part in parts:
        if part[0] != "\n":
            if pending:
                out.append("\n" * pending)
                pending = 0
                if trims_blanks and part[0] == " ":
                    part = part.lstrip(" ")
                    if not part:
                        continue
            elif trims_blanks and part[0] == " " and out and out[-1].endswith(" "):
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

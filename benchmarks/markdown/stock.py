"""Apply markdownify's own rules with our tree traversal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar, cast

from scraper.extract.markdown.tree_converter import TreeConverter
from scraper.html.dom.parsing import BLOCKS, Element

_LINE_BREAK = re.compile(r"[\t \r\n]*[\r\n][\t \r\n]*")
_BLANKS = re.compile(r"[\t ]+")


class SoupTag:
    """The part of a BeautifulSoup tag that rules use, for one lxml element."""

    __slots__ = ("element", "name")

    def __init__(self, element: Element) -> None:
        self.element = element
        self.name = str(element.tag)

    @property
    def attrs(self) -> Mapping[str, str]:
        return cast("Mapping[str, str]", self.element.attrib)

    @property
    def parent(self) -> SoupTag | None:
        parent = self.element.getparent()
        return None if parent is None else SoupTag(parent)

    def get(self, name: str, default: str | None = None) -> str | None:
        return self.element.get(name, default)

    def __getitem__(self, name: str) -> str:
        return str(self.element.attrib[name])

    def find_all(self, name: str | list[str], attrs: Mapping[str, bool] | None = None) -> list[SoupTag]:
        names = [name] if isinstance(name, str) else name
        found = self.element.iterdescendants(*names)
        return [SoupTag(e) for e in found if all(e.get(attribute) is not None for attribute in attrs or ())]

    def find_previous_siblings(self, name: str | None = None) -> list[SoupTag]:
        return [SoupTag(element) for element in self.element.itersiblings(name or "*", preceding=True)]

    def find_previous_sibling(self, name: str | None = None) -> SoupTag | None:
        return next(iter(self.find_previous_siblings(name)), None)


class StockConverter(TreeConverter):
    """Gives the output of markdownify."""

    blocks_with_loose_edges: ClassVar[frozenset[str]] = BLOCKS
    blocks_with_loose_neighbors: ClassVar[frozenset[str]] = BLOCKS | {"pre"}
    trims_blanks: ClassVar[bool] = False

    def find_rule(self, name: str) -> Callable[..., str] | None:
        """Return the rule of a tag, or None. The product removes videos before it converts a page."""
        rule = self.get_conv_fn_cached(name) if name == "video" else super().find_rule(name)
        return None if rule is None else lambda element, text, parent_tags: rule(SoupTag(element), text, parent_tags)

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

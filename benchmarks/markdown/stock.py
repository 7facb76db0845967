"""Apply markdownify's own rules with our tree traversal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar

from scraper.extract.markdown.tree_converter import SoupTag, TreeConverter
from scraper.html.dom.parsing import BLOCKS

_LINE_BREAK = re.compile(r"[\t \r\n]*[\r\n][\t \r\n]*")
_BLANKS = re.compile(r"[\t ]+")


class _StockTag(SoupTag):
    """The part of a BeautifulSoup tag that only rules use which the product replaces."""

    __slots__ = ()

    def __getitem__(self, name: str) -> str:
        return str(self.element.attrib[name])

    def find_all(self, name: str | list[str], attrs: Mapping[str, bool] | None = None) -> list[SoupTag]:
        names = [name] if isinstance(name, str) else name
        found = self.element.iterdescendants(*names)
        return [_StockTag(e) for e in found if all(e.get(attribute) is not None for attribute in attrs or ())]

    def find_previous_siblings(self, name: str | None = None) -> list[SoupTag]:
        return [_StockTag(element) for element in self.element.itersiblings(name or "*", preceding=True)]

    def find_previous_sibling(self, name: str | None = None) -> SoupTag | None:
        return next(iter(self.find_previous_siblings(name)), None)


class StockConverter(TreeConverter):
    """Gives the output of markdownify."""

    blocks_with_loose_edges: ClassVar[frozenset[str]] = BLOCKS
    blocks_with_loose_neighbors: ClassVar[frozenset[str]] = BLOCKS | {"pre"}
    trims_blanks: ClassVar[bool] = False
    soup_tag: ClassVar[type[SoupTag]] = _StockTag

    def find_rule(self, name: str) -> Callable[..., str] | None:
        """Return the rule of a tag, or None. The product removes videos before it converts a page."""
        return self.get_conv_fn_cached(name) if name == "video" else super().find_rule(name)

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

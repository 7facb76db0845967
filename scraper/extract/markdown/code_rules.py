"""Blocks of code as Markdown has them, kept out of the way of every rule around them."""

from __future__ import annotations

from typing import ClassVar

from scraper.extract.code.blocks import code_text, fence
from scraper.extract.code.languages import language_of
from scraper.extract.dom.xpath import Element
from scraper.extract.markdown.base_rules import Rules, is_inline
from scraper.extract.markdown.tree_converter import ConversionContext, Handler

_LONGEST_TERM = 160
"""Characters of a signature; a longer term is a definition, whose lines mean something."""


class CodeRules(Rules):
    """The rule of `pre`: `code_blocks.settle` has made every block one."""

    def _pre(self, element: Element, context: ConversionContext) -> str:
        code = code_text(element)
        return self.fenced(code, language_of(element), context) if code.strip() else ""

    def fenced(self, code: str, language: str, context: ConversionContext) -> str:
        """A fenced block; in a cell, a heading or a short term the code in one line."""
        self.said += [None, *((row,) for row in code.split("\n")), None]
        if is_inline(context.tags) or ("dt" in context.tags and len(code) <= _LONGEST_TERM):
            return f" `{' '.join(code.split())}` "
        return self.verbatim(fence(code, language))

    handlers: ClassVar[dict[str, Handler]] = {"pre": _pre}

"""Blocks of code as Markdown has them, kept out of the way of every rule around them."""

from __future__ import annotations

from typing import ClassVar

from scraper.extract.code import code_text, fence
from scraper.extract.code_languages import language_of
from scraper.extract.rules import Rules, is_inline
from scraper.extract.walk import Context, Handler
from scraper.extract.xpath import Element

__all__ = ["CodeRules"]


class CodeRules(Rules):
    """The rule of `pre`: `code_blocks.settle` has made every block one."""

    def _pre(self, element: Element, context: Context) -> str:
        code = code_text(element)
        return self.fenced(code, language_of(element), context) if code.strip() else ""

    def fenced(self, code: str, language: str, context: Context) -> str:
        """A fenced block; in a cell, heading or term the code in one line."""
        self.said += [None, *((row,) for row in code.split("\n")), None]
        if is_inline(context.tags) or "dt" in context.tags:  # a term is one line
            return f" `{' '.join(code.split())}` "
        return self.verbatim(fence(code, language))

    handlers: ClassVar[dict[str, Handler]] = {"pre": _pre}

"""Formulas as Markdown has them: TeX between dollars."""

from __future__ import annotations

from typing import ClassVar

from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.markdown.base_rules import Rules, Tags, is_inline
from scraper.extract.markdown.tree_converter import ConversionContext, Handler
from scraper.extract.math import tex
from scraper.extract.math.formulas import is_display, is_settled


class MathRules(Rules):
    """The rule of the formulas that `formulas.settle` left, and of those written out in the text."""

    def escape(self, text: str, parent_tags: Tags) -> str:
        """Text as Markdown, its formulas untouched."""
        if "$" not in text and "\\" not in text:
            return self.plainly(text, parent_tags)
        return tex.between_delimiters(
            text,
            lambda part: self.plainly(part, parent_tags),
            lambda formula, display: self.formula(tex.cleaned(formula), display, parent_tags),
        )

    def plainly(self, text: str, parent_tags: Tags) -> str:
        """Text without formulas as Markdown."""
        return text

    def formula(self, formula: str, display: bool, tags: Tags) -> str:
        """TeX between dollars, on lines of its own where it is displayed and there is room."""
        if not formula:
            return ""
        if display and not is_inline(tags):
            return self.verbatim(tex.display(formula))
        return f"${tex.inline(formula)}$" if display and "td" not in tags else tex.inline(formula)

    def _math(self, element: Element, context: ConversionContext) -> str | None:
        if not is_settled(element):
            return None
        formula = text_of(element).strip()
        self.said.append(formula)
        return self.formula(formula, is_display(element), context.tags)

    handlers: ClassVar[dict[str, Handler]] = {"math": _math}

"""Footnotes as Markdown has them."""

from __future__ import annotations

from typing import ClassVar

from scraper.extract.dom.xpath import Element
from scraper.extract.markdown.base_rules import Rules
from scraper.extract.markdown.tree_converter import ConversionContext, Handler


class NoteRules(Rules):
    """What the marks and notes become that `footnotes.settle` left."""

    def _reference(self, element: Element, context: ConversionContext) -> str:
        mark = f"[^{element.get('label')}]"
        self.said.append(mark)
        return mark

    def _definition(self, element: Element, context: ConversionContext) -> str:
        label = f"[^{element.get('label')}]: "
        self.said += [None, label]
        text = self.inside(element, context.enter("fndef")).strip()
        self.said.append(None)
        rows = text.split("\n")
        return (
            "\n\n" + label + "\n".join([rows[0], *(f"    {row}" if row else "" for row in rows[1:])]) + "\n\n"
        )

    handlers: ClassVar[dict[str, Handler]] = {"fnref": _reference, "fndef": _definition}

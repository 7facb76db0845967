"""What all rules of one conversion share: addresses, what was found on the way, and text kept from harm."""

from __future__ import annotations

import re
from typing import ClassVar

from scraper.extract.code.blocks import detect_code_language, extract_code, fence
from scraper.extract.dom.urls import UrlResolver
from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.markdown.tree_converter import ConversionContext, Handler, TreeConverter
from scraper.extract.math import tex
from scraper.extract.math.formulas import is_display, is_normalized

Tags = frozenset[str]
"""The tags around an element, and the pseudo tags `_inline` and `_noformat`."""

_MARK = "\x02"
"""Begins a place for a block; no text holds it: `markup.parse` lets no control character in."""

_PLACE = re.compile("\x02(\\d+)\x03")
_NOTE_INDENT = "    "
_MARKER = re.compile(r"[^>\s]")
_MARKERS = re.compile(r"(?:[\s>]|(?:[-*+:]|\d{1,9}[.)])(?=\s))*+")
"""Of lists, terms and quotations, at the beginning of a line; words before a place indent nothing."""


class Rules(TreeConverter):
    """The state of one conversion."""

    class Options:
        heading_style = "atx"
        bullets = "-"

    def __init__(self, base: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.images: dict[str, str] = {}
        self.addresses = UrlResolver(base)
        self._verbatim: list[str] = []

    def verbatim(self, markdown: str) -> str:
        """A place for a block that nothing around it may change but by indenting its lines."""
        self._verbatim.append(markdown)
        return f"\n\n{_MARK}{len(self._verbatim) - 1}\x03\n\n"

    def restored(self, markdown: str) -> str:
        """With the blocks in their places, each line indented as its place is."""
        if not self._verbatim:
            return markdown
        return "\n".join(self._placed(row) if _MARK in row else row for row in markdown.split("\n"))

    def _placed(self, row: str) -> str:
        """A line with its blocks; those that share it are indented alike, each from a line of its own."""
        before, *rest = _PLACE.split(row)
        markers = _MARKERS.match(before)
        inset = _MARKER.sub(" ", markers.group()) if markers else ""
        if before.startswith("[^"):
            inset = _NOTE_INDENT
        blocks = []
        for number, behind in zip(rest[::2], rest[1::2], strict=True):
            held = self._verbatim[int(number)] if int(number) < len(self._verbatim) else ""
            blocks.append(held.replace("\n", "\n" + inset) + behind)
        return before + f"\n{inset}".join(blocks)


def is_inline(tags: Tags) -> bool:
    """Whether blocks must become one line here: in headings and cells."""
    return "_inline" in tags


def format_block(text: str, tags: Tags) -> str:
    """A block of its own; inside of a line, words set apart."""
    text = text.strip()
    if not text:
        return ""
    return f" {text} " if "_inline" in tags else f"\n\n{text}\n\n"


def edge_whitespace(text: str) -> tuple[str, str]:
    """What stands at both ends of a text that marks will be set around: a space, a line break, or nothing.

    Marks must touch their words, and what stood between these and their neighbours must not be lost with it.
    """
    body = text.strip()
    at = text.find(body)
    return _gap(text[:at]), _gap(text[at + len(body) :])


def _gap(white: str) -> str:
    return white if "\n" in white else " " if white else ""


_LONGEST_TERM = 160
"""Characters of a signature; a longer term is a definition, whose lines mean something."""


class CodeRules(Rules):
    """The rule of `pre`: `code_blocks.settle` has made every block one."""

    def _pre(self, element: Element, context: ConversionContext) -> str:
        code = extract_code(element)
        return self.fenced(code, detect_code_language(element), context) if code.strip() else ""

    def fenced(self, code: str, language: str, context: ConversionContext) -> str:
        """A fenced block; in a cell, a heading or a short term the code in one line."""
        self.said += [None, *((row,) for row in code.split("\n")), None]
        if is_inline(context.tags) or ("dt" in context.tags and len(code) <= _LONGEST_TERM):
            return f" `{' '.join(code.split())}` "
        return self.verbatim(fence(code, language))

    handlers: ClassVar[dict[str, Handler]] = {"pre": _pre}


class MathRules(Rules):
    """The rule of the formulas that `formulas.settle` left, and of those written out in the text."""

    def escape(self, text: str, parent_tags: Tags) -> str:
        """Text as Markdown, its formulas untouched."""
        if "$" not in text and "\\" not in text:
            return self.plainly(text, parent_tags)
        return tex.replace_formulas(
            text,
            lambda part: self.plainly(part, parent_tags),
            lambda formula, display: self.formula(tex.strip_delimiters(formula), display, parent_tags),
        )

    def plainly(self, text: str, parent_tags: Tags) -> str:
        """Text without formulas as Markdown."""
        return text

    def formula(self, formula: str, display: bool, tags: Tags) -> str:
        """TeX between dollars, on lines of its own where it is displayed and there is room."""
        if not formula:
            return ""
        if display and not is_inline(tags):
            return self.verbatim(tex.format_display(formula))
        return (
            f"${tex.format_inline(formula)}$" if display and "td" not in tags else tex.format_inline(formula)
        )

    def _math(self, element: Element, context: ConversionContext) -> str | None:
        if not is_normalized(element):
            return None
        formula = text_of(element).strip()
        self.said.append(formula)
        return self.formula(formula, is_display(element), context.tags)

    handlers: ClassVar[dict[str, Handler]] = {"math": _math}

"""Base of the Markdown rules, and the rules of code blocks and formulas, which other rules share."""

from __future__ import annotations

import re
from typing import ClassVar

from scraper.extract.code.blocks import detect_code_language, extract_code
from scraper.extract.markdown.tree_converter import ConversionContext, ElementHandler, TreeConverter
from scraper.html.dom.urls import UrlResolver
from scraper.html.dom.xpath import Element, text_of
from scraper.html.math import tex_delimiters
from scraper.html.math.formulas import is_display, is_normalized
from scraper.text.markdown_structure import fence

Tags = frozenset[str]
"""Tags around an element, and the pseudo tags `_inline` and `_noformat`."""

_PLACEHOLDER_START = "\x02"
"""Begins a placeholder for a block. No text contains it, because the parser removes control characters."""

_PLACEHOLDER = re.compile("\x02(\\d+)\x03")
_NOTE_INDENT = "    "
_MARKER_CHARACTER = re.compile(r"[^>\s]")
_LINE_MARKERS = re.compile(r"(?:[\s>]|(?:[-*+:]|\d{1,9}[.)])(?=\s))*+")
"""Markers of lists, terms and quotations at the beginning of a line. Only they indent a block, words do not."""


class MarkdownRules(TreeConverter):
    """Base class of all rules, with the state of one conversion: links, images and reserved blocks."""

    class Options:
        """Options under the names that markdownify uses."""

        heading_style = "atx"
        bullets = "-"

    def __init__(self, base: str) -> None:
        """Resolve URLs against `base`."""
        super().__init__()
        self.links: dict[str, str] = {}
        self.images: dict[str, str] = {}
        self.url_resolver = UrlResolver(base)
        self._reserved: list[str] = []

    def reserve_block(self, markdown: str) -> str:
        """Return a placeholder for a block that later rules may indent, but not change."""
        self._reserved.append(markdown)
        return f"\n\n{_PLACEHOLDER_START}{len(self._reserved) - 1}\x03\n\n"

    def restore_blocks(self, markdown: str) -> str:
        """Replace the placeholders by their blocks, indented like the placeholders."""
        if not self._reserved:
            return markdown
        rows = markdown.split("\n")
        return "\n".join(self._restore_row(row) if _PLACEHOLDER_START in row else row for row in rows)

    def _restore_row(self, row: str) -> str:
        """Return a line with its blocks. Blocks of one line get the same indent and a line each."""
        before, *pieces = _PLACEHOLDER.split(row)
        markers = _LINE_MARKERS.match(before)
        inset = _MARKER_CHARACTER.sub(" ", markers.group()) if markers else ""
        if before.startswith("[^"):
            inset = _NOTE_INDENT
        blocks = []
        for number, behind in zip(pieces[::2], pieces[1::2], strict=True):
            block = self._reserved[int(number)] if int(number) < len(self._reserved) else ""
            blocks.append(block.replace("\n", "\n" + inset) + behind)
        return before + f"\n{inset}".join(blocks)


ESCAPED_POINT = "\\."
"""Point behind a number that would begin a list."""


def format_block(text: str, tags: Tags) -> str:
    """Return text as a separate block, or between blanks inside of a line."""
    text = text.strip()
    if not text:
        return ""
    return f" {text} " if "_inline" in tags else f"\n\n{text}\n\n"


def edge_whitespace(text: str) -> tuple[str, str]:
    """Return the white space to keep at both ends of a text whose words get marks: a blank, line breaks, or nothing."""
    body = text.strip()
    at = text.find(body)
    before, after = (white if "\n" in white else " " if white else "" for white in (text[:at], text[at + len(body) :]))
    return before, after


_MAX_TERM_CODE = 160
"""Characters. Shorter code in a `dt` is a signature and becomes inline code; longer code keeps its lines."""


class CodeRules(MarkdownRules):
    """Rule for `pre`; `normalize_code_blocks` has converted every code block to one."""

    def _pre(self, element: Element, context: ConversionContext) -> str:
        code = extract_code(element)
        return self.format_code(code, detect_code_language(element), context) if code.strip() else ""

    def format_code(self, code: str, language: str, context: ConversionContext) -> str:
        """Return a fenced block, or inline code in a cell, a heading or a short term."""
        self.plain_pieces += [None, *((row,) for row in code.split("\n")), None]
        if "_inline" in context.tags or ("dt" in context.tags and len(code) <= _MAX_TERM_CODE):
            rows = filter(None, (" ".join(row.split()) for row in code.split("\n")))
            return (
                f" {'<br>'.join(f'`{row}`' for row in rows)} "
                if "td" in context.tags
                else f" `{' '.join(code.split())}` "
            )
        return self.reserve_block(fence(code, language))

    handlers: ClassVar[dict[str, ElementHandler]] = {"pre": _pre}


class MathRules(MarkdownRules):
    """Rules for the `math` elements that `normalize_formulas` creates, and for TeX formulas in the text."""

    def escape(self, text: str, parent_tags: Tags) -> str:
        """Return text as Markdown with its formulas unchanged."""
        if "$" not in text and "\\" not in text:
            return self.escape_plain(text, parent_tags)
        return tex_delimiters.replace_formulas(
            text,
            lambda part: self.escape_plain(part, parent_tags),
            lambda formula, display: self.format_formula(
                tex_delimiters.strip_delimiters(formula), display, parent_tags
            ),
        )

    def escape_plain(self, text: str, parent_tags: Tags) -> str:
        """Return text without formulas as Markdown."""
        return text

    def format_formula(self, formula: str, display: bool, tags: Tags) -> str:
        """Return TeX between dollars; a displayed formula gets double dollars, and lines of its own if not inline."""
        if not formula:
            return ""
        if display and "_inline" not in tags:
            return self.reserve_block(tex_delimiters.format_display(formula))
        inline = tex_delimiters.format_inline(formula)
        return f"${inline}$" if display and "td" not in tags else inline

    def _math(self, element: Element, context: ConversionContext) -> str | None:
        if not is_normalized(element):
            return None
        formula = text_of(element).strip()
        self.plain_pieces.append(formula)
        return self.format_formula(formula, is_display(element), context.tags)

    handlers: ClassVar[dict[str, ElementHandler]] = {"math": _math}

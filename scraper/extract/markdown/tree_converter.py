"""Apply the rules of markdownify to an lxml tree, without building a BeautifulSoup tree, which took most of the time.

This relies on markdownify 1.2: `MarkdownConverter`, its options, `get_conv_fn_cached(tag)`, `escape(text, parent_tags)`
and rules `convert_X(el, text, parent_tags)` with the pseudo tags `_inline` and `_noformat`. The traversal is replaced.
With the stock rules the output is byte for byte that of markdownify.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from markdownify import MarkdownConverter

from scraper.extract.code.blocks import detect_code_language, extract_code
from scraper.html.dom.parsing import ALL_BLOCKS, Element, text_of
from scraper.html.dom.urls import UrlResolver
from scraper.html.math import tex_delimiters
from scraper.html.math.formulas import is_display, is_normalized
from scraper.text.markdown_structure import fence

_WHITE = " \t\r\n"

_MAX_DEPTH = 220
"""Levels. Deeper elements only give their text, since the walk is recursive."""


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
            if name in ("td", "th") or (name[0] == "h" and name[1:2].isdecimal()):
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
    blocks_with_loose_edges: ClassVar[frozenset[str]] = ALL_BLOCKS - {"pre", "hr", "caption"}
    """Tags. White space directly inside these has no meaning."""
    blocks_with_loose_neighbors: ClassVar[frozenset[str]] = ALL_BLOCKS | {"br"}
    """Tags. White space directly beside these has no meaning."""
    trims_blanks: ClassVar[bool] = True
    """True to remove blanks at the beginning of a line after a block, and double blanks."""

    collapse_whitespace: Callable[[str], str]
    """Collapse white space outside of preformatted text. Subclasses define it."""
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
        return text if rule is None else rule(element, text, parent_tags=context.tags)

    def find_rule(self, name: str) -> Callable[..., str] | None:
        """Return the rule of a tag, or None."""
        # markdownify takes every method `convert_NAME` for the rule of <NAME>, also its `convert_soup`.
        return None if name in ("soup", "video") else self.get_conv_fn_cached(name)

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


def _join_parts(parts: list[str], *, trims_blanks: bool) -> str:
    """Join parts. Where line breaks meet, at most two stay; with `trims_blanks`, blanks beside others or a break go."""
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


Tags = frozenset[str]
"""Tags around an element, and the pseudo tags `_inline` and `_noformat`."""

_PLACEHOLDER_START = "\x02"
"""Begins a placeholder for a block. No text contains it, because the parser removes control characters."""

_PLACEHOLDERS = re.compile("\x02(\\d+)\x03")
_NOTE_INDENT = "    "
_MARKER_CHARACTER = re.compile(r"[^>\s]")
_LINE_MARKERS = re.compile(r"(?:[\s>]|(?:[-*+:]|\d{1,9}[.)])(?=\s))*+")
"""Markers of lists, terms and quotations at the beginning of a line. Only they indent a block, words do not."""

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


class MarkdownRules(TreeConverter):
    """Base class of all rules, with the rules of code and formulas, and the state of one conversion."""

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
        self.cells: dict[Element, str] = {}
        """Markdown of the cells of tables."""
        self.numbers: dict[Element, int] = {}
        """Number of the next item of ordered lists."""
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
        before, *pieces = _PLACEHOLDERS.split(row)
        markers = _LINE_MARKERS.match(before)
        inset = _MARKER_CHARACTER.sub(" ", markers.group()) if markers else ""
        if before.startswith("[^"):
            inset = _NOTE_INDENT
        blocks = []
        for number, behind in zip(pieces[::2], pieces[1::2], strict=True):
            block = self._reserved[int(number)] if int(number) < len(self._reserved) else ""
            blocks.append(block.replace("\n", "\n" + inset) + behind)
        return before + f"\n{inset}".join(blocks)

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
            return self.reserve_block(f"$$\n{formula.strip()}\n$$")
        inline = f"${' '.join(formula.split())}$"
        return f"${inline}$" if display and "td" not in tags else inline

    def _math(self, element: Element, context: ConversionContext) -> str | None:
        if not is_normalized(element):
            return None
        formula = text_of(element).strip()
        self.plain_pieces.append(formula)
        return self.format_formula(formula, is_display(element), context.tags)

    handlers: ClassVar[dict[str, ElementHandler]] = {"pre": _pre, "math": _math}

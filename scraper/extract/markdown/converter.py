"""Convert a part of a page into Markdown for a model, with markdownify's rules and additional ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar
from unicodedata import category

from lxml import etree

from scraper.extract.code import normalization
from scraper.extract.markdown import block_rules, tree_converter
from scraper.extract.markdown.block_rules import CalloutRules, ListRules
from scraper.extract.markdown.link_image_rules import LinkImageRules, escape_label
from scraper.extract.markdown.table_rules import TableRules
from scraper.extract.markdown.tree_converter import ConversionContext, ElementHandler, MarkdownRules, Tags
from scraper.extract.normalize import elements, footnotes
from scraper.html.dom.parsing import INLINE, UNREADABLE, Element, attribute_selector, collect_names, text_of
from scraper.html.math import formulas, tex_delimiters
from scraper.html.page.text_styles import rename_inline_elements
from scraper.model import Image, Link
from scraper.text.sanitize import join_lines


class _FootnoteRules(MarkdownRules):
    def _reference(self, element: Element, context: ConversionContext) -> str:
        mark = f"[^{element.get('label')}]"
        self.plain_pieces.append(mark)
        return mark

    def _definition(self, element: Element, context: ConversionContext) -> str:
        label = f"[^{element.get('label')}]: "
        self.plain_pieces += [None, label]
        text = self.render_children(element, context.enter("fndef")).strip()
        self.plain_pieces.append(None)
        rows = text.split("\n")
        return "\n\n" + label + "\n".join([rows[0], *(f"    {row}" if row else "" for row in rows[1:])]) + "\n\n"

    handlers: ClassVar[dict[str, ElementHandler]] = {"fnref": _reference, "fndef": _definition}


_EDGE_SIGNS = ".,:;!?\u2026\u3001\u3002\uff0c\uff1a\uff1b\uff01\uff1f"
_MAX_OPTIONS = 12
_MARKS = frozenset("+->~0123456789")
_MAX_MARKER = 10
"""Characters of the marker of an item. Markdown takes no longer one."""
_MAX_PRICE, _MAX_START = 20, 100

_WHITE = re.compile(r"[ \t\r\n\f]+")
_CLOSING_MARKS = re.compile(r"(?<=\s)#+\Z")
"""Number signs at the end of a heading. Unescaped, they would not be part of it."""
_GAPS = re.compile(r"\n{3,}")
_WORD_EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_NOT_AT_LINE_START = frozenset({"_inline", "a"})
_HEADING_LIKE = re.compile(r"\s*#{1,6}(?:\s|\Z)")
_SIMPLE_POWER = re.compile(r"[-+\u2212]?\d{1,5}|[-+]?n|[-+]")
_SIMPLE_INDEX = re.compile(r"[-+\u2212]?\d{1,6}")
_EXPONENT = re.compile(r"(?=.*[\d+=*/\u2212-])(?:[\w+=*/.,\u2212-]|\\[*_]){1,12}")
_INDEX = re.compile(r"[\w+=,\u2212-]{1,12}")
_SUPERSCRIPTS = str.maketrans(
    "0123456789+-\u2212n", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b\u207b\u207f"
)
_SUBSCRIPTS = {ord(digit): 0x2080 + value for value, digit in enumerate("0123456789+-")} | {0x2212: 0x208B}
"""Subscript digits, and the signs that follow them in Unicode."""

_INLINE_CODE = ("code", "kbd", "samp")
_ROLES = attribute_selector("role")
_ESCAPES = re.compile(r"\\(?=[!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class ConvertedMarkdown:
    """A part of a page as Markdown and as plain text, with its links and images."""

    markdown: str
    text: str
    links: tuple[Link, ...]
    images: tuple[Image, ...]


def convert(root: Element, base: str, *, may_hold_formulas: bool = True) -> ConvertedMarkdown:
    """Convert the content of `root` into Markdown, with URLs resolved against `base`. The tree is changed.

    Pass `may_hold_formulas=False` to skip the search for formulas.
    """
    tags, class_names, attributes = collect_names(root)
    if may_hold_formulas:
        formulas.normalize_formulas(root, class_names, tags)
    rename_inline_elements(root, tags)
    roles = _ROLES(root) if "role" in attributes else []
    elements.keep_tab_and_accordion_titles(root, class_names, roles)
    normalization.normalize_code_blocks(root, class_names)
    elements.convert_aria_tables(roles)
    block_rules.normalize_lists(root)
    etree.strip_elements(root, *UNREADABLE, "button", "clipboard-copy", with_tail=False)
    _bracket_ruby_text(root)
    for element in root.iter(*_INLINE_CODE):  # two touching Markdown spans would become one
        after = element.getnext()
        is_adjacent = not element.tail and after is not None and after.tag in _INLINE_CODE
        if is_adjacent and next(element.iterancestors("pre"), None) is None:
            element.tail = " "
    for typed in root.iter("tt"):
        typed.tag = "samp"  # `tt` is the name before HTML 5
    footnotes.attach_footnotes(root, footnotes.extract_footnotes(root, class_names))
    elements.insert_spaces(root)
    elements.join_emphasis(root)
    converter = _PageConverter(base)
    converter.mark(root, class_names)
    markdown = converter.render_tree(root)
    return ConvertedMarkdown(
        converter.restore_blocks(_GAPS.sub("\n\n", markdown)).replace("  \n\n", "\n\n").strip(),
        join_lines(converter.plain_pieces),
        tuple(Link(url, text) for url, text in converter.links.items()),
        tuple(Image(url, alt) for url, alt in converter.images.items()),
    )


def _bracket_ruby_text(root: Element) -> None:
    """Add parentheses around ruby text that has none: else 東京 and とうきょう become one word."""
    for reading in root.iter("rt"):
        before = reading.getprevious()
        has_parentheses = before is not None and before.tag == "rp" and not (before.tail or "").strip()
        if has_parentheses or not text_of(reading).strip():
            continue
        reading.text = f"({(reading.text or '').lstrip()}"
        if len(reading):
            reading[-1].tail = f"{reading[-1].tail or ''})"
        else:
            reading.text = f"{reading.text.rstrip()})"


def _script(mark: str, text: str) -> str:
    """Return a raised or lowered text as plain text: `^x`, `_max`, `^(1/2)`."""
    return mark + text if text.isalnum() else f"{mark}({text})"


def _character_before(element: Element, length: int = 1) -> str:
    before, parent = element.getprevious(), element.getparent()
    text = before.tail or text_of(before) if before is not None else parent.text if parent is not None else ""
    return (text or "")[-length:]


def _is_price(cents: Element) -> bool:
    """Return True if a number behind another one is next to a sign of a currency: 19 and raised 99 are 19.99."""
    around, before = cents.getparent(), _character_before(cents)
    text = text_of(around)[:_MAX_PRICE] if around is not None and before.isdigit() else ""
    return any(category(sign) == "Sc" for sign in text)


def _escape_marker(block: Element, text: str) -> str:
    """Escape the first word of a block if it looks like a marker, but no neighbor has its sign or the next number."""
    mark = text.split(None, 1)[0]
    number, sign = mark[:-1], mark[-1:]
    if mark.startswith("~~~"):
        return "\\" + text
    if sign in (".", ")") and number.isdigit() and len(text) > len(mark) and len(mark) < _MAX_MARKER:
        marks = {f"{int(number) + step}{sign}" for step in (-1, 1)}
    elif mark in ("-", "+", ">") and len(text) > 1:
        marks = {mark}
    else:
        return text
    beside = (one for one in (block.getprevious(), block.getnext()) if one is not None)
    starts = {word for one in beside for word in text_of(one)[:_MAX_START].split(None, 1)[:1]}
    return text if marks & starts else f"{number}\\{text[len(number) :]}"


def _emphasis(marker: str) -> Callable[..., str]:
    def rule(self: _PageConverter, el: Element, text: str, parent_tags: Tags) -> str:
        body = text.strip()
        is_block = "\n\n" in body or body[:2] == "- " or _HEADING_LIKE.match(body)
        if not body or "_noformat" in parent_tags or is_block:
            return text
        if not elements.EMPHASIS_TAGS[el.tag].isdisjoint(parent_tags):
            return text
        before, after = tree_converter.edge_whitespace(text)
        # A sign between a mark and a letter would make the mark plain text.
        if not after and (el.tail or "")[:1].isalnum():
            after = body[len(body.rstrip(_EDGE_SIGNS)) :]
            body = body.removesuffix(after)
        if not before and body[:1] in _EDGE_SIGNS and _character_before(el).isalnum():
            before = body[: len(body) - len(body.lstrip(f" {_EDGE_SIGNS}"))]
            body = body.removeprefix(before)
        return f"{before}{marker}{body}{marker}{after}" if body else text

    return rule


class _PageConverter(CalloutRules, _FootnoteRules, TableRules, LinkImageRules, ListRules):
    def find_rule(self, name: str) -> Callable[..., str] | None:
        """Return the rule of a tag. All that is not inline is a block, also elements of unknown name."""
        rule = super().find_rule(name)
        return self.convert_div if rule is None and name not in INLINE else rule

    # Text

    def collapse_whitespace(self, text: str) -> str:
        """Collapse white space outside of displayed formulas."""
        if "\n" in text and ("$$" in text or "\\" in text):
            return tex_delimiters.collapse_outside_formulas(text, self._collapse)
        return self._collapse(text)

    def _collapse(self, text: str) -> str:
        return _WHITE.sub(" ", text) if "\n" in text or "  " in text or "\t" in text else text

    def escape_plain(self, text: str, parent_tags: Tags) -> str:
        """Escape every `*` and backtick, `_` at word edges, and other marks where they have an effect."""
        if "\\" in text:
            text = _ESCAPES.sub(r"\\\\", text)
        if "*" in text:
            text = text.replace("*", "\\*")
        if "_" in text:
            text = _WORD_EDGE_UNDERSCORE.sub(r"\\_", text)
        if "$$" in text:
            text = text.replace("$$", "\\$\\$")
        if "#" in text and _NOT_AT_LINE_START.isdisjoint(parent_tags) and _HEADING_LIKE.match(text):
            text = text.replace("#", "\\#", 1)
        if "<" in text:
            text = formulas.TAG_LIKE.sub(r"\\<", text)
        if "a" in parent_tags:
            text = escape_label(text)
        return text.replace("`", "\\`") if "`" in text else text

    def convert_br(self, el: Element, text: str, parent_tags: Tags) -> str:
        if "_inline" in parent_tags:
            return " "
        before = el.getprevious()
        doubled = before is not None and before.tag == "br" and not (before.tail or "").strip()
        return "\n\n" if doubled else "  \n"

    # Blocks

    def convert_div(self, el: Element, text: str, parent_tags: Tags) -> str:
        text = text.strip()
        if "_inline" not in parent_tags and text[:1] in _MARKS and (el.tag == "p" or (el.text or "").strip()):
            text = _escape_marker(el, text)
        return tree_converter.format_block(text, parent_tags)

    convert_article = convert_section = convert_figcaption = convert_p = convert_div

    def convert_hN(self, n: int, el: Element, text: str, parent_tags: Tags) -> str:
        text = " ".join(text.split())
        if "_inline" in parent_tags or not text:
            return f" {text} " if text else ""
        text = _CLOSING_MARKS.sub(r"\\\g<0>", text)
        return f"\n\n{'#' * min(n, 6)} {text}\n\n"

    def convert_hr(self, el: Element, text: str, parent_tags: Tags) -> str:
        return " " if "_inline" in parent_tags else "\n\n***\n\n"

    def convert_blockquote(self, el: Element, text: str, parent_tags: Tags) -> str:
        text = text.strip()
        if "_inline" in parent_tags or not text:
            return f" {text} " if text else ""
        quoted = "\n".join(f"> {row}" if row else ">" for row in text.split("\n"))
        return f"\n\n{quoted}\n\n"

    # Inline

    convert_b = convert_strong = _emphasis("**")
    convert_em = convert_i = _emphasis("*")
    convert_del = convert_s = _emphasis("~~")

    def convert_sup(self, el: Element, text: str, parent_tags: Tags) -> str:
        """Keep powers: without a mark 10 to the sixth would be read as 106. Ordinals such as 1st are plain text."""
        power = text.strip()
        if len(power) == 2 and power.isdigit() and _is_price(el):
            return f".{power}"
        if _SIMPLE_POWER.fullmatch(power):
            return power.translate(_SUPERSCRIPTS)
        before = _character_before(el, 3)  # behind a long number, a letter is the mark of a note
        is_variable = before[-1:].isalpha() or (len(before) == 3 and before.isdecimal())
        is_variable = is_variable and len(power) == 1 and power.isalpha()
        return _script("^", power) if is_variable or _EXPONENT.fullmatch(power) else text

    def convert_sub(self, el: Element, text: str, parent_tags: Tags) -> str:
        """Keep indices: without a mark the logarithm to base 2 of 8 would be read as log28."""
        index = text.strip()
        if _SIMPLE_INDEX.fullmatch(index):
            return index.translate(_SUBSCRIPTS)
        return _script("_", index) if _INDEX.fullmatch(index) and _character_before(el).strip() else text

    def _select(self, element: Element, context: ConversionContext) -> str:
        """Return the options of a selection list; drop a list of more than `_MAX_OPTIONS`, such as countries."""
        options = [" ".join(text_of(option).split()) for option in element.iter("option")]
        if not 0 < len(options) <= _MAX_OPTIONS:
            return ""
        text = " / ".join(filter(None, options))
        self.plain_pieces.append(text)
        return self.escape(text, context.tags)

    handlers: ClassVar[dict[str, ElementHandler]] = {"select": _select} | {
        tag: handler
        for rules in (MarkdownRules, CalloutRules, ListRules, TableRules, _FootnoteRules)
        for tag, handler in rules.handlers.items()
    }

"""Markdown for a model to read: markdownify's rules, with links, code and tables that survive."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from scraper.extract.addresses import Addresses, image_source
from scraper.extract.characters import line
from scraper.extract.code import code_in_table, code_text, fence, is_bare_block, language_of
from scraper.extract.tables import cells_of, is_layout, pipe_table, rows_of
from scraper.extract.texts import lines_of
from scraper.extract.walk import STOCK_BLOCKS, Context, Handler, Node, TreeConverter
from scraper.extract.xpath import Element, text_of
from scraper.model import Image, Link

__all__ = ["MAX_ALT", "Converted", "convert"]

MAX_ALT = 200
"""A longer alternative text is not a description but a place to put text that nobody sees."""

MAX_LINKS = 1_000
MAX_IMAGES = 300
MAX_LINK_TEXT = 300
MAX_OPTIONS = 12
MAX_INDENTS = 10
"""Lists and quotations nested deeper stay at this depth: each level indents all that is in it again."""

_MORE_BLOCKS = frozenset(
    "main header footer aside nav details summary address fieldset legend form center hgroup search figure "
    "figcaption dialog menu dir body html noscript".split()
)
_BLOCKS = STOCK_BLOCKS | _MORE_BLOCKS
_CONTROLS = frozenset({"button", "input"})
_WHITE = re.compile(r"[ \t\r\n\f]+")
_LIST_LINE = re.compile(r"(?<!\s)(?=[^\S\n]*+\n)\s++(?=(?:[-+]|\d{1,3}[.)])[ \t])")
_HASHES = re.compile(r"(?:^|(?<=\s))#{1,6} ")
_WORD_EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_PERMALINKS = frozenset({"#", "\u00b6", "\u00a7", "\U0001f517", "\uf0c1", "\u200b"})
_PERMALINK_CLASSES = frozenset(
    "headerlink header-anchor hash-link anchorjs-link heading-anchor anchor-link docs-heading-anchor "
    "docs-heading-anchor-permalink tsd-anchor-icon sl-anchor-link".split()
)
_PLACE = re.compile("^(.*)\x02(\\d+)\x03", re.MULTILINE)
_MARKER = re.compile(r"[^>\s]")


@dataclass(frozen=True, slots=True)
class Converted:
    """A part of a page as Markdown and as plain text, and the links and images in it."""

    markdown: str
    text: str
    links: tuple[Link, ...]
    images: tuple[Image, ...]


def convert(root: Element, base: str) -> Converted:
    """Everything in `root` as Markdown, addresses resolved against `base`."""
    converter = _PageConverter(base)
    markdown = converter.convert_tree(root)
    return Converted(
        converter.finished(markdown),
        lines_of(converter.said),
        tuple(Link(url, text) for url, text in converter.links.items()),
        tuple(Image(url, alt) for url, alt in converter.images.items()),
    )


def _emphasis(marker: str) -> Callable[..., str]:
    def rule(self: _PageConverter, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        body = text.strip()
        if not body or "_noformat" in parent_tags or "\n\n" in body:
            return text
        before = " " if text[0] == " " else ""
        after = " " if text[-1] == " " else ""
        return f"{before}{marker}{body}{marker}{after}"

    return rule


class _PageConverter(TreeConverter):
    """One conversion: its tables, lists and code blocks are noted on the way."""

    class Options:
        heading_style = "atx"
        bullets = "-"

    inner_blocks: ClassVar[frozenset[str]] = _BLOCKS
    outer_blocks: ClassVar[frozenset[str]] = _BLOCKS | {"pre", "br", "hr"}

    def __init__(self, base: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.images: dict[str, str] = {}
        self._addresses = Addresses(base)
        self._code: list[str] = []
        self._cells: dict[Element, str] = {}
        self._numbers: dict[Element, int] = {}

    def finished(self, markdown: str) -> str:
        """With the blocks of code in their places, each line indented as its place is."""
        if self._code:
            markdown = _PLACE.sub(self._placed, markdown)
        return markdown.replace("  \n\n", "\n\n").strip()

    def _placed(self, match: re.Match[str]) -> str:
        before, block = match.group(1), self._code[int(match.group(2))]
        return before + block.replace("\n", "\n" + _MARKER.sub(" ", before))

    def rule_for(self, name: str) -> Callable[..., str] | None:
        rule = super().rule_for(name)
        if rule is None and name in _MORE_BLOCKS:
            return self.convert_div
        return self.convert_custom if rule is None and "-" in name else rule

    # Text

    def folded(self, text: str) -> str:
        if "\n" in text and _LIST_LINE.search(text):  # a list that was written as plain lines
            return "\n".join(_WHITE.sub(" ", row) for row in _LIST_LINE.split(text))
        return _WHITE.sub(" ", text) if "\n" in text or "  " in text or "\t" in text else text

    def escape(self, text: str, parent_tags: frozenset[str]) -> str:
        """Only what would change the meaning: never `_` inside of a word."""
        if "*" in text:
            text = text.replace("*", "\\*")
        if "_" in text:
            text = _WORD_EDGE_UNDERSCORE.sub(r"\\_", text)
        return text.replace("`", "\\`") if "`" in text else text

    def convert_br(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        if "_inline" in parent_tags:
            return " "
        before = el.element.getprevious()
        doubled = before is not None and before.tag == "br" and not (before.tail or "").strip()
        return "\n\n" if doubled else "  \n"

    # Blocks

    def convert_div(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        text = text.strip()
        if not text:
            return ""
        return f" {text} " if "_inline" in parent_tags else f"\n\n{text}\n\n"

    convert_article = convert_section = convert_figcaption = convert_div

    def convert_p(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        text = text.strip()
        if "_inline" in parent_tags:
            return f" {text} "
        if text.startswith(("#", "~~~")):
            text = "\\" + text
        return f"\n\n{text}\n\n" if text else ""

    def convert_custom(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        """An element of the page's own is a block unless text stands beside it."""
        element = el.element
        before, parent = element.getprevious(), element.getparent()
        text_before = before.tail if before is not None else parent.text if parent is not None else None
        beside = (text_before or "").strip() or (element.tail or "").strip()
        return text if beside else self.convert_div(el, text, parent_tags)

    def convert_hN(self, n: int, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        text = " ".join(text.split())
        if "_inline" in parent_tags or not text:
            return f" {text} " if text else ""
        return f"\n\n{'#' * min(n, 6)} {text}\n\n"

    def convert_hr(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        return " " if "_inline" in parent_tags else "\n\n***\n\n"

    def convert_blockquote(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        text = text.strip()
        if "_inline" in parent_tags or not text:
            return f" {text} " if text else ""
        quoted = "\n".join(f"> {row}" if row else ">" for row in text.split("\n"))
        return f"\n\n{quoted}\n\n"

    def convert_list(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        text = text.strip("\n")
        if not text:
            return ""
        return f"\n{text}\n" if "li" in parent_tags else f"\n\n{text}\n\n"

    convert_ul = convert_list
    convert_ol = convert_list

    def convert_li(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        marker = self._marker(el.element)
        text = text.strip()
        if not text:
            return ""
        if "\n" in text:
            indent = " " * len(marker)
            text = "\n".join(indent + row if row else "" for row in text.split("\n")).lstrip()
        return f"{marker}{text}\n"

    def _marker(self, item: Element) -> str:
        parent = item.getparent()
        if parent is None or parent.tag != "ol":
            return "- "
        number = _integer(item.get("value"), self._numbers.get(parent, _integer(parent.get("start"), 1)))
        self._numbers[parent] = number + 1
        return f"{number}. "

    def _shallow(self, element: Element, context: Context) -> str | None:
        if context.indents < MAX_INDENTS:
            return None
        text = self.inside(element, context.enter(element.tag)).strip()
        return f"\n\n{text}\n\n" if text else ""

    # Inline

    convert_b = convert_strong = _emphasis("**")
    convert_em = convert_i = _emphasis("*")
    convert_del = convert_s = _emphasis("~~")

    def convert_a(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        label = " ".join(text.split())
        if not label or "_noformat" in parent_tags:
            return text
        if label in _PERMALINKS or self._is_permalink(el.element):
            self._take_back(label)
            return ""
        if "#" in label:
            label = _HASHES.sub("", label)
        url = self._addresses.absolute(el.element.get("href"))
        if not url:
            return text
        self._note_link(url, label, el.element)
        linked = f"<{url}>" if label.replace("\\", "") == url else f"[{label}]({url})"
        if text[0] == "\n" and "_inline" not in parent_tags:
            return f"\n\n{linked}\n\n"
        return f"{' ' if text[0] == ' ' else ''}{linked}{' ' if text[-1] == ' ' else ''}"

    def _take_back(self, label: str) -> None:
        last = self.said[-1]
        if isinstance(last, str) and last.strip() == label:
            self.said.pop()

    @staticmethod
    def _is_permalink(element: Element) -> bool:
        classes = element.get("class")
        return classes is not None and not _PERMALINK_CLASSES.isdisjoint(classes.split())

    def _note_link(self, url: str, label: str, element: Element) -> None:
        if url not in self.links and len(self.links) < MAX_LINKS:
            plain = label if label.isalnum() or not re.search(r"[\\*`!]", label) else text_of(element)
            self.links[url] = line(plain, MAX_LINK_TEXT)

    def convert_img(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        """Only pictures that are described; a heading keeps the description alone."""
        element = el.element
        alt = line(element.get("alt") or "", MAX_ALT)
        if not alt:
            return ""
        label = alt.replace("[", "\\[").replace("]", "\\]")
        if "_inline" in parent_tags and not ("td" in parent_tags or "th" in parent_tags):
            return label
        source = image_source(_strings(element), _sources(element))
        url = self._addresses.absolute(source)
        if not url:
            return f"![{label}]()" if source.startswith("data:") else ""
        if len(self.images) < MAX_IMAGES:
            self.images.setdefault(url, alt)
        return f"![{label}]({url})"

    # Code

    def _pre(self, element: Element, context: Context) -> str:
        code = code_text(element)
        return self._fenced(code, language_of(element), context) if code.strip() else ""

    def _bare_code(self, element: Element, context: Context) -> str | None:
        if context.verbatim or "_inline" in context.tags or not is_bare_block(element):
            return None
        return self._fenced(code_text(element), language_of(element), context)

    def _fenced(self, code: str, language: str, context: Context) -> str:
        self.said += [None, *((row,) for row in code.split("\n")), None]
        if "_inline" in context.tags:
            return f" `{' '.join(code.split())}` "
        self._code.append(fence(code, language))
        return f"\n\n\x02{len(self._code) - 1}\x03\n\n"

    # Tables

    def _table(self, element: Element, context: Context) -> str | None:
        block = code_in_table(element)
        if block is not None:
            code = code_text(block)
            return self._fenced(code, language_of(block) or language_of(element), context) if code else ""
        if not is_layout(element):
            return None
        inside = Context(context.tags - {"_inline", "td", "th"}, context.depth, context.indents)
        pieces = (self.inside(cell, inside).strip() for row in rows_of(element) for cell in cells_of(row))
        return "\n\n" + "\n\n".join(piece for piece in pieces if piece) + "\n\n"

    def convert_td(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        self._cells[el.element] = text
        return ""

    convert_th = convert_td

    def convert_tr(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        return text

    def convert_table(self, el: Node, text: str, parent_tags: frozenset[str]) -> str:
        """What stands in a table beside its cells, its caption above all, comes before it."""
        table = pipe_table(el.element, lambda cell: self._cells.get(cell, ""))
        before = text.strip()
        return f"\n\n{before}\n\n{table}\n\n" if before or table else ""

    def _select(self, element: Element, context: Context) -> str:
        """A choice of few is part of what a page offers; a long one lists countries."""
        options = [" ".join(text_of(option).split()) for option in element.iter("option")]
        if not 0 < len(options) <= MAX_OPTIONS:
            return ""
        text = " / ".join(filter(None, options))
        self.said.append(text)
        return self.escape(text, context.tags)

    def _nothing(self, element: Element, context: Context) -> str:
        return ""

    handlers: ClassVar[Mapping[str, Handler]] = {
        "pre": _pre,
        "code": _bare_code,
        "table": _table,
        "li": _shallow,
        "blockquote": _shallow,
        "dd": _shallow,
        "select": _select,
        **dict.fromkeys(_CONTROLS, _nothing),
    }


def _integer(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else otherwise


def _strings(element: Element) -> dict[str, str]:
    return {str(name): str(value) for name, value in element.attrib.items()}


def _sources(image: Element) -> str:
    """The candidates of the `picture` around an image."""
    parent = image.getparent()
    if parent is None or parent.tag != "picture":
        return ""
    sources = (source.get("srcset") or source.get("data-srcset") for source in parent.iterchildren("source"))
    return next((candidates for candidates in sources if candidates), "")

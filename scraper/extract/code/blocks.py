"""Extract the text and the language of code blocks."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import cast

from lxml import etree

from scraper.html.dom.parsing import Element, classes_of, text_of
from scraper.values.text import read_table

TABLE = read_table(__package__, "languages.toml")
NUMBERING = frozenset(TABLE["line_numbers"].split())
"""Classes of elements that contain line numbers."""

_CONTROLS = frozenset("copy-button copybtn clipboard-copy zeroclipboard-container".split())
_NOT_CODE_CLASSES = NUMBERING | _CONTROLS
_NOT_CODE_TAGS = frozenset({"button", "clipboard-copy", "input", "select"})
_LAYOUT_TAGS = ("a", "br", "div", "p", "tr", "li", "code", "button", "clipboard-copy", "input", "select")
_CLASSES = etree.XPath("descendant::*/@class", smart_strings=False)
_STYLES = etree.XPath("descendant::*/@style", smart_strings=False)
_LINE_TAGS = frozenset({"div", "p", "tr", "li"})
_NUMBERED_TABLES = frozenset({"highlighttable", "lntable", "rouge-table"})

_INLINE_TAGS = frozenset({"a", "span", "b", "strong", "em", "i"})
_BLOCK_CLASSES = frozenset({"block", "code-block", "codeblock", "code_block"})
_BLOCK_STYLE = re.compile(r"display:\s*(?:block|grid|flex)")
_LINE_CLASS = re.compile(r"(?:^|[-_\s])(?:code-?_{0,2}line|token-line)(?!\S)")
"""Classes of elements that are displayed as a line of their own, such as `gatsby-highlight-code-line`."""

_NUMBER_CLASS = re.compile(r"line[-_]?num", re.IGNORECASE)
"""Classes of line numbers with the suffix of a build, such as `codeLineNumber_Tfdd`."""

_POPUP = re.compile(r"(?:^|[-_\s])(?:popup|tooltip|popover|hovercard|hover-info)(?:$|[-_\s])")

_MAX_LINES = 20_000


def extract_code(block: Element) -> str:
    """Return the code in an element, with the lines as they are displayed."""
    if block.tag == "pre" and len(block) == 1 and block[0].tag == "code":
        beside = (block.text or "") + (block[0].tail or "")
        block = block if beside.strip() else block[0]
    text = text_of(block) if _is_plain(block) else "".join(_pieces(block))
    text = text.replace("\r\n", "\n").replace("\u00a0", " ")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def find_code_in_table(table: Element) -> Element | None:
    """Return the code, in one cell or one row per line, of a table with line numbers; None for other tables."""
    rows = list(islice(table.iter("tr"), _MAX_LINES))
    has_numbers = any(map(_has_numbers, rows[0])) if rows else False
    if not has_numbers and _NUMBERED_TABLES.isdisjoint(classes_of(table)):
        return None
    if len(rows) > 1 and all(len(row) > 1 and all(map(_has_numbers, list(row)[:-1])) for row in rows):
        block = etree.Element("pre", {"class": table.get("class") or ""})
        block.text = "\n".join(text_of(row[-1]).strip("\n") for row in rows)
        return block
    cells = [cell for cell in table.iter("td") if not _has_numbers(cell)]
    return next(cells[-1].iter("pre"), cells[-1]) if cells else None


def _has_numbers(element: Element) -> bool:
    return not NUMBERING.isdisjoint(classes_of(element))


def is_bare_block(code: Element) -> bool:
    """Return True if a `code` outside of `pre` is a block: alone, with several lines or a block style."""
    several = next(code.iterdescendants("br"), None) is not None or "\n" in text_of(code).strip()
    is_styled = _BLOCK_STYLE.search(code.get("style") or "") or not _BLOCK_CLASSES.isdisjoint(classes_of(code))
    is_in_cell = next(code.iterancestors("td", "th"), None) is not None and next(code.iter("br"), None) is None
    if not is_styled and (is_in_cell or not several):  # a line break of the source means nothing in a cell
        return False
    parent, before, after = code.getparent(), code.getprevious(), code.getnext()
    if parent is None or (code.tail or "").strip() or next(code.iterancestors("pre", "code"), None) is not None:
        return False
    text_before = parent.text if before is None else before.tail
    beside = any(one is not None and one.tag in _INLINE_TAGS for one in (before, after))
    return not (text_before or "").strip() and not beside


def _is_plain(block: Element) -> bool:
    """Return True if a block needs no processing, as most do. The test costs a tenth of iterating over the tree."""
    if next(block.iterdescendants(*_LAYOUT_TAGS), None) is not None:
        return False
    classes = set(cast("list[str]", _CLASSES(block)))
    if any(
        _POPUP.search(one) or _NUMBER_CLASS.search(one) or not _NOT_CODE_CLASSES.isdisjoint(one.split())
        for one in classes
    ):
        return False
    if any(map(_is_line_class, classes)) or ("line" in classes and any(map(_adjoins_next_line, block.iter("span")))):
        return False
    return not any("display" in style or "user-select" in style for style in cast("list[str]", _STYLES(block)))


def _adjoins_next_line(element: Element) -> bool:
    """Return True if a line follows without a line break in the text."""
    after = element.getnext() if element.get("class") == "line" and not element.tail else None
    if after is None or after.get("class") != "line":
        return False
    return not text_of(element).endswith("\n") and not text_of(after).startswith("\n")


def _is_line_span(element: Element) -> bool:
    """Return True if style or class display a span as a line; `br` or text after it may already end the line."""
    if element.tag != "span":
        return False
    is_line = _is_line_class(element.get("class") or "") or _adjoins_next_line(element)
    if not is_line and not _BLOCK_STYLE.search(element.get("style") or ""):
        return False
    after = element.getnext()
    return not (element.tail or "").startswith("\n") and bool(element.tail or (after is not None and after.tag != "br"))


def _is_line_class(name: str) -> bool:
    return "line" in name and _LINE_CLASS.search(name) is not None


def _pieces(block: Element) -> Iterator[str]:
    before = block.text or ""
    if before:
        yield before
    codes_are_lines = _holds_only_codes(block)
    for child in block:
        if child.tag == "br":
            yield "\n"
        elif not _is_not_code(child):
            pieces = list(_pieces(child)) if len(child) else [child.text] if child.text else []
            starts_line = child.tag in ("div", "p") or _is_line_class(child.get("class") or "")
            if starts_line and before.strip() and not before.endswith("\n"):
                yield "\n"
            yield from pieces
            is_line = child.tag in _LINE_TAGS or _is_line_span(child)
            if (codes_are_lines or is_line) and not (pieces and pieces[-1].endswith("\n")):
                yield "\n"
        before = child.tail or ""
        if before:
            yield before


def _holds_only_codes(block: Element) -> bool:
    beside = (block.text or "") + "".join(child.tail or "" for child in block)
    return len(block) > 1 and beside.strip(" ") == "" and all(child.tag == "code" for child in block)


def _is_not_code(element: Element) -> bool:
    """Return True for line numbers, buttons and popups."""
    if element.tag in _NOT_CODE_TAGS or not _NOT_CODE_CLASSES.isdisjoint(classes_of(element)):
        return True
    if element.tag == "a" and (number := text_of(element).strip()).isdecimal():  # a link of a line to itself
        element.tail = (element.tail or "").removeprefix(" ")
        return (element.get("href") or "").partition("#")[2].endswith(number)
    name, style = element.get("class"), element.get("style")
    if name and (_POPUP.search(name) or (_NUMBER_CLASS.search(name) and text_of(element).strip().isdecimal())):
        return True
    return style is not None and "user-select" in style and "none" in style


_LANGUAGE_ATTRIBUTES = ("data-lang", "data-language", "data-code-language", "data-enlighter-language", "language")
_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:ltx_lst_language|language|(?:mw-highlight-)?lang)[-_:]([^\s\"]+)"
    r"|highlight-(?:source|text)-([^\s\"]+)|brush:\s*([\w#+-]+)|(?:^|\s)hl-(ipython\d?)(?!\S)"
    r"|(?:^|\s)highlight-(?!(?:source|text)-)([a-z0-9+#]+)(?![\w-])",
    re.IGNORECASE,
)
_LANGUAGE_NAME = re.compile(r"[a-z][a-z0-9+#._-]{0,24}")
_NO_LANGUAGE, _HIGHLIGHTER_CLASSES, _KNOWN_LANGUAGES = (
    frozenset(TABLE[name].split()) for name in ("no_languages", "highlighters", "languages")
)
_ALIASES: dict[str, str] = TABLE["aliases"]
_DISPLAYED_NAMES: dict[str, str] = TABLE["displayed_names"]
"""Language names as they are displayed above a block."""

_MAX_WRAPPERS = 5
_STOP_TAGS = frozenset({"body", "article", "main", "li", "section", "td"})


def detect_code_language(block: Element) -> str:
    """Return the language declared on the block, on its `code`, or on a wrapper of this block only."""
    around = list(_find_wrappers(block))
    for element in around:
        classes = f"{element.get('class') or ''} {element.get('data-syntaxhighlighter-params') or ''}"
        declared = [element.get(attribute) or "" for attribute in _LANGUAGE_ATTRIBUTES]
        declared += [next(filter(None, match.groups())) for match in _LANGUAGE_CLASS.finditer(classes)]
        if language := next(filter(None, map(_normalize_language, declared)), ""):
            return language
        if element.tag in ("pre", "code") and (element.get("lang") or "").lower() in _KNOWN_LANGUAGES:
            return _normalize_language(element.get("lang") or "")
    for element in around[:4]:
        names = (element.get("class") or "").lower().split()
        is_highlighter = element.tag in ("pre", "code") or not _HIGHLIGHTER_CLASSES.isdisjoint(names)
        for name in names:
            if name in _KNOWN_LANGUAGES and (is_highlighter or f"source-{name}" in names):
                return _ALIASES.get(name, name)
    return ""


def is_language_name(name: str) -> bool:
    """Return True if a label beside a block names a language."""
    return name in _KNOWN_LANGUAGES or name in _DISPLAYED_NAMES


def _find_wrappers(block: Element) -> Iterator[Element]:
    inner = next(block.iterdescendants("code"), None)
    if inner is not None:
        yield inner
    yield block
    around = block.getparent()
    for _ in range(_MAX_WRAPPERS):
        # One block, or two if the line numbers are in another `pre`.
        if around is None or around.tag in _STOP_TAGS or len(list(islice(around.iterdescendants("pre"), 3))) == 3:
            return
        yield around
        around = around.getparent()


def _normalize_language(name: str) -> str:
    name = name.lower().strip(" ;,")
    name = _DISPLAYED_NAMES.get(name, name)
    if name in _NO_LANGUAGE or not _LANGUAGE_NAME.fullmatch(name):
        return ""
    return _ALIASES.get(name, name)

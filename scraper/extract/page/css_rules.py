"""Find the elements that the inline style sheets of a page hide, by their selectors.

A rule counts if it applies to a screen of 1,280 pixels. A name that another rule makes visible is not hidden, because a
page as served may wait for a script that sets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, cast

from cssselect import HTMLTranslator, SelectorError
from lxml import etree

from scraper.extract.dom.xpath import Element, attribute_selector
from scraper.extract.page.css_visibility import find_background, hides_subtree, is_same_color, parse_declarations

_MAX_CSS = 64_000
"""Characters of the style sheets of a page. Rules that hide are at the top of inlined style sheets."""
_MAX_MARKS = 10_000
"""Braces and semicolons of a style sheet that are read."""
_MAX_DEPTH = 8
_MAX_PRELUDE = 4_000
"""Characters of a selector."""
_MAX_SELECTORS = 100
"""Selectors that are matched, in addition to single classes and ids."""
_MAX_COUNTING = 10
"""Selectors that are matched with a pseudo-class or siblings: the cost may be the square of the elements."""
_MAX_ELEMENTS = 3_000
"""Elements of a page for which selectors with a pseudo-class or siblings are matched."""
_MAX_ELEMENTS_TO_MATCH = 20_000
"""Elements of a page with which selectors are matched, except single classes and ids."""
_SCREEN_PX = 1_280

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING = re.compile(r'"[^"\n]*+"|' r"'[^'\n]*+'")
_MARK = re.compile(r"[{};]")
_NAME = re.compile(r"[.#]-?(?:[A-Za-z_]|[^\x00-\x7f]|\\.)(?:[\w-]|[^\x00-\x7f]|\\.)*+|\[\s*[\w-]++")
_SIMPLE = re.compile(r"[.#]-?(?:[A-Za-z_]|[^\x00-\x7f]|\\.)(?:[\w-]|[^\x00-\x7f]|\\.)*+")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_HIDES = re.compile(r"none|hidden|collapse|opacity|clip|scale|mask-|transparent|-\s*\d{3,}|\d{4}px|100vw")
_COLORS = re.compile(r"(?<![\w-])color\s*+:[^}]*background|background[^}]*[;\s{]color\s*+:")
_SHOWS = re.compile(
    r"(?<![\w-])(?:display|visibility|opacity|clip|clip-path|left|top|right|text-indent|position|transform|scale)\s*+:"
)
_VARIABLE = re.compile(r"var\(\s*+(--[\w-]++)\s*+(?:,\s*+([^()]*+))?\)")
_CUSTOM_PROPERTY = re.compile(r"(--[\w-]++)\s*+:\s*+([^;{}]*+)")
_WIDTH = re.compile(r"\(\s*+(min|max)-width\s*+:\s*+(\d++(?:\.\d++)?)(px|em|rem)\s*+\)")
_SKIPPED = ("@keyframes", "@-webkit-keyframes", "@font-face", "@page", "@property", "@counter-style", "@font-feature")
_CLOAK = re.compile(r"cloak")
"""Name of attributes that scripts remove when a page is ready."""
_CLASSED = attribute_selector("class")
_IDENTIFIED = attribute_selector("id")


class _Rule(NamedTuple):
    selector: str
    body: str
    applies: bool
    """False if it is not known whether the rule applies on a screen."""


def find_hidden_by_rules(root: Element, sheets: Iterable[str]) -> list[Element]:
    """Return the elements that a rule hides and that no other rule may show again."""
    css = "\n".join(sheets)[:_MAX_CSS]
    if not _HIDES.search(css) and not _COLORS.search(css):
        return []
    rules = list(_parse_rules(_clear_strings(_COMMENT.sub("", css))))
    variables = dict(_CUSTOM_PROPERTY.findall(css))
    selectors = _find_hiding_selectors(rules, variables)
    if not selectors:
        return []
    simple = {_unescape(one) for one in selectors if _SIMPLE.fullmatch(one)}
    named = [element for element in (*_CLASSED(root), *_IDENTIFIED(root)) if _has_name(element, simple)]
    others = [one for one in selectors if not _SIMPLE.fullmatch(one)]
    return [*named, *_match(root, others)] if others else named


def _find_hiding_selectors(rules: Iterable[_Rule], variables: dict[str, str]) -> list[str]:
    """Return the selectors that hide elements, except those with a name that another rule may make visible."""
    hiding: list[tuple[str, bool]] = []
    shown: set[str] = set()
    shown_for_sure: set[str] = set()
    for rule in rules:
        body = rule.body
        if "var(" in body:
            body = _VARIABLE.sub(lambda match: variables.get(match[1], match[2] or ""), body)
        is_important = "!important" in body
        may_hide = rule.applies and (_HIDES.search(body) or ("background" in body and "color:" in body))
        if may_hide and _hides(parse_declarations(body)):
            hiding += [(part, is_important) for part in _split_selectors(rule.selector)]
        elif _SHOWS.search(body):
            names = _NAME.findall(rule.selector)
            shown.update(names)
            if is_important:
                shown_for_sure.update(names)
    return [
        selector
        for selector, is_important in hiding
        if not _CLOAK.search(selector)
        and (shown_for_sure if is_important else shown).isdisjoint(_NAME.findall(selector))
    ]


def _hides(style: dict[str, str]) -> bool:
    if hides_subtree(style):
        return True
    background = find_background(style)
    return background is not None and is_same_color(style.get("color", ""), background)


def _parse_rules(css: str) -> Iterator[_Rule]:
    """Return all rules; the selector of a nested rule contains that of its parent."""
    stack: list[tuple[str, list[str], bool]] = []
    start = 0
    for mark in islice(_MARK.finditer(css), _MAX_MARKS):
        text = css[start : mark.start()].strip()
        start = mark.end()
        if mark.group() == "{":
            stack.append(_open(text, stack))
        elif stack:
            if text:
                stack[-1][1].append(text)
            if mark.group() == "}":
                selector, body, applies = stack.pop()
                if selector and body:
                    yield _Rule(selector, ";".join(body), applies)


def _open(prelude: str, stack: list[tuple[str, list[str], bool]]) -> tuple[str, list[str], bool]:
    """Return the selector, the declarations and the condition of a block that opens."""
    parent, _, applies = stack[-1] if stack else ("", [], True)
    if len(stack) >= _MAX_DEPTH or len(prelude) > _MAX_PRELUDE:
        return "", [], False
    if not prelude.startswith("@"):
        if not parent:
            return prelude, [], applies
        inner = prelude if "&" in prelude else f"& {prelude}"
        nested = inner.replace("&", f":is({parent})", 2)
        return nested if len(nested) <= _MAX_PRELUDE else "", [], applies
    if prelude.startswith(_SKIPPED):
        return "", [], False
    return parent, [], applies and _applies(prelude)


def _applies(condition: str) -> bool:
    """Return True if an at-rule surely applies on a screen."""
    name, _, rest = condition.lower().partition(" ")
    if name == "@layer":
        return True
    if name == "@supports":
        return "not" not in rest
    if name != "@media":
        return False
    known = _WIDTH.sub("", rest)
    widths = all(
        (float(size) * (1 if unit == "px" else 16) <= _SCREEN_PX) == (kind == "min")
        for kind, size, unit in _WIDTH.findall(rest)
    )
    return widths and not set(known.replace(",", " ").split()) - {"only", "screen", "all", "and"}


def _match(root: Element, selectors: list[str]) -> Iterator[Element]:
    """Return the elements below the body that any of the selectors matches."""
    page_names = {f".{name}" for element in _CLASSED(root) for name in (element.get("class") or "").split()}
    page_names |= {f"#{element.get('id')}" for element in _IDENTIFIED(root)}
    counted, size = 0, sum(1 for _ in root.iter())
    for selector in dict.fromkeys(selectors[:_MAX_SELECTORS] if size <= _MAX_ELEMENTS_TO_MATCH else ()):
        names = {_unescape(name) for name in _NAME.findall(selector) if name[0] != "["}
        if ":" in selector or "~" in selector:
            counted += 1
            # Each further step over siblings multiplies the cost by the number of elements.
            if size > _MAX_ELEMENTS or counted > _MAX_COUNTING or selector.count("~") > 1:
                continue
        elif not names <= page_names:
            continue
        path = _compile(selector)
        if path is not None:
            found = cast("list[Element]", path(root))
            yield from (element for element in found if element.tag not in ("html", "head", "body"))


@lru_cache(maxsize=256)
def _compile(selector: str) -> etree.XPath | None:
    try:
        return etree.XPath(HTMLTranslator().css_to_xpath(selector))
    except (SelectorError, etree.XPathError, RecursionError):
        return None


def _split_selectors(selectors: str) -> list[str]:
    """Split a list of selectors at its commas, except inside of brackets."""
    parts, depth = [""], 0
    for letter in selectors:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _clear_strings(css: str) -> str:
    """Return the style sheet with empty strings for those that contain braces or semicolons."""
    return _STRING.sub(lambda string: '""' if _MARK.search(string[0]) else string[0], css)


def _unescape(name: str) -> str:
    def character(escape: re.Match[str]) -> str:
        code = int(escape[1], 16) if escape[1] else ord(escape[2])
        return chr(code) if 0 < code <= 0x10FFFF else "\ufffd"

    return _ESCAPE.sub(character, name) if "\\" in name else name


def _has_name(element: Element, names: set[str]) -> bool:
    return f"#{element.get('id')}" in names or any(f".{one}" in names for one in (element.get("class") or "").split())

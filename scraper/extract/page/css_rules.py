"""Find the elements that the inline style sheets of a page hide, by their selectors.

A rule counts if it applies to a screen of 1,280 by 900 pixels. A class, id or attribute that another rule makes
visible does not count as hidden: a script may set the other state later. If a rule cannot be evaluated and may hide
text, the result says so, and only rendering can decide. Rules beyond `_MAX_CSS` are an exception: they are ignored.
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
"""Characters of the style sheets of a page that are read. Rules that hide are at the top of inlined style sheets.

Longer sheets are not doubtful: one in twenty-three ordinary pages has them, and all of those hide something."""
_MAX_MARKS = 10_000
"""Braces and semicolons of a style sheet that are read. None of 1,500 ordinary pages has more."""
_MAX_DEPTH = 8
_MAX_PRELUDE = 4_000
"""Characters of a selector that is evaluated."""
_MAX_SELECTORS = 100
"""Selectors that are matched, in addition to single classes and ids. Of doubtful ones, as many are checked."""
_MAX_COUNTING = 10
"""Selectors that are matched with a pseudo-class or general siblings (`~`).

The cost may be the square of the elements."""
_MAX_ELEMENTS = 3_000
"""Elements of a page for which selectors with a pseudo-class or general siblings (`~`) are matched."""
_MAX_ELEMENTS_TO_MATCH = 20_000
"""Elements of a page with which selectors are matched, except single classes and ids."""
_SCREEN_PX = {"width": 1_280, "height": 900}
_MAX_DOUBTFUL_ELEMENTS = 300
_MIN_DOUBTFUL_TEXT = 20
"""Characters of an element's text that a rule may hide."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING = re.compile(r'"[^"\n]*+"|' r"'[^'\n]*+'")
_MARK = re.compile(r"[{};]")
_LIST_COMMA = re.compile(r",(?![^()\[\]]*[)\]])")
"""Comma between selectors, outside brackets."""
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
_SIZE = re.compile(r"\(\s*+(min|max)-(width|height)\s*+:\s*+(\d++(?:\.\d++)?)(px|em|rem)\s*+\)")
_FEATURE = re.compile(r"\(\s*+([\w-]++)\s*+:\s*+([\w./-]++)\s*+\)")
_FEATURES = {
    "orientation": "landscape",
    "prefers-color-scheme": "light",
    "prefers-reduced-motion": "no-preference",
    "prefers-contrast": "no-preference",
    "forced-colors": "none",
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "scripting": "enabled",
    "display-mode": "browser",
}
"""Media features of the browser."""
_OTHER_MEDIA = re.compile(r"\b(?:print|speech|aural|braille|tty|tv|handheld|projection|embossed)\b")
_NEVER_STILL = re.compile(
    r"::|:(?:before|after|first-line|first-letter|hover|focus|active|visited|target|checked|disabled|enabled|empty"
    r"|placeholder|invalid|valid|user-|host|backdrop|-)"
)
"""Pseudo-elements, and states that text is not in until a person acts or a script runs."""
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\]]*\]")
_COMPOUND = re.compile(r"[^\s>+~]+$")
_SKIPPED = ("@keyframes", "@-webkit-keyframes", "@font-face", "@page", "@property", "@counter-style", "@font-feature")
_CLOAK = re.compile(r"cloak")
"""Name of attributes that scripts remove when a page is ready."""
_CLASSED = attribute_selector("class")
_IDENTIFIED = attribute_selector("id")


class _Rule(NamedTuple):
    selector: str
    body: str
    applies: bool | None
    """True or False if it is known whether the rule applies on a screen."""


class HiddenByRules(NamedTuple):
    """Elements that rules hide, and whether further rules may hide text."""

    elements: list[Element]
    is_doubtful: bool = False
    """True if a rule that cannot be evaluated may hide an element with text."""


def find_hidden_by_rules(root: Element, sheets: Iterable[str]) -> HiddenByRules:
    """Find the elements that a rule hides and that no other rule may show again."""
    css = "\n".join(sheets)[:_MAX_CSS]
    if not _HIDES.search(css) and not _COLORS.search(css):
        return HiddenByRules([])
    css = _clear_strings(_COMMENT.sub("", css))
    is_cut = next(islice(_MARK.finditer(css), _MAX_MARKS, None), None) is not None
    rules = list(_parse_rules(css))
    variables = dict(_CUSTOM_PROPERTY.findall(css))
    selectors, doubtful = _find_hiding_selectors(rules, variables)
    if not selectors and not doubtful:
        return HiddenByRules([], is_cut)
    simple = {_unescape(one) for one in selectors if _SIMPLE.fullmatch(one)}
    found = [element for element in (*_CLASSED(root), *_IDENTIFIED(root)) if _has_name(element, simple)]
    found += _match(root, [one for one in selectors if not _SIMPLE.fullmatch(one)], doubtful)
    return HiddenByRules(found, is_cut or _may_hide_text(root, doubtful, found))


def _find_hiding_selectors(rules: Iterable[_Rule], variables: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the selectors that hide, and those that may hide, without names that another rule may show again."""
    hiding: list[tuple[str, bool, bool | None]] = []
    shown: set[str] = set()
    shown_for_sure: set[str] = set()
    for rule in rules:
        body = rule.body
        if "var(" in body:
            body = _VARIABLE.sub(lambda match: variables.get(match[1], match[2] or ""), body)
        is_important = "!important" in body
        may_hide = rule.applies is not False and (_HIDES.search(body) or ("background" in body and "color:" in body))
        if may_hide and _hides(parse_declarations(body)):
            parts = _split_selectors(rule.selector)
            hiding += [(part[-_MAX_PRELUDE:], is_important, rule.applies) for part in parts]
        elif _SHOWS.search(body):
            names = _NAME.findall(rule.selector)
            shown.update(names)
            if is_important:
                shown_for_sure.update(names)
    left = [
        (selector, applies)
        for selector, is_important, applies in hiding
        if not _CLOAK.search(selector)
        and (shown_for_sure if is_important else shown).isdisjoint(_NAME.findall(selector))
    ]
    return [one for one, applies in left if applies], [one for one, applies in left if not applies]


def _hides(style: dict[str, str]) -> bool:
    if hides_subtree(style):
        return True
    background = find_background(style)
    return background is not None and is_same_color(style.get("color", ""), background)


def _parse_rules(css: str) -> Iterator[_Rule]:
    """Yield all rules; the selector of a nested rule contains that of its parent."""
    stack: list[tuple[str, list[str], bool | None]] = []
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


def _open(prelude: str, stack: list[tuple[str, list[str], bool | None]]) -> tuple[str, list[str], bool | None]:
    """Return the selector, the declarations and the condition of a block that opens."""
    parent, _, applies = stack[-1] if stack else ("", [], True)
    if prelude.startswith(_SKIPPED):
        return "", [], False
    if len(stack) >= _MAX_DEPTH or len(prelude) > _MAX_PRELUDE:
        return parent if prelude.startswith("@") else prelude, [], applies and None
    if not prelude.startswith("@"):
        if not parent:
            return prelude, [], applies
        inner = ",".join(part if "&" in part else f"& {part}" for part in _LIST_COMMA.split(prelude))
        if inner.count("&") * len(parent) + len(inner) > _MAX_PRELUDE:
            return prelude, [], applies and None
        return inner.replace("&", f":is({parent})"), [], applies
    inner_applies = _applies(prelude)
    return parent, [], False if applies is False or inner_applies is False else applies and inner_applies


def _applies(condition: str) -> bool | None:
    """Return True if an at-rule applies on a screen, None if that is not known, else False."""
    name, _, rest = condition.lower().partition(" ")
    if name == "@layer":
        return True
    if name == "@supports":
        return "not" not in rest
    if name != "@media":
        return None if name in ("@container", "@scope") else False
    answers = [_applies_to_screen(query) for query in rest.split(",")]
    return True if True in answers else None if None in answers else False


def _applies_to_screen(query: str) -> bool | None:
    """Return True if a media query applies, None if it has an unknown part, else False."""
    rest = _FEATURE.sub("", _SIZE.sub("", query))
    is_other = _OTHER_MEDIA.search(rest) is not None
    if "not" in rest.split():
        return is_other or None
    sizes = all(
        (float(size) * (1 if unit == "px" else 16) <= _SCREEN_PX[side]) == (kind == "min")
        for kind, side, size, unit in _SIZE.findall(query)
    )
    features = [(name, value) for name, value in _FEATURE.findall(_SIZE.sub("", query))]
    if is_other or not sizes or any(_FEATURES.get(name, value) != value for name, value in features):
        return False
    is_known = not set(rest.split()) - {"only", "screen", "all", "and"} and all(
        name in _FEATURES for name, _ in features
    )
    return True if is_known else None


def _may_hide_text(root: Element, selectors: Iterable[str], hidden: list[Element]) -> bool:
    """Return True if one of the selectors, which were not evaluated, may match an element with text.

    The text of descendants counts as well.
    """
    known, left = set(hidden), _MAX_DOUBTFUL_ELEMENTS
    for selector in dict.fromkeys(islice(selectors, _MAX_SELECTORS)):
        if _NEVER_STILL.search(selector):
            continue
        outline = _BRACKETED.sub("", _BRACKETED.sub("", selector))
        last = _COMPOUND.search(outline)
        names = {_unescape(name) for name in _SIMPLE.findall(last[0])} if last else set()
        tag = re.match(r"[a-z][\w-]*", last[0]) if last else None
        if not names and tag is None:
            continue
        candidates = [*_CLASSED(root), *_IDENTIFIED(root)] if names else root.iter(tag[0] if tag else None)
        for element in candidates:
            if names and not all(_has_name(element, {name}) for name in names):
                continue
            if element in known or element.tag in _NOT_TEXT:
                continue
            left -= 1
            if left < 0 or _has_text(element):
                return True
    return False


_NOT_TEXT = ("html", "head", "body", "script", "style", "template", "noscript", "svg")


def _has_text(element: Element) -> bool:
    return sum(len(text.strip()) for text in islice(element.itertext(), _MIN_DOUBTFUL_TEXT)) >= _MIN_DOUBTFUL_TEXT


def _match(root: Element, selectors: list[str], doubtful: list[str]) -> Iterator[Element]:
    """Yield the elements below the body that any of the selectors matches; add those not evaluated to `doubtful`."""
    if not selectors:
        return
    page_names = {f".{name}" for element in _CLASSED(root) for name in (element.get("class") or "").split()}
    page_names |= {f"#{element.get('id')}" for element in _IDENTIFIED(root)}
    counted, size = 0, sum(1 for _ in root.iter())
    evaluated = selectors[:_MAX_SELECTORS] if size <= _MAX_ELEMENTS_TO_MATCH else []
    doubtful += selectors[len(evaluated) :]
    for selector in dict.fromkeys(evaluated):
        names = {_unescape(name) for name in _NAME.findall(selector) if name[0] != "["}
        if ":" in selector or "~" in selector:
            counted += 1
            # Each further step over siblings multiplies the cost by the number of elements.
            if size > _MAX_ELEMENTS or counted > _MAX_COUNTING or selector.count("~") > 1:
                doubtful.append(selector)
                continue
        elif not names <= page_names:
            continue
        path = _compile(selector)
        if path is not None:
            found = cast("list[Element]", path(root))
            yield from (element for element in found if element.tag not in ("html", "head", "body"))
        else:
            doubtful.append(selector)


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

"""Find text in the color of its background, as the rules of inline style sheets set both."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from lxml import etree

from scraper.html.dom.xpath import Element
from scraper.html.page.css_visibility import Color, find_background, is_same_color, parse_declarations
from scraper.html.page.selector_names import DYNAMIC_PSEUDO, last_names, split_selectors, unescape
from scraper.html.page.style_sheets import Rule

MIN_DOUBTFUL_TEXT = 20
"""Characters of an element's text that a rule may hide."""
_INLINE = frozenset("a abbr b bdi bdo cite code em font i kbd mark q s small span strong sub sup u var".split())
_MAX_RULES = 500
_MAX_CHECKED = 300
"""Elements whose background is looked for."""
_BACKGROUNDS = ("background", "background-color", "background-image")
_NO_BACKGROUND = re.compile(r"background(?:-color|-image)?:(?:none|transparent|inherit|initial|unset|0 0)")
_UNCHECKED = ("html", "head", "title", "script", "style", "template", "noscript", "option")
_WHITE: Color = (255, 255, 255, 1)

_Styles = dict[str, list[tuple[set[str], str]]]
"""Values of `color` or `background` by one of the names of the elements that a rule selects."""


def has_text_in_background_color(root: Element, rules: Iterable[Rule]) -> bool:
    """Return True if text has the color of the nearest background, as far as rules are evaluated by names only.

    Every rule that may match counts, so that a color of another rule makes the text visible.
    """
    colors, backgrounds = _collect(rules)
    left = _MAX_CHECKED
    for element in root.iter(etree.Element) if colors else ():
        style = element.get("style") or ""
        own = [] if "color" in style or element.tag in _UNCHECKED else _find_values(element, colors)
        if not own or not has_own_text(element):
            continue
        left -= 1
        if left < 0:
            return False
        behind = _find_background(element, backgrounds)
        if behind and all(is_same_color(color, background) for color in own for background in behind):
            return True
    return False


def _collect(rules: Iterable[Rule]) -> tuple[_Styles, _Styles]:
    """Return the text colors and the backgrounds that rules set."""
    colors: _Styles = {}
    backgrounds: _Styles = {}
    for rule in islice(rules, _MAX_RULES):
        if rule.applies is False or not ("color" in rule.body or "background" in rule.body):
            continue
        style = parse_declarations(rule.body)
        color = style.get("-webkit-text-fill-color") or style.get("color", "")
        background = ";".join(f"{name}:{style[name]}" for name in _BACKGROUNDS if name in style)
        for part in split_selectors(rule.selector):
            if DYNAMIC_PSEUDO.search(part):
                continue
            names = {unescape(name) for name in last_names(part, with_tag=True) if name[0] != "["} or {"*"}
            for values, value in ((colors, color), (backgrounds, background)):
                if value and value != "inherit":
                    values.setdefault(min(names), []).append((names, value))
    return colors, backgrounds


def _find_values(element: Element, styles: _Styles) -> list[str]:
    """Return the values of the rules that may match an element."""
    own = {"*", element.tag, f"#{element.get('id')}", *(f".{one}" for one in (element.get("class") or "").split())}
    return [value for name in own for names, value in styles.get(name, ()) if names <= own]


def _find_background(element: Element, backgrounds: _Styles) -> list[Color]:
    """Return the colors that may be behind an element, or none if one is a picture or not known."""
    for around in (element, *element.iterancestors()):
        values = _find_values(around, backgrounds)
        values += [around.get("style") or ""] * ("background" in (around.get("style") or ""))
        values += [f"background:{around.get('bgcolor')}"] * (around.get("bgcolor") is not None)
        values = [value for value in values if not _NO_BACKGROUND.fullmatch(value)]
        if values:
            found = [
                find_background(parse_declarations(value)) for value in values if "(" not in value or "rgb" in value
            ]
            return [color for color in found if color] if None not in found and len(found) == len(values) else []
    return [_WHITE]


def has_own_text(element: Element) -> bool:
    """Return True if an element has text outside of descendants to which rules may apply."""
    length, stack = len((element.text or "").strip()), list(element)
    while stack and length < MIN_DOUBTFUL_TEXT:
        child = stack.pop()
        length += len((child.tail or "").strip())
        if child.tag in _INLINE and {"class", "id", "style"}.isdisjoint(child.keys()):
            length += len((child.text or "").strip())
            stack += child
    return length >= MIN_DOUBTFUL_TEXT

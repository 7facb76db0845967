"""Find the elements that the inline style sheets of a page hide, by their selectors.

A rule counts if it applies to a screen of 1,280 by 900 pixels. A class, id or attribute that another rule makes
visible does not count as hidden: a script may set the other state later. If a rule cannot be evaluated and may hide
text, the result says so, and only rendering can decide. So it is for rules that descendants often undo: the size and
the color of text. Rules beyond `MAX_CSS` are ignored.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice, product
from typing import NamedTuple, cast

from cssselect import HTMLTranslator, SelectorError
from lxml import etree

from scraper.html.dom.parsing import Element
from scraper.html.page import style_sheets
from scraper.html.page.css_visibility import (
    IMPORTANT,
    Color,
    find_background,
    hides_own_text,
    hides_subtree,
    is_faint,
    is_same_color,
    is_too_small,
    parse_declarations,
)
from scraper.html.page.style_sheets import DYNAMIC_PSEUDO, MAX_PRELUDE, NAME, SIMPLE_NAME, Rule
from scraper.values.text import read_table

MAX_CSS = 64_000
"""Characters of the style sheets of a page that are read. Rules that hide are at the top of inlined style sheets.

Longer sheets are not doubtful: one in twenty-three ordinary pages has them, and all of those hide something."""
_MAX_SELECTORS = 100
"""Selectors that are matched, in addition to single classes and ids. Of doubtful ones, as many are checked."""
_MAX_COUNTING = 10
"""Selectors that are matched with a pseudo-class or general siblings (`~`).

The cost may be the square of the elements."""
_MAX_ELEMENTS = 3_000
"""Elements of a page for which selectors with a pseudo-class or general siblings (`~`) are matched."""
_MAX_ELEMENTS_TO_MATCH = 20_000
"""Elements of a page with which selectors are matched, except single classes and ids."""
_MAX_DOUBTFUL_ELEMENTS = 300
# For lower case, each alternative with a first letter: a search takes a quarter of the time of one with `IGNORECASE`.
_TABLE = read_table(__package__, "css.toml")
_HIDES = re.compile(
    r"none|hidden|collapse|opacity|clip|scale|mask-|transparent|-\s*\d{3,}|100vw|strict|content\s*+:\s*+url"
    r"|0\d\d\dpx|1\d\d\dpx|2\d\d\dpx|3\d\d\dpx|4\d\d\dpx|5\d\d\dpx|6\d\d\dpx|7\d\d\dpx|8\d\d\dpx|9\d\d\dpx"
    r"|rotate[^;]*[29][07]0?deg|skew[^;]*[29][07]0?deg|matrix\(|zoom|letter-spacing"
)
_COLORS = re.compile(r"(?<![\w-])color\s*+:[^}]*background|background[^}]*[;\s{]color\s*+:")
_MAY_HIDE = re.compile(
    r"font(?:-size)?\s*+:[^;]*(?<![\d.])(?:0|[1-3]px|\.\d+(?:px|em)|calc)|color\s*+:|animation|var\(|if\("
)
_SHOWING_PROPERTIES: dict[str, list[str]] = _TABLE["showing_properties"]
"""By what hides text: the properties of another rule that may show it again."""
_MAX_VARIABLES = 5
_VARIABLE = re.compile(r"var\(\s*+(--[\w-]++)\s*+(?:,\s*+([^()]*+))?\)")
_CUSTOM_PROPERTY = re.compile(r"(--[\w-]++)\s*+:\s*+([^;{}]*+)")
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\]]*\]")
_COMPOUND = re.compile(r"[^\s>+~]+$")


class HiddenByRules(NamedTuple):
    """Elements that rules hide, and whether further rules may hide text."""

    elements: list[Element]
    is_doubtful: bool = False
    """True if a rule that cannot be evaluated may hide an element with text."""


def find_hidden_by_rules(root: Element, sheets: Iterable[str], *, are_all_colors_known: bool = False) -> HiddenByRules:
    """Find the elements that a rule hides and that no other rule may show again.

    With `are_all_colors_known`, no external style sheet may set another background.
    """
    css = "\n}}\n".join(sheets)[:MAX_CSS]  # an unfinished rule ends with its sheet
    lowered = css.lower()
    if "\\" not in css and not any(pattern.search(lowered) for pattern in (_HIDES, _COLORS, _MAY_HIDE)):
        return HiddenByRules([])
    css = style_sheets.clear_comments(css)
    is_cut = sum(map(css.count, "{};")) > style_sheets.MAX_MARKS
    rules = list(style_sheets.parse_rules(css))
    found = _find_hiding_selectors(rules, dict(_CUSTOM_PROPERTY.findall(css)))
    by_name = _group_by_name(root.iter("*") if any(found) else ())
    simple = [style_sheets.unescape(one) for one in found.hiding if SIMPLE_NAME.fullmatch(one)]
    hidden = {element for name in simple for element in by_name.get(name, ())}
    elements = [element for element in root.iter("*") if element in hidden] if hidden else []
    doubtful = list(found.doubtful)
    elements += _match(root, by_name, [one for one in found.hiding if not SIMPLE_NAME.fullmatch(one)], doubtful)
    is_doubtful = (
        is_cut
        or _may_hide_text(root, by_name, doubtful, elements, _has_text)
        or _may_hide_text(root, by_name, found.own_text, elements, has_own_text)
        or (are_all_colors_known and has_text_in_background_color(root, rules))
    )
    return HiddenByRules(elements, is_doubtful)


_Named = defaultdict[str, list[Element]]
"""Elements with each class and id, such as `.note` and `#top`, in document order."""


def _group_by_name(elements: Iterable[Element]) -> _Named:
    by_name: _Named = defaultdict(list)
    for element in elements:
        if (identity := element.get("id")) is not None:
            by_name[f"#{identity}"].append(element)
        for name in set((element.get("class") or "").split()):
            by_name[f".{name}"].append(element)
    return by_name


class _Selectors(NamedTuple):
    hiding: list[str]
    doubtful: list[str]
    """Selectors of rules that may hide all of an element, or that may apply."""
    own_text: list[str]
    """Selectors of rules that hide the text of an element, but not of descendants with rules of their own."""


class _HidingRule(NamedTuple):
    """Selector of a rule that hides, the causes, whether it is important and applies, and its place among all rules."""

    selector: str
    causes: tuple[str, ...]
    is_important: bool
    applies: bool | None
    place: int


def _find_hiding_selectors(rules: Iterable[Rule], variables: dict[str, str]) -> _Selectors:
    hiding: list[_HidingRule] = []
    shown: _Shown = defaultdict(dict)
    vanishing: set[str] = set()
    for place, rule in enumerate(rules):
        body = _insert_variables(rule.body, variables)
        if rule.selector.startswith("@"):
            name, _, frame = rule.selector.removeprefix("@").partition(" ")
            if ("to" in frame or "100%" in frame) and hides_subtree(parse_declarations(body)):
                vanishing.add(name)
            continue
        if rule.applies is False:
            continue
        causes = _find_causes(body, vanishing)
        is_important = "!" in body and IMPORTANT.search(body) is not None
        parts = style_sheets.split_selectors(rule.selector)
        if causes:
            applies = rule.applies and None if causes[0] == "motion" else rule.applies
            hiding += [_HidingRule(part[-MAX_PRELUDE:], causes, is_important, applies, place) for part in parts]
        shows = _find_shown(body).difference(cause.partition(" ")[0] for cause in causes[:1])
        if shows:
            usual = [part for part in parts if ":hover" not in part and ":active" not in part]
            for part, key in product(usual, product(shows, {False, is_important})):
                names = frozenset(style_sheets.last_names(part))
                for name in style_sheets.last_names(part, with_tag=True):
                    shown[(*key, name)][names] = part, place
    return _without_shown(hiding, shown)


def _insert_variables(body: str, variables: dict[str, str]) -> str:
    """Return the declarations of a rule without escapes, with the values of variables."""
    body = style_sheets.unescape(body) if "\\" in body else body
    for _ in range(_MAX_VARIABLES):
        if "var(" not in body or len(body) > MAX_PRELUDE:
            break
        body = _VARIABLE.sub(lambda match: variables.get(match[1], match[2] or "var(-)"), body)
    return body


def _find_shown(body: str) -> set[str]:
    """Return the keys of `_SHOWING_PROPERTIES` that have a property in the declarations."""
    declared = {declaration.partition(":")[0].strip().lower() for declaration in body.split(";")}
    return {key for key, properties in _SHOWING_PROPERTIES.items() if not declared.isdisjoint(properties)}


_Shown = defaultdict[tuple[str, bool, str], dict[frozenset[str], tuple[str, int]]]
"""Rules that may show an element: by cause, importance and a name, their names with their last selector and place."""


def _without_shown(hiding: Iterable[_HidingRule], shown: _Shown) -> _Selectors:
    found = _Selectors([], [], [])
    for selector, causes, is_important, applies, place in hiding:
        names = style_sheets.last_names(selector)
        cause, _, is_own = causes[0].partition(" ")
        is_shown, *in_part = (
            any(
                (len(names) == 1 or others <= names or names <= others) and not (last == selector and at < place)
                for name in names
                for others, (last, at) in shown.get((one, is_important, name), {}).items()
            )
            for one in (cause, *causes[1:])
        )
        if "cloak" in selector or is_shown:  # scripts remove a cloak when a page is ready
            continue
        # A script that sets one of several properties may set all of them.
        is_sure = applies and not any(in_part)
        (found.own_text if is_own else found.hiding if is_sure else found.doubtful).append(selector)
    return found


def _find_causes(body: str, vanishing: set[str]) -> tuple[str, ...]:
    """Return what hides an element with these declarations: the main cause, and others that may."""
    lowered = body.lower()
    style = parse_declarations(body) if _HIDES.search(lowered) or _MAY_HIDE.search(lowered) else {}
    cause = _find_cause(style, vanishing)
    return (cause, *(one for one in ("visibility", "opacity") if one in style and one != cause)) if cause else ()


def _find_cause(style: dict[str, str], vanishing: set[str]) -> str:
    """Return what hides an element with these declarations, or an empty text.

    `... own` hides only the text of the element. `motion` is an animation or a value that is not known.
    """
    if hides_subtree(style):
        if style.get("display") == "none":
            return "display"
        if style.get("visibility") in ("hidden", "collapse"):
            return "visibility"
        return "opacity" if is_faint(style) else "place"
    background = find_background(style)
    if background is not None and is_same_color(style.get("color", ""), background):
        return "color"
    if hides_own_text(style):
        return "font-size own" if is_too_small(style) else "color own"
    animation = f"{style.get('animation', '')} {style.get('animation-name', '')}".replace(",", " ").split()
    is_unknown = any(
        "var(" in style.get(name, "") or "if(" in style.get(name, "") for name in ("display", "visibility", "opacity")
    )
    return "motion" if is_unknown or not vanishing.isdisjoint(animation) else ""


def _may_hide_text(
    root: Element, by_name: _Named, selectors: Iterable[str], hidden: list[Element], has_text: Callable[[Element], bool]
) -> bool:
    """Return True if one of the selectors, which were not evaluated, may match an element with text."""
    known, left = set(hidden), _MAX_DOUBTFUL_ELEMENTS
    for selector in dict.fromkeys(islice(selectors, _MAX_SELECTORS)):
        if DYNAMIC_PSEUDO.search(selector):
            continue
        outline = _BRACKETED.sub("", _BRACKETED.sub("", selector))
        last = _COMPOUND.search(outline)
        names = {style_sheets.unescape(name) for name in SIMPLE_NAME.findall(last[0])} if last else set()
        tag = re.match(r"[a-z][\w-]*", last[0]) if last else None
        if not names and tag is None and not selector.startswith((":is(", ":where(")):
            continue
        lists = [by_name.get(name, []) for name in names]
        matching = set(lists[0]).intersection(*lists[1:]) if names else set()
        for element in lists[0] if names else root.iter(tag[0] if tag else None):
            if element in known or element.tag in _NOT_TEXT or (names and element not in matching):
                continue
            left -= 1
            if left < 0 or has_text(element):
                return True
    return False


_NOT_TEXT = ("html", "head", "body", "script", "style", "template", "noscript", "svg")


def _has_text(element: Element) -> bool:
    return sum(len(text.strip()) for text in islice(element.itertext(), MIN_DOUBTFUL_TEXT)) >= MIN_DOUBTFUL_TEXT


def _match(root: Element, by_name: _Named, selectors: list[str], doubtful: list[str]) -> Iterator[Element]:
    """Yield the elements below the body that any of the selectors matches; add those not evaluated to `doubtful`."""
    if not selectors:
        return
    counted, size = 0, sum(1 for _ in root.iter())
    evaluated = selectors[:_MAX_SELECTORS] if size <= _MAX_ELEMENTS_TO_MATCH else []
    doubtful += selectors[len(evaluated) :]
    for selector in dict.fromkeys(evaluated):
        names = {style_sheets.unescape(name) for name in NAME.findall(selector) if name[0] != "["}
        if ":" in selector or "~" in selector:
            counted += 1
            # Each further step over siblings multiplies the cost by the number of elements.
            if size > _MAX_ELEMENTS or counted > _MAX_COUNTING or selector.count("~") > 1:
                doubtful.append(selector)
                continue
        elif not names <= by_name.keys():
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


MIN_DOUBTFUL_TEXT = 20
"""Characters of an element's text that a rule may hide."""
_INLINE = frozenset("a abbr b bdi bdo cite code em font i kbd mark q s small span strong sub sup u var".split())
_MAX_RULES = 500
_MAX_CHECKED = 300
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
    colors: _Styles = {}
    backgrounds: _Styles = {}
    for rule in islice(rules, _MAX_RULES):
        if rule.applies is False or not ("color" in rule.body or "background" in rule.body):
            continue
        style = parse_declarations(rule.body)
        color = style.get("-webkit-text-fill-color") or style.get("color", "")
        background = ";".join(f"{name}:{style[name]}" for name in _BACKGROUNDS if name in style)
        for part in style_sheets.split_selectors(rule.selector):
            if DYNAMIC_PSEUDO.search(part):
                continue
            names = {
                style_sheets.unescape(name) for name in style_sheets.last_names(part, with_tag=True) if name[0] != "["
            } or {"*"}
            for values, value in ((colors, color), (backgrounds, background)):
                if value and value != "inherit":
                    values.setdefault(min(names), []).append((names, value))
    return colors, backgrounds


def _find_values(element: Element, styles: _Styles) -> list[str]:
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

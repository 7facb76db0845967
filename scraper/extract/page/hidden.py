"""Remove hidden elements from a tree, but keep content that a click reveals.

Hidden text is noise at best and prompt injection at worst. Tabs, accordions and "read more" parts are content: of
1,358 saved pages with gold texts, one in eight has gold there. Without them the best possible score of block selection
falls from .977 to .957.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import islice

from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, attribute_selector, text_of
from scraper.extract.page.css_visibility import (
    Color,
    find_background,
    find_hidden_selectors,
    hides_text,
    is_same_color,
    parse_color,
    parse_declarations,
)

_MARKED = attribute_selector("data-x-hidden")
_STYLED = attribute_selector("style")
_HIDDEN = attribute_selector("hidden")
_POPOVERS = attribute_selector("popover")
_CLASSED = attribute_selector("class")
_IDENTIFIED = attribute_selector("id")
_MAX_STYLES = 10_000
"""Different inline styles that are parsed, at some 30 us each; a page with more is hostile or a spreadsheet.
"""

_WHITE: Color = (255, 255, 255, 1)


def remove_marked(root: Element) -> int:
    """Remove the elements that the browser marked as hidden. Return the number of those with text."""
    return _remove_all(mark_collapsed(_MARKED(root), wrappers=False))


def remove_styled(root: Element) -> int:
    """Remove what attributes, inline styles and simple rules hide. Return the number of elements with text.

    The body itself stays: a page that hides it shows it again by script.
    """
    sheets = [
        sheet
        for sheet in root.iter("style", "link")
        if sheet.tag == "style" or "stylesheet" in (sheet.get("rel") or "")
    ]
    checker = _StyleChecker(plain=not sheets)
    candidates = [*_STYLED(root), *_HIDDEN(root), *_POPOVERS(root), *root.iter("font", "dialog")]
    hidden = [element for element in candidates if checker.hides(element)]
    names = find_hidden_selectors(sheet.text or "" for sheet in sheets if sheet.tag == "style")
    if names:
        named = [*_CLASSED(root), *_IDENTIFIED(root)]
        hidden += [element for element in named if _matches_selector(element, names)]
    return _remove_all(mark_collapsed(hidden, wrappers=True))


def _remove_all(hidden: list[Element]) -> int:
    with_text = 0
    removed: set[Element] = set()
    for element in hidden:
        if element not in removed and removed.isdisjoint(element.iterancestors()):
            with_text += bool(text_of(element).strip())
            remove(element)
            removed.add(element)
    return with_text


def _matches_selector(element: Element, names: frozenset[str]) -> bool:
    if f"#{element.get('id')}" in names:
        return True
    classes = element.get("class")
    return classes is not None and any(f".{name}" in names for name in classes.split())


def _is_hidden_by_attribute(element: Element) -> bool:
    """Return True if an attribute or its absence hides an element, without any style."""
    closed_dialog = element.tag == "dialog" and element.get("open") is None
    return closed_dialog or element.get("hidden") is not None or element.get("popover") is not None


class _StyleChecker:
    """Checks the elements of one page, and parses equal styles once."""

    def __init__(self, *, plain: bool) -> None:
        self._plain = plain
        self._read: dict[str, tuple[dict[str, str], bool]] = {}

    def hides(self, element: Element) -> bool:
        if element.tag in ("html", "body"):
            return False
        style, concealed = self._style(element.get("style") or "")
        if concealed:
            return True
        if _is_hidden_by_attribute(element):
            return "display" not in style
        colour = (
            style.get("-webkit-text-fill-color")
            or style.get("color")
            or (element.get("color", "").lower() if element.tag == "font" else "")
        )
        return bool(colour) and self._is_background(element, colour)

    def _style(self, text: str) -> tuple[dict[str, str], bool]:
        known = self._read.get(text)
        if known is None and len(self._read) > _MAX_STYLES:
            return {}, False
        if known is None:
            style = parse_declarations(text)
            known = self._read[text] = (style, hides_text(style))
        return known

    def _is_background(self, element: Element, colour: str) -> bool:
        """Return True if the text color equals the nearest background, or white without a style sheet."""
        around: Element | None = element
        while around is not None:
            style, attribute = around.get("style"), around.get("bgcolor")
            if style or attribute:
                background = find_background(self._style(style or "")[0]) or parse_color(attribute or "")
                if background:
                    return is_same_color(colour, background)
                if style and "background" in style:
                    return False
            around = around.getparent()
        return self._plain and is_same_color(colour, _WHITE)


COLLAPSED_ATTRIBUTE = "data-x-folded"
"""Attribute of an element that is hidden but stays in the tree."""

_COLLAPSIBLE_NAME = re.compile(
    r"(?<![a-z])(?:tab|tabs|tab-?pane|tab-?panel|tab-?content|tabbed|accordion|collaps(?:e|ed|ible)|toggle|"
    r"expand(?:er|able|ed)?|disclosure|read-?more|show-?more|more-?text|foldable|spoiler)(?![a-z])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_OVERLAYS = re.compile(
    r"menu|nav(?![a-z])|navbar|modal|popup|pop-up|dialog|lightbox|overlay|drawer|off-?canvas|cookie|consent|search"
    r"|login|sign-?in|cart|tooltip|dropdown|toast",
    re.IGNORECASE,
)
_OVERLAY_ROLES = frozenset("dialog alertdialog menu menubar navigation search listbox tooltip status alert".split())
_PANEL_ROLES = frozenset({"tabpanel", "region"})
_STREAMED = re.compile(r"S:[0-9a-f]+\Z")
"""React sends late parts of a page hidden under these ids, and a script inserts them."""

_CONTROLS = (
    (attribute_selector("aria-controls"), "aria-controls"),
    (attribute_selector("data-target"), "data-target"),
    (attribute_selector("data-bs-target"), "data-bs-target"),
)
_UNREADABLE_TAGS = ("script", "style", "noscript", "template")
_MIN_TEXT = 80
"""Characters. A hidden word or line without a tab or title is not a collapsible part."""

_TABS = ("li", "a", "button", "div", "span", "label")
_MIN_TABS = 2
_MAX_TABS = 100
_MAX_CLIMB = 3
_PAGE_FURNITURE = frozenset({"nav", "header", "footer", "form"})

_ASCII = bytes(range(128))
_WHITE_OR_CONTINUATION = b" \t\n\v\f\r\x1c\x1d\x1e\x1f" + bytes(range(0x80, 0xC0))
"""ASCII white space, and all UTF-8 bytes but the first one of a character."""
_NON_ASCII_WHITE = re.compile(b"\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80")
"""White space outside of ASCII, as `str.split` defines it, in UTF-8."""

_WRAPPER_SHARE = 2 / 3
"""Share. An element with more of the page's text is hidden only until its scripts have run."""


def mark_collapsed(hidden: Iterable[Element], *, wrappers: bool) -> list[Element]:
    """Mark the hidden elements that a click reveals. Return the other ones.

    With `wrappers`, an element with most of the page's text counts as visible, as in a page whose scripts have not
    run.
    """
    listed = list(hidden)
    candidates: list[Element] = []
    short: list[Element] = []
    for element in listed:
        length = 0 if _is_overlay(element) else len(text_of(element).strip())
        if length:
            (candidates if length >= _MIN_TEXT else short).append(element)
    visible = _find_opened_texts(short) | _find_collapsed_passages(candidates, wrappers=wrappers)
    return [element for element in listed if element not in visible]


def _find_collapsed_passages(candidates: list[Element], *, wrappers: bool) -> set[Element]:
    """Return the passages to keep.

    These are collapsible ones, which are marked, and with `wrappers` elements with most of the text of the page, which
    are not marked.
    """
    visible: set[Element] = set()
    if not candidates:
        return visible
    controlled = cache(lambda: _find_referenced_ids(candidates[0].getroottree().getroot()))
    whole = -1
    for element in candidates:
        if _is_panel(element, controlled):
            element.set(COLLAPSED_ATTRIBUTE, "")
            visible.add(element)
            continue
        if wrappers and whole < 0:
            whole = _count_readable_characters(element.getroottree().getroot())
        if wrappers and _count_readable_characters(element) > _WRAPPER_SHARE * whole:
            visible.add(element)
    return visible


def _find_opened_texts(short: list[Element]) -> set[Element]:
    """Return the short texts that a tab or title opens, and mark them."""
    named = [element for element in short if element.get("id")]
    opened = _find_controlled_ids(named[0].getroottree().getroot()) if named else frozenset[str]()
    has_tabs = cache(partial(_has_tabs, tabs_in=cache(_tabs_in)))
    visible = {
        element
        for element in short
        if element.get("id") in opened or (element.get("role") == "tabpanel" and has_tabs(element.getparent()))
    }
    visible = {element for element in visible if not _is_in_menu(element)}
    for element in visible:
        element.set(COLLAPSED_ATTRIBUTE, "")
    return visible


def _find_controlled_ids(root: Element) -> frozenset[str]:
    """Return the ids that tabs and expandable buttons control by ARIA's rules."""
    controls, name = _CONTROLS[0]
    return frozenset(
        word
        for control in controls(root)
        if control.get("role") == "tab" or control.get("aria-expanded") is not None
        for word in (control.get(name) or "").split()
    )


def _has_tabs(panels_in: Element | None, *, tabs_in: Callable[[Element], int]) -> bool:
    """Return True if the element holds at least two tab panels with equally many tabs near it.

    The nearest of the element and two ancestors with tabs counts.
    """
    if panels_in is None:
        return False
    panels = sum(one.get("role") == "tabpanel" for one in islice(panels_in, _MAX_TABS))
    around: Element | None = panels_in
    for _ in range(_MAX_CLIMB):
        if around is None or panels < _MIN_TABS:
            return False
        tabs = tabs_in(around)
        if tabs:
            return tabs == panels
        around = around.getparent()
    return False


def _tabs_in(around: Element) -> int:
    return sum(one.get("role") == "tab" for one in islice(around.iterdescendants(*_TABS), _MAX_TABS))


def _is_in_menu(element: Element) -> bool:
    if _OVERLAYS.search(f"{element.get('class') or ''} {element.get('id') or ''}"):
        return True
    if any(around.tag in _PAGE_FURNITURE or around.get("role") in _OVERLAY_ROLES for around in element.iterancestors()):
        return True
    linked = sum(_count_non_white(link) for link in element.iter("a"))
    return 2 * linked > _count_non_white(element)


def _is_overlay(element: Element) -> bool:
    if element.get("aria-modal") or element.tag in ("dialog", "nav"):
        return True
    return element.get("role") in _OVERLAY_ROLES


def _is_panel(element: Element, controlled: Callable[[], frozenset[str]]) -> bool:
    name = element.get("id") or ""
    if _STREAMED.match(name):
        return True
    names = f"{element.get('class') or ''} {name}"
    if _OVERLAYS.search(names):
        return False
    if element.get("role") in _PANEL_ROLES or element.get("aria-labelledby"):
        return True
    return _COLLAPSIBLE_NAME.search(_CAMEL.sub("-", names)) is not None or (bool(name) and name in controlled())


def _find_referenced_ids(root: Element) -> frozenset[str]:
    """Return the ids that buttons and links of the page open."""
    ids: set[str] = set()
    for having_it, name in _CONTROLS:
        for element in having_it(root):
            ids.update((element.get(name) or "").replace("#", " ").split())
    for link in root.iter("a"):
        address = link.get("href")
        if address and address[0] == "#":
            ids.add(address[1:])
    return frozenset(ids - {""})


def _count_readable_characters(element: Element) -> int:
    """Return the number of characters without white space, scripts and styles."""
    unread = sum(_count_non_white(part) for part in element.iter(*_UNREADABLE_TAGS))
    return _count_non_white(element) - unread


def _count_non_white(element: Element) -> int:
    """Return the number of characters that are not white space.

    Counting bytes takes a tenth of the time of splitting into words.
    """
    text = text_of(element)
    encoded = text.encode()
    count = len(encoded.translate(None, _WHITE_OR_CONTINUATION))
    if text.isascii():
        return count
    return count - len(_NON_ASCII_WHITE.findall(encoded.translate(None, _ASCII)))

"""Text that a person does not see is not content: it is noise at best, and orders to a model at worst."""

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
"""Different inline styles that are read, at some 30 us each; a page with more is hostile or a spreadsheet."""

_WHITE: Color = (255, 255, 255, 1)


def remove_marked(root: Element) -> int:
    """Remove what the browser found to be out of sight; how many of these elements held text."""
    return _remove_all(mark_collapsed(_MARKED(root), wrappers=False))


def remove_styled(root: Element) -> int:
    """Remove what attributes, inline styles and simple rules hide; how many of these elements held text.

    The body itself stays: a page that hides it shows it again by script.
    """
    sheets = [
        sheet
        for sheet in root.iter("style", "link")
        if sheet.tag == "style" or "stylesheet" in (sheet.get("rel") or "")
    ]
    judge = _StyleJudge(plain=not sheets)
    candidates = [*_STYLED(root), *_HIDDEN(root), *_POPOVERS(root), *root.iter("font", "dialog")]
    hidden = [element for element in candidates if judge.hides(element)]
    names = find_hidden_selectors(sheet.text or "" for sheet in sheets if sheet.tag == "style")
    if names:
        named = [*_CLASSED(root), *_IDENTIFIED(root)]
        hidden += [element for element in named if _is_named(element, names)]
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


def _is_named(element: Element, names: frozenset[str]) -> bool:
    if f"#{element.get('id')}" in names:
        return True
    classes = element.get("class")
    return classes is not None and any(f".{name}" in names for name in classes.split())


def _is_closed(element: Element) -> bool:
    """Whether an element is out of sight without any style."""
    closed_dialog = element.tag == "dialog" and element.get("open") is None
    return closed_dialog or element.get("hidden") is not None or element.get("popover") is not None


class _StyleJudge:
    """Judges elements of one page; equal styles are read once."""

    def __init__(self, *, plain: bool) -> None:
        self._plain = plain
        self._read: dict[str, tuple[dict[str, str], bool]] = {}

    def hides(self, element: Element) -> bool:
        if element.tag in ("html", "body"):
            return False
        style, concealed = self._style(element.get("style") or "")
        if concealed:
            return True
        if _is_closed(element):
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
        """Against the nearest background that is written down; white only where no style sheet may differ."""
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
"""The attribute of an element that stays although it is out of sight."""

_FOLDS = re.compile(
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
_OVERLAY_ROLES = frozenset(
    "dialog alertdialog menu menubar navigation search listbox tooltip status alert".split()
)
_PANEL_ROLES = frozenset({"tabpanel", "region"})
_STREAMED = re.compile(r"S:[0-9a-f]+\Z")
"""React sends late parts of a page hidden under these ids, and a script puts them into their places."""

_CONTROLS = (
    (attribute_selector("aria-controls"), "aria-controls"),
    (attribute_selector("data-target"), "data-target"),
    (attribute_selector("data-bs-target"), "data-bs-target"),
)
_UNREAD = ("script", "style", "noscript", "template")
_MIN_TEXT = 80
"""Characters. A hidden word or line that no tab or title of its own opens is no part that folds."""

_TABS = ("li", "a", "button", "div", "span", "label")
_LEAST_TABS = 2
_MAX_TABS = 100
_MAX_CLIMB = 3
_OUTSIDE = frozenset({"nav", "header", "footer", "form"})

_ASCII = bytes(range(128))
_WHITE_OR_INSIDE = b" \t\n\v\f\r\x1c\x1d\x1e\x1f" + bytes(range(0x80, 0xC0))
"""White space in ASCII, and in UTF-8 all but the first byte of a character."""
_OTHER_WHITE = re.compile(
    b"\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80"
)
"""The other white space, as `str.split` takes it, in UTF-8."""

_WRAPPER_SHARE = 2 / 3
"""An element with so much of the page's text is hidden only until its scripts have run."""


def mark_collapsed(hidden: Iterable[Element], *, wrappers: bool) -> list[Element]:
    """Mark those of the hidden elements that a person gets to see; the others are given back.

    `wrappers`: what holds most of the page counts as seen, as in a page whose scripts have not run.
    """
    listed = list(hidden)
    waiting: list[Element] = []
    short: list[Element] = []
    for element in listed:
        length = 0 if _is_overlay(element) else len(text_of(element).strip())
        if length:
            (waiting if length >= _MIN_TEXT else short).append(element)
    seen = _unfolded(short) | _folded(waiting, wrappers=wrappers)
    return [element for element in listed if element not in seen]


def _folded(waiting: list[Element], *, wrappers: bool) -> set[Element]:
    """Those of the passages that a person gets to see, the parts that fold among them marked."""
    seen: set[Element] = set()
    if not waiting:
        return seen
    controlled = cache(lambda: _controlled(waiting[0].getroottree().getroot()))
    whole = -1
    for element in waiting:
        if _is_panel(element, controlled):
            element.set(COLLAPSED_ATTRIBUTE, "")
            seen.add(element)
            continue
        if wrappers and whole < 0:
            whole = _length(element.getroottree().getroot())
        if wrappers and _length(element) > _WRAPPER_SHARE * whole:
            seen.add(element)
    return seen


def _unfolded(short: list[Element]) -> set[Element]:
    """Those of the short texts that a tab or a title opens, marked."""
    named = [element for element in short if element.get("id")]
    opened = _opened(named[0].getroottree().getroot()) if named else frozenset[str]()
    has_tabs = cache(partial(_has_tabs, tabs_in=cache(_tabs_in)))
    seen = {
        element
        for element in short
        if element.get("id") in opened
        or (element.get("role") == "tabpanel" and has_tabs(element.getparent()))
    }
    seen = {element for element in seen if not _is_of_a_menu(element)}
    for element in seen:
        element.set(COLLAPSED_ATTRIBUTE, "")
    return seen


def _opened(root: Element) -> frozenset[str]:
    """The ids of what tabs, and buttons that say whether it is open, control by ARIA's rules."""
    controls, name = _CONTROLS[0]
    return frozenset(
        word
        for control in controls(root)
        if control.get("role") == "tab" or control.get("aria-expanded") is not None
        for word in (control.get(name) or "").split()
    )


def _has_tabs(panels_in: Element | None, *, tabs_in: Callable[[Element], int]) -> bool:
    """Whether an element holds several panels, with as many tabs before them, which need not name them."""
    if panels_in is None:
        return False
    panels = sum(one.get("role") == "tabpanel" for one in islice(panels_in, _MAX_TABS))
    around: Element | None = panels_in
    for _ in range(_MAX_CLIMB):
        if around is None or panels < _LEAST_TABS:
            return False
        tabs = tabs_in(around)
        if tabs:
            return tabs == panels
        around = around.getparent()
    return False


def _tabs_in(around: Element) -> int:
    return sum(one.get("role") == "tab" for one in islice(around.iterdescendants(*_TABS), _MAX_TABS))


def _is_of_a_menu(element: Element) -> bool:
    if _OVERLAYS.search(f"{element.get('class') or ''} {element.get('id') or ''}"):
        return True
    if any(
        around.tag in _OUTSIDE or around.get("role") in _OVERLAY_ROLES for around in element.iterancestors()
    ):
        return True
    linked = sum(_word_characters(link) for link in element.iter("a"))
    return 2 * linked > _word_characters(element)


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
    return _FOLDS.search(_CAMEL.sub("-", names)) is not None or (bool(name) and name in controlled())


def _controlled(root: Element) -> frozenset[str]:
    """The ids that buttons and links of the page open."""
    ids: set[str] = set()
    for having_it, name in _CONTROLS:
        for element in having_it(root):
            ids.update((element.get(name) or "").replace("#", " ").split())
    for link in root.iter("a"):
        address = link.get("href")
        if address and address[0] == "#":
            ids.add(address[1:])
    return frozenset(ids - {""})


def _length(element: Element) -> int:
    """Characters of its words."""
    unread = sum(_word_characters(part) for part in element.iter(*_UNREAD))
    return _word_characters(element) - unread


def _word_characters(element: Element) -> int:
    """Characters that are no white space; bytes are counted in a tenth of the time of parting words."""
    text = text_of(element)
    encoded = text.encode()
    count = len(encoded.translate(None, _WHITE_OR_INSIDE))
    if text.isascii():
        return count
    return count - len(_OTHER_WHITE.findall(encoded.translate(None, _ASCII)))

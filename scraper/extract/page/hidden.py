"""Text that a person does not see is not content: it is noise at best, and orders to a model at worst."""

from __future__ import annotations

from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, having, text_of
from scraper.extract.page.collapsed import fold
from scraper.extract.page.css_visibility import (
    Colour,
    background_of,
    colour_named,
    conceals,
    declarations,
    hidden_names,
    same_colour,
)

_MARKED = having("data-x-hidden")
_STYLED = having("style")
_HIDDEN = having("hidden")
_POPOVERS = having("popover")
_CLASSED = having("class")
_IDENTIFIED = having("id")
_MAX_STYLES = 10_000
"""Different inline styles that are read, at some 30 us each; a page with more is hostile or a spreadsheet."""

_WHITE: Colour = (255, 255, 255, 1)


def remove_marked(root: Element) -> int:
    """Remove what the browser found to be out of sight; how many of these elements held text."""
    return _remove_all(fold(_MARKED(root), wrappers=False))


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
    names = hidden_names(sheet.text or "" for sheet in sheets if sheet.tag == "style")
    if names:
        named = [*_CLASSED(root), *_IDENTIFIED(root)]
        hidden += [element for element in named if _is_named(element, names)]
    return _remove_all(fold(hidden, wrappers=True))


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
            style = declarations(text)
            known = self._read[text] = (style, conceals(style))
        return known

    def _is_background(self, element: Element, colour: str) -> bool:
        """Against the nearest background that is written down; white only where no style sheet may differ."""
        around: Element | None = element
        while around is not None:
            style, attribute = around.get("style"), around.get("bgcolor")
            if style or attribute:
                background = background_of(self._style(style or "")[0]) or colour_named(attribute or "")
                if background:
                    return same_colour(colour, background)
                if style and "background" in style:
                    return False
            around = around.getparent()
        return self._plain and same_colour(colour, _WHITE)

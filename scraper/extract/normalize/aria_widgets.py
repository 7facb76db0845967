"""Convert ARIA grids into tables, and keep titles of collapsible parts and labels of tabs as text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice

from lxml import etree

from scraper.html.dom.parsing import remove
from scraper.html.dom.tags import HEADINGS, LISTS
from scraper.html.dom.xpath import Element, attribute_selector, element_selector, text_of

_TITLES = HEADINGS | {"dt", "summary", "legend"}
_ACTION_LABEL = re.compile(
    r"^\W*(?:show|read|view|see|load|close|open|expand|collapse|toggle|menu|more|less|filter|sort|share|copy|"
    r"mehr|voir|ver|mostra|zeige)\b",
    re.IGNORECASE,
)
_COLLAPSIBLE_CLASS = re.compile(r"accordion|\bfaq|collaps|disclosure", re.IGNORECASE)
"""Classes of a button that opens the content below it."""

_QUESTION = re.compile(r"\S+ \S+ .*[?？؟]|[^\x00-\u2fff].{4,}[?？]")
"""A question of three words, or of characters without spaces. Of 31 such buttons on 680 pages, all were titles of
answers below them."""

_MIN_TITLE_WORDS = 2
_MAX_TITLE = 300
_TOGGLES = (attribute_selector("data-toggle"), attribute_selector("data-bs-toggle"))
_TAB_LABELS = element_selector(
    ".//*[contains(@class, 'tabbed-labels')]/label | .//*[contains(@class, 'vp-code-group')]/*/label"
)
_LABEL_CLASSES = ("tabbed-labels", "vp-code-group")
_TAB_LIST_PARTS = LISTS | {"li", "nav"}
_MAX_TABS = 500
_MAX_LABEL = 80
_MAX_CLIMB = 3


def keep_tab_and_accordion_titles(root: Element, class_names: str, roles: Sequence[Element]) -> None:
    """Keep titles that are buttons as text, and move the label of each tab to the beginning of its panel.

    `roles` are the elements with a role.
    """
    titled: set[Element] = set()
    for button in list(root.iter("button")):
        title = next((around for around in button.iterancestors() if around.tag in _TITLES), None)
        label = "".join(text_of(button).split())
        if title is not None and title not in titled and label and "".join(text_of(title).split()) == label:
            button.tag = "span"
        elif _is_collapsible_title(button):
            button.tag = "div"
        if title is not None:
            titled.add(title)  # only the first button can be the whole title
    tabs = [element for element in roles if element.get("role") == "tab"]
    if "tab-pane" in class_names:
        tabs += [element for select in _TOGGLES for element in select(root) if "tab" in _toggled_widgets(element)]
    if any(name in class_names for name in _LABEL_CLASSES):
        tabs += _TAB_LABELS(root)
    if tabs:
        _label_panels(root, list(dict.fromkeys(tabs))[:_MAX_TABS])


def _is_collapsible_title(button: Element) -> bool:
    words = " ".join(text_of(button).split())
    if len(words) > _MAX_TITLE or _ACTION_LABEL.match(words):
        return False
    if _QUESTION.fullmatch(words):
        return True
    opens = button.get("aria-expanded") is not None or "collapse" in _toggled_widgets(button)
    opens = opens or _COLLAPSIBLE_CLASS.search(button.get("class") or "") is not None
    return opens and len(words.split()) >= _MIN_TITLE_WORDS


def _toggled_widgets(element: Element) -> tuple[str | None, str | None]:
    return element.get("data-toggle"), element.get("data-bs-toggle")


def _label_panels(root: Element, tabs: list[Element]) -> None:
    named = {element.get("id"): element for element in root.iter() if element.get("id")}
    by_tab = {
        name: element
        for element in root.iter()
        for name in (element.get("aria-labelledby") or "").split()
        if element.get("role") == "tabpanel"
    }
    done: set[Element] = set()
    for tab in tabs:
        panel = by_tab.get(tab.get("id") or "")
        panel = _find_target(tab, named) if panel is None else panel
        if panel is not None and panel not in done and panel is not tab:
            done.add(panel)
            _move_label(panel, tab)
    rows: defaultdict[Element | None, list[Element]] = defaultdict(list)
    for tab in tabs:
        if (around := tab.getparent()) is not None:
            rows[around.getparent() if around.tag == "li" else around].append(tab)
    for place, row in rows.items():
        for tab, panel in zip(row, _find_panels(place, len(row)), strict=False):
            _move_label(panel, tab)


def _find_target(tab: Element, named: Mapping[str | None, Element]) -> Element | None:
    """Return the first element to which an attribute or a link of a tab leads."""
    addresses = [tab.get(name) for name in ("aria-controls", "data-bs-target", "data-target", "href")]
    addresses += [link.get("href") for link in tab.iter("a")]
    targets = (named.get(address.rpartition("#")[2]) for address in addresses if address)
    return next((target for target in targets if target is not None), None)


def _move_label(panel: Element, tab: Element) -> None:
    words = " ".join(text_of(tab).split())
    if not words or len(words) > _MAX_LABEL or not text_of(panel).strip() or panel in tab.iterancestors():
        return
    first = next((child for child in panel if text_of(child).strip()), None)
    if first is None or " ".join(text_of(first).split()) != words:
        title = etree.Element("p")
        etree.SubElement(title, "strong").text = words
        title.tail, panel.text = panel.text, None
        panel.insert(0, title)
    around = tab.getparent()
    remove(tab)
    while around is not None and around.tag in _TAB_LIST_PARTS and not text_of(around).strip():
        empty, around = around, around.getparent()
        remove(empty)


def _find_panels(place: Element | None, count: int) -> list[Element]:
    """Return the panels that follow a row of `count` tabs, or none if their number differs."""
    for _ in range(_MAX_CLIMB):
        if place is None:
            return []
        behind = place.getnext()
        if behind is not None:
            panels = [child for child in behind if text_of(child).strip()]
            return panels if len(panels) == count > 1 else []
        place = place.getparent()
    return []


_GRID_ROLES = frozenset({"table", "grid", "treegrid"})
_CELL_ROLES = {"cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th"}
_MAX_TABLES = 500
_MIN_ROWS = 2
_MAX_ROW_ELEMENTS = 2_000
"""Elements per row. Rows may be nested, so that each contains all elements of the inner ones."""


def convert_aria_tables(roles: Sequence[Element]) -> None:
    """Convert grids with ARIA roles into tables. `roles` are the elements with a role."""
    grids = [element for element in roles if element.get("role") in _GRID_ROLES and element.tag != "table"]
    outer = [one for one in grids if all(around.get("role") not in _GRID_ROLES for around in one.iterancestors())]
    for grid in outer[:_MAX_TABLES]:
        rows = [
            [cell for cell in islice(row.iterdescendants(), _MAX_ROW_ELEMENTS) if cell.get("role") in _CELL_ROLES]
            for row in grid.iterdescendants()
            if row.get("role") == "row"
        ]
        if len(rows) < _MIN_ROWS or not all(rows) or grid.find(".//table") is not None:
            continue
        grid.tag, grid.text = "table", None
        grid.attrib.pop("role", "")
        del grid[:]
        for cells in rows:
            row = etree.SubElement(grid, "tr")
            for cell in cells:
                cell.tag, cell.tail = _CELL_ROLES[cell.get("role") or ""], None
                row.append(cell)

"""What of a page's controls is text: titles of parts that fold, labels of tabs above what they show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from lxml import etree

from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, attribute_selector, element_selector, text_of

_TITLES = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary", "legend"})
_PRESSED = re.compile(
    r"^\W*(?:show|read|view|see|load|close|open|expand|collapse|toggle|menu|more|less|filter|sort|share|copy|"
    r"mehr|voir|ver|mostra|zeige)\b",
    re.IGNORECASE,
)
_FOLDS = re.compile(r"accordion|\bfaq|collaps|disclosure", re.IGNORECASE)
"""In the classes of a button: it opens what stands below it."""

_ASKED = re.compile(r"\S+ \S+ .*[?？؟]|[^\x00-\u2fff].{4,}[?？]")
"""A question of three words, or characters: of 31 buttons of 680 pages whose text reads so
all were the titles of answers below them."""

_LEAST_WORDS = 2
_MAX_TITLE = 300

_TOGGLES = (attribute_selector("data-toggle"), attribute_selector("data-bs-toggle"))
_LABELS = element_selector(
    ".//*[contains(@class, 'tabbed-labels')]/label | .//*[contains(@class, 'vp-code-group')]/*/label"
)
_LABELLED = ("tabbed-labels", "vp-code-group")
_LISTS = frozenset({"ul", "ol", "nav"})
_MAX_TABS = 500
_MAX_LABEL = 80
_MAX_CLIMB = 3


def label_tabs_and_folds(root: Element, names: str, roles: Sequence[Element]) -> None:
    """Keep the titles that are buttons, and put the labels of tabs where a reader meets them.

    `names` are the tree's classes, `roles` its elements with a role.
    """
    known: set[Element] = set()
    for button in list(root.iter("button")):
        title = next((around for around in button.iterancestors() if around.tag in _TITLES), None)
        if title is not None and title not in known and _is_all_of(button, title):
            button.tag = "span"
        elif _titles_a_fold(button):
            button.tag = "div"
        if title is not None:
            known.add(title)  # only the first button of a title can be all of it
    tabs = [element for element in roles if element.get("role") == "tab"]
    if "tab-pane" in names:
        tabs += [element for toggled in _TOGGLES for element in toggled(root) if _toggles_a_tab(element)]
    if any(name in names for name in _LABELLED):
        tabs += _LABELS(root)
    if tabs:
        _label_panels(root, list(dict.fromkeys(tabs))[:_MAX_TABS])


def _is_all_of(button: Element, title: Element) -> bool:
    said = "".join(text_of(button).split())
    return bool(said) and "".join(text_of(title).split()) == said


def _titles_a_fold(button: Element) -> bool:
    words = " ".join(text_of(button).split())
    if len(words) > _MAX_TITLE or _PRESSED.match(words):
        return False
    if _ASKED.fullmatch(words):
        return True
    toggled = (button.get("data-toggle"), button.get("data-bs-toggle"))
    opens = button.get("aria-expanded") is not None or "collapse" in toggled
    return len(words.split()) >= _LEAST_WORDS and (
        opens or _FOLDS.search(button.get("class") or "") is not None
    )


def _toggles_a_tab(element: Element) -> bool:
    return "tab" in (element.get("data-toggle"), element.get("data-bs-toggle"))


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
        if panel is None:
            panel = next((named[name] for name in _led_to(tab) if name in named), None)
        if panel is not None and panel not in done and panel is not tab:
            done.add(panel)
            _label(panel, tab)
    for row in _rows([tab for tab in tabs if tab.getparent() is not None]):
        for tab, panel in zip(row, _panels_behind(row), strict=False):
            _label(panel, tab)


def _led_to(tab: Element) -> Iterator[str]:
    told = (tab.get(name) for name in ("aria-controls", "data-bs-target", "data-target", "href"))
    inner = (link.get("href") for link in tab.iter("a"))
    yield from (name.rpartition("#")[2] for name in (*told, *inner) if name)


def _label(panel: Element, tab: Element) -> None:
    """Move the label of a tab to the beginning of what it shows."""
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
    while around is not None and around.tag in ("li", *_LISTS) and not text_of(around).strip():
        gone, around = around, around.getparent()
        remove(gone)


def _rows(tabs: list[Element]) -> Iterator[list[Element]]:
    """Tabs by the element that holds them side by side."""
    rows: dict[Element | None, list[Element]] = {}
    for tab in tabs:
        rows.setdefault(_holder(tab), []).append(tab)
    yield from rows.values()


def _holder(tab: Element) -> Element | None:
    around = tab.getparent()
    return around.getparent() if around is not None and around.tag == "li" else around


def _panels_behind(row: list[Element]) -> list[Element]:
    """As many elements side by side as there are tabs, right behind what holds these; else none."""
    place = _holder(row[0])
    for _ in range(_MAX_CLIMB):
        if place is None:
            return []
        behind = place.getnext()
        if behind is not None:
            panels = [child for child in behind if text_of(child).strip()]
            return panels if len(panels) == len(row) > 1 else []
        place = place.getparent()
    return []


_GRIDS = frozenset({"table", "grid", "treegrid"})
_CELLS = {"cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th"}
_SUMMARIES = element_selector(".//div[contains(concat(' ', @class, ' '), ' summary-table ')]")
_WIDTHS = {"two-column-summary": 2, "three-column-summary": 3, "four-column-summary": 4}
"""The tables of javadoc since Java 16: their cells stand one behind the other."""

_MAX_TABLES = 500
_LEAST_ROWS = 2
_MAX_IN_A_ROW = 2_000
"""Elements of a row: rows may stand in rows, where each holds all that is in the others."""


def convert_aria_tables(root: Element, names: str, roles: Sequence[Element]) -> None:
    """Make each of them a table; `names` are the tree's classes, `roles` its elements with a role."""
    for grid in [element for element in roles if _is_outer_grid(element)][:_MAX_TABLES]:
        rows = [list(_cells_in(row)) for row in _rows_in(grid)]
        if len(rows) >= _LEAST_ROWS and all(rows) and grid.find(".//table") is None:
            _rebuild(grid, rows)
    convert_summary_tables(root, names)


def convert_summary_tables(root: Element, names: str) -> None:
    """Make tables of javadoc's cells in a row; before blocks are chosen, since a row must stay whole."""
    for grid in _SUMMARIES(root)[:_MAX_TABLES] if "summary-table" in names else ():
        width = next((_WIDTHS[name] for name in (grid.get("class") or "").split() if name in _WIDTHS), 0)
        cells = list(grid)
        if width and len(cells) % width == 0:
            for cell in cells:
                cell.tag = "th" if "table-header" in (cell.get("class") or "") else "td"
            _rebuild(grid, [cells[at : at + width] for at in range(0, len(cells), width)])


def _is_outer_grid(element: Element) -> bool:
    if element.get("role") not in _GRIDS or element.tag == "table":
        return False
    return all(around.get("role") not in _GRIDS for around in element.iterancestors())


def _rows_in(grid: Element) -> Iterator[Element]:
    return (element for element in grid.iterdescendants() if element.get("role") == "row")


def _cells_in(row: Element) -> Iterator[Element]:
    for element in islice(row.iterdescendants(), _MAX_IN_A_ROW):
        tag = _CELLS.get(element.get("role") or "")
        if tag:
            element.tag = tag
            yield element


def _rebuild(grid: Element, rows: Iterable[list[Element]]) -> None:
    made = []
    for cells in rows:
        row = etree.Element("tr")
        for cell in cells:
            cell.tail = None
            row.append(cell)
        made.append(row)
    grid.tag, grid.text = "table", None
    grid.attrib.pop("role", "")
    grid[:] = made

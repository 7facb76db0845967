"""Normalize elements before conversion: ARIA grids, labels of widgets, spaces that only layout shows, emphasis."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice

from lxml import etree

from scraper.html.dom import parsing
from scraper.html.dom.parsing import EMPHASIS, HEADINGS, LISTS, Element
from scraper.words.matcher import WordPattern

_TITLES = HEADINGS | {"dt", "summary", "legend"}
_ACTION_LABEL = WordPattern(r"\W*{links.action}\b")
_COLLAPSIBLE_CLASS = re.compile(r"accordion|\bfaq|collaps|disclosure", re.IGNORECASE)
"""Classes of a button that opens the content below it."""

_QUESTION = re.compile(r"\S+ \S+ .*[?？؟]|[^\x00-\u2fff].{4,}[?？]")
"""A question of three words, or of characters without spaces. Of 31 such buttons on 680 pages, all were titles of
answers below them."""

_MIN_TITLE_WORDS = 2
_MAX_TITLE = 300
_TOGGLES = (parsing.attribute_selector("data-toggle"), parsing.attribute_selector("data-bs-toggle"))
_TAB_LABELS = parsing.element_selector(
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
        label = "".join(parsing.text_of(button).split())
        if title is not None and title not in titled and label and "".join(parsing.text_of(title).split()) == label:
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
    words = " ".join(parsing.text_of(button).split())
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
    words = " ".join(parsing.text_of(tab).split())
    if not words or len(words) > _MAX_LABEL or not parsing.text_of(panel).strip() or panel in tab.iterancestors():
        return
    first = next((child for child in panel if parsing.text_of(child).strip()), None)
    if first is None or " ".join(parsing.text_of(first).split()) != words:
        title = etree.Element("p")
        etree.SubElement(title, "strong").text = words
        title.tail, panel.text = panel.text, None
        panel.insert(0, title)
    around = tab.getparent()
    parsing.remove(tab)
    while around is not None and around.tag in _TAB_LIST_PARTS and not parsing.text_of(around).strip():
        empty, around = around, around.getparent()
        parsing.remove(empty)


def _find_panels(place: Element | None, count: int) -> list[Element]:
    """Return the panels that follow a row of `count` tabs, or none if their number differs."""
    for _ in range(_MAX_CLIMB):
        if place is None:
            return []
        behind = place.getnext()
        if behind is not None:
            panels = [child for child in behind if parsing.text_of(child).strip()]
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


_FORM_FIELDS = frozenset({"input", "select", "textarea"})
_INLINE_TAGS = EMPHASIS | {"span", "a", "bdi", "small", "time"}
_LAST_WORD = re.compile(r"[^\W_]+\Z")
_FIRST_WORD = re.compile(r"[^\W_]+")
_LABEL_CLASS = re.compile(r"[\s_-](?:feature|tag|label|badge|chip|pill|lozenge|modifier|keyword|category)[\s_-]")
"""Classes of short labels in a row, which style sheets separate."""
_WORD_WINDOW = 40
_MAX_MARK = 7
_MIN_NAME_LETTERS = 3
"""Letters beside a number: `unit` and `802.758` are two words, `x` and `1` may be one."""


def insert_spaces(root: Element) -> None:
    """Insert the spaces that style sheets create between elements, and make a leading `cite` of a quotation a block."""
    _separate_neighbors(root)
    for label in root.iter("label"):
        before, behind = label.getprevious(), label.getnext()
        if before is not None and not before.tail and before.tag not in _FORM_FIELDS:
            before.tail = " "
        if behind is not None and not label.tail:
            label.tail = " "
    for source in root.iter("cite"):
        around = source.getparent()
        if around is None or source.getprevious() is not None or (around.text or "").strip():
            continue
        quote = around.getparent() if around.tag in ("div", "p") else around
        if quote is not None and quote.tag == "blockquote" and (source.tail or "").strip():
            source.tag = "div"


def _separate_neighbors(root: Element) -> None:
    """Insert a space between words of adjacent elements.

    Examples: `HOKA` and `Clifton 10`, `1994` and `2h 22m`, `5 min` and `Easy`. Of 470 such places on 1,200 pages whose
    gold has both words, all but two are correct. All of 50 places between two small letters or after a single letter
    are one word (a large initial, half of a link).
    """
    for first in root.iter(*_INLINE_TAGS):
        second = None if first.tail else first.getnext()
        if second is None or second.tag not in _INLINE_TAGS:
            continue
        left = _last_text(first)
        if len(left) == 1:  # the `g` of `5 g`, whose number is another element
            left = parsing.text_of(first)[-_WORD_WINDOW:]
        is_label = first.get("class") == second.get("class") and _LABEL_CLASS.search(
            parsing.pad_names(first.get("class") or "")
        )
        right = _first_text(second)
        # A sign in brackets at the beginning of a line marks a passage.
        is_mark = left[:1] == "(" and left[-1:] == ")" and right[:1].isalpha() and _begins_line(first, left)
        is_separate = is_label or is_mark or _are_separate_words(left, right)
        if is_separate and next(first.iterancestors("pre", "code"), None) is None:
            first.tail = " "


def _begins_line(element: Element, text: str) -> bool:
    around = element.getparent()
    is_first = element.getprevious() is None and around is not None and not (around.text or "").strip()
    return is_first and 2 < len(text) <= _MAX_MARK


def _last_text(element: Element) -> str:
    while len(element):
        element = element[-1]
        if element.tail:
            return element.tail
    return element.text or ""


def _first_text(element: Element) -> str:
    while not element.text and len(element):
        element = element[0]
    return element.text or ""


def _are_separate_words(left: str, right: str) -> bool:
    """Return True if the second text begins a word with a capital or a digit; a name with a colon is a label."""
    if left.endswith(":") and left[-2:-1].isalpha():
        return right[:1].isupper() or (right[:1].isdigit() and left.lstrip()[0].isupper())
    if left[-1:] in (")", "]", "%"):  # the number of a passage
        return right[:1].isupper() or (left[-1] == "%" and right[:1].isalpha())
    last, first = _LAST_WORD.search(left[-_WORD_WINDOW:]), _FIRST_WORD.match(right)
    if last is None or first is None:
        return False
    word, end = last.group(), left[-1]
    if right[0].isupper():
        return end.isdigit() or (len(word) > 1 and (end.islower() or end.isupper()))
    if end.isdigit() and right[0].isalpha():
        return len(first.group()) >= _MIN_NAME_LETTERS  # shorter ones are units and endings of ordinals
    if right[0].isdigit():
        return len(left) > 1 < len(right) if end.isdigit() else end.islower() and len(word) >= _MIN_NAME_LETTERS
    return False


EMPHASIS_TAGS = {
    **dict.fromkeys(("b", "strong"), frozenset({"b", "strong"})),
    **dict.fromkeys(("em", "i"), frozenset({"em", "i"})),
    **dict.fromkeys(("del", "s"), frozenset({"del", "s"})),
}
"""Tags with the same meaning, including itself, by tag."""
_MERGED = "x-merged"


def join_emphasis(root: Element) -> None:
    """Merge adjacent elements of the same emphasis: `**a****b**` would have another meaning."""
    for first in list(root.iter(*EMPHASIS_TAGS)):
        run = [first]
        while not run[-1].tail and (behind := run[-1].getnext()) is not None and behind.tag in EMPHASIS_TAGS[first.tag]:
            run.append(behind)
        if len(run) > 1 and first.getparent() is not None:
            tail, run[-1].tail = run[-1].tail, None
            first.extend(run[1:])
            for piece in run[1:]:
                piece.tag = _MERGED
            etree.strip_tags(first, _MERGED)
            first.tail = tail

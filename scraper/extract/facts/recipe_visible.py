"""The lists of a recipe as a person sees them: below a heading of that meaning, or in what is called so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, cast

from lxml import etree

from scraper.extract.dom.xpath import Element, attribute_selector, text_of
from scraper.extract.facts.recipe_vocabulary import (
    INGREDIENT_HEADING,
    INGREDIENT_NAMES,
    INGREDIENT_PROPERTIES,
    RECIPE_HEADING,
    STEP_HEADING,
    STEP_MARK,
    STEP_NAMES,
    STEP_PROPERTIES,
    YIELD_LABELS,
)
from scraper.extract.facts.schema_graph import cleaned

_MAX_LINES = 100
_MAX_LINE = 2_000
_MAX_INGREDIENT = 200
_MAX_HEADING = 60
_MAX_CLIMB = 8
_MAX_BEHIND = 600
"""Elements behind a heading in which its list may stand."""
_MAX_ITEMS, _MAX_ELEMENTS, _MAX_HEADINGS = 5_000, 50_000, 20
_CLASSED = attribute_selector("class")
_PROPERTIES = attribute_selector("itemprop")
_PIECES = etree.XPath(".//text() | .//br")

_YIELD_NAMES = re.compile(r"serving|yield|portion", re.IGNORECASE)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_HEADING_LIKE = (*_HEADINGS, "strong", "b", "p", "div", "span", "dt", "td", "th")
_LINES = ("li", "p", "dt", "dd", "tr")
_BLOCKS = ("p", "div", "ul", "ol", "table", "section", "article", "h1", "h2", "h3", "h4", "h5", "h6")
_OTHER_LINES = ("p", "dt", "dd", "tr")
_OUTSIDE = frozenset({"nav", "header", "footer", "aside"})
_MARK = re.compile(r"^(?:[-–•*▢☐□]\s*|\d{1,2}[.)]\s+)")


def ingredients(body: Element) -> list[str]:
    """The lines of the list of ingredients; empty where none is found."""
    return (
        _marked(body, INGREDIENT_PROPERTIES)
        or _short(_named(body, INGREDIENT_NAMES, STEP_NAMES))
        or _short(_below(body, INGREDIENT_HEADING, STEP_HEADING))
        or _short(_called_so(_leaves(body, INGREDIENT_NAMES), INGREDIENT_NAMES, STEP_NAMES))
    )


def instructions(body: Element) -> list[str]:
    """The steps; empty where none are found."""
    return (
        _marked(body, STEP_PROPERTIES)
        or _named(body, STEP_NAMES, INGREDIENT_NAMES)
        or _below(body, STEP_HEADING, INGREDIENT_HEADING)
        or _below(body, RECIPE_HEADING, INGREDIENT_HEADING)
        or _called_so(_leaves(body, STEP_NAMES), STEP_NAMES, INGREDIENT_NAMES)
    )


def yields(body: Element) -> str | None:
    """For how many it is."""
    for element in _CLASSED(body):
        if _YIELD_NAMES.search(element.get("class") or ""):
            text = cleaned(text_of(element)[:_MAX_LINE])
            if len(text) < _MAX_HEADING and any(map(str.isdigit, text)):
                return text
    beside = YIELD_LABELS.seen(body).get("yields", "")
    return beside if any(map(str.isdigit, beside)) else None


def _short(lines: list[str]) -> list[str]:
    """Ingredients are short; a list of long lines is something else."""
    kept = [line for line in lines if len(line) <= _MAX_INGREDIENT]
    return kept if len(kept) > len(lines) // 2 else []


def _marked(body: Element, properties: frozenset[str]) -> list[str]:
    """What properties of microdata hold, even where they stand in no item."""
    lines: list[str] = []
    for element in _PROPERTIES(body):
        if (element.get("itemprop") or "").lower() in properties:
            lines += _lines_in(element) or [cleaned(_parted(element))]
    return [line for line in lines if line][:_MAX_LINES]


def _named(body: Element, names: re.Pattern[str], others: re.Pattern[str]) -> list[str]:
    """The lines of the elements of that name; of several kinds of them those that hold the most."""
    items = (item for item in body.iter("li", "dt") if next(item.iter("ul", "ol"), None) is None)
    return _called_so(items, names, others)


def _called_so(items: Iterable[Element], names: re.Pattern[str], others: re.Pattern[str]) -> list[str]:
    kinds: dict[str, list[str]] = {}
    for item in islice(items, _MAX_ITEMS):
        around = _nearest_named(item, names, others)
        if around is not None:
            kinds.setdefault(_called(around), []).append(_unmarked(cleaned(_parted(item))))
    best = max(kinds.values(), key=len, default=[])
    lines = [line for line in dict.fromkeys(best) if line and len(line) < _MAX_LINE]
    return lines if 1 < len(lines) < _MAX_LINES else []


def _leaves(body: Element, names: re.Pattern[str]) -> Iterator[Element]:
    """The paragraphs and boxes of one line in what is classed so, each once."""
    outer: set[Element] = set()
    for around in _CLASSED(body):
        if names.search(around.get("class") or "") and outer.isdisjoint(around.iterancestors()):
            outer.add(around)
            yield from filter(_is_line, around.iter("p", "div"))


def _is_line(box: Element) -> bool:
    """Whether a paragraph or box holds a text and nothing in lines of its own."""
    return next(box.iterdescendants(*_BLOCKS), None) is None and bool(text_of(box).strip())


def _nearest_named(item: Element, names: re.Pattern[str], others: re.Pattern[str]) -> Element | None:
    """The nearest element around a line that is called so, if nothing nearer is called otherwise."""
    around: Element | None = item
    for _ in range(_MAX_CLIMB):
        if around is None or around.tag in _OUTSIDE or around.tag in ("body", "main", "article"):
            return None
        called = _called(around)
        if called and names.search(called):
            return None if others.search(called) else around
        if called and others.search(called):
            return None
        around = around.getparent()
    return None


def _called(element: Element) -> str:
    return f"{element.get('class') or ''} {element.get('id') or ''}".strip()


def _below(body: Element, heading: re.Pattern[str], other: re.Pattern[str]) -> list[str]:
    """What stands between a heading of that meaning and the next one."""
    order = list(islice(body.iter("*"), _MAX_ELEMENTS))
    tried = 0
    for place, element in enumerate(order):
        if element.tag in _HEADING_LIKE and _is_heading(element, heading) and not _is_in_menu(element):
            tried += 1
            if tried > _MAX_HEADINGS:
                break
            lines = _section(order[place + 1 : place + _MAX_BEHIND], element, other)
            if lines:
                return lines
    return []


def _is_heading(element: Element, meaning: re.Pattern[str]) -> bool:
    told = (element.text or "").strip() or (text_of(element).strip() if element.tag in _HEADINGS else "")
    return (
        0 < len(told) < _MAX_HEADING
        and meaning.match(told) is not None
        and len(text_of(element)) < 2 * _MAX_HEADING
    )


def _section(behind: list[Element], heading: Element, other: re.Pattern[str]) -> list[str]:
    """The lines of the list behind a heading; paragraphs where there is no list."""
    inside = set(heading.iterdescendants())
    beside = _Beside(heading)
    found: list[Element] = []
    boxes: list[Element] = []
    for element in behind:
        if element in inside or beside.holds(element):
            continue
        if (found or boxes) and (_ends(element, heading) or _is_other_heading(element, other)):
            around = set(element.iterancestors())
            found, boxes = ([one for one in part if one not in around] for part in (found, boxes))
            break
        if element.tag in _HEADINGS and not found and _is_heading(element, other):
            break
        if element.tag in _LINES:
            found.append(element)
        elif element.tag == "div" and _is_line(element):
            boxes.append(element)
    items = [
        element for element in found if element.tag == "li" and next(element.iter("ul", "ol"), None) is None
    ]
    chosen = items if len(items) > 1 else _with_text(found)
    if not chosen:
        chosen = boxes if len(boxes) > 1 and heading.tag in _HEADINGS else []
    lines = [
        line
        for element in chosen
        for line in (_broken(element) if element.tag == "p" else [cleaned(_parted(element))])
    ]
    return [_unmarked(line) for line in lines if line and len(line) < _MAX_LINE][:_MAX_LINES]


def _with_text(found: list[Element]) -> list[Element]:
    return [element for element in found if element.tag in _OTHER_LINES and text_of(element).strip()]


def _is_in_menu(element: Element) -> bool:
    return any(around.tag in ("nav", "footer") for around in element.iterancestors())


class _Beside:
    """What stands beside the content, and the heading does not."""

    def __init__(self, heading: Element) -> None:
        self._known = dict.fromkeys(heading.iterancestors(), False)

    def holds(self, element: Element) -> bool:
        """Whether an element stands there; those around it are looked at once."""
        known = self._known.get(element)
        if known is None:
            around = element.getparent()
            known = element.tag in _OUTSIDE or (around is not None and self.holds(around))
            self._known[element] = known
        return known


def _is_other_heading(element: Element, other: re.Pattern[str]) -> bool:
    return element.tag in _HEADING_LIKE and _is_heading(element, other)


def _ends(element: Element, heading: Element) -> bool:
    """Whether a new section begins: a heading of the same rank or a higher one."""
    if element.tag not in _HEADINGS:
        return False
    return heading.tag not in _HEADINGS or element.tag <= heading.tag


def _lines_in(element: Element) -> list[str]:
    items = [cleaned(_parted(item)) for item in element.iter("li")]
    if items:
        return items
    paragraphs = list(element.iter("p"))
    return [line for part in (paragraphs or [element]) for line in _broken(part)]


def _broken(element: Element) -> list[str]:
    """The lines of a text, cut at its line breaks."""
    text = "".join(
        "\n" if isinstance(piece, etree._Element) else str(piece).replace("\n", " ")
        for piece in cast("list[Any]", _PIECES(element))
    )
    return [line for line in map(cleaned, text.split("\n")) if line]


def _parted(element: Element) -> str:
    """The text of an element; a space between parts that touch, as an amount and a name in cells do."""
    if len(element) < 2:
        return text_of(element)
    said = element.text or ""
    before: Element | None = None
    for part in element:
        inner = _parted(part)
        if before is not None and not before.tail and said[-1:].isalnum() and inner[:1].isalnum():
            said += " "
        said += inner + (part.tail or "")
        before = part
    return said


def _unmarked(line: str) -> str:
    return STEP_MARK.sub("", _MARK.sub("", line), count=1)

"""Write computed text into a Word document: numbers, formulas, text boxes.

mammoth, which reads the document afterwards, does not compute it. A number such as `1.2.1` before a heading is not in
the text of the file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from scraper.documents import office_xml as ns
from scraper.documents.docx.omml import convert_to_latex
from scraper.documents.office_markup import ITEM_NUMBER, ListCounter, ListLevel
from scraper.documents.office_xml import get_child_value, is_enabled, join_texts, text_element, w
from scraper.html.dom.parsing import Element, remove
from scraper.text.sanitize import clean_line

FORMULA_PLACEHOLDER = re.compile("\ue0f0(\\d+)\ue0f1")
"""Placeholder with the number of a formula, chart or picture, whose characters would be escaped as Markdown."""

_CELL_BREAKS = re.compile(r"[\s|]+(?:-{3}[\s|]+)*")
_BRACKETS = str.maketrans("[]()", "    ")
_HEADING = re.compile(r"(?:heading\s*([1-9])|title)$", re.IGNORECASE)
_MAX_STYLE_DEPTH = 10
HEADING_LEVELS = {str(level): level + 1 for level in range(9)}
"""Heading level by value of `w:outlineLvl`, from 0; 9 means body text."""
_MAX_HEADING_CHARS = 250
"""Characters. A longer paragraph is text, even if its level would put it into a table of contents."""


def write_computed_text(
    body: Element, styles: Mapping[str, Element], numbering: Numbering, charts: Mapping[str, str]
) -> list[str]:
    """Change a body in place; return the formulas, charts and picture descriptions of its placeholders, by number.

    `charts` is the Markdown of charts and diagrams by relationship ID.
    """
    _unwrap_runs(body)
    _move_text_boxes(body)
    formulas = _replace_formulas(body)
    _describe_drawings(body, charts, formulas)
    _write_numbers(body, styles, numbering)
    return formulas


def remove_hidden_runs(body: Element, styles: Mapping[str, Element]) -> int:
    """Remove the text that Word does not display because of its own format or of a style; return its characters."""
    count = 0
    marks = {name: [one.find(f"{ns.W}rPr/{ns.W}vanish") for one in inherited_styles(name, styles)] for name in styles}
    first = {name: next((mark for mark in found if mark is not None), None) for name, found in marks.items()}
    hidden = {name for name, mark in first.items() if mark is not None and mark.get(ns.W + "val") not in ns.OFF}
    for run in list(body.iter(ns.W + "r")):
        own = run.find(f"{ns.W}rPr/{ns.W}vanish")
        paragraph = next(run.iterancestors(ns.W + "p"), None) if hidden else None
        names = (get_child_value(run, "rPr", "rStyle"), get_child_value(paragraph, "pPr", "pStyle"))
        is_hidden = any(name in hidden for name in names) if own is None else is_enabled(run, "rPr", "vanish")
        if is_hidden:
            count += len(join_texts(run, ns.W + "t"))
            remove(run)
    return count


def get_outline_level(paragraph: Element) -> int | None:
    """Return the outline level, from 1, that a paragraph sets itself, or None."""
    level = HEADING_LEVELS.get(get_child_value(paragraph, "pPr", "outlineLvl") or "")
    return level if level is not None and len(join_texts(paragraph, ns.W + "t")) <= _MAX_HEADING_CHARS else None


def _unwrap_runs(body: Element) -> None:
    """Put the runs of fields, of directed text, and of ruby text with its reading in place of their frames."""
    for ruby in list(body.iter(ns.W + "ruby")):
        run, base = ruby.getparent(), ruby.find(ns.W + "rubyBase")
        if run is not None and base is not None:
            for inner in list(base):
                run.addprevious(inner)
            reading = join_texts(ruby.find(ns.W + "rt"), ns.W + "t")
            run.replace(ruby, text_element(f"({reading})"))
    for frame in list(body.iter(ns.W + "fldSimple", ns.W + "bdo", ns.W + "dir")):
        for inner in list(frame):
            frame.addprevious(inner)
        remove(frame)


def _move_text_boxes(body: Element) -> None:
    """Move the paragraphs of text boxes after the paragraph that anchors them."""
    for alternatives in list(body.iter(ns.MC + "AlternateContent")):
        for fallback in alternatives.findall(ns.MC + "Fallback"):
            if next(alternatives.iter(ns.W + "txbxContent"), None) is not None:
                alternatives.remove(fallback)
    anchors: dict[Element, Element] = {}
    for box in list(body.iter(ns.W + "txbxContent")):
        anchor = None  # The outermost paragraph around the box, within its table cell.
        for ancestor in box.iterancestors():
            if ancestor.tag == ns.W + "p":
                anchor = ancestor
            elif ancestor.tag in (ns.W + "tc", ns.W + "body") and anchor is not None:
                break
        if anchor is None or (parent := anchor.getparent()) is None:
            continue
        after = anchors.get(anchor, anchor)
        for block in list(box):
            parent.insert(parent.index(after) + 1, block)
            after = block
        anchors[anchor] = after
        remove(box)


def _describe_drawings(body: Element, charts: Mapping[str, str], formulas: list[str]) -> None:
    for drawing in list(body.iter(ns.W + "drawing")):
        run = next(drawing.iterancestors(ns.W + "r"), None)
        if run is None or next(drawing.iterancestors(ns.MC + "Fallback"), None) is not None:
            continue
        properties = next(drawing.iter(ns.WP + "docPr"), None)
        # A second paragraph says that a program wrote the description.
        written = "" if properties is None else str(properties.get("descr", "")).strip().partition("\n\n")[0]
        description = clean_line(written, _MAX_HEADING_CHARS)
        found = drawing.iter(ns.C + "chart", ns.DIAGRAM + "relIds")
        texts = [charts.get(str(one.get(ns.R_ID) or one.get(ns.R_DIAGRAM)), "") for one in found]
        in_cell = next(drawing.iterancestors(ns.W + "tc"), None) is not None
        text = _CELL_BREAKS.sub(" ", " ".join(texts)).strip() if in_cell else "\n\n".join(filter(None, texts))
        picture = f"![{' '.join(description.translate(_BRACKETS).split())}]()" if description else ""
        if text or picture:
            formulas.append(f"\n\n{text}\n\n" if text and not in_cell else text or picture)
            run.addnext(w("r", text_element(f"\ue0f0{len(formulas) - 1}\ue0f1")))


def _replace_formulas(body: Element) -> list[str]:
    formulas: list[str] = []
    for formula in list(body.iter(ns.M + "oMath")):
        parent = formula.getparent()
        if parent is None:
            continue
        is_block = parent.tag == ns.M + "oMathPara" and next(formula.iterancestors(ns.W + "tc"), None) is None
        delimiter = "$$" if is_block else "$"
        text = convert_to_latex(formula)
        formulas.append(f"{delimiter}{text}{delimiter}" if text else "")
        formula.addprevious(w("r", text_element(f"\ue0f0{len(formulas) - 1}\ue0f1")))
        remove(formula)
    for group in list(body.iter(ns.M + "oMathPara")):
        if (parent := group.getparent()) is not None:
            for run in group.findall(ns.W + "r"):
                group.addprevious(run)
            parent.remove(group)
    return formulas


def _write_numbers(body: Element, styles: Mapping[str, Element], numbering: Numbering) -> None:
    """Write the numbers of headings before their text; list items are counted by their lists."""
    for paragraph in body.iter(ns.W + "p"):
        properties = paragraph.find(ns.W + "pPr")
        style = get_child_value(properties, "pStyle")
        level = _numbering_level(properties, style, styles)
        if level is None:
            continue
        label, count = numbering.count(level)
        if get_outline_level(paragraph) or get_style_level(style, styles) is not None:
            own_numbering = None if properties is None else properties.find(ns.W + "numPr")
            if properties is not None and own_numbering is not None:  # It would become a list item.
                properties.remove(own_numbering)
            label = f"{label.rstrip('.')} " if label else ""
        elif count is not None:
            label = ITEM_NUMBER.format(count)
        elif label:
            label += " "
        if label and join_texts(paragraph, ns.W + "t").strip():
            paragraph.insert(0 if properties is None else 1, w("r", text_element(label)))


def _numbering_level(
    properties: Element | None, style: str | None, styles: Mapping[str, Element]
) -> NumberingLevel | None:
    list_id, level = (get_child_value(properties, "numPr", name) for name in ("numId", "ilvl"))
    for element in inherited_styles(style, styles) if list_id is None else ():
        level = level or get_child_value(element, "pPr", "numPr", "ilvl")
        list_id = get_child_value(element, "pPr", "numPr", "numId")
        if list_id is not None:
            break
    return None if list_id in (None, "0") else NumberingLevel(str(list_id), _integer(level, 0))


def inherited_styles(style: str | None, styles: Mapping[str, Element]) -> Iterator[Element]:
    """Yield a style and the styles that it is based on."""
    for _ in range(_MAX_STYLE_DEPTH):
        element = styles.get(style or "")
        if element is None:
            return
        yield element
        style = get_child_value(element, "basedOn")


def get_style_level(style: str | None, styles: Mapping[str, Element]) -> int | None:
    """Return the heading level of a style by its name, its outline level or a style it is based on; 0 for a title."""
    for element in inherited_styles(style, styles):
        named = _HEADING.match(get_child_value(element, "name") or "")
        if named:
            return int(named[1] or 0)
        if (outline := get_child_value(element, "pPr", "outlineLvl")) in HEADING_LEVELS:
            return HEADING_LEVELS[outline or ""]
    return None


class NumberingLevel(NamedTuple):
    """List and level of a paragraph."""

    list_id: str
    level: int


@dataclass(slots=True)
class Numbering:
    """Counters of all lists of a document."""

    levels: Mapping[str, dict[int, ListLevel]] = field(default_factory=dict)
    abstract: Mapping[str, str] = field(default_factory=dict)
    """Abstract numbering of each list; lists with the same one share their counts."""
    overridden: Mapping[str, dict[int, int]] = field(default_factory=dict)
    """Start of levels that a list sets itself, by list and level."""
    _counts: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    _started: set[NumberingLevel] = field(default_factory=set)

    @classmethod
    def of(cls, root: Element | None) -> Numbering:
        """Read `numbering.xml`; without it no list is numbered."""
        if root is None:
            return cls()
        patterns = {
            one.get(ns.W + "abstractNumId"): {
                _integer(level.get(ns.W + "ilvl"), 0): _level(level) for level in one.iter(ns.W + "lvl")
            }
            for one in root.iter(ns.W + "abstractNum")
        }
        levels, abstract, overridden = {}, {}, {}
        for one in root.iter(ns.W + "num"):
            list_id, pattern = str(one.get(ns.W + "numId")), get_child_value(one, "abstractNumId") or ""
            own = dict(patterns.get(pattern, {}))
            starts: dict[int, int] = {}
            for override in one.iter(ns.W + "lvlOverride"):
                at = _integer(override.get(ns.W + "ilvl"), 0)
                if (level := override.find(ns.W + "lvl")) is not None:
                    own[at] = _level(level)
                if (start := get_child_value(override, "startOverride")) is not None:
                    starts[at] = _integer(start, 1)
            levels[list_id], abstract[list_id], overridden[list_id] = own, pattern, starts
        return cls(levels, abstract, overridden)

    def count(self, position: NumberingLevel) -> tuple[str, int | None]:
        """Count a paragraph; return its label, and the count if the list counts 1, 2, 3, as Markdown lists do.

        The label of a bullet is empty.
        """
        list_id, at = position
        levels = self.levels.get(list_id)
        if levels is None or at not in levels:
            return "", None
        counter = ListCounter(levels, self._counts[self.abstract[list_id]])
        start = None if position in self._started else self.overridden[list_id].get(at)
        self._started.add(position)
        count = counter.count(at, start)
        return counter.label(at), count if levels[at].is_plain else None


def _level(element: Element) -> ListLevel:
    restart = get_child_value(element, "lvlRestart")
    return ListLevel(
        get_child_value(element, "numFmt") or "decimal",
        get_child_value(element, "lvlText") or "",
        _integer(get_child_value(element, "start"), 1),
        None if restart is None else _integer(restart, 0),
        element.find(ns.W + "isLgl") is not None,
    )


def _integer(text: str | None, default: int) -> int:
    try:
        return max(-1, min(100_000, int(text or "")))
    except ValueError:
        return default


def convert_to_bullets(root: Element) -> None:
    """Turn levels whose labels are written into the text into bullets, so that labels do not appear twice."""
    for element in root.iter(ns.W + "lvl"):
        style = element.find(ns.W + "numFmt")
        if style is not None and not _level(element).is_plain:
            style.set(ns.W + "val", "bullet")

"""Write computed text into a Word document: numbers, formulas, text boxes, check boxes.

mammoth, which reads the document afterwards, does not compute it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from scraper.extract.documents.docx.numbering import Numbering, NumberingLevel, find_style_numbering
from scraper.extract.documents.docx.omml import convert_to_latex
from scraper.extract.documents.docx.xml_names import M, W, get_child_value, is_enabled, text_element, w
from scraper.extract.documents.office import ITEM
from scraper.extract.dom.xpath import Element

FORMULA = re.compile("\ue0f0(\\d+)\ue0f1")
"""Placeholder of a formula, whose characters would be escaped as Markdown."""

_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_HEADING = re.compile(r"heading\s*([1-9])|(title)$", re.IGNORECASE)
_DEPTH = 10
_LEVELS = {str(level): level + 1 for level in range(9)}
"""Heading level by value of `w:outlineLvl`, from 0; 9 means body text."""
_HEADING_CHARS = 250
"""Characters. A longer paragraph is text, whatever level puts it into a table of contents."""


def write_computed_text(body: Element, styles: Mapping[str, Element], numbering: Numbering) -> list[str]:
    """Change a body in place; return the formulas that its placeholders refer to by number."""
    _hoist_boxes(body)
    _write_ticks(body)
    formulas = _take_formulas(body)
    _drop_hidden(body)
    _write_numbers(body, styles, numbering)
    return formulas


def get_outline_level(paragraph: Element) -> int | None:
    """Return the outline level, from 1, that a paragraph sets itself, or None."""
    level = _LEVELS.get(get_child_value(paragraph.find(W + "pPr"), "outlineLvl") or "")
    if level is None or sum(len(text.text or "") for text in paragraph.iter(W + "t")) > _HEADING_CHARS:
        return None
    return level


def _hoist_boxes(body: Element) -> None:
    """Move the paragraphs of text boxes behind the paragraph that anchors them."""
    for alternatives in list(body.iter(_ALTERNATIVES)):
        for fallback in alternatives.findall(_FALLBACK):
            if any(True for _ in alternatives.iter(W + "txbxContent")):
                alternatives.remove(fallback)
    anchors: dict[Element, Element] = {}
    for box in list(body.iter(W + "txbxContent")):
        anchor = _outer_block(box)
        if anchor is None or (parent := anchor.getparent()) is None:
            continue
        after = anchors.get(anchor, anchor)
        for block in list(box):
            parent.insert(parent.index(after) + 1, block)
            after = block
        anchors[anchor] = after
        if (holder := box.getparent()) is not None:
            holder.remove(box)


def _outer_block(element: Element) -> Element | None:
    """Return the outermost paragraph around an element."""
    found = None
    for ancestor in element.iterancestors():
        if ancestor.tag == W + "p":
            found = ancestor
        elif ancestor.tag in (W + "tc", W + "body") and found is not None:
            break
    return found


def _write_ticks(body: Element) -> None:
    """Write check boxes of old and new forms as `- [x]` and `- [ ]`."""
    for control in list(body.iter(W + "sdt")):
        properties, content = control.find(W + "sdtPr"), control.find(W + "sdtContent")
        box = None if properties is None else properties.find(_W14 + "checkbox")
        if box is None or content is None:
            continue
        checked = box.find(_W14 + "checked")
        mark = "- [x] " if checked is not None and checked.get(_W14 + "val") in ("1", "true") else "- [ ] "
        assert properties is not None
        properties.remove(box)
        texts = list(content.iter(W + "t"))
        for index, text in enumerate(texts):
            text.text = mark if not index else ""
            text.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
        for symbol in list(content.iter(W + "sym")):
            _replace(symbol, text_element(mark))
            mark = ""
    for field in list(body.iter(W + "checkBox")):
        ticked = is_enabled(field, "checked") or (field.find(W + "checked") is None and is_enabled(field, "default"))
        run = next((up for up in field.iterancestors() if up.tag == W + "r"), None)
        if run is not None and (parent := run.getparent()) is not None:
            parent.insert(parent.index(run), w("r", text_element("- [x] " if ticked else "- [ ] ")))


def _take_formulas(body: Element) -> list[str]:
    formulas: list[str] = []
    for formula in list(body.iter(M + "oMath")):
        parent = formula.getparent()
        if parent is None:
            continue
        alone = parent.tag == M + "oMathPara" and next(formula.iterancestors(W + "tc"), None) is None
        signs = "$$" if alone else "$"
        text = convert_to_latex(formula)
        formulas.append(f"{signs}{text}{signs}" if text else "")
        _replace(formula, w("r", text_element(f"\ue0f0{len(formulas) - 1}\ue0f1")))
    for group in list(body.iter(M + "oMathPara")):
        if (parent := group.getparent()) is not None:
            at = parent.index(group)
            for child in list(group):
                if child.tag == W + "r":
                    parent.insert(at, child)
                    at += 1
            parent.remove(group)
    return formulas


def _drop_hidden(body: Element) -> None:
    """Remove text that Word does not display."""
    for run in list(body.iter(W + "r")):
        if is_enabled(run.find(W + "rPr"), "vanish") and (parent := run.getparent()) is not None:
            parent.remove(run)


def _write_numbers(body: Element, styles: Mapping[str, Element], numbering: Numbering) -> None:
    """Write the numbers of headings before their text; list items are counted by their lists."""
    for paragraph in body.iter(W + "p"):
        properties = paragraph.find(W + "pPr")
        style = get_child_value(properties, "pStyle")
        place = _place(properties, style, styles)
        if place is None:
            continue
        label = numbering.next_label(place)
        if get_outline_level(paragraph) or _is_heading(style, styles):
            _unlist(paragraph)
            label = f"{label.rstrip('.')} " if label else ""
        elif numbering.is_plain_count(place):
            label = ITEM.format(numbering.count(place))
        elif label:
            label += " "
        if label and any((text.text or "").strip() for text in paragraph.iter(W + "t")):
            paragraph.insert(0 if properties is None else 1, w("r", text_element(label)))


def _place(properties: Element | None, style: str | None, styles: Mapping[str, Element]) -> NumberingLevel | None:
    own = None if properties is None else properties.find(W + "numPr")
    list_id = get_child_value(own, "numId")
    if list_id is not None:
        level = get_child_value(own, "ilvl") or "0"
        return None if list_id == "0" else NumberingLevel(list_id, int(level) if level.isdigit() else 0)
    return find_style_numbering(style, styles)


def _is_heading(style: str | None, styles: Mapping[str, Element]) -> bool:
    for _ in range(_DEPTH):
        element = styles.get(style or "")
        if element is None:
            return False
        if _HEADING.match(get_child_value(element, "name") or ""):
            return True
        if get_child_value(element.find(W + "pPr"), "outlineLvl") in _LEVELS:
            return True
        style = get_child_value(element, "basedOn")
    return False


def _unlist(paragraph: Element) -> None:
    """Remove a heading from its list; otherwise it would become an item."""
    properties = paragraph.find(W + "pPr")
    numbered = None if properties is None else properties.find(W + "numPr")
    if properties is not None and numbered is not None:
        properties.remove(numbered)


def _replace(old: Element, new: Element) -> None:
    parent = old.getparent()
    assert parent is not None
    new.tail = old.tail
    parent.replace(old, new)

"""Convert rendered KaTeX into TeX, for pages that contain neither TeX nor MathML.

Stacked boxes are in a `vlist`, each with its height as `top`. The classes of the boxes give the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lxml import etree

from scraper.html.dom.xpath import Element, text_of
from scraper.html.math import mathml
from scraper.html.math.mathml import MAX_DEPTH

_IGNORED = frozenset(
    "strut pstrut mspace nulldelimiter vlist-s hide-tail frac-line mathml arraycolsep overline-line "
    "underline-line svg-align-none stretchy".split()
)
_VARIANTS = dict(
    pair.split(":")
    for pair in "mathbf:bold textbf:bold boldsymbol:bold-italic mathbb:double-struck mathcal:script mathscr:script "
    "mathfrak:fraktur mathsf:sans-serif mathtt:monospace".split()
)
_OPERATORS = frozenset("mbin mrel mopen mclose mpunct op-symbol delimsizing".split())
_TOP = re.compile(r"(?:^|;)\s*top:\s*(-?\d+(?:\.\d+)?)em")
_BARE_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_ACCENTS = {"ˉ": "¯", "⃗": "→", "˙": "˙", "^": "^", "~": "~", "ˊ": "´", "ˋ": "`", "ˇ": "ˇ", "˘": "˘", "¨": "¨"}
_MAX_BOXES = 4 * MAX_DEPTH
_NEGATION = "\ue020"
"""Stroke that KaTeX draws over a relation."""


def to_tex(formula: Element) -> str:
    """Return the TeX of a `katex-html` element."""
    tex = mathml.to_tex(_make("math", _row(formula, 0)))
    return tex.replace(_NEGATION, "\\not ").replace("\\in/", "\\notin ")


def _make(name: str, children: Iterable[Element]) -> Element:
    element = etree.Element(name)
    element.extend(list(children))
    return element


def _classes(element: Element) -> frozenset[str]:
    """Return the classes of an element without the `katex-` prefix that newer releases add to some."""
    return frozenset(name.removeprefix("katex-") for name in (element.get("class") or "").split())


def _row(box: Element, depth: int) -> list[Element]:
    """Return the MathML of the elements that are side by side in a box."""
    found: list[Element] = []
    before = 0
    for child in box:
        classes = _classes(child)
        if "msupsub" in classes:
            base = found[before:]
            del found[before:]
            found.append(_scripts(_make("mrow", base), child, depth))
            continue
        before = len(found)
        found += _convert_box(child, classes, depth + 1)
    return found


def _convert_box(box: Element, classes: frozenset[str], depth: int) -> list[Element]:
    if not classes.isdisjoint(_IGNORED) or box.tag == "svg" or depth > _MAX_BOXES:
        return []
    if "mfrac" in classes:
        return _fraction(box, depth)
    if "sqrt" in classes:
        return [_root(box, depth)]
    if "op-limits" in classes:
        return [_operator_with_limits(box, depth)]
    if "accent" in classes or "overline" in classes or "underline" in classes:
        return [_accent(box, classes, depth)]
    if "mtable" in classes:
        return [_table(box, depth)]
    if "text" in classes or not any(part.get("class") for part in box.iterdescendants()):
        return _token(box, classes)
    if "vlist-t" in classes:
        return [part for item in _find_stacked(box) for part in _row(item, depth + 1)]
    inner = _row(box, depth + 1)
    return [_make("mrow", inner)] if len(inner) > 1 else inner


def _token(box: Element, classes: frozenset[str]) -> list[Element]:
    text = text_of(box).replace("\u200b", "").replace("\xa0", " ")
    if not text.strip():
        return []
    if "text" in classes:
        name = "mtext"
    elif _BARE_NUMBER.fullmatch(text):
        name = "mn"
    else:
        name = "mo" if not classes.isdisjoint(_OPERATORS) else "mi"
    token = etree.Element(name)
    token.text = text if "mrel" in classes else text.replace("\u2223", "|")
    if variant := next((_VARIANTS[one] for one in _VARIANTS if one in classes), None):
        token.set("mathvariant", variant)
        token.tag = "mi"
    return [token]


def _find_stacked(box: Element) -> list[Element]:
    """Return the elements of the nearest `vlist` of a box, from the top."""
    waiting = list(box)
    while waiting:
        part = waiting.pop(0)
        if "vlist" in _classes(part):
            placed = ((_TOP.search(item.get("style") or ""), item) for item in part)
            tops = [(float(top[1]), item) for top, item in placed if top]
            return [item for _, item in sorted(tops, key=lambda pair: pair[0])]
        waiting += list(part)
    return []


def _group(item: Element | None, depth: int) -> Element:
    return _make("mrow", [] if item is None else _row(item, depth + 1))


def _scripts(base: Element, box: Element, depth: int) -> Element:
    """Return a base with its scripts. A single script is a subscript if the list extends below the line."""
    items = _find_stacked(box)
    if len(items) > 1:
        return _make("msubsup", [base, _group(items[-1], depth), _group(items[0], depth)])
    below = any("vlist-t2" in _classes(part) for part in box)
    return _make("msub" if below else "msup", [base, _group(items[0] if items else None, depth)])


def _fraction(box: Element, depth: int) -> list[Element]:
    items = _find_stacked(box)
    lines = [item for item in items if any("frac-line" in _classes(part) for part in item)]
    parts = [item for item in items if item not in lines]
    if len(parts) < 2:
        return [part for item in parts for part in _row(item, depth + 1)]
    made = _make("mfrac", [_group(parts[0], depth), _group(parts[-1], depth)])
    if not lines:
        made.set("linethickness", "0")
    return [made]


def _root(box: Element, depth: int) -> Element:
    index = next((part for part in box if "root" in _classes(part)), None)
    lists = [part for part in box if "root" not in _classes(part)]
    items = [item for one in lists for item in _find_stacked(one) if not _is_line(item)]
    body = _group(items[0] if items else None, depth)
    if index is None:
        return _make("msqrt", body)
    exponents = _find_stacked(index)
    return _make("mroot", [body, _group(exponents[0] if exponents else None, depth)])


def _is_line(item: Element) -> bool:
    return any(not _classes(part).isdisjoint({"hide-tail", "overline-line", "underline-line"}) for part in item)


def _operator_with_limits(box: Element, depth: int) -> Element:
    """Return an operator with the limits above and below it, which have a smaller size."""
    items = _find_stacked(box)
    is_reduced = [any("sizing" in _classes(part) for part in item) for item in items]
    at = is_reduced.index(False) if False in is_reduced else 0
    above, below = items[:at], items[at + 1 :]
    group = _group(items[at] if items else None, depth)
    base = group[0] if len(group) == 1 else group
    parts = [base, *(_group(item, depth) for item in (*below[:1], *above[-1:]))]
    name = {(True, True): "munderover", (True, False): "munder", (False, True): "mover"}
    return _make(name.get((bool(below), bool(above)), "mrow"), parts)


def _accent(box: Element, classes: frozenset[str], depth: int) -> Element:
    items = _find_stacked(box)
    marks = [item for item in items if any("accent-body" in _classes(part) for part in item)]
    bases = [item for item in items if item not in marks and not _is_line(item)]
    mark = etree.Element("mo")
    text = text_of(marks[0]).strip() if marks else ""
    mark.text = _ACCENTS.get(text, text) or ("→" if "accent" in classes else "_" if "underline" in classes else "¯")
    name = "munder" if "underline" in classes else "mover"
    return _make(name, [_group(bases[-1] if bases else None, depth), mark])


def _table(box: Element, depth: int) -> Element:
    """Return a table from its columns, each of which is a list of cells."""
    columns = [_find_stacked(part) for part in box if any(name.startswith("col-align") for name in _classes(part))]
    rows = max(map(len, columns), default=0)
    return _make(
        "mtable",
        (
            _make("mtr", (_make("mtd", _row(column[n], depth + 1) if n < len(column) else ()) for column in columns))
            for n in range(rows)
        ),
    )

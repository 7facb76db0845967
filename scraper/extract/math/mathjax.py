"""MathJax's own output, which mirrors MathML, put back into MathML where the page keeps no better source."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.math.mathml import MAX_DEPTH

_TOKENS = frozenset({"mi", "mn", "mo", "mtext", "ms"})
_SCRIPTS = frozenset({"msub", "msup", "msubsup"})
_LIMITS = frozenset({"munder", "mover", "munderover"})
_APPARATUS = frozenset({"mjx-assistive-mml", "mjx-spacer", "mjx-surd", "mjx-speech", "mjx-menu"})


def to_mathml(container: Element) -> Element:
    """The formula in an `mjx-container`, whether it was set with elements or drawn as SVG."""
    return _rebuilt("math", list(container), 0)


def _rebuilt(name: str, children: list[Element], depth: int) -> Element:
    made = etree.Element(name)
    for child in children:
        made.extend(_converted(child, depth + 1))
    return made


def _converted(element: Element, depth: int) -> Iterator[Element]:
    """The MathML of an element: none for apparatus, its children's where it is only a wrapper."""
    name = _name(element)
    if str(element.tag) in _APPARATUS or depth > 3 * MAX_DEPTH:
        return
    if name in _TOKENS:
        token = etree.Element(name)
        token.text = _glyphs(element)
        yield token
    elif name in _SCRIPTS or name in _LIMITS or name in ("mfrac", "msqrt", "mroot"):
        yield _shaped(name, element, depth)
    elif name in ("mtable", "mtr", "mlabeledtr", "mtd", "mrow", "mspace"):
        yield _rebuilt(name, list(element), depth)
    else:
        for child in element:
            yield from _converted(child, depth + 1)


def _name(element: Element) -> str:
    """The MathML element that one of MathJax stands for."""
    node = element.get("data-mml-node")
    if node:
        return "mrow" if node == "TeXAtom" else node
    tag = str(element.tag)
    name = tag[4:] if tag.startswith("mjx-") else ""
    return "mrow" if name == "texatom" else name


def _shaped(name: str, element: Element, depth: int) -> Element:
    made = etree.Element(name)
    for part in _parts(name, element):
        made.append(_rebuilt("mrow", part, depth))
    return made


def _parts(name: str, element: Element) -> list[list[Element]]:
    """The operands in MathML's order, each as the elements that make it up."""
    if element.get("data-mml-node"):
        return _drawn_parts(name, element)
    if name == "mfrac":
        return [_under(element, "mjx-num"), _under(element, "mjx-den")]
    if name == "msqrt":
        return [_under(element, "mjx-box")]
    if name == "mroot":
        return [_under(element, "mjx-box"), _under(element, "mjx-root")]
    if name in _LIMITS:
        below = [_under(element, "mjx-under")] if "under" in name else []
        above = [_under(element, "mjx-over")] if "over" in name else []
        return [_under(element, "mjx-base"), *below, *above]
    operands = list(element)
    scripts = [part for child in operands[1:] for part in child if str(part.tag) not in _APPARATUS]
    if name == "msubsup" and len(scripts) == 2:
        return [operands[:1], scripts[1:], scripts[:1]]
    return [operands[:1], scripts]


def _drawn_parts(name: str, element: Element) -> list[list[Element]]:
    """In SVG the operands are the groups themselves; of two scripts the upper one is drawn first."""
    groups = [[child] for child in element if child.get("data-mml-node")]
    if name == "msqrt":
        return groups[:1]
    if name == "msubsup" and len(groups) == 3:
        return [groups[0], groups[2], groups[1]]
    return groups


def _under(element: Element, name: str) -> list[Element]:
    """The children of the nearest part of that name; parts of parts are not looked into."""
    waiting = list(element)
    while waiting:
        part = waiting.pop(0)
        if part.tag == name:
            return list(part)
        if str(part.tag) in ("mjx-box", "mjx-row", "mjx-munder", "mjx-mover", "mjx-sqrt", "mjx-frac") or (
            str(part.tag) in ("mjx-dbox", "mjx-dtable")
        ):
            waiting += list(part)
    return []


def _glyphs(token: Element) -> str:
    """Letters as text, or by the code point in the class (`mjx-c1D465`) or in `data-c`."""
    pieces = []
    for element in token.iterdescendants():
        code = element.get("data-c") or next(
            (name[5:] for name in (element.get("class") or "").split() if name.startswith("mjx-c")), ""
        )
        text = text_of(element).strip() if not len(element) else ""
        pieces.append(text or _character(code))
    return "".join(pieces) or text_of(token).strip()


def _character(code: str) -> str:
    try:
        return chr(int(code, 16)) if code else ""
    except (ValueError, OverflowError):
        return ""

"""Convert the output of MathJax, which mirrors MathML, back into MathML, for pages without a better source."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from scraper.html.dom.xpath import Element, classes_of, text_of
from scraper.html.math.mathml import MAX_DEPTH

_TOKENS = frozenset({"mi", "mn", "mo", "mtext", "ms"})
_SCRIPTS = frozenset({"msub", "msup", "msubsup"})
_LIMITS = frozenset({"munder", "mover", "munderover"})
_IGNORED = frozenset({"mjx-assistive-mml", "mjx-spacer", "mjx-surd", "mjx-speech", "mjx-menu"})
_WRAPPERS = frozenset("mjx-box mjx-row mjx-munder mjx-mover mjx-sqrt mjx-frac mjx-dbox mjx-dtable".split())


def to_mathml(container: Element) -> Element:
    """Return the MathML of an `mjx-container`, rendered either with elements or as SVG."""
    return _build("math", list(container), 0)


def _build(name: str, children: list[Element], depth: int) -> Element:
    made = etree.Element(name)
    for child in children:
        made.extend(_convert(child, depth + 1))
    return made


def _convert(element: Element, depth: int) -> Iterator[Element]:
    """Yield the MathML of an element: nothing for layout elements, the children's for wrappers."""
    name = _name(element)
    if str(element.tag) in _IGNORED or depth > 3 * MAX_DEPTH:
        return
    if name in _TOKENS:
        token = etree.Element(name)
        token.text = _read_glyphs(element)
        yield token
    elif name in _SCRIPTS or name in _LIMITS or name in ("mfrac", "msqrt", "mroot"):
        made = etree.Element(name)
        made.extend([_build("mrow", operand, depth) for operand in _find_operands(name, element)])
        yield made
    elif name in ("mtable", "mtr", "mlabeledtr", "mtd", "mrow", "mspace"):
        yield _build(name, list(element), depth)
    else:
        for child in element:
            yield from _convert(child, depth + 1)


def _name(element: Element) -> str:
    """Return the name of the MathML element that a MathJax element represents."""
    tag = str(element.tag)
    name = element.get("data-mml-node") or (tag[4:] if tag.startswith("mjx-") else "")
    return "mrow" if name in ("TeXAtom", "texatom") else name


def _find_operands(name: str, element: Element) -> list[list[Element]]:
    """Return the operands in MathML's order, each as a list of its elements."""
    if element.get("data-mml-node"):
        return _find_svg_operands(name, element)
    if name == "mfrac":
        return [_find_children(element, "mjx-num"), _find_children(element, "mjx-den")]
    if name == "msqrt":
        return [_find_children(element, "mjx-box")]
    if name == "mroot":
        return [_find_children(element, "mjx-box"), _find_children(element, "mjx-root")]
    if name in _LIMITS:
        below = [_find_children(element, "mjx-under")] if "under" in name else []
        above = [_find_children(element, "mjx-over")] if "over" in name else []
        return [_find_children(element, "mjx-base"), *below, *above]
    operands = list(element)
    scripts = [part for child in operands[1:] for part in child if str(part.tag) not in _IGNORED]
    if name == "msubsup" and len(scripts) == 2:
        return [operands[:1], scripts[1:], scripts[:1]]
    return [operands[:1], scripts]


def _find_svg_operands(name: str, element: Element) -> list[list[Element]]:
    """Return the operands of an SVG structure, which are groups; the upper of two scripts comes first."""
    groups = [[child] for child in element if child.get("data-mml-node")]
    if name == "msqrt":
        return groups[:1]
    if name == "msubsup" and len(groups) == 3:
        return [groups[0], groups[2], groups[1]]
    return groups


def _find_children(element: Element, name: str) -> list[Element]:
    """Return the children of the nearest part of that name, without searching inside other parts."""
    waiting = list(element)
    while waiting:
        part = waiting.pop(0)
        if part.tag == name:
            return list(part)
        if part.tag in _WRAPPERS:
            waiting += list(part)
    return []


def _read_glyphs(token: Element) -> str:
    """Return the characters of a token: its text, or code points in the class (`mjx-c1D465`) or in `data-c`."""
    pieces = []
    for element in token.iterdescendants():
        code = element.get("data-c") or next((name[5:] for name in classes_of(element) if name.startswith("mjx-c")), "")
        text = text_of(element).strip() if not len(element) else ""
        pieces.append(text or _decode_code_point(code))
    return "".join(pieces) or text_of(token).strip()


def _decode_code_point(code: str) -> str:
    try:
        return chr(int(code, 16)) if code else ""
    except (ValueError, OverflowError):
        return ""

"""Turn styles that change what a text says into HTML: struck or raised text, kept lines, list letters, inline boxes.

HTML states which elements are blocks; all others are inline as far as they stand amid text. Styles come from the
browser's marks, inline styles, and rules of inline style sheets for a single class.
"""

import re
from collections.abc import Iterator, Sequence, Set
from typing import Final

from lxml import etree

from scraper.html.dom.parsing import (
    ALL_BLOCKS,
    INLINE,
    LISTS,
    Element,
    Names,
    attribute_selector,
    find_by_class,
    text_of,
)
from scraper.html.page.css_rules import MAX_CSS
from scraper.html.page.style_sheets import clear_comments, parse_rules
from scraper.values.text import read_table

STYLE_ATTRIBUTE: Final = "data-x-text"
"""Attribute in which the browser marks the text styles of an element, by the names of groups of `_STYLES`."""

_MARKED = attribute_selector(STYLE_ATTRIBUTE)
_STYLED = attribute_selector("style")
_STYLES = re.compile(
    r"(?P<struck>text-decoration[\w-]*\s*:[^;]*line-through)|(?P<lines>white-space[\w-]*\s*:\s*pre-line)"
    r"|(?P<spaces>white-space[\w-]*\s*:\s*(?:pre|break-spaces))|(?P<inline>display\s*:\s*inline)"
    r"|(?P<block>display\s*:\s*(?:block|flex|grid|table|list-item))|(?P<raised>vertical-align\s*:\s*super)"
    r"|(?P<lowered>vertical-align\s*:\s*sub\b)"
    r"|(?:list-style[\w-]*\s*:|counters?\()[^;]*"
    r"(?:(?P<a>lower-(?:alpha|latin))|(?P<A>upper-(?:alpha|latin))|(?P<i>lower-roman)|(?P<I>upper-roman))"
)
"""Declarations of each style. Those of lists have the name of the attribute `type` with the same meaning."""
_RULE_HINTS = ("line-through", "white-space", "vertical-align", "er-alpha", "er-latin", "er-roman")
_HINTS = ("line", "display", "white-space", "vertical-align", "list-style")
_LIST_TYPES = frozenset("aAiI")
_RAISED = {"raised": "sup", "lowered": "sub"}
_MAX_RAISED = 4
"""Characters. A longer text that is set higher is a badge or the like."""
_SIMPLE = re.compile(r"[a-z]*\.([\w-]+)(\s*>?\s*li(?:::?(?:before|marker))?)?")
_STRUCK_NAMES = re.compile(read_table(__package__, "names.toml")["struck_names"])
_UTILITIES = {"whitespace-pre-line": "lines"} | dict.fromkeys(("whitespace-pre", "whitespace-pre-wrap"), "spaces")
"""Styles of class names that frameworks define (Tailwind)."""
_KEEPS_LINES = frozenset({"pre", "code", "textarea", "samp", "kbd", "listing", "plaintext", "xmp"})
_BOXES = frozenset({"div", "p", "section", "article", "figure", "address"})
"""Blocks that a style may place within a line."""
_MAX_ELEMENTS = 10_000
"""Elements of a page whose lines are kept."""


def apply_text_styles(body: Element, names: Names) -> None:
    """Mark struck text by `s`, write kept lines with `br`, and make boxes in a line `span`. `names` occur in `body`."""
    boxes: list[Element] = []
    done: set[Element] = set()
    for element, style in list(_find_styles(body, names)):
        if style == "inline" and element.tag in _BOXES:
            boxes.append(element)
        elif style == "struck" and element.tag not in ("s", "del", "body"):
            _strike(element)
        elif style in ("lines", "spaces"):
            _break_lines(element, done, keeps_spaces=style == "spaces")
        elif style == "block" and element.tag == "span" and not element.tail and element.getnext() is not None:
            element.tag = "div"  # only its style separates it from the next one
        elif style in _LIST_TYPES and element.tag in LISTS and element.get("type") is None:
            element.tag = "ol"
            element.set("type", style)
        elif style in _RAISED and element.tag in INLINE and len(text_of(element)) <= _MAX_RAISED:
            element.tag = _RAISED[style]
    _put_in_line(body, boxes)


def rename_inline_elements(body: Element, tags: Set[str]) -> None:
    """Make unknown elements that stand amid text `span`, and `strike` elements `s`. `tags` are all of the tree."""
    for element in body.iter("strike") if "strike" in tags else ():
        element.tag = "s"
    for button in body.iter("button") if "button" in tags else ():
        if ":" in (time := text_of(button).strip()) and time.replace(":", "").isdigit():  # of a line in a transcript
            button.tag = "span"
    _put_boxes_in_line(body)
    unknown = tags - ALL_BLOCKS - INLINE
    _put_in_line(body, list(body.iter(*unknown)) if unknown else [])


def _put_boxes_in_line(body: Element) -> None:
    """Make the boxes in a link or `span` amid text `span`, such as a name with its picture."""
    for part in body.iter("a", "span"):
        if not len(part) or part[0].tag not in _BOXES or not (part.tail or "").strip():
            continue
        before, around = part.getprevious(), part.getparent()
        text = before.tail if before is not None else around.text if around is not None else ""
        boxes = list(part.iter(*ALL_BLOCKS))
        if (text or "").strip() and all(box.tag in _BOXES for box in boxes):
            for box in boxes:
                box.tag, box.tail = "span", box.tail or " "


def _find_styles(body: Element, names: Names) -> Iterator[tuple[Element, str]]:
    for element in _MARKED(body) if STYLE_ATTRIBUTE in names.attributes else ():
        for name in (element.get(STYLE_ATTRIBUTE) or "").split():
            yield element, name
    for element in _STYLED(body) if "style" in names.attributes else ():
        style = (element.get("style") or "").lower()
        for found in _STYLES.finditer(style) if any(hint in style for hint in _HINTS) else ():
            yield element, found.lastgroup or ""
    yield from _find_rule_styles(body, names)


def _find_rule_styles(body: Element, names: Names) -> Iterator[tuple[Element, str]]:
    """Yield the elements to which class names or rules of inline style sheets give a style."""
    by_class = {name: [style] for name, style in _UTILITIES.items() if name in names.classes}
    by_class |= {name: ["struck"] for name in _STRUCK_NAMES.findall(names.classes.lower())}
    for selector, style in _read_rules(body):
        if (simple := _SIMPLE.fullmatch(selector)) and (not simple[2] or style in _LIST_TYPES):
            by_class.setdefault(simple[1].lower(), []).append(style)
    if by_class:
        pattern = re.compile(rf" (?:{'|'.join(map(re.escape, by_class))}) ")
        for element, classes in find_by_class(body, pattern):
            for one in dict.fromkeys(style for name in classes for style in by_class.get(name.lower(), ())):
                yield element, one


def _read_rules(body: Element) -> Iterator[tuple[str, str]]:
    """Yield the selectors of inline style sheets with each style of their rules."""
    root = body.getroottree().getroot()
    css = "\n}}\n".join(sheet.text or "" for sheet in root.iter("style"))[:MAX_CSS]
    for rule in parse_rules(clear_comments(css)) if any(hint in css.lower() for hint in _RULE_HINTS) else ():
        styles = [found.lastgroup or "" for found in _STYLES.finditer(rule.body.lower())] if rule.applies else []
        for selector in rule.selector.split(",") if styles else ():
            yield from ((selector.strip(), style) for style in styles)


def _put_in_line(body: Element, elements: Sequence[Element]) -> None:
    """Make those elements `span` that hold no block and have text beside them; a button needs text on both sides."""
    parents = [
        parent
        for parent in dict.fromkeys(element.getparent() for element in elements)
        if parent is not None
        and (
            "".join([parent.text or "", *(child.tail or "" for child in parent)]).strip()
            or any(map(_is_in_line, parent))
        )
    ]
    if not parents:
        return
    holders: set[Element] = set()
    for block in body.iter(*ALL_BLOCKS):
        around = block.getparent()
        while around is not None and around not in holders:
            holders.add(around)
            around = around.getparent()
    chosen = set(elements) - holders
    for parent in parents:
        _put_children_in_line(parent, chosen, holders)


def _put_children_in_line(parent: Element, chosen: Set[Element], holders: Set[Element]) -> None:
    """Make the chosen children of an element `span` if text is in the same line; blocks and `br` end a line."""
    children = list(parent)
    ends_line = [
        child not in chosen and (child in holders or child.tag in ALL_BLOCKS or child.tag == "br") for child in children
    ]
    has_text = bool((parent.text or "").strip())
    before = []
    for child, ends in zip(children, ends_line, strict=True):
        before.append(has_text)
        has_text = _is_in_line(child) or (has_text and not ends)
    has_text = False
    for number in range(len(children) - 1, -1, -1):
        child = children[number]
        has_text = has_text or _is_in_line(child)
        if child in chosen and ((before[number] and has_text) if child.tag == "button" else before[number] or has_text):
            for inner in chosen & set(child.iter()):
                inner.tag = "span"
        has_text = has_text and not ends_line[number]


def _is_in_line(child: Element) -> bool:
    """Return True if a text, or a blank behind an element of unknown name, continues the line of an element."""
    tail = child.tail or ""
    return bool(tail.strip()) or (tail == " " and child.tag not in ALL_BLOCKS and "-" in child.tag)


def _strike(element: Element) -> None:
    """Put the content of an element into `s`, or make an inline element one."""
    if element.tag in INLINE and element.tag != "a":
        element.tag = "s"
        return
    if any(child.tag in ALL_BLOCKS for child in element):
        return
    struck = etree.Element("s")
    struck.text, element.text = element.text, None
    struck.extend(list(element))
    element.append(struck)


def _break_lines(root: Element, done: set[Element], *, keeps_spaces: bool) -> None:
    """Write the line breaks in the text of an element as `br`. `done` are elements whose lines are written."""
    for element in list(root.iter()) if root not in done else ():
        if len(done) > _MAX_ELEMENTS or element.tag in _KEEPS_LINES:
            continue
        done.add(element)
        text = (element.text or "").lstrip("\n") if element.tag in ALL_BLOCKS else element.text or ""
        text = text if len(element) else text.rstrip("\n")
        if "\n" in text and text.strip():
            element.text, *others = text.split("\n")
            element[:0] = [_line_break(line, keeps_spaces) for line in others]
        if element is not root and "\n" in (element.tail or "").rstrip():
            element.tail, *others = (element.tail or "").split("\n")
            for line in reversed(others):
                element.addnext(_line_break(line, keeps_spaces))


def _line_break(text: str, keeps_spaces: bool) -> Element:
    line = etree.Element("br")
    start = len(text) - len(text.lstrip(" ")) if keeps_spaces else 0
    line.tail = "\xa0" * start + text[start:]
    return line

"""Code however a page sets it becomes `pre`: bare `code`, lines of tokens, boxes of the page's own; without
the bar above it that names the language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from textwrap import dedent

from lxml import etree

from scraper.extract.code.blocks import (
    NUMBERING,
    extract_code,
    is_bare_block,
    is_language_name,
    is_line_number_column,
)
from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, element_selector, text_of

_MAX_LABEL = 24
_MAX_BAR = 60
"""Characters in the bar above a block: a language, "Copy", perhaps a file's name."""

_MAX_CLIMB = 6
_BAR_CLASS = re.compile(r"(?:^|[-_\s])(?:lang|language|header|title|label|toolbar|bar|name)(?:$|[-_\s])")
_BOX_CLASS = re.compile(r"(?:^|[-_\s])(?:code|codeblock|highlight|hljs|snippet)(?:$|[-_\s])")
_BOXES = element_selector(".//div[@data-lang or @data-language or @data-code-language] | .//xmp | .//listing")
_OTHER_WORDS = element_selector(
    ".//*[not(self::code or self::span)] | .//text()[normalize-space() and not(ancestor::code)]/.."
)
_NO_CODE = frozenset("pre table p ul ol h1 h2 h3 h4 h5 h6 img blockquote form".split())
_COPY = re.compile(
    r"\b(?:select all|copy to clipboard|copy|copied|copy code|run|edit|download|wrap|expand)\b", re.IGNORECASE
)


def normalize_code_blocks(root: Element, names: str) -> None:
    """Make every block of code in the tree, whose classes are `names`, a `pre`."""
    _normalize_generated(root, names)
    _add_diff_signs(root, names)
    for block in list(root.iter("pre")):
        _take_numbers(block)
        _take_labels(block)
        _take_bar(block)
    for box in _BOXES(root):
        _settle_box(box)
    _settle_bare(root)
    _settle_lines(root)


def _take_numbers(block: Element) -> None:
    """Take out the column of line numbers beside a block."""
    for beside in (block.getprevious(), block.getnext()):
        if beside is not None and _is_numbering(beside, block):
            remove(beside)


def _is_numbering(beside: Element, block: Element) -> bool:
    if beside.tag == "pre" and _is_column(beside, block):
        return True
    called = not NUMBERING.isdisjoint((beside.get("class") or "").split())
    return called and "".join(text_of(beside).split()).isdecimal()


def _is_column(beside: Element, block: Element) -> bool:
    """Whether numbers stand before their block, and the two alone: behind code stands what it printed."""
    around = block.getparent()
    alone = around is not None and len(around) == 2 and not (beside.tail or "").strip()
    several = len(text_of(beside).split()) > 1
    return alone and several and beside is block.getprevious() and is_line_number_column(beside, block)


def _take_labels(block: Element) -> None:
    """Take out what stands beside the code within its block: the language, buttons."""
    code = next(block.iterdescendants("code"), None)
    if code is None or code.getparent() is block or len(list(islice(block.iter("code"), 2))) == 2:
        return
    place: Element | None = code
    while place is not None and place is not block:
        for before in list(place.itersiblings(preceding=True)):
            label = _label(before)
            if before.tag == "div" and _is_short(before) and (not label or is_language_name(label)):
                if label and not block.get("data-lang"):
                    block.set("data-lang", label)
                remove(before)
        place = place.getparent()


def _take_bar(block: Element) -> None:
    """Take out the bar in, over or under a block, and note the language it names."""
    bar = _bar_inside(block)
    if bar is None:
        bar = _bar_above(block)
    if bar is None:
        bar = _bar_below(block)
    if bar is None:
        return
    label = _label(bar)
    if is_language_name(label) and not block.get("data-lang"):
        block.set("data-lang", label)
    remove(bar)


def _bar_inside(block: Element) -> Element | None:
    """The largest part of a block around a button that holds one short line and no code."""
    button = next(block.iterdescendants("button"), None)
    bar: Element | None = None
    place = button.getparent() if button is not None else None
    while place is not None and place is not block and place.tag not in ("code", "span") and _is_short(place):
        bar, place = place, place.getparent()
    return bar


def _is_short(element: Element) -> bool:
    text = text_of(element).strip()
    return (
        len(text) <= _MAX_BAR
        and "\n" not in text
        and next(element.iterdescendants("code", "br"), None) is None
    )


def _bar_above(block: Element) -> Element | None:
    """A short line directly over a block, or over what wraps it alone, that names a language."""
    place: Element | None = block
    for _ in range(_MAX_CLIMB):
        if place is None:
            return None
        before = place.getprevious()
        if before is not None:
            return before if _names_language(before) else None
        around = place.getparent()
        if around is None or (around.text or "").strip() or around.tag in ("body", "td", "li"):
            return None
        place = around
    return None


def _bar_below(block: Element) -> Element | None:
    """A bar of buttons that is set over a block from behind it, as Prism does."""
    after = block.getnext()
    if after is None or (block.tail or "").strip() or "toolbar" not in (after.get("class") or "").split():
        return None
    return after if _is_short(after) and (not _label(after) or is_language_name(_label(after))) else None


def _names_language(bar: Element) -> bool:
    if (
        bar.tag not in ("div", "span", "p", "figcaption", "header")
        or (bar.tail or "").strip()
        or not _is_short(bar)
    ):
        return False
    has_button = next(bar.iterdescendants("button"), None) is not None or any(
        link.get("href") == "#" for link in bar.iterdescendants("a")
    )
    named = _BAR_CLASS.search((bar.get("class") or "").lower()) is not None
    return (has_button or named) and is_language_name(_label(bar))


def _label(bar: Element) -> str:
    """What a bar says beside its buttons."""
    buttons = {inner for button in bar.iterdescendants("button") for inner in button.iter()}
    said = [
        text.strip()
        for element in bar.iter()
        for text in (
            (element.text if element not in buttons else None),
            element.tail if element is not bar else None,
        )
        if text and text.strip()
    ]
    return _COPY.sub("", " ".join(said)).strip(" :|·").lower()[:_MAX_LABEL]


def _settle_box(box: Element) -> None:
    """A block of the page's own that notes a language and holds nothing but text."""
    if next(box.iterdescendants(*_NO_CODE), None) is not None:
        return
    named = box.tag != "div" or _BOX_CLASS.search((box.get("class") or "").lower()) is not None
    if named and text_of(box).strip():
        box.tag = "pre"


def _settle_bare(root: Element) -> None:
    """`code` that is a block by itself; with the blocks directly beside it, if there are any, it is one."""
    done: set[Element] = set()
    for code in list(root.iter("code")):
        if code in done or not is_bare_block(code):
            continue
        run = list(_run_from(code))
        done.update(run)
        texts = [_fragment(one) for one in run]
        for extra in run[1:]:
            remove(extra)
        del code[:]
        code.tag, code.text = "pre", "\n".join(texts)


def _run_from(code: Element) -> Iterator[Element]:
    """A bare block and the blocks of code right behind it; the first one is never a `pre`'s neighbour."""
    one: Element | None = code
    while one is not None and (one.tag == "pre" or (one.tag == "code" and is_bare_block(one))):
        yield one
        if (one.tail or "").strip():
            return
        one = one.getnext()


def _fragment(code: Element) -> str:
    raw = text_of(code)
    text = extract_code(code)
    text = dedent(text) if code.tag == "code" else text
    return f"{text}\n" if raw.endswith("\n\n") else text


def _settle_lines(root: Element) -> None:
    """Lines in elements of their own, each token of them a `code`."""
    done: set[Element] = set()
    for line in _tokened(root):
        if line in done:
            continue
        run = list(_lines_from(line))
        done.update(run)
        if len(run) < 2 or max(len(list(one.iter("code"))) for one in run) < 2:
            continue
        text = "\n".join(text_of(one).replace("\u00a0", " ").strip("\n").rstrip() for one in run)
        for extra in run[1:]:
            remove(extra)
        tail = line.tail
        line.clear()
        line.tag, line.text, line.tail = "pre", text, tail


def _tokened(root: Element) -> Iterator[Element]:
    """The `div` around each two tokens that stand side by side; the first line of a run may have but one."""
    seen: set[Element] = set()
    for code in list(root.iter("code")):
        after = code.getnext()
        if after is None or after.tag != "code":
            continue
        line = code.getparent()
        while line is not None and line.tag == "span":
            line = line.getparent()
        if line is None or line.tag != "div" or line in seen:
            continue
        seen.add(line)
        if not _is_line(line):
            continue
        before = line.getprevious()
        while before is not None and not (before.tail or "").strip() and _is_line(before):
            line, before = before, before.getprevious()
        yield line


def _lines_from(line: Element) -> Iterator[Element]:
    one: Element | None = line
    while one is not None and _is_line(one):
        yield one
        if (one.tail or "").strip():
            return
        one = one.getnext()


def _is_line(element: Element) -> bool:
    """Whether all that is said in an element is said by `code` in it."""
    return element.tag == "div" and not _OTHER_WORDS(element) and next(element.iter("code"), None) is not None


_LINED = element_selector(".//div[contains(concat(' ', @class, ' '), ' fragment ')]")
"""Doxygen's blocks of code."""
_LISTINGS = element_selector(".//div[contains(@class, 'ltx_lstlisting')]")
_LISTED_LANGUAGE = re.compile(r"ltx_lst_language_(\S+)")
_SIGNATURES = element_selector(".//table[contains(concat(' ', @class, ' '), ' memname ')]")
_AFTER_BRACKET = re.compile(r"(?<=\() | (?=\))|(?<= ) ")


def _normalize_generated(root: Element, names: str) -> None:
    """Make them blocks of code; `names` are the tree's classes."""
    for box in _LINED(root) if "fragment" in names else ():
        _settle_lined(box)
    for box in _LISTINGS(root) if "ltx_lstlisting" in names else ():
        _settle_listing(box)
    for area in root.iter("textarea"):
        if "\n" in (area.text or "").strip():  # an editor with an example in it; fields of forms are empty
            area.tag = "pre"
    for table in _SIGNATURES(root) if "memname" in names else ():
        _settle_signature(table)


def _settle_lined(box: Element) -> None:
    """A box that holds lines of code, each in an element of its own, perhaps in parts that fold."""
    lines: list[Element] = []
    for part in box:
        classes = (part.get("class") or "").split()
        if "line" in classes:
            lines.append(part)
        elif "foldopen" in classes:
            lines += [line for line in part.iter("div") if "line" in (line.get("class") or "").split()]
        elif "ttc" not in classes:  # what shows over a name when one points at it
            return
    if lines:
        for line in lines:
            line.tail = None
        box.tag, box.text, box[:] = "pre", None, lines


def _settle_listing(box: Element) -> None:
    """LaTeXML's listing: its lines are elements, its language stands in a class of its own."""
    lines = [line for line in box if "ltx_listingline" in (line.get("class") or "").split()]
    if not lines or next(box.iterdescendants("math"), None) is not None:
        return
    language = _LISTED_LANGUAGE.search(box.get("class") or "")
    for line in lines:
        line.tail = None
        for number in [one for one in line if "ltx_tag" in (one.get("class") or "")]:
            remove(number)
    box.tag, box.text, box[:] = "pre", None, lines
    if language:
        box.set("data-lang", language.group(1))


def _settle_signature(table: Element) -> None:
    """A function with its parameters in the cells of a table, as Doxygen sets them: one line of code."""
    words = " ".join(" ".join(text_of(cell).split()) for cell in table.iter("td"))
    code = etree.Element("code")
    code.text = _AFTER_BRACKET.sub("", " ".join(words.split()))
    table.tag = "p"
    table[:] = [code]
    table.text = None


_CHANGED = element_selector(
    ".//*[self::span or self::div]"
    "[contains(concat(' ', @class, ' '), ' diff ') or contains(concat(' ', @class, ' '), ' ec-line ')]"
)
_SIGNS = {"add": "+", "remove": "-", "ins": "+", "del": "-"}
_LINES = frozenset({"line", "ec-line"})
_MOST_LINES = 20_000


def _add_diff_signs(root: Element, names: str) -> None:
    """Write the signs before the lines, and before all others of their blocks a blank; it is a `diff` then.

    `names` are the tree's classes.
    """
    if "diff" not in names and "ec-line" not in names:
        return
    changed = (line for line in _CHANGED(root)[:_MOST_LINES] if _sign(line) != " ")
    blocks = (next(line.iterancestors("pre"), None) for line in changed)
    for block in dict.fromkeys(block for block in blocks if block is not None):
        lines = [line for line in block.iter("span", "div") if _is_diff_line(line)]
        if any(text_of(line)[:1] in "+-" for line in lines if _sign(line) != " " and text_of(line)):
            continue  # written out already
        for line in lines:
            place = line
            while not place.text and len(place) and place[0].tag == "div":
                place = place[0]
            place.text = _sign(line) + (place.text or "")
        for named in (block, *block.iter("code")):
            named.set("data-lang", "diff")


def _is_diff_line(element: Element) -> bool:
    return not _LINES.isdisjoint((element.get("class") or "").split())


def _sign(line: Element) -> str:
    return next((_SIGNS[name] for name in (line.get("class") or "").split() if name in _SIGNS), " ")

"""Turn code that is not in a `pre` into `pre`, and remove labels, buttons and line numbers around code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from textwrap import dedent

from scraper.extract.code.blocks import NUMBERING, extract_code, is_bare_block, is_language_name
from scraper.extract.code.line_elements import join_code_lines, join_named_lines
from scraper.html.dom.parsing import remove
from scraper.html.dom.tags import HEADINGS, LISTS
from scraper.html.dom.xpath import Element, classes_of, element_selector, text_of

_MAX_LABEL = 24
_MAX_BAR = 60
"""Characters in the bar above a block: a language, "Copy", perhaps a file name."""

_MAX_CLIMB = 6
_BAR_CLASS = re.compile(r"(?:^|[-_\s])(?:lang|language|header|title|label|toolbar|bar|name)(?:$|[-_\s])")
_BOX_CLASS = re.compile(r"(?:^|[-_\s])(?:code|codeblock|highlight|hljs|snippet)(?:$|[-_\s])")
_BOXES = element_selector(".//div[@data-lang or @data-language or @data-code-language] | .//xmp | .//listing")
_NO_CODE = HEADINGS | LISTS | {"pre", "table", "p", "img", "blockquote", "form"}
_BUTTON_TEXT = re.compile(
    r"\b(?:select all|copy to clipboard|copy|copied|copy code|run|edit|download|expand"
    r"|(?:toggle )?(?:word )?(?:wrap|overflow))\b",
    re.IGNORECASE,
)


def normalize_code_blocks(root: Element, class_names: str) -> None:
    """Turn every code block in a tree into a `pre`. `class_names` holds all class names, to skip needless searches."""
    for area in root.iter("textarea"):
        if "\n" in (area.text or "").strip():  # an editor with an example; form fields are empty
            area.tag = "pre"
    join_named_lines(root, class_names)
    join_code_lines(root)
    for block in list(root.iter("pre")):
        for beside in (block.getprevious(), block.getnext()):
            is_numbering = beside is not None and not NUMBERING.isdisjoint(classes_of(beside))
            if beside is not None and is_numbering and "".join(text_of(beside).split()).isdecimal():
                remove(beside)
        _remove_labels(block)
        bar = _bar_above(block)
        if bar is not None:
            _store_language(block, _read_label(bar))
            remove(bar)
        for before in list(block.itersiblings("span", "a", preceding=True)):
            is_button = text_of(before).strip() and _is_short(before) and not _read_label(before)
            if not is_button or (before.tail or "").strip():
                break
            remove(before)  # a label of a button, such as "Copy to clipboard"
    for box in _BOXES(root):
        _normalize_box(box)
    _normalize_bare_code(root)


def _remove_labels(block: Element) -> None:
    """Remove the bar with buttons in a block, and the language label beside its sole code."""
    bar = _bar_inside(block)
    codes = list(islice(block.iter("code"), 2))
    beside = [] if bar is None else [bar]
    place = codes[0] if len(codes) == 1 else block
    while place is not block and (around := place.getparent()) is not None:
        beside += [one for one in around.iterchildren("div") if one is not place and one is not bar]
        place = around
    for one in beside:
        label = _read_label(one)
        if one is bar or (_is_short(one) and (not label or is_language_name(label))):
            _store_language(block, label)
            remove(one)


def _bar_inside(block: Element) -> Element | None:
    """Return the largest part of a block that contains a button and one short line but no code."""
    button = next(block.iterdescendants("button"), None)
    bar: Element | None = None
    place = button.getparent() if button is not None else None
    while place is not None and place is not block and place.tag not in ("code", "span") and _is_short(place):
        bar, place = place, place.getparent()
    return bar


def _store_language(block: Element, label: str) -> None:
    if is_language_name(label) and not block.get("data-lang"):
        block.set("data-lang", label)


def _is_short(element: Element) -> bool:
    text = text_of(element).strip()
    return len(text) <= _MAX_BAR and "\n" not in text and next(element.iterdescendants("code", "br"), None) is None


def _bar_above(block: Element) -> Element | None:
    """Return a short line that names a language directly above a block or above its sole wrapper."""
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


def _names_language(bar: Element) -> bool:
    if bar.tag not in ("div", "span", "p", "figcaption", "header") or (bar.tail or "").strip() or not _is_short(bar):
        return False
    has_button = next(bar.iterdescendants("button"), None) is not None
    has_button = has_button or any(link.get("href") == "#" for link in bar.iterdescendants("a"))
    named = _BAR_CLASS.search((bar.get("class") or "").lower()) is not None
    return (has_button or named) and is_language_name(_read_label(bar))


def _read_label(bar: Element) -> str:
    """Return the text of a bar without its buttons."""
    buttons = {inner for button in bar.iterdescendants("button") for inner in button.iter()}
    texts = [
        text.strip()
        for element in bar.iter()
        for text in ((element.text if element not in buttons else None), element.tail if element is not bar else None)
        if text and text.strip()
    ]
    return _BUTTON_TEXT.sub("", " ".join(texts)).strip(" :|·").lower()[:_MAX_LABEL]


def _normalize_box(box: Element) -> None:
    """Turn a custom code box that declares a language and contains only text into a `pre`."""
    if next(box.iterdescendants(*_NO_CODE), None) is not None:
        return
    named = box.tag != "div" or _BOX_CLASS.search((box.get("class") or "").lower()) is not None
    if named and text_of(box).strip():
        box.tag = "pre"


def _normalize_bare_code(root: Element) -> None:
    """Turn each `code` that is a block, together with adjacent ones, into a `pre`."""
    done: set[Element] = set()
    for code in list(root.iter("code")):
        if code in done or not is_bare_block(code):
            continue
        run = list(_find_adjacent_blocks(code))
        done.update(run)
        texts = [_extract_fragment(one) for one in run]
        for extra in run[1:]:
            remove(extra)
        del code[:]
        code.tag, code.text = "pre", "\n".join(texts)


def _find_adjacent_blocks(code: Element) -> Iterator[Element]:
    """Yield a bare block and the code blocks that directly follow it."""
    one: Element | None = code
    while one is not None and (one.tag == "pre" or (one.tag == "code" and is_bare_block(one))):
        yield one
        if (one.tail or "").strip():
            return
        one = one.getnext()


def _extract_fragment(code: Element) -> str:
    raw = text_of(code)
    text = extract_code(code)
    text = dedent(text) if code.tag == "code" else text
    return f"{text}\n" if raw.endswith("\n\n") else text

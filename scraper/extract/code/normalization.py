"""Turn code that is not in a `pre` into `pre`, and remove labels, buttons and line numbers around code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from textwrap import dedent

from scraper.extract.code.blocks import NUMBERING, extract_code, is_bare_block, is_language_name, is_line_number_column
from scraper.extract.code.line_elements import join_code_lines, join_named_lines
from scraper.html.dom.parsing import remove
from scraper.html.dom.tags import HEADINGS, LISTS
from scraper.html.dom.xpath import Element, classes_of, element_selector, text_of

_MAX_LABEL = 24
_MIN_NUMBERED_LINES = 3
_LONGEST_NUMBER = 6
_MARK = "\ue000"
"""Character for private use, which marks the numbers while the lines are compared."""
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
    _add_diff_signs(root, class_names)
    join_named_lines(root, class_names)
    join_code_lines(root)
    for block in list(root.iter("pre")):
        for beside in (block.getprevious(), block.getnext()):
            if beside is not None and _is_numbering(beside, block):
                remove(beside)
        _remove_numbers_of_lines(block)
        _remove_labels(block)
        _remove_title_bar(block)
    for box in _BOXES(root):
        _normalize_box(box)
    _normalize_bare_code(root)


def _is_numbering(beside: Element, block: Element) -> bool:
    """Return True for the line numbers of a block. Numbers in a `pre` after a block are its output."""
    words = " ".join(map(str, beside.itertext())).split()
    if not NUMBERING.isdisjoint(classes_of(beside)) and "".join(words).isdecimal():
        return True
    around = block.getparent()
    is_alone = around is not None and len(around) == 2 and not (beside.tail or "").strip()
    is_before = beside.tag in ("pre", "div", "span") and beside is block.getprevious()
    return is_alone and is_before and len(words) > 1 and is_line_number_column(beside, block)


def _remove_numbers_of_lines(block: Element) -> None:
    """Remove the numbers at the beginning of the lines of a block if they are elements without a class."""
    numbers = [
        one for one in block.iter("span", "div", "td") if not len(one) and not one.get("class") and _is_number(one)
    ]
    if len(numbers) < _MIN_NUMBERED_LINES:
        return
    first = int(numbers[0].text or "0")
    if [int(one.text or "0") for one in numbers] != list(range(first, first + len(numbers))):
        return
    texts = [one.text for one in numbers]
    for one in numbers:
        one.text = f"{_MARK}{one.text}"
    lines = extract_code(block).split("\n")
    for one, text in zip(numbers, texts, strict=True):
        one.text = text
    begin_lines = all(line.lstrip().startswith(_MARK) and line.count(_MARK) == 1 for line in lines)
    if begin_lines and len(lines) == len(numbers) and any(len(line.split()) > 1 for line in lines):
        for one in numbers:
            remove(one)


def _is_number(element: Element) -> bool:
    text = (element.text or "").strip()
    return text.isascii() and text.isdecimal() and len(text) < _LONGEST_NUMBER


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


def _has_button(element: Element) -> bool:
    return element.tag == "button" or next(element.iterdescendants("button"), None) is not None


def _store_language(block: Element, label: str) -> None:
    if is_language_name(label) and not block.get("data-lang"):
        block.set("data-lang", label)


def _remove_title_bar(block: Element) -> None:
    """Remove the bar above or below a block and the labels of its buttons, and store the language that it names."""
    bar = _bar_above(block)
    bar = _bar_below(block) if bar is None else bar
    if bar is not None:
        _store_language(block, _read_label(bar))
        remove(bar)
    for before in list(block.itersiblings("span", "a", preceding=True)):
        if (before.tail or "").strip() or not text_of(before).strip() or not _is_short(before) or _read_label(before):
            return
        remove(before)


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


def _bar_below(block: Element) -> Element | None:
    """Return a toolbar that follows a block, as Prism inserts it."""
    after = block.getnext()
    if after is None or (block.tail or "").strip() or "toolbar" not in classes_of(after):
        return None
    return after if _is_short(after) and (not _read_label(after) or is_language_name(_read_label(after))) else None


def _names_language(bar: Element) -> bool:
    if bar.tag not in ("div", "span", "p", "figcaption", "header") or (bar.tail or "").strip() or not _is_short(bar):
        return False
    has_button = _has_button(bar) or any(link.get("href") == "#" for link in bar.iterdescendants("a"))
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


_CHANGED_LINES = element_selector(
    ".//*[self::span or self::div]"
    "[contains(concat(' ', @class, ' '), ' diff ') or contains(concat(' ', @class, ' '), ' ec-line ')]"
)
_DIFF_SIGNS = {"add": "+", "remove": "-", "ins": "+", "del": "-"}
_DIFF_LINE_CLASSES = frozenset({"line", "ec-line"})
_MAX_DIFF_LINES = 20_000


def _add_diff_signs(root: Element, class_names: str) -> None:
    """Write the signs before the changed lines and blanks before others, and set the language to `diff`.

    Some pages mark changed lines by a class only, and the style sheet adds the signs.
    """
    if "diff" not in class_names and "ec-line" not in class_names:
        return
    changed = (line for line in _CHANGED_LINES(root)[:_MAX_DIFF_LINES] if _diff_sign(line) != " ")
    blocks = (next(line.iterancestors("pre"), None) for line in changed)
    for block in dict.fromkeys(block for block in blocks if block is not None):
        lines = [line for line in block.iter("span", "div") if not _DIFF_LINE_CLASSES.isdisjoint(classes_of(line))]
        starts = (text_of(line)[:1] for line in lines if _diff_sign(line) != " ")
        if not {"+", "-"}.isdisjoint(starts):
            continue  # the signs are in the text already
        for line in lines:
            place = line
            while not place.text and len(place) and place[0].tag == "div":
                place = place[0]
            place.text = _diff_sign(line) + (place.text or "")
        for named in (block, *block.iter("code")):
            named.set("data-lang", "diff")


def _diff_sign(line: Element) -> str:
    return next((_DIFF_SIGNS[name] for name in classes_of(line) if name in _DIFF_SIGNS), " ")

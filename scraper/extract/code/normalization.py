"""Turn code that is not in a `pre` into `pre`, and remove labels, buttons and line numbers around code."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from textwrap import dedent

from scraper.extract.code.blocks import NUMBERING, TABLE, extract_code, is_bare_block, is_language_name
from scraper.html.dom.parsing import (
    HEADINGS,
    LISTS,
    Element,
    classes_of,
    element_selector,
    pad_names,
    remove,
    text_of,
    text_selector,
)

_MAX_LABEL = 24
_MAX_SIBLINGS = 8
"""Elements before a block that may be buttons; a page may have thousands of blocks side by side."""
_MAX_BAR = 60
"""Characters in a bar inside a block: a language, "Copy", perhaps a file name."""

_BOX_CLASS = re.compile(r"(?:^|[-_\s])(?:code|codeblock|highlight|hljs|snippet)(?:$|[-_\s])")
_BOXES = element_selector(".//div[@data-lang or @data-language or @data-code-language] | .//xmp | .//listing")
_NO_CODE = HEADINGS | LISTS | {"pre", "table", "p", "img", "blockquote", "form"}
_BUTTON_TEXT = re.compile(TABLE["button_text"], re.IGNORECASE)


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
        _remove_buttons(block)
    for box in _BOXES(root):  # custom boxes that declare a language and contain only text
        named = box.tag != "div" or _BOX_CLASS.search((box.get("class") or "").lower()) is not None
        if named and text_of(box).strip() and next(box.iterdescendants(*_NO_CODE), None) is None:
            box.tag = "pre"
    _normalize_bare_code(root)


def _remove_labels(block: Element) -> None:
    """Remove bars with buttons in a block, and the language label beside its sole code."""
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


def _remove_buttons(block: Element) -> None:
    """Remove labels of buttons before a block, such as "Copy to clipboard"."""
    nearest = islice(block.itersiblings(preceding=True), _MAX_SIBLINGS)
    for before in [one for one in nearest if one.tag in ("span", "a")]:
        is_button = text_of(before).strip() and _is_short(before) and not _read_label(before)
        if not is_button or (before.tail or "").strip():
            break
        remove(before)


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


def _normalize_bare_code(root: Element) -> None:
    done: set[Element] = set()
    for code in list(root.iter("code")):
        if code in done or not is_bare_block(code):
            continue
        run = list(_find_adjacent_blocks(code))
        done.update(run)
        texts = []
        for one in run:
            text = extract_code(one)
            text = dedent(text) if one.tag == "code" else text
            texts.append(f"{text}\n" if text_of(one).endswith("\n\n") else text)
        for extra in run[1:]:
            remove(extra)
        del code[:]
        code.tag, code.text = "pre", "\n".join(texts)


def _find_adjacent_blocks(code: Element) -> Iterator[Element]:
    one: Element | None = code
    while one is not None and (one.tag == "pre" or (one.tag == "code" and is_bare_block(one))):
        yield one
        if (one.tail or "").strip():
            return
        one = one.getnext()


_LINE = re.compile(TABLE["line"])
_BOX = re.compile(TABLE["box"])
"""Names of elements with all lines. An element named `line` is code only inside one of them."""
_ASIDE = re.compile(r"[\s_-](?:ttc|tooltip|popover|popup)[\s_-]")
_HOLDS_LINES = text_selector(
    "descendant-or-self::*/@style[contains(., 'white-space')] | descendant-or-self::*/@data-slate-type"
)
_KEEPS_LINES = element_selector("descendant-or-self::*[contains(@style, 'white-space')]")
_OUTSIDE_CODE = text_selector(".//text()[normalize-space() and not(ancestor::code or ancestor::pre)]")
_TOP = re.compile(r"\btop:\s*(\d+)px")
_NO_LINE = re.compile(r"[\d\s\u2b07]*")
"""Texts beside the lines: their numbers, and the arrow of a download."""
_LINE_TAGS = frozenset({"div", "p", "li"})
_MAX_DEPTH = 4
_MIN_NUMBERED, _MAX_DIGITS = 3, 6
"""Minimum lines with consecutive numbers, and digits of a number."""
_NOT_IN_LINES = HEADINGS | LISTS | {"p", "table", "blockquote", "img", "input", "button"}


def join_named_lines(root: Element, class_names: str) -> None:
    """Turn elements named as lines of code, and boxes of code whose style keeps line breaks, into `pre`.

    Call it before content selection, which would judge each line alone. `class_names` are all class names of the tree.
    """
    padded = pad_names(class_names)
    has_styles = _BOX.search(padded) is not None and bool(_HOLDS_LINES(root))
    if not (has_styles or _LINE.search(padded)):
        return

    @cache
    def kind_of(classes: str | None, slate_type: str | None) -> str:
        """Return the name of a line, `box` for an element around lines, or an empty text."""
        names = pad_names(" ".join(filter(None, (classes, slate_type))))
        line = _LINE.search(names)
        return line[1] if line else "box" if _BOX.search(names) else ""

    lines: defaultdict[Element, list[Element]] = defaultdict(list)
    boxes = []
    for element in root.iterdescendants():
        kind = kind_of(element.get("class"), element.get("data-slate-type"))
        if kind == "box":
            boxes.append(element)
        elif kind:
            around = list(islice(element.iterancestors(), _MAX_DEPTH))
            boxed = (one for one in around if kind_of(one.get("class"), one.get("data-slate-type")) == "box")
            box = next(boxed, None if kind == "line" else around[0])
            if box is not None:
                lines[box].append(element)
    for box, found in lines.items():
        if not _is_in_code(box) and _hold_all_text(box, found):
            for token in (token for line in found for token in line.iter("code")):
                token.tag = "span"
            texts = [extract_code(line) for line in sorted(found, key=_read_top)]
            _remove_gutter(box, len(texts))
            _write_lines(box, texts)
    for box in boxes if has_styles else ():
        _join_preserved_lines(box)


def _is_in_code(element: Element) -> bool:
    return element.tag == "pre" or next(element.iterancestors("pre", "code"), None) is not None


def _hold_all_text(box: Element, lines: Sequence[Element]) -> bool:
    """Return True if lines without inner blocks hold all text of a box, except numbers and tooltips."""
    if any(next(line.iterdescendants(*_NOT_IN_LINES), None) is not None for line in lines):
        return False
    inside, stack = set(lines), [box]
    while stack:
        element = stack.pop()
        if not all(_NO_LINE.fullmatch(text or "") for text in (element.text, *(child.tail for child in element))):
            return False
        stack += [one for one in element if one not in inside and not _ASIDE.search(pad_names(one.get("class") or ""))]
    return True


def _read_top(line: Element) -> int:
    """Return the position of a line: editors that display only a part of the code change the order of elements."""
    top = _TOP.search(line.get("style") or "")
    return int(top[1]) if top else 0


def _remove_gutter(box: Element, lines: int) -> None:
    numbers = list(map(str, range(1, lines + 1)))
    for place in (box, *islice(box.iterancestors(), _MAX_DEPTH)) if lines > 1 else ():
        for beside in [*place.itersiblings(), *place.itersiblings(preceding=True)]:
            may_number = text_of(beside).rstrip().endswith(numbers[-1])
            if may_number and [*filter(None, map(str.strip, map(str, beside.itertext())))][-lines:] == numbers:
                remove(beside)


def _join_preserved_lines(box: Element) -> None:
    """Turn the innermost element with all text of a box of code into `pre` if its style keeps several lines."""
    if _is_in_code(box) or next(box.iter("pre", "code", *_NOT_IN_LINES - {"button"}), None) is not None:
        return
    leaves = [one for one in _KEEPS_LINES(box) if "pre" in (one.get("style") or "").partition("white-space")[2][:12]]
    leaf = leaves[-1] if leaves else box
    if leaves and (next(leaf.iter("br"), None) is not None or "\n" in text_of(leaf).strip()):
        _write_lines(leaf, [extract_code(leaf)])


def join_code_lines(root: Element) -> None:
    """Turn lists of code lines, and rows of one element with a line in `code` each, into `pre` without the numbers.

    A list is code if each item is one `code` or `pre` and some are indented. Rows are code if they have consecutive
    numbers, or several `code`, one for each token.
    """
    done: set[Element] = set()
    for code in list(root.iter("code", "pre")):
        line = next(code.iterancestors("div", "p", "li", "td", "pre", "body"), None)
        if line is None or line.tag not in _LINE_TAGS or line in done or _is_in_code(line):
            continue
        run = dict(_find_run(line))
        done.update(run or (line,))
        if _are_lines(list(run), list(run.values())):
            _replace_run(list(run), [text for _, text in run.values()])


_Row = tuple[int | None, str]


def _find_run(line: Element) -> Iterator[tuple[Element, _Row]]:
    one: Element | None = line
    while one is not None and one.tag == line.tag and (row := _read_row(one)) is not None:
        yield one, row
        one = None if (one.tail or "").strip() else one.getnext()


def _read_row(line: Element) -> _Row | None:
    """Return number and code of an element if all its text is in `code`, perhaps behind a number."""
    outside = _OUTSIDE_CODE(line)
    digits = outside[0].strip() if len(outside) == 1 else ""
    is_numbered = digits.isdecimal() and len(digits) <= _MAX_DIGITS and text_of(line).lstrip().startswith(digits)
    if (outside and not is_numbered) or next(line.iterdescendants(*_NOT_IN_LINES), None) is not None:
        return None
    text = "".join(map(text_of, line.iter("code", "pre"))) if is_numbered else text_of(line)
    text = text.replace("\xa0", " ").strip("\r\n").rstrip()
    return None if "\n" in text else (int(digits) if is_numbered else None, text)


def _are_lines(lines: Sequence[Element], rows: Sequence[_Row]) -> bool:
    numbers = [number for number, _ in rows if number is not None]
    if len(numbers) >= _MIN_NUMBERED:
        return numbers == list(range(numbers[0], numbers[0] + len(rows)))
    if len(rows) < 2 or numbers:
        return False
    parent = lines[0].getparent()
    if lines[0].tag == "li":
        is_whole = parent is not None and parent.tag == "ol" and len(parent) == len(rows)
        return is_whole and any(len(text) > 1 and not text[:2].strip(" \xa0\t") for _, text in rows[1:])
    return lines[0].tag == "div" and any(len(list(line.iter("code"))) > 1 for line in lines)


def _replace_run(lines: Sequence[Element], texts: Sequence[str]) -> None:
    parent = lines[0].getparent()
    if lines[0].tag == "li" and parent is not None:
        _write_lines(parent, texts)
        return
    lines[0].tail = lines[-1].tail
    for line in lines[1:]:
        line.tail = None
        remove(line)
    _write_lines(lines[0], texts)


def _write_lines(element: Element, lines: Sequence[str]) -> None:
    """Turn an element into a `pre` with these lines; it keeps its attributes, which may name the language."""
    del element[:]
    element.tag, element.text = "pre", "\n".join(lines)

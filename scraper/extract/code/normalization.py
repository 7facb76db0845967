"""Turn code that is not in a `pre` into `pre`, and remove labels, buttons and line numbers around code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from textwrap import dedent

from lxml import etree

from scraper.extract.code.blocks import NUMBERING, extract_code, is_bare_block, is_language_name, is_line_number_column
from scraper.extract.code.line_lists import normalize_line_lists
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
_TEXT_OUTSIDE_CODE = element_selector(
    ".//*[not(self::code or self::span)] | .//text()[normalize-space() and not(ancestor::code)]/.."
)
_NO_CODE = HEADINGS | LISTS | {"pre", "table", "p", "img", "blockquote", "form"}
_BUTTON_TEXT = re.compile(
    r"\b(?:select all|copy to clipboard|copy|copied|copy code|run|edit|download|wrap|expand)\b", re.IGNORECASE
)


def normalize_code_blocks(root: Element, class_names: str) -> None:
    """Turn every code block in a tree into a `pre`. `class_names` holds all class names, to skip needless searches."""
    _normalize_generated(root, class_names)
    _add_diff_signs(root, class_names)
    normalize_line_lists(root)
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
    _normalize_token_lines(root)


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
    """Remove the language label and the buttons beside the code inside its block."""
    code = next(block.iterdescendants("code"), None)
    if code is None or code.getparent() is block or len(list(islice(block.iter("code"), 2))) == 2:
        return
    place: Element | None = code
    while place is not None and place is not block:
        for before in list(place.itersiblings(preceding=True)):
            label = _read_label(before)
            if before.tag == "div" and _is_short(before) and (not label or is_language_name(label)):
                if label and not block.get("data-lang"):
                    block.set("data-lang", label)
                remove(before)
        place = place.getparent()


def _remove_title_bar(block: Element) -> None:
    """Remove the bar in, above or below a block, and store the language that it names."""
    bars = (find(block) for find in (_bar_inside, _bar_above, _bar_below))
    bar = next((one for one in bars if one is not None), None)
    if bar is None:
        return
    label = _read_label(bar)
    if is_language_name(label) and not block.get("data-lang"):
        block.set("data-lang", label)
    remove(bar)


def _bar_inside(block: Element) -> Element | None:
    """Return the largest part of a block that contains a button and one short line but no code."""
    button = next(block.iterdescendants("button"), None)
    bar: Element | None = None
    place = button.getparent() if button is not None else None
    while place is not None and place is not block and place.tag not in ("code", "span") and _is_short(place):
        bar, place = place, place.getparent()
    return bar


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
    has_button = next(bar.iterdescendants("button"), None) is not None or any(
        link.get("href") == "#" for link in bar.iterdescendants("a")
    )
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


def _normalize_token_lines(root: Element) -> None:
    """Turn runs of line elements that contain one `code` per token into a `pre`."""
    done: set[Element] = set()
    for line in _find_token_lines(root):
        if line in done:
            continue
        run = list(_find_adjacent_lines(line))
        done.update(run)
        if len(run) < 2 or max(len(list(one.iter("code"))) for one in run) < 2:
            continue
        text = "\n".join(text_of(one).replace("\u00a0", " ").strip("\n").rstrip() for one in run)
        for extra in run[1:]:
            remove(extra)
        tail = line.tail
        line.clear()
        line.tag, line.text, line.tail = "pre", text, tail


def _find_token_lines(root: Element) -> Iterator[Element]:
    """Yield the first line, which may have only one token, of each run of lines with adjacent token elements."""
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


def _find_adjacent_lines(line: Element) -> Iterator[Element]:
    one: Element | None = line
    while one is not None and _is_line(one):
        yield one
        if (one.tail or "").strip():
            return
        one = one.getnext()


def _is_line(element: Element) -> bool:
    """Return True if all text of an element is in `code` elements."""
    return element.tag == "div" and not _TEXT_OUTSIDE_CODE(element) and next(element.iter("code"), None) is not None


_DOXYGEN_BLOCKS = element_selector(".//div[contains(concat(' ', @class, ' '), ' fragment ')]")
"""Code blocks of Doxygen."""
_LATEXML_LISTINGS = element_selector(".//div[contains(@class, 'ltx_lstlisting')]")
_LISTING_LANGUAGE = re.compile(r"ltx_lst_language_(\S+)")
_SIGNATURES = element_selector(".//table[contains(concat(' ', @class, ' '), ' memname ')]")
_SUPERFLUOUS_BLANK = re.compile(r"(?<=\() | (?=\))|(?<= ) ")


def _normalize_generated(root: Element, class_names: str) -> None:
    """Turn code that generators write without `pre` into `pre`."""
    for box in _DOXYGEN_BLOCKS(root) if "fragment" in class_names else ():
        _normalize_doxygen_block(box)
    for box in _LATEXML_LISTINGS(root) if "ltx_lstlisting" in class_names else ():
        _normalize_latexml_listing(box)
    for area in root.iter("textarea"):
        if "\n" in (area.text or "").strip():  # an editor with an example; form fields are empty
            area.tag = "pre"
    for table in _SIGNATURES(root) if "memname" in class_names else ():
        _normalize_signature(table)


def _normalize_doxygen_block(box: Element) -> None:
    """Convert a box with one element per line, some of them perhaps in collapsible parts."""
    lines: list[Element] = []
    for part in box:
        classes = classes_of(part)
        if "line" in classes:
            lines.append(part)
        elif "foldopen" in classes:
            lines += [line for line in part.iter("div") if "line" in classes_of(line)]
        elif "ttc" not in classes:  # tooltips
            return
    if lines:
        for line in lines:
            line.tail = None
        box.tag, box.text, box[:] = "pre", None, lines


def _normalize_latexml_listing(box: Element) -> None:
    """Convert a LaTeXML listing, whose lines are elements and whose language is a class."""
    lines = [line for line in box if "ltx_listingline" in classes_of(line)]
    if not lines or next(box.iterdescendants("math"), None) is not None:
        return
    language = _LISTING_LANGUAGE.search(box.get("class") or "")
    for line in lines:
        line.tail = None
        for number in [one for one in line if "ltx_tag" in (one.get("class") or "")]:
            remove(number)
    box.tag, box.text, box[:] = "pre", None, lines
    if language:
        box.set("data-lang", language[1])


def _normalize_signature(table: Element) -> None:
    """Convert a Doxygen function signature, which is set in table cells, into one line of code."""
    words = " ".join(" ".join(text_of(cell).split()) for cell in table.iter("td"))
    code = etree.Element("code")
    code.text = _SUPERFLUOUS_BLANK.sub("", " ".join(words.split()))
    table.tag, table.text, table[:] = "p", None, [code]


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

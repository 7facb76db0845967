"""Normalize the text within blocks: spaces that only layout shows, and adjacent emphasis."""

from __future__ import annotations

import re

from lxml import etree

from scraper.html.dom.tags import EMPHASIS, HEADINGS
from scraper.html.dom.xpath import Element, pad_names, text_of
from scraper.words.matcher import WordPattern

_FORM_FIELDS = frozenset({"input", "select", "textarea"})
_INLINE_TAGS = EMPHASIS | {"span", "a", "bdi", "small", "time"}
_LAST_WORD = re.compile(r"[^\W_]+\Z")
_FIRST_WORD = re.compile(r"[^\W_]+")
_LABEL_CLASS = re.compile(r"[\s_-](?:feature|tag|label|badge|chip|pill|lozenge|modifier|keyword|category)[\s_-]")
"""Classes of short labels in a row, which style sheets separate."""
_WORD_WINDOW = 40
_MIN_NAME_LETTERS = 3
"""Letters before a number: `unit` and `802.758` are two words, `x` and `1` may be one."""


_EDIT_LINK = WordPattern(r"\s*\[\s*{headings.edit}\s*\]\s*\Z")


def remove_edit_links(root: Element) -> None:
    """Remove the link for editors at the end of a heading, such as "[edit]" in wikis, unless it is the only text."""
    for heading in root.iter(*HEADINGS):
        match = _EDIT_LINK.search(text_of(heading)[-_WORD_WINDOW:])
        length = len(match[0]) if match else 0
        if not length or length >= len(text_of(heading)):
            continue
        for event, part in reversed(list(etree.iterwalk(heading, events=("start", "end")))):
            place = "text" if event == "start" else "tail"
            if length and (part is not heading or event == "start"):
                written = getattr(part, place) or ""
                setattr(part, place, written[:-length])
                length -= min(length, len(written))


def insert_spaces(root: Element) -> None:
    """Insert the spaces that style sheets create between elements, and make a leading `cite` of a quotation a block."""
    _separate_neighbors(root)
    for label in root.iter("label"):
        before, behind = label.getprevious(), label.getnext()
        if before is not None and not before.tail and before.tag not in _FORM_FIELDS:
            before.tail = " "
        if behind is not None and not label.tail:
            label.tail = " "
    for source in root.iter("cite"):
        around = source.getparent()
        if around is None or source.getprevious() is not None or (around.text or "").strip():
            continue
        quote = around.getparent() if around.tag in ("div", "p") else around
        if quote is not None and quote.tag == "blockquote" and (source.tail or "").strip():
            source.tag = "div"


def _separate_neighbors(root: Element) -> None:
    """Insert a space between words of adjacent elements.

    Examples: `HOKA` and `Clifton 10`, `1994` and `2h 22m`, `5 min` and `Easy`. Of 470 such places on 1,200 pages whose
    gold has both words, all but two are correct. All of 50 places between two small letters or after a single letter
    are one word (a large initial, half of a link).
    """
    for first in root.iter(*_INLINE_TAGS):
        second = None if first.tail else first.getnext()
        if second is None or second.tag not in _INLINE_TAGS:
            continue
        left = _last_text(first)
        if len(left) == 1:  # the `g` of `5 g`, whose number is another element
            left = text_of(first)[-_WORD_WINDOW:]
        is_label = first.get("class") == second.get("class") and _LABEL_CLASS.search(
            pad_names(first.get("class") or "")
        )
        is_separate = is_label or _are_separate_words(left, _first_text(second))
        if is_separate and next(first.iterancestors("pre", "code"), None) is None:
            first.tail = " "


def _last_text(element: Element) -> str:
    while len(element):
        element = element[-1]
        if element.tail:
            return element.tail
    return element.text or ""


def _first_text(element: Element) -> str:
    while not element.text and len(element):
        element = element[0]
    return element.text or ""


def _are_separate_words(left: str, right: str) -> bool:
    """Return True if the second text begins a word with a capital or a digit; a name with a colon is a label."""
    if left.endswith(":") and left[-2:-1].isalpha():
        return right[:1].isupper() or (right[:1].isdigit() and left.lstrip()[0].isupper())
    if left[-1:] in (")", "]"):  # the number of a passage
        return right[:1].isupper()
    last, first = _LAST_WORD.search(left[-_WORD_WINDOW:]), _FIRST_WORD.match(right)
    if last is None or first is None:
        return False
    word, end = last.group(), left[-1]
    if right[0].isupper():
        return end.isdigit() or (len(word) > 1 and (end.islower() or end.isupper()))
    if right[0].isdigit():
        return len(left) > 1 < len(right) if end.isdigit() else end.islower() and len(word) >= _MIN_NAME_LETTERS
    return False


EMPHASIS_TAGS = {
    **dict.fromkeys(("b", "strong"), frozenset({"b", "strong"})),
    **dict.fromkeys(("em", "i"), frozenset({"em", "i"})),
    **dict.fromkeys(("del", "s"), frozenset({"del", "s"})),
}
"""Tags with the same meaning, including itself, by tag."""
_MERGED = "x-merged"


def join_emphasis(root: Element) -> None:
    """Merge adjacent elements of the same emphasis: `**a****b**` would have another meaning."""
    for first in list(root.iter(*EMPHASIS_TAGS)):
        run = [first]
        while not run[-1].tail and (behind := run[-1].getnext()) is not None and behind.tag in EMPHASIS_TAGS[first.tag]:
            run.append(behind)
        if len(run) > 1 and first.getparent() is not None:
            tail, run[-1].tail = run[-1].tail, None
            first.extend(run[1:])
            for piece in run[1:]:
                piece.tag = _MERGED
            etree.strip_tags(first, _MERGED)
            first.tail = tail

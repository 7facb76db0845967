"""Words that a page parts by their place alone, parted by a space: numbers of passages, labels of fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, text_of

_NUMBER = re.compile(
    r"\s*(?:[(\[]?(?:\d{1,4}(?:\.\d{1,3})*|[a-z]{1,4})[)\]]|\d{1,4}(?:\.\d{1,3})*\.?|.{1,80}\(\d{4}[a-z]?\))"
)
"""What stands before a passage: `(1)`, `a)`, `172`, `2.1.`, or the key of a reference, `Doe (2020)`."""

_BEGINNING = re.compile(r"[^\W\d_a-z]|[(\"“«]|[a-z]{3}")
_INLINE = frozenset({"span", "b", "strong", "em", "i", "a", "bdi"})
_PASSAGES = ("p", "li", "div", "dt", "dd", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6")
_FIELDS = frozenset({"input", "select", "textarea"})
_MAX_NUMBER = 100

_SIDE_BY_SIDE = ("span", "b", "strong", "em", "i", "a", "bdi", "small", "time")
_LAST_WORD = re.compile(r"[^\W_]+\Z")
_FIRST_WORD = re.compile(r"[^\W_]+")
_WORD_REACH = 40
_LEAST_NAME = 3
"""Letters before a number: `unit` and `802.758` are two, `x` and `1` may be one."""


def insert_spaces(root: Element) -> None:
    """Set the spaces that style sheets make."""
    for passage in root.iter(*_PASSAGES):
        if len(passage) > 1 and passage[0].tag == "span" and not (passage.text or "").strip():
            _part_number(passage[0])
    _part_neighbours(root)
    for label in root.iter("label"):
        before, behind = label.getprevious(), label.getnext()
        if before is not None and not before.tail and before.tag not in _FIELDS:
            before.tail = " "
        if behind is not None and not label.tail:
            label.tail = " "
    for source in root.iter("cite"):
        around = source.getparent()
        alone = source.getprevious() is None and around is not None and not (around.text or "").strip()
        quote = around.getparent() if around is not None and around.tag in ("div", "p") else around
        if alone and quote is not None and quote.tag == "blockquote" and (source.tail or "").strip():
            source.tag = "div"


def _part_number(number: Element) -> None:
    behind = number.getnext()
    if behind is None or number.tail or behind.tag not in _INLINE:
        return
    said = text_of(number)
    if len(said) > _MAX_NUMBER or not _NUMBER.fullmatch(said) or not _BEGINNING.match(text_of(behind)):
        return
    if not _is_code(number):
        number.tail = " "


def _part_neighbours(root: Element) -> None:
    """Words of two elements that touch: `HOKA` and `Clifton 10`, `1994` and `2h 22m`, `5 min` and `Easy`.

    Of 470 such places on 1,200 pages whose gold has both words it sets them apart at all but two, while
    all of 50 between two small letters or behind a single one are one word (a large initial, half of a link).
    """
    for first in root.iter(*_SIDE_BY_SIDE):
        if first.tail:
            continue
        second = first.getnext()
        if second is None or second.tag not in _SIDE_BY_SIDE:
            continue
        left = _last_text(first)
        if len(left) == 1:  # the `g` of `5 g`, its number in an element of its own
            left = text_of(first)[-_WORD_REACH:]
        if _are_two(left, _first_text(second)) and not _is_code(first):
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


def _are_two(left: str, right: str) -> bool:
    """Whether the words that meet are two: by a capital or a number that begins the second."""
    last, first = _LAST_WORD.search(left[-_WORD_REACH:]), _FIRST_WORD.match(right)
    if last is None or first is None:
        return False
    word, end = last.group(), left[-1]
    if right[0].isupper():
        return end.isdigit() or (len(word) > 1 and (end.islower() or end.isupper()))
    if right[0].isdigit():
        return len(left) > 1 < len(right) if end.isdigit() else end.islower() and len(word) >= _LEAST_NAME
    return False


def _is_code(element: Element) -> bool:
    return next(element.iterancestors("pre", "code"), None) is not None


EMPHASIS_TAGS = {
    **dict.fromkeys(("b", "strong"), frozenset({"b", "strong"})),
    **dict.fromkeys(("em", "i"), frozenset({"em", "i"})),
    **dict.fromkeys(("del", "s"), frozenset({"del", "s"})),
}
"""Which tags mean the same."""


def join_emphasis(root: Element) -> None:
    """Make pieces that touch one: `**a****b**` is read as something else."""
    for first in list(root.iter(*EMPHASIS_TAGS)):
        rest = list(_touching(first)) if first.getparent() is not None else []
        if rest:
            _take(first, rest)


def _touching(first: Element) -> Iterator[Element]:
    kinds = EMPHASIS_TAGS[first.tag]
    one = first
    while not one.tail and (behind := one.getnext()) is not None and behind.tag in kinds:
        yield behind
        one = behind


def _take(first: Element, rest: Sequence[Element]) -> None:
    """Move all that is in the rest into the first; each text is put together once."""
    last = first[-1] if len(first) else None
    texts = [(first.text if last is None else last.tail) or ""]
    tail = rest[-1].tail
    for piece in rest:
        texts.append(piece.text or "")
        inner = list(piece)
        if inner:
            _set_behind(first, last, "".join(texts))
            last = inner[-1]
            texts = [last.tail or ""]
            first.extend(inner)
        piece.tail = None
        remove(piece)
    _set_behind(first, last, "".join(texts))
    first.tail = tail


def _set_behind(first: Element, last: Element | None, text: str) -> None:
    if last is None:
        first.text = text
    else:
        last.tail = text

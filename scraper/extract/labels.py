"""Words that a page parts by their place alone, parted by a space: numbers of passages, labels of fields."""

from __future__ import annotations

import re

from scraper.extract.xpath import Element, text_of

__all__ = ["part"]

_NUMBER = re.compile(
    r"\s*(?:[(\[]?(?:\d{1,4}(?:\.\d{1,3})*|[a-z]{1,4})[)\]]|\d{1,4}(?:\.\d{1,3})*\.?|.{1,80}\(\d{4}[a-z]?\))"
)
"""What stands before a passage: `(1)`, `a)`, `172`, `2.1.`, or the key of a reference, `Doe (2020)`."""

_BEGINNING = re.compile(r"[^\W\d_a-z]|[(\"“«]|[a-z]{3}")
_INLINE = frozenset({"span", "b", "strong", "em", "i", "a", "bdi"})
_PASSAGES = ("p", "li", "div", "dt", "dd", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6")
_FIELDS = frozenset({"input", "select", "textarea"})
_MAX_NUMBER = 100


def part(root: Element) -> None:
    """Set the spaces that style sheets make."""
    for passage in root.iter(*_PASSAGES):
        if len(passage) > 1 and passage[0].tag == "span" and not (passage.text or "").strip():
            _part_number(passage[0])
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


def _is_code(element: Element) -> bool:
    return next(element.iterancestors("pre", "code"), None) is not None

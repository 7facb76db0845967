"""Words in bold or italics that a page has in several pieces, or one in the other, as one piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element

KINDS = {
    **dict.fromkeys(("b", "strong"), frozenset({"b", "strong"})),
    **dict.fromkeys(("em", "i"), frozenset({"em", "i"})),
    **dict.fromkeys(("del", "s"), frozenset({"del", "s"})),
}
"""Which tags mean the same."""


def join(root: Element) -> None:
    """Make pieces that touch one: `**a****b**` is read as something else."""
    for first in list(root.iter(*KINDS)):
        rest = list(_touching(first)) if first.getparent() is not None else []
        if rest:
            _take(first, rest)


def _touching(first: Element) -> Iterator[Element]:
    kinds = KINDS[first.tag]
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

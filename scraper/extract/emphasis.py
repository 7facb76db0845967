"""Words in bold or italics that a page has in several pieces, or one in the other, as one piece."""

from __future__ import annotations

from scraper.extract.markup import remove
from scraper.extract.xpath import Element

__all__ = ["KINDS", "join"]

KINDS = {
    **dict.fromkeys(("b", "strong"), frozenset({"b", "strong"})),
    **dict.fromkeys(("em", "i"), frozenset({"em", "i"})),
    **dict.fromkeys(("del", "s"), frozenset({"del", "s"})),
}
"""Which tags mean the same."""


def join(root: Element) -> None:
    """Make pieces that touch one: `**a****b**` is read as something else."""
    for piece in list(root.iter(*KINDS)):
        before = piece.getprevious()
        if before is not None and before.tag in KINDS[piece.tag] and not before.tail:
            _append(before, piece)


def _append(first: Element, second: Element) -> None:
    last = first[-1] if len(first) else None
    if last is None:
        first.text = (first.text or "") + (second.text or "")
    else:
        last.tail = (last.tail or "") + (second.text or "")
    first.extend(list(second))
    first.tail, second.tail = second.tail, None
    remove(second)

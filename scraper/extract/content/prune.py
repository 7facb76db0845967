"""The tree of a page without the blocks that were not chosen; what holds the others together stays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.segmentation import Segments
from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element

_CELLS = frozenset({"td", "th"})
_FOLD_SIGNS = ("aria-expanded", "aria-controls")


def prune(segments: Segments, chosen: NDArray[np.bool_]) -> None:
    """Take all other text out of the tree, and every element that holds nothing any more.

    Pictures and the like have no text: they stay beside a chosen block of the same parent. Cells stay in rows
    that stay, so that columns keep their places.
    """
    kept = chosen.tolist()
    elements = segments.elements
    sums = [0, *np.cumsum(chosen).tolist()]
    gone = [False] * len(elements.tags)
    emptied: list[Element] = []
    for number, node in enumerate(elements.nodes):
        parent = elements.parents[number]
        if parent < 0:
            continue
        if gone[parent]:
            gone[number] = True
            continue
        start, end = elements.first[number], elements.last[number]
        if sums[end] > sums[start]:
            if node.tag == "button" and (end - start > 1 or any(node.get(name) for name in _FOLD_SIGNS)):
                node.tag = "div"  # the title of a fold, or a button that was never closed: nothing to press
            continue
        if start >= end and _stands_beside(kept, start, elements.first[parent], elements.last[parent]):
            continue
        gone[number] = True
        emptied.append(node)
    _blank(segments, kept, gone)
    for node in emptied:
        if node.tag in _CELLS:
            del node[:]
            node.text = None
        else:
            remove(node)


def _blank(segments: Segments, kept: list[bool], gone: list[bool]) -> None:
    """Blank the text of the other blocks in elements that stay."""
    for number, pieces in enumerate(segments.pieces):
        # A picture may stand before the element of the block that it counts to.
        if kept[number] or (gone[segments.owners[number]] and not segments.images[number]):
            continue
        for element, behind in pieces:
            if behind:
                element.tail = " " if element.tail else None
            elif element.tag == "img":
                element.attrib.clear()
            elif element.tag == "fnref":
                element.tag = "span"  # else its note would come along
            else:
                element.text = None


def _stands_beside(kept: list[bool], at: int, start: int, end: int) -> bool:
    """Whether the block before or after a place is chosen, within the borders of the parent."""
    return (at > start and kept[at - 1]) or (at < end and kept[at])

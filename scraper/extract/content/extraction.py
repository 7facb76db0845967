"""Extract the content of a page: select its content blocks and prune all other elements from its tree."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from itertools import compress

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from scraper.extract.content import units
from scraper.extract.content.block_classifier import BlockClassifier
from scraper.extract.content.block_selection import select_blocks
from scraper.extract.content.page_statistics import PageDescription, PageStatistics
from scraper.extract.content.section_rules import find_unselected_items
from scraper.html.dom.parsing import CELLS, Element, remove
from scraper.html.page import main_content
from scraper.html.page.page_tree import PageHead, PageTree
from scraper.html.page.segmentation import Segments, segment_body

_MAX_DESCRIPTION = 500
_FEW_BLOCKS = 12
"""Blocks. Smaller pages do not have enough blocks for a classification."""

_CONTENT_TAGS = frozenset({"main", "article", "h1", "p"})
"""Tags. A footer with one of these may contain the content."""

_MIN_TYPE = 0.35
"""Probability. Below this, no page type is reported."""


@dataclass(frozen=True, slots=True)
class Content:
    """Content of a page."""

    text: str
    """Text of the content blocks, one per line."""
    build_tree: Callable[[], Element]
    """Remove the other elements from the page's tree in place, and return the element with the content."""
    page_type: str | None = None
    degraded: bool = False
    """True if the page has more blocks than the model may classify."""
    torn: int = 0
    """Number of parts that are selected without what belongs to them, such as a label without its value."""


def extract_content(page: PageTree, model: BlockClassifier) -> Content:
    """Return the content of a page. The tree is changed when `Content.build_tree` is called.

    If a page is too small or too large for the model, its navigation and the like are removed at once.
    """
    segments = segment_body(page.body)
    if _is_footer_alone(segments):
        return Content("", lambda: etree.Element("body"))
    if segments.is_truncated or len(segments.texts) <= _FEW_BLOCKS:
        # Select by landmark elements; if that leaves no text, select all of the page.
        whole = copy.deepcopy(page.body)
        main_content.remove_boilerplate(page.body)
        root = main_content.find_main_content(page.body)
        texts = segment_body(root).texts
        if not texts:
            root = whole
            texts = segment_body(root).texts
        return Content("\n".join(texts), lambda: root, degraded=segments.is_truncated)
    statistics = PageStatistics(segments, describe_page(page.head, page.url))
    prediction = model.predict(statistics)
    chosen = select_blocks(statistics, prediction.probabilities, prediction.page_types)
    page_type, probability = max(prediction.page_types.items(), key=lambda pair: pair[1])
    written = units.fill(statistics, chosen, prediction.probabilities, prediction.page_types, figures=True)
    torn = units.count_torn(statistics, written, prediction.page_types)
    written |= find_unselected_items(statistics, chosen, prediction.probabilities, prediction.page_types)

    def build_tree() -> Element:
        prune_tree(segments, written)
        return page.body

    return Content(
        "\n".join(compress(segments.texts, chosen.tolist())),
        build_tree,
        page_type if probability >= _MIN_TYPE else None,
        torn=torn,
    )


def _is_footer_alone(segments: Segments) -> bool:
    """Return True if all text is in a footer, as when the scripts of a page did not load its content."""
    inside: list[bool] = []
    elements = segments.elements
    if not segments.texts or "footer" not in elements.tags:
        return False
    for tag, parent in zip(elements.tags, elements.parents, strict=True):
        inside.append(tag == "footer" or (parent >= 0 and inside[parent]))
    return all(inside[owner] for owner in segments.owners) and _CONTENT_TAGS.isdisjoint(compress(elements.tags, inside))


def describe_page(head: PageHead, url: str) -> PageDescription:
    """Collect the metadata in the head of a page that the features need."""
    facts: dict[str, str] = {}
    for name, content in head.metas:
        facts.setdefault("description" if name == "og:description" else name, content.strip())
    return PageDescription(
        url=url[:_MAX_DESCRIPTION],
        title=" ".join(head.title.split())[:_MAX_DESCRIPTION],
        og_title=facts.get("og:title", "")[:_MAX_DESCRIPTION],
        og_type=facts.get("og:type", "").lower()[:_MAX_DESCRIPTION],
        description=facts.get("description", "")[:_MAX_DESCRIPTION],
    )


_COLLAPSE_ATTRIBUTES = ("aria-expanded", "aria-controls")


def prune_tree(segments: Segments, chosen: NDArray[np.bool_]) -> None:
    """Remove the text that was not selected, and every element that is empty afterwards.

    Images and other elements without text stay if a neighboring block in the same parent is selected. All cells of a
    row that stays are kept, so that columns keep their positions.
    """
    elements = segments.elements
    selected = chosen.tolist()
    sums = [0, *np.cumsum(chosen).tolist()]
    removed = [False] * len(elements.tags)
    emptied: list[Element] = []
    for number, node in enumerate(elements.nodes):
        parent = elements.parents[number]
        if parent < 0:
            continue
        if removed[parent]:
            removed[number] = True
            continue
        start, end = elements.first[number], elements.last[number]
        if sums[end] > sums[start]:
            if node.tag == "button" and (end - start > 1 or any(node.get(name) for name in _COLLAPSE_ATTRIBUTES)):
                node.tag = "div"  # the heading of a collapsible section, or an unclosed button
            continue
        # An element without text stays beside a selected block of its parent, with all that it holds.
        beside = selected[max(start - 1, elements.first[parent]) : min(start + 1, elements.last[parent])]
        if start >= end and (any(beside) or elements.first[parent] >= elements.last[parent]):
            continue
        removed[number] = True
        emptied.append(node)
    for number, pieces in enumerate(segments.pieces):
        # An image may precede the element of the block that it counts to.
        stays = not removed[segments.owners[number]] or segments.images[number]
        for element, behind in () if selected[number] or not stays else pieces:
            _clear(element, behind=behind)
    for node in emptied:
        if node.tag in CELLS:
            del node[:]
            node.text = None
        else:
            remove(node)


def _clear(element: Element, *, behind: bool) -> None:
    if behind:
        element.tail = " " if element.tail else None
    elif element.tag == "img":
        element.attrib.clear()
    elif element.tag == "fnref":
        element.tag = "span"  # otherwise its footnote would be attached
    else:
        element.text = None

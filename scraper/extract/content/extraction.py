"""The content of a page: its blocks judged and chosen, given as text, and as what is left of its tree."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from scraper.extract.content.block_classifier import BlockClassifier, Prediction
from scraper.extract.content.block_selection import choose, drop_copies, drop_repeated, expected_f1
from scraper.extract.content.page_statistics import PageDescription, PageStatistics
from scraper.extract.content.post_rules import (
    MIN_DOCUMENTATION,
    complete_tables,
    even_cards,
    outside_of_footers,
    with_title,
    without_asides,
)
from scraper.extract.content.prune import prune
from scraper.extract.content.segmentation import Elements, Segments, segment
from scraper.extract.dom.xpath import Element
from scraper.extract.page.page_tree import Head, PageTree
from scraper.extract.verdict import verdict

_MAX = 500
_FEW_BLOCKS = 12
"""A page of no more blocks is too small for its parts to be told apart by what they are like."""

_OF_CONTENT = frozenset({"main", "article", "h1", "p"})
"""A footer that holds one of these may be more than a footer."""

_MIN_TYPE = 0.35
"""A page type that is less likely than this is not told."""


@dataclass(frozen=True, slots=True)
class Content:
    """What of a page is content."""

    text: str
    """Its blocks, each on a line of its own."""
    cut: Callable[[], Element]
    """Takes the rest out of the page's tree and gives the part that holds the content, and nothing else."""
    page_type: str | None = None
    confidence: float = 0.0
    """The F1 that can be expected of the choice, 0 where there was none to make. Of 1,358 pages, those above
    .95 have .98 in the mean, those below .5 have .45."""
    degraded: bool = False
    """There was more than the model may look at."""


def content_of(page: PageTree, model: BlockClassifier) -> Content:
    """The content of a page, whose tree stays as it is until the content is cut out of it."""
    segments = segment(page.body)
    if _is_footer_alone(segments):
        return Content("", lambda: etree.Element("body"))
    if segments.cut or len(segments.texts) <= _FEW_BLOCKS:
        return _by_landmarks(page.body, degraded=segments.cut)
    measures = PageStatistics(segments, about(page.head, page.url))
    opinion = model.judge(measures)
    chosen = select(measures, opinion)

    def cut() -> Element:
        prune(segments, chosen)
        return page.body

    return Content(
        "\n".join(text for text, kept in zip(segments.texts, chosen.tolist(), strict=True) if kept),
        cut,
        _likeliest(opinion),
        expected_f1(chosen, opinion.p, measures.lengths),
    )


def _is_footer_alone(segments: Segments) -> bool:
    """Whether a page came no further than its frame: its scripts brought nothing, or trusted nobody."""
    if not segments.texts or not _in_footer(segments.elements, segments.owners[0]):
        return False
    elements = segments.elements
    return all(_in_footer(elements, owner) for owner in set(segments.owners)) and not any(
        tag in _OF_CONTENT and _in_footer(elements, number) for number, tag in enumerate(elements.tags)
    )


def _in_footer(elements: Elements, number: int) -> bool:
    while number >= 0:
        if elements.tags[number] == "footer":
            return True
        number = elements.parents[number]
    return False


def _by_landmarks(body: Element, *, degraded: bool) -> Content:
    """By the page's own marks: where it is all side matter, all of it."""
    spare = copy.deepcopy(body)
    verdict.remove_page_furniture(body)
    root = verdict.find_main_content(body)
    texts = segment(root).texts
    if not texts:
        root = spare
        texts = segment(root).texts
    return Content("\n".join(texts), lambda: root, degraded=degraded)


def select(page: PageStatistics, opinion: Prediction) -> NDArray[np.bool_]:
    """The blocks that are content."""
    p = outside_of_footers(page, opinion.p)
    chosen = choose(p, page.lengths)
    chosen = even_cards(page, chosen)
    chosen = without_asides(page, chosen, p, opinion.types)
    chosen, cells = complete_tables(page, chosen, p)
    if opinion.types["documentation"] >= MIN_DOCUMENTATION:
        return with_title(page, chosen, opinion.types)  # references say the same of many things
    chosen = drop_copies(chosen, page.text_ids, page.characters, page.first, page.last)
    return drop_repeated(chosen, page.text_ids, page.characters, cells)


def _likeliest(opinion: Prediction) -> str | None:
    name, p = max(opinion.types.items(), key=lambda pair: pair[1])
    return name if p >= _MIN_TYPE else None


def about(head: Head, url: str) -> PageDescription:
    """What the head of a page says that bears on its content."""
    facts: dict[str, str] = {}
    for name, content in head.metas:
        facts.setdefault("description" if name == "og:description" else name, content.strip())
    return PageDescription(
        url=url[:_MAX],
        title=" ".join(head.title.split())[:_MAX],
        og_title=facts.get("og:title", "")[:_MAX],
        og_type=facts.get("og:type", "").lower()[:_MAX],
        description=facts.get("description", "")[:_MAX],
    )

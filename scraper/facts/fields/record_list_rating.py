"""Rate lists of records: number, text, shared columns, headings, images and links of their records."""

from __future__ import annotations

import itertools
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from scraper.facts.data_tables import DataTable
from scraper.facts.fields.text_leaves import ElementTexts
from scraper.html.dom.tags import HEADINGS
from scraper.html.dom.xpath import Element
from scraper.html.page import main_content

RecordElements = list[Element]
"""Sibling elements that form one record, usually a single element."""


_RATED_RECORDS = 30
_ASIDE = re.compile(
    r"\b(nav|navigation|menu|footer|header|breadcrumbs?|sidebar|pagination|pager|cookie|share|social|toolbar|filters?|"
    r"facets?|related|recommend\w*|sponsor\w*|promo|language|tabs?|(?:sub|mega|drop)[ -]?(?:menu|nav|down)|dialog)\b"
)
_TOPIC = re.compile(r"(?<!\S)(?:category|tag)-\S+")
"""Class names of blogs for the topics of a post."""
_VARIABLE_CLASS = re.compile(r"\d{2,}|[-_]\d+\Z|\A(?:first|last|odd|even|active|selected|current)\Z")
_PROSE_LOSS = 4.0
"""Deduction for records without links, headings and images, such as paragraphs."""
_ASIDE_LOSS = 3.5
"""Deduction for lists outside the main content, times `aside`."""
_MAX_TEXT = 200
"""Characters of a record. More text says nothing: that of reviews is longer than that of products."""
_CONSENT = 4.0
_BESIDE = frozenset({"nav", "footer", "header", "aside"})


@dataclass(slots=True, eq=False)
class RecordList:
    """Records of one list in page order, and its score as main list of the page."""

    records: list[RecordElements]
    score: float = 0.0
    table: DataTable | None = None
    """Table with headers whose rows are the records."""


@lru_cache(maxsize=20_000)
def stable_classes(value: str) -> tuple[str, ...]:
    """Return the sorted class names, except those that vary between records."""
    return tuple(sorted(name for name in value.split() if not _VARIABLE_CLASS.search(name)))


class ListRater:
    """Rate the lists of one page."""

    def __init__(self, page: ElementTexts) -> None:
        """Count texts, images, headings and links of all elements."""
        self._page = page
        self.classes = {element: stable_classes(element.get("class") or "") for element in page.elements}
        """Class names of each element that do not vary between records."""
        self.total = max(1, page.length(page.body))
        """Length of the text of the page."""
        self._asides: dict[Element, float] = {}
        kinds: dict[object, int] = {}
        self._kinds = [
            kinds.setdefault((tag, self.classes[element][:2]), len(kinds))
            for element, tag in zip(page.elements, page.tags, strict=True)
        ]
        """Number of each combination of tag and first class names, by the number of the element."""
        # The following lists are by the number of the element. Reading attributes of elements repeatedly is slow.
        has_own_text = [bool(element.text and element.text.strip()) for element in page.elements]
        self._has_content_of_its_own = [
            has_text or tag == "img" for has_text, tag in zip(has_own_text, page.tags, strict=True)
        ]
        self._texts_before = _count_before(has_own_text)
        self._images_before = images = _count_before(tag == "img" for tag in page.tags)
        self._headings_before = _count_before(tag in HEADINGS for tag in page.tags)
        self._links = [number for number, tag in enumerate(page.tags) if tag == "a"]
        self._has_content = [
            length > 1 or images[page.end[number]] > images[number] for number, length in enumerate(page.lengths)
        ]

    def has_content(self, element: Element) -> bool:
        """Return True if an element contains text or an image."""
        return self._has_content[self._page.number[element]]

    def _count(self, before: Sequence[int], record: RecordElements) -> int:
        """Return the number of elements of one kind in a record."""
        number, end = self._page.number, self._page.end
        return sum(before[end[number[element]]] - before[number[element]] for element in record)

    def _links_in(self, record: RecordElements) -> list[Element]:
        links: list[Element] = []
        for element in record:
            start = self._page.number[element]
            first, last = bisect_left(self._links, start), bisect_left(self._links, self._page.end[start])
            links += [self._page.elements[number] for number in self._links[first:last]]
        return links

    def first_link(self, record: RecordElements) -> str:
        """Return the address of the first link of a record, or an empty string."""
        return next((link.get("href") or "" for link in self._links_in(record) if link.get("href")), "")

    def rate(self, one: RecordList) -> float:
        """Return the score of a list: weights times logarithms and shares of its properties.

        Lists without text and navigation score minus infinity.
        """
        page, count = self._page, len(one.records)
        texts = [" ".join(filter(None, map(page.text, record))) for record in one.records]
        lengths = sorted(map(len, texts))
        median = lengths[count // 2]
        if median < 3:
            return -math.inf
        step = max(1, count // _RATED_RECORDS)
        sample = one.records[::step][:_RATED_RECORDS]
        aside = self.aside(one.records[0][0])
        plain_links = sum(map(self._is_plain_link, sample))
        if aside == 1 and plain_links > len(sample) / 2:
            return -math.inf
        targets = [self.first_link(record) for record in sample]
        linked = sum(map(bool, targets)) / len(sample)
        distinct_targets = len(set(filter(None, targets))) / len(sample)
        headings = sum(self._count(self._headings_before, record) > 0 for record in sample) / len(sample)
        images = sum(self._count(self._images_before, record) > 0 for record in sample) / len(sample)
        score = 1.0 * math.log2(min(count, 64)) + 1.1 * math.log2(1 + min(median, _MAX_TEXT))
        score += 1.2 * math.log2(1 + min(self._count_columns(sample), 12))
        score += 1.2 * headings + 0.5 * images + 0.8 * linked * distinct_targets
        score += 0.5 * sum(map(_has_digit, texts)) / count
        score += 3.0 * min(1.0, sum(lengths) / self.total)
        score -= _ASIDE_LOSS * aside + 2.5 * plain_links / len(sample)
        score -= 4.0 * (1 - len(set(texts)) / count) + _PROSE_LOSS * (1 - max(linked, headings, images))
        return score - 2 * math.log2(median / 1_500) if median > 1_500 else score

    def _is_plain_link(self, record: RecordElements) -> bool:
        """Return True if a record consists of one link, as in navigation."""
        whole = sum(map(self._page.length, record))
        linked = sum(map(self._page.length, self._links_in(record)))
        return linked >= 0.95 * whole and self._count(self._texts_before, record) <= 1

    def _count_columns(self, sample: Sequence[RecordElements]) -> int:
        """Return the number of places with text or an image that at least half of the records share."""
        seen: Counter[int] = Counter()
        kinds, parents = self._kinds, self._page.parents
        has_content = self._has_content_of_its_own
        for record in sample:
            places: set[int] = set()
            for place, element in enumerate(record):
                start = self._page.number[element]
                paths = {start: place}
                if has_content[start]:
                    places.add(place)
                for at in range(start + 1, self._page.end[start]):
                    paths[at] = path = hash((paths[parents[at]], kinds[at]))
                    if has_content[at]:
                        places.add(path)
            seen.update(places)
        return sum(count >= 0.5 * len(sample) for count in seen.values())

    def aside(self, element: Element) -> float:
        """Return how surely an element is outside the main content: 0, .6 or 1; 4 in a question for consent."""
        path = list(itertools.takewhile(lambda one: one not in self._asides, (element, *element.iterancestors())))
        for one in reversed(path):
            parent = one.getparent()
            above = 0.0 if parent is None else self._asides[parent]
            self._asides[one] = _find_aside(one, above)
        return self._asides[element]


def _find_aside(element: Element, above: float) -> float:
    """Return `ListRater.aside` of an element by that of its parent."""
    if element.tag in _BESIDE:
        return 1.0
    if element.tag in ("main", "body", "html"):
        return 0.0
    names = " ".join(element.get(name) or "" for name in ("class", "id", "role"))
    if not names.strip():
        return above
    return max(above, _CONSENT if main_content.is_consent_box(element) else 0.6 * _is_beside(names))


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _count_before(flags: Iterable[bool]) -> list[int]:
    """Return for each element the number of flagged elements before it, and at the end the number of all."""
    return [0, *itertools.accumulate(map(int, flags))]


@lru_cache(maxsize=20_000)
def _is_beside(names: str) -> bool:
    """Return True if a class, id or role is that of a part outside the main content."""
    names = _TOPIC.sub(" ", names)
    return len(names) < 300 and _ASIDE.search(names.lower().replace("-", " ").replace("_", " ")) is not None

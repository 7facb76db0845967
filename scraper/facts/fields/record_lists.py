"""Find lists of similar records on a page.

A list is similar children of one parent, the same under several parents (grids), or repeated runs of siblings (two
table rows for each record, `dt` with `dd`). Lists are rated by number, text, shared columns, headings, images and links
of their records.
"""

import itertools
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import itemgetter
from urllib.parse import urlsplit

from scraper.facts.data_tables import DataTable, read_box_grids, read_tables
from scraper.facts.fields.model import MIN_RECORDS
from scraper.facts.fields.text_leaves import ElementTexts
from scraper.facts.money import MONEY
from scraper.html.dom.parsing import HEADINGS, Element
from scraper.html.page import main_content
from scraper.urls import join_url

MAX_LISTS = 5
"""Lists of one page that are returned by default."""
MAX_RECORDS = 2_000
"""Records of one list that are read."""

_SHAPE_DEPTH = 4
_MIN_ALIKE = 0.5
_MAX_COMPARED = 400
"""Children of one parent that are compared by shape; larger groups are split by tag and class."""
_MAX_RUN = 12
_MIN_REGULAR = 0.6
"""Minimum share of the records of a run with the most common number of elements."""
_MIN_SCORE = 6.0
"""Groups with lower scores are menus and paragraphs: on pages without a list, most groups score less."""
_NESTED_LISTS = 40
"""Best lists that are checked for being parts of the records of another list."""
_GROUP_LOSS = 5.0
"""Score points that a list of linked records may lack compared with a list of groups of these records."""

_RATED_RECORDS = 30
_ASIDE = re.compile(
    r"\b(nav|navigation|menu|footer|header|breadcrumbs?|sidebar|pagination|pager|cookie|share|social|toolbar|filters?|"
    r"facets?|related|recommend\w*|sponsor\w*|promo|language|tabs?|(?:sub|mega|drop)[ -]?(?:menu|nav|down)|dialog)\b"
)
_VARIABLE_CLASS = re.compile(r"\d{2,}|[-_]\d+\Z|\A(?:first|last|odd|even|active|selected|current)\Z")
_PROSE_LOSS = 4.0
"""Deduction for records without links, headings and images, such as paragraphs."""
_ASIDE_LOSS = 3.5
"""Deduction for lists outside the main content, times `aside`."""
_MAX_TEXT = 200
"""Characters of a record. More text says nothing: that of reviews is longer than that of products."""
_CONSENT = 4.0
_BESIDE = frozenset({"nav", "footer", "header", "aside"})

RecordElements = list[Element]
"""Sibling elements that form one record, usually a single element."""


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


class _ListRater:
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
        number, end = self._page.number, self._page.end
        return sum(before[end[number[element]]] - before[number[element]] for element in record)

    def features(self, records: Sequence[RecordElements]) -> set[str]:
        """Return the features that all of some records have: a heading, a picture, a price."""
        texts = [" ".join(map(self._page.text, record))[: 5 * _MAX_TEXT] for record in records]
        counts = {"heading": self._headings_before, "image": self._images_before}
        found = {name for name, before in counts.items() if all(self._count(before, record) for record in records)}
        return found | ({"price"} if all(map(MONEY.search, texts)) else set())

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
        score += 0.5 * sum(any(map(str.isdigit, text)) for text in texts) / count
        score += 3.0 * min(1.0, sum(lengths) / self.total)
        score -= _ASIDE_LOSS * aside + 2.5 * plain_links / len(sample)
        score -= 4.0 * (1 - len(set(texts)) / count) + _PROSE_LOSS * (1 - max(linked, headings, images))
        score -= 2 * math.log2(median / 1_500) if median > 1_500 else 0
        return max(score, _MIN_SCORE) if one.table else score

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
    if element.tag in _BESIDE:
        return 1.0
    if element.tag in ("main", "body", "html"):
        return 0.0
    names = " ".join(element.get(name) or "" for name in ("class", "id", "role"))
    if not names.strip():
        return above
    return max(above, _CONSENT if main_content.is_consent_box(element) else 0.6 * _is_beside(names))


def _count_before(flags: Iterable[bool]) -> list[int]:
    """Return for each element the number of flagged elements before it, and at the end the number of all."""
    return [0, *itertools.accumulate(map(int, flags))]


@lru_cache(maxsize=20_000)
def _is_beside(names: str) -> bool:
    """Return True if a class, id or role is that of a part outside the main content."""
    return len(names) < 300 and _ASIDE.search(names.lower().replace("-", " ").replace("_", " ")) is not None


def find_lists(page: ElementTexts, most: int = MAX_LISTS) -> list[RecordList]:
    """Return the best lists, best first; no list is inside a record of another one."""
    return _ListFinder(page).find(most)


class _ListFinder:
    def __init__(self, page: ElementTexts) -> None:
        self._page = page
        self._host = urlsplit(page.page.url).hostname
        self._rater = _ListRater(page)
        self._classes = self._rater.classes
        self._shapes = self._read_shapes()
        tables = [*read_tables(page.body, page.text), *read_box_grids(page.elements, page.text)]
        self._tables = [table for table in tables if any(table.headers)]
        self._in_tables = {part for table in self._tables for row, _ in table.rows for part in row}
        self._in_tables.update(*(table.single_rows for table in tables))
        self._spans = cache(lambda one: sorted(map(self._span, one.records)))
        """Return the sorted spans of the records of a list."""

    def _read_shapes(self) -> dict[Element, frozenset[str]]:
        """Return the tag paths below each element, down to `_SHAPE_DEPTH`; equal structures share one result."""
        page = self._page
        shapes: list[frozenset[str]] = [frozenset()] * len(page.tags)
        below: list[dict[int, list[frozenset[str]]]] = [{} for _ in page.tags]
        known: dict[tuple[str, frozenset[int]], list[frozenset[str]]] = {}
        for at in range(len(page.tags) - 1, -1, -1):
            tag, children, parent = page.tags[at], below[at], page.parents[at]
            key = tag, frozenset(children)
            own = known.get(key)
            if own is None:
                own = known[key] = [frozenset((tag,))]
                for depth in range(1, _SHAPE_DEPTH + 1):
                    paths: frozenset[str] = frozenset().union(*(child[depth - 1] for child in children.values()))
                    own.append(own[0] | {f"{tag}/{path}" for path in paths} if paths else own[0])
            shapes[at] = own[_SHAPE_DEPTH]
            if parent >= 0 and tag not in ("br", "wbr"):
                below[parent][id(own)] = own
        return dict(zip(page.elements, shapes, strict=True))

    def find(self, most: int) -> list[RecordList]:
        tables = [RecordList([[*row] for row, _ in table.rows[:MAX_RECORDS]], table=table) for table in self._tables]
        # A list has at least one percent of the text of the page.
        found = [*(one for one in tables if len(one.records) >= MIN_RECORDS), *self._candidates()]
        lists = [one for one in found if 100 * self._length(one) >= self._rater.total]
        for one in lists:
            one.score = self._rater.rate(one)
        lists = [one for one in lists if one.score >= _MIN_SCORE]
        lists += self._join_sections(lists)
        lists.sort(key=lambda one: -one.score)
        self._prefer_whole_records(lists)
        chosen: list[RecordList] = []
        is_covered = bytearray(len(self._page.elements))
        for one in lists:
            spans = [self._span([element]) for record in one.records for element in record]
            if any(1 in is_covered[start:end] for start, end in spans):
                continue
            chosen.append(one)
            for start, end in spans:
                is_covered[start:end] = b"\x01" * (end - start)
            if len(chosen) == most:
                break
        for one in chosen:
            self._add_others(one)
        return chosen or tables[:most] or self._find_pair()

    def _find_pair(self) -> list[RecordList]:
        """Return the best list of two linked records with a heading, a picture or a price."""
        found = (one for one in self._candidates(2) if len(one.records) == 2 and self._rater.features(one.records))
        pairs = (one for one in found if len(set(map(self._rater.first_link, one.records)) - {""}) == 2)
        best = max(pairs, key=self._rater.rate, default=None)
        return [best] if best and self._rater.rate(best) >= _MIN_SCORE else []

    def _add_others(self, one: RecordList) -> None:
        """Add siblings of the records with their classes and all features of theirs, such as a larger first one.

        Links must lead to pages of the site: rows beside those of a result page are advertisements.
        """
        shared = set.intersection(*(set(self._classes[record[0]]) for record in one.records))
        links, parent = {self._link(record) for record in one.records}, one.records[0][0].getparent()
        features = self._rater.features(one.records[:_RATED_RECORDS])
        are_alike = all(len(record) == 1 and record[0].getparent() is parent for record in one.records)
        if one.table or parent is None or not (are_alike and shared and features and all(links)):
            return
        for other in self._page.children(parent):
            is_new = (link := self._link([other])) and link not in links and shared <= set(self._classes[other])
            one.records += [[other]] if is_new and features <= self._rater.features([[other]]) else []
        one.records.sort(key=lambda record: self._page.number[record[0]])

    def _link(self, record: RecordElements) -> str:
        """Return the path of a record's first link, or an empty string if it leads to another host."""
        link = urlsplit(join_url(self._page.page.base, self._rater.first_link(record)))
        return link.path if link.hostname == self._host else ""

    def _join_sections(self, lists: Sequence[RecordList]) -> list[RecordList]:
        """Return lists that join the records of several lists of one kind, which headings or ads separate."""
        by_kind: defaultdict[object, list[RecordList]] = defaultdict(list)
        for one in lists:
            first = one.records[0][0]
            classes = self._classes[first] or first.get("class")
            if len(one.records[0]) == 1 and classes and not self._rater.aside(first):
                by_kind[first.tag, classes].append(one)
        joined: list[RecordList] = []
        for parts in by_kind.values():
            records = {record[0]: record for part in parts for record in part.records}
            ordered = sorted(records.values(), key=lambda record: self._page.number[record[0]])
            spans = list(map(self._span, ordered))
            is_flat = all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
            if is_flat and len(ordered) > max(len(part.records) for part in parts):
                one = RecordList(ordered[:MAX_RECORDS])
                one.score = max(self._rater.rate(one), *(part.score for part in parts))
                joined.append(one)
        return joined

    def _prefer_whole_records(self, lists: list[RecordList]) -> None:
        """Move a list of linked records before a better rated one whose records are groups of these."""
        for place, one in enumerate(lists[:_NESTED_LISTS]):
            for outer in lists[place + 1 : _NESTED_LISTS]:
                if outer.score > one.score - _GROUP_LOSS and self._is_split_by(one, outer):
                    lists.remove(outer)
                    lists.insert(place, outer)
                    break

    def _span(self, record: RecordElements) -> tuple[int, int]:
        """Return the number of a record's first element, and of the first element after the record."""
        return self._page.number[record[0]], self._page.end[self._page.number[record[-1]]]

    def _length(self, one: RecordList) -> int:
        return sum(self._page.length(element) for record in one.records for element in record)

    def _is_split_by(self, groups: RecordList, parts: RecordList) -> bool:
        """Return True if each record of `groups` contains several linked records of `parts`."""
        least = 0.8 * len(parts.records)
        if len(parts.records) < 2 * len(groups.records):
            return False
        spans = self._spans(groups)
        around = [(bisect_right(spans, start, key=itemgetter(0)) - 1, end) for start, end in self._spans(parts)]
        if sum(at >= 0 and end <= spans[at][1] for at, end in around) < least:
            return False
        targets = {self._rater.first_link([record[0]]) for record in parts.records} - {""}
        return len(targets) >= least and self._length(parts) >= 0.6 * self._length(groups)

    def _candidates(self, least: int = MIN_RECORDS) -> Iterator[RecordList]:
        by_parent: defaultdict[object, list[list[Element]]] = defaultdict(list)
        paths: list[int] = []
        for at, element in enumerate(self._page.elements):
            parent, tag = self._page.parents[at], self._page.tags[at]
            paths.append(hash((paths[parent] if parent >= 0 else 0, tag, self._classes[element])))
            children = [child for child in self._page.children(element) if child not in self._in_tables]
            if not children or element in self._in_tables:
                continue
            known: set[object] = set()
            for group in self._group(list(filter(self._rater.has_content, children))):
                kind = paths[at], group[0].tag, self._classes[group[0]]
                # Two single elements of different shapes are parts of one record.
                if len(group) > 1 or kind not in known:
                    by_parent[kind].append(group)
                known.add(kind)
                if len(group) >= least:
                    yield RecordList([[child] for child in group[:MAX_RECORDS]])
            if len(children) >= 2 * MIN_RECORDS:
                yield from self._runs(children)
        for parts in by_parent.values():
            records = [[child] for part in parts for child in part]
            if len(parts) >= 2 and len(records) >= least:
                yield RecordList(records[:MAX_RECORDS])

    def _group(self, children: Sequence[Element]) -> list[list[Element]]:
        if len(children) > _MAX_COMPARED:
            by_class: defaultdict[object, list[Element]] = defaultdict(list)
            for child in children:
                by_class[child.tag, self._classes[child]].append(child)
            return list(by_class.values())
        groups: list[tuple[frozenset[str], tuple[str, ...], list[Element]]] = []
        for child in children:
            shape, classes = self._shapes[child], self._classes[child]
            best, best_score = -1, _MIN_ALIKE
            for at, (other, other_classes, members) in enumerate(groups):
                if members[0].tag != child.tag:
                    continue
                score = 1.0 if shape is other else len(shape & other) / len(shape | other)
                if classes == other_classes:
                    score += 0.25 if classes else 0.1
                else:
                    score += 0.1 if not set(classes).isdisjoint(other_classes) else -0.25
                if score >= best_score:
                    best, best_score = at, score
            if best < 0:
                groups.append((shape, classes, [child]))
                continue
            other, other_classes, members = groups[best]
            members.append(child)
            if len(shape) > len(other):
                groups[best] = (shape, other_classes, members)
        return [members for _, _, members in groups]

    def _runs(self, children: Sequence[Element]) -> Iterator[RecordList]:
        """Yield lists of records of several siblings: each begins with an element of the same shape."""
        by_shape: defaultdict[object, list[int]] = defaultdict(list)
        for at, child in enumerate(children):
            by_shape[child.tag, self._classes[child], self._shapes[child]].append(at)
        if len(by_shape) < 2:
            return
        markers = [starts for starts in by_shape.values() if len(starts) >= MIN_RECORDS]
        for starts in markers[:3]:
            gaps = [after - before for before, after in itertools.pairwise(starts)]
            usual, times = Counter(gaps).most_common(1)[0]
            if usual < 2 or sorted(gaps)[len(gaps) // 2] < 2 or times < _MIN_REGULAR * len(gaps):
                continue
            ends = [*starts[1:], min(len(children), starts[-1] + max(usual, 2))]
            records = [
                list(children[start:end]) for start, end in zip(starts, ends, strict=True) if end - start <= _MAX_RUN
            ]
            with_more = sum(any(map(self._page.has_text, record[1:])) for record in records)
            if len(records) >= MIN_RECORDS and 2 * with_more > len(records):
                yield RecordList(records[:MAX_RECORDS])

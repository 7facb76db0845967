"""Find the value of a field by its name: beside a label, by element names, by format, or in the title."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from scraper.facts.fields.field_names import FieldName
from scraper.facts.fields.place_finder import ValuePlaceFinder
from scraper.facts.fields.text_leaves import TextLeaf
from scraper.facts.fields.value_formats import find_value, rate_format
from scraper.html.dom.tags import HEADINGS
from scraper.html.dom.xpath import Element
from scraper.text.sanitize import name_key

_MIN_SCORE = 2.8
"""Minimum score of a value; weaker candidates are ignored."""
_MIN_MATCH = 0.25
_MAX_VALUE = 300
_MAX_LABEL = 45
_INLINE_LABEL = re.compile(r"([^:：]{2,40}?)\s*[:：]\s*(\S.*)", re.DOTALL)
_NEXT_LABEL = re.compile(r"\s+(?=[^\W\d_][\w-]*[:：]\s)")
"""Space before the next label in a text of several labels and values."""
_QUALIFIER = re.compile(r"\s*\([^()]*\)\Z")
"""Year, place or kind in brackets after a title."""
LABEL_END = re.compile(r"[:：]\s*\Z")
LABEL_TAGS = HEADINGS | {"th", "dt", "strong", "b", "label"}
_NAME_WEIGHTS = {
    "itemprop": 1.0, "property": 1.0, "data-field": 0.9, "data-testid": 0.8, "id": 0.8, "headers": 0.8, "class": 0.7,
    "rel": 0.6,
}  # fmt: skip
_LEVEL_WEIGHTS = (1.0, 0.8, 0.55)
_SPECIFIC_KINDS = frozenset({"money", "phone", "isbn", "isbn_13", "email", "site", "date"})
_ASIDE = re.compile(
    r"\b(?:nav|menu|footer|header|breadcrumb|sidebar|cookie|share|social|toolbar|related|recommend|promo)\b"
)
_MIN_LEAD = 0.1
"""Score points by which a value must be better than other ones: of 44 values with less, 3 were correct."""
_CONFIDENCES = ((2.0, 0.97), (0.3, 0.83), (0.0, 0.4))
"""Minimum lead, and share of correct values with at least that lead in the benchmark."""
_ONLY_VALUE = 0.9
"""Confidence of values that were found by their format alone: ten of ten were correct."""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value found on a page, with its source and score."""

    text: str
    source: str
    """`label`, `name`, `format` or `title`."""
    score: float
    rival: str = ""
    """Best value that is neither this one nor a part of it; empty if there is none."""
    lead: float = math.inf
    """Difference of the scores of both."""

    @property
    def is_clear(self) -> bool:
        """True if no other value fits as well."""
        return self.lead >= _MIN_LEAD

    @property
    def confidence(self) -> float:
        """Share of values with a similar lead that were correct in the benchmark."""
        return (
            _ONLY_VALUE if self.source == "format" else next(one for least, one in _CONFIDENCES if self.lead >= least)
        )


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A value beside a label, or in an element with names, that are similar to the name of a field."""

    leaf: TextLeaf
    value: str
    match: float
    """Similarity of the names, from 0 to 1."""
    source: str
    """`label` or `name`."""


class NamedValueFinder:
    """Find the values of fields on one page by their names."""

    def __init__(self, finder: ValuePlaceFinder, constants: frozenset[str] = frozenset()) -> None:
        """Read the labels of the page. `constants` are the texts that `find_shared_texts` returned for it."""
        self._finder = finder
        self._constants = constants
        self._title = finder.page.page.head.title
        self._loose = {(leaf.element, leaf.text) for leaf in finder.leaves if not leaf.is_whole}
        """Texts of elements beside inline markup in them."""
        self._heading = next((leaf.number for leaf in finder.leaves if leaf.element.tag == "h1"), 0)
        self._labels = self._read_labels()
        self._beside: dict[Element, float] = {}

    def find(self, field: FieldName) -> NamedValue | None:
        """Return the best value of a field, or None if no candidate reaches `_MIN_SCORE`."""
        rated: list[NamedValue] = []
        for leaf, value, match, is_inline in self._candidates(field):
            score, source = self._rate(field, leaf, value, match, is_inline)
            rated.append(NamedValue(value, source, score))
        best = max(rated, key=lambda one: one.score, default=None)
        if best is None or best.score < _MIN_SCORE:
            return self._find_only_value(field)
        key = name_key(best.text)
        others = [one for one in rated if (own := name_key(one.text)) not in key and key not in own]
        rival = max(others, key=lambda one: one.score, default=None)
        return replace(best, rival=rival.text, lead=best.score - rival.score) if rival else best

    def find_matches(self, field: FieldName) -> list[NameMatch]:
        """Return the values whose label or element names are similar to a field."""
        found: dict[tuple[int, str], NameMatch] = {}
        for leaf, label, value, nearness, _ in self._labels:
            match = field.match(label) * nearness
            known = found.get((leaf.number, value))
            if match >= _MIN_MATCH and name_key(value) and (known is None or match > known.match):
                found[leaf.number, value] = NameMatch(leaf, value, match, "label")
        for leaf in self._finder.leaves:
            match = self._match_names(field, leaf.element) if len(leaf.text) <= _MAX_VALUE else 0.0
            known = found.get((leaf.number, leaf.text))
            if match >= _MIN_MATCH and (known is None or match > known.match):
                found[leaf.number, leaf.text] = NameMatch(leaf, leaf.text, match, "name")
        return [one for one in found.values() if rate_format(field.kind, one.value) >= 0]

    def _find_only_value(self, field: FieldName) -> NamedValue | None:
        """Return the value of a field's format if the page has only one."""
        if field.kind not in _SPECIFIC_KINDS or field.kind == "date":
            # A date may be that of anything.
            return None
        leaves = [leaf for leaf in self._finder.leaves if len(leaf.text) <= _MAX_LABEL]
        fitting = [leaf for leaf in leaves if rate_format(field.kind, leaf.text) >= 1]
        values = {find_value(field.kind, leaf.text) for leaf in fitting}
        if len(values) != 1 or all(self._aside(leaf.element) for leaf in fitting):
            return None
        return NamedValue(min((leaf.text for leaf in fitting), key=len), "format", _MIN_SCORE)

    def _candidates(self, field: FieldName) -> list[tuple[TextLeaf, str, float, bool]]:
        found: dict[tuple[int, str], tuple[TextLeaf, str, float, bool]] = {}
        for leaf, label, value, nearness, is_inline in self._labels:
            match = field.match(label) * nearness
            if match >= _MIN_MATCH and not name_key(value):
                continue
            known = found.get((leaf.number, value))
            if match >= _MIN_MATCH and (known is None or match > known[2]):
                found[leaf.number, value] = (leaf, value, match, is_inline)
        for leaf in self._finder.leaves:
            if len(leaf.text) > _MAX_VALUE or (leaf.number, leaf.text) in found:
                continue
            is_title = field.kind == "title" and (self._is_in(leaf, "h1", "h2") or self._agreement(leaf.text) > 0.3)
            is_format = field.kind in _SPECIFIC_KINDS and rate_format(field.kind, leaf.text) >= 1
            if is_title or is_format or self._match_names(field, leaf.element) >= 0.3:
                found[leaf.number, leaf.text] = (leaf, leaf.text, 0.0, False)
        return list(found.values())

    def _rate(self, field: FieldName, leaf: TextLeaf, value: str, match: float, is_inline: bool) -> tuple[float, str]:
        """Return the score of a candidate, and the source that contributes most to it."""
        fit = rate_format(field.kind, value)
        names = 1.8 * self._match_names(field, leaf.element)
        title = 0.0
        if field.kind == "title":
            qualifier = _QUALIFIER.search(value)
            title = -0.8 * (qualifier is not None and (leaf.element, value[: qualifier.start()]) in self._loose)
            title += 1.6 * self._is_in(leaf, "h1") + 0.5 * self._is_in(leaf, "h2", "h3") + 1.6 * self._agreement(value)
        label = (3.3 if is_inline else 3.0) * match
        score = label + names + title + (fit if fit > 0 else 2.0 * fit)
        score += 0.6 * (1 - abs(leaf.number - self._heading) / max(1, len(self._finder.leaves)))
        score += 0.2 * (len(value) <= 60) - 0.5 * (len(value) > 200) - 0.8 * self._aside(leaf.element)
        score -= 1.5 * (value[0] in "([" and value[-1] in ")]")
        score -= 1.5 * (LABEL_END.search(value) is not None) + 1.5 * (name_key(value) in self._constants)
        sources = {"label": label, "name": names, "title": title, "format": fit}
        return score, max(sources, key=lambda source: sources[source])

    def _read_labels(self) -> list[tuple[TextLeaf, str, str, float, bool]]:
        """Return each leaf with a possible label, its value, and the proximity of the label from 0 to 1."""
        found: list[tuple[TextLeaf, str, str, float, bool]] = []
        leaves, page = self._finder.leaves, self._finder.page
        for leaf in leaves:
            if len(leaf.text) > 400:
                continue
            inline = _INLINE_LABEL.fullmatch(leaf.text)
            if inline:
                found.append((leaf, inline[1], _NEXT_LABEL.split(inline[2], 1)[0], 1.0, True))
            steps = 0
            for other in reversed(leaves[max(0, leaf.number - 8) : leaf.number]):
                is_around = (
                    other.is_whole
                    and page.number[other.element] <= page.number[leaf.element] < page.end[page.number[other.element]]
                )
                if is_around:
                    continue
                if len(other.text) <= _MAX_LABEL:
                    is_marked = LABEL_END.search(other.text) or other.element.tag in LABEL_TAGS
                    is_near = other.line == leaf.line or _is_same_row(other.element, leaf.element)
                    nearness = (1.0, 0.6, 0.4)[steps] * (1.0 if is_marked or is_near else 0.7)
                    found.append((leaf, other.text, _NEXT_LABEL.split(leaf.text, 1)[0], nearness, False))
                steps += 1
                if steps == 3:
                    break
        return found + self._column_labels()

    def _column_labels(self) -> list[tuple[TextLeaf, str, str, float, bool]]:
        """Return the cells of tables with their column headers as labels."""
        page = self._finder.page
        headers: dict[Element, str] = {}
        for table in page.body.iter("table"):
            rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr")]
            if len(rows) < 2 or len(rows[0]) < 2 or any(cell.tag != "th" for cell in rows[0]):
                continue
            for row in rows[1:]:
                if len(row) == len(rows[0]):
                    headers |= {cell: page.text(head) for cell, head in zip(row, rows[0], strict=True)}
        leaves = (leaf for leaf in self._finder.leaves if leaf.element in headers and leaf.is_whole)
        return [(leaf, headers[leaf.element], leaf.text, 1.0, False) for leaf in leaves]

    def _match_names(self, field: FieldName, element: Element) -> float:
        best = 0.0
        node: Element | None = element
        for level in _LEVEL_WEIGHTS:
            if node is None:
                break
            for attribute, weight in _NAME_WEIGHTS.items():
                value = node.get(attribute)
                if value and len(value) <= 160:
                    names = value.split() if attribute in ("class", "rel") else (value,)
                    best = max(best, level * weight * max(map(field.match, names), default=0.0))
            node = node.getparent()
        return best

    def _is_in(self, leaf: TextLeaf, *tags: str) -> bool:
        return leaf.element.tag in tags or any(one.tag in tags for one in leaf.element.iterancestors(*tags))

    def _agreement(self, text: str) -> float:
        """Return the similarity of a text to the page title, from 0 to 1."""
        own, title = name_key(text)[:150], name_key(self._title)[:150]
        if len(own) < 3 or not title:
            return 0.0
        if own in title:
            return min(1.0, 0.4 + 0.6 * len(own) / len(title))
        size = SequenceMatcher(None, own, title, autojunk=False).find_longest_match().size
        return 0.5 * size / len(own) if size > 8 else 0.0

    def _aside(self, element: Element) -> float:
        known = self._beside.get(element)
        if known is None:
            parent = element.getparent()
            above = self._aside(parent) if parent is not None and parent.tag != "body" else 0.0
            names = (
                f"{element.get('class') or ''} {element.get('id') or ''}".lower().replace("-", " ").replace("_", " ")
            )
            own = (
                1.0
                if element.tag in ("nav", "footer", "aside")
                else 0.7 * (len(names) < 100 and _ASIDE.search(names) is not None)
            )
            known = self._beside[element] = max(above, own)
        return known


def _is_same_row(label: Element, value: Element) -> bool:
    """Return True if two elements share a near ancestor such as a row, list item or paragraph."""
    around = [value, *list(value.iterancestors())[:3]]
    near = [label, *list(label.iterancestors())[:3]]
    common = next((one for one in near if one in around), None)
    return common is not None and common.tag in ("tr", "dl", "li", "p", "div", "span", "td")


def find_shared_texts(finders: Sequence[ValuePlaceFinder]) -> list[frozenset[str]]:
    """Return for each page its texts that at least two pages and 60 % of the pages contain, such as menus.

    The texts are in the form of `name_key`.
    """
    texts = [{name_key(leaf.text) for leaf in finder.leaves} for finder in finders]
    counts = Counter(text for page in texts for text in page)
    least = max(2, 0.6 * len(finders))
    return [frozenset(text for text in page if counts[text] >= least) for page in texts]

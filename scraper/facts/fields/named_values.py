"""Find the value of a field by its name: beside a label, by element names, by format, or in the title."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from scraper.facts.fields.field_names import TABLE, FieldName, rate_format
from scraper.facts.fields.place_finder import ValuePlaceFinder
from scraper.facts.label_value_pairs import read_pairs
from scraper.facts.money import best_amount, read_amounts
from scraper.html.dom.parsing import Element
from scraper.text.sanitize import name_key

_MIN_SCORE = 2.8
"""Minimum score of a value; weaker candidates are ignored."""
_MIN_MATCH = 0.25
MIN_LABEL_MATCH = 0.6
"""Minimum similarity of a field name to a whole label."""
_WHOLE_LABEL = 0.95
"""Minimum similarity of a field name to a label that is the same words."""
_MAX_VALUE = 300
_QUALIFIER = re.compile(r"\s*\([^()]*\)\Z")
"""Year, place or kind in brackets after a title."""
_NAME_WEIGHTS: Mapping[str, float] = TABLE["name_weights"]
_LEVEL_WEIGHTS = (1.0, 0.8, 0.55)
_ASIDE = re.compile(TABLE["aside"])
_MIN_LEAD = 0.1
"""Score points by which a value must be better than other ones: of 44 values with less, 3 were correct."""
_CONFIDENCES = ((2.0, 0.97), (0.3, 0.83), (0.0, 0.4))
"""Minimum lead, and share of correct values with at least that lead in the benchmark."""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value found on a page, with its source and score."""

    text: str
    source: str
    """`label`, `name` or `title`."""
    score: float
    match: float = 0.0
    """Similarity of the label to the name of the field."""
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
        return next(share for least, share in _CONFIDENCES if self.lead >= least)


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A value beside a label, or in an element with names, that are similar to the name of a field."""

    element: Element
    """Element of the value."""
    value: str
    match: float
    """Similarity of the names, from 0 to 1."""
    source: str
    """`label` or `name`."""
    is_inline: bool = False


class NamedValueFinder:
    """Find the values of fields on one page by their names."""

    def __init__(self, finder: ValuePlaceFinder, constants: frozenset[str] = frozenset()) -> None:
        """Read the labels of the page. `constants` are the texts that `find_shared_texts` returned for it."""
        self._finder = finder
        self._constants = constants
        self._title = finder.page.page.head.title
        self._loose = {(leaf.element, leaf.text) for leaf in finder.leaves if not leaf.is_whole}
        """Texts of elements beside inline markup in them."""
        page = finder.page
        heading = next((one for one in page.elements if one.tag == "h1"), page.body)
        self._heading = page.number[heading]
        title = f"{self._title} {page.text(heading) if heading.tag == 'h1' else ''} {page.page.url}"
        self._pairs = list(read_pairs(page.body, text=page.text, title=title))
        self._beside: dict[Element, float] = {}

    def find(self, field: FieldName) -> NamedValue | None:
        """Return the best value of a field, or None if no candidate reaches `_MIN_SCORE`."""
        found, empty = self._labeled(field), self.find_empty(field)
        labeled = max((one.match for one in found), default=0.0)
        if field.kind != "title" or max(labeled, empty) < _WHOLE_LABEL or field.is_title:
            found = list(self._candidates(field))
        elif labeled < empty:  # the label of a model, say, beats the title of the page
            found = []
        rated = [NamedValue(one.value, *self._rate(field, one), one.match) for one in found]
        best = max(rated, key=lambda one: one.score, default=None)
        if (
            best is None
            or best.score < _MIN_SCORE
            or (best.source == "label" and empty > max(one.match for one in rated))
        ):
            return None
        key = name_key(best.text)
        others = [one for one in rated if (own := name_key(one.text)) not in key and key not in own]
        rival = max(others, key=lambda one: one.score, default=None)
        return replace(best, rival=rival.text, lead=best.score - rival.score) if rival else best

    def find_contradiction(self, field: FieldName, stated: str) -> str:
        """Return the only value beside a label with the name of a field if it differs from a stated value, or ""."""
        labeled = {name_key(one.value): one.value for one in self._labeled(field) if one.match >= _WHOLE_LABEL}
        if len(labeled) != 1 or field.kind == "date":
            return ""
        ((_, shown),) = labeled.items()
        one, two = (best_amount(read_amounts(text)) for text in (stated, shown))
        if field.kind in ("money", "number"):
            return shown if one and two and one.value != two.value else ""
        return "" if _are_parts(stated, shown) else shown

    def find_empty(self, field: FieldName) -> float:
        """Return the similarity of the best label of a field whose place for the value is empty, or 0."""
        matches = (field.match(pair.label) * pair.weight for pair in self._pairs if not pair.value)
        return max((match for match in matches if match >= MIN_LABEL_MATCH), default=0.0)

    def find_matches(self, field: FieldName) -> list[NameMatch]:
        """Return the values whose label or element names are similar to a field."""
        found = {(one.element, one.value): one for one in self._labeled(field)}
        for leaf in self._finder.leaves:
            match = self._match_names(field, leaf.element) if len(leaf.text) <= _MAX_VALUE else 0.0
            known = found.get((leaf.element, leaf.text))
            if match >= _MIN_MATCH and (known is None or match > known.match):
                found[leaf.element, leaf.text] = NameMatch(leaf.element, leaf.text, match, "name")
        return [one for one in found.values() if rate_format(field.kind, one.value) >= 0]

    def _labeled(self, field: FieldName) -> list[NameMatch]:
        found: dict[tuple[Element, str], NameMatch] = {}
        for pair in self._pairs:
            match = field.match(pair.label) * pair.weight
            known = found.get((pair.element, pair.value))
            if match >= _MIN_MATCH and name_key(pair.value) and (known is None or match > known.match):
                found[pair.element, pair.value] = NameMatch(pair.element, pair.value, match, "label", pair.is_inline)
        return list(found.values())

    def _candidates(self, field: FieldName) -> Iterable[NameMatch]:
        found = {(one.element, one.value): one for one in self._labeled(field)}
        for leaf in self._finder.leaves:
            if len(leaf.text) > _MAX_VALUE or (leaf.element, leaf.text) in found:
                continue
            element = leaf.element
            is_title = field.kind == "title" and (_is_in(element, "h1", "h2") or self._agreement(leaf.text) > 0.3)
            if is_title or self._match_names(field, element) >= 0.3:
                found[element, leaf.text] = NameMatch(element, leaf.text, 0.0, "name")
        return found.values()

    def _rate(self, field: FieldName, one: NameMatch) -> tuple[str, float]:
        """Return the source that contributes most to the score of a candidate, and the score."""
        value, element, page = one.value, one.element, self._finder.page
        fit = rate_format(field.kind, value)
        names = 1.8 * self._match_names(field, element)
        title = 0.0
        if field.kind == "title":
            qualifier = _QUALIFIER.search(value)
            title = -0.8 * (qualifier is not None and (element, value[: qualifier.start()]) in self._loose)
            title += 1.6 * _is_in(element, "h1") + 0.5 * _is_in(element, "h2", "h3") + 1.6 * self._agreement(value)
        label = (3.3 if one.is_inline else 3.0) * one.match
        score = label + names + title + (fit if fit > 0 else 2.0 * fit)
        score += 0.6 * (1 - abs(page.number.get(element, 0) - self._heading) / max(1, len(page.elements)))
        score += 0.2 * (len(value) <= 60) - 0.5 * (len(value) > 200) - 0.8 * self._aside(element)
        score -= 1.5 * (value[0] in "([" and value[-1] in ")]")
        score -= 1.5 * value.endswith((":", "：")) + 1.5 * (name_key(value) in self._constants)
        sources = {"label": label, "name": names, "title": title}
        return max(sources, key=lambda source: sources[source]), score

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
        if element not in self._beside:
            parent = element.getparent()
            above = self._aside(parent) if parent is not None and parent.tag != "body" else 0.0
            names = f"{element.get('class') or ''} {element.get('id') or ''}".lower().replace("_", "-")
            is_beside = len(names) < 100 and _ASIDE.search(names) is not None
            own = 1.0 if element.tag in ("nav", "footer", "aside") else 0.7 * is_beside
            self._beside[element] = max(above, own)
        return self._beside[element]


def _are_parts(one: str, other: str) -> bool:
    words = [set(map(name_key, text.replace(",", " ").split())) for text in (one, other)]
    keys = name_key(one), name_key(other)
    return words[0] <= words[1] or words[1] <= words[0] or keys[0] in keys[1] or keys[1] in keys[0]


def _is_in(element: Element, *tags: str) -> bool:
    return element.tag in tags or next(element.iterancestors(*tags), None) is not None


def find_shared_texts(finders: Sequence[ValuePlaceFinder]) -> list[frozenset[str]]:
    """Return for each page its texts that at least two pages and 60 % of the pages contain, such as menus.

    The texts are in the form of `name_key`.
    """
    texts = [{name_key(leaf.text) for leaf in finder.leaves} for finder in finders]
    counts = Counter(text for page in texts for text in page)
    least = max(2, 0.6 * len(finders))
    return [frozenset(text for text in page if counts[text] >= least) for page in texts]

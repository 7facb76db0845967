"""List numbers that Word computes for display: `1.2.1` before a heading is not in the text of the file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from scraper.extract.documents.docx.xml_names import W, get_child_value
from scraper.extract.documents.office import format_numeral
from scraper.extract.dom.xpath import Element

_LEVELS = 9
_LARGEST = 100_000


@dataclass(frozen=True, slots=True)
class NumberingLevel:
    """List and level of a paragraph."""

    list_id: str
    level: int


@dataclass(frozen=True, slots=True)
class _Level:
    style: str = "decimal"
    pattern: str = "%1."
    start: int = 1
    restarts_after: int | None = None
    """Level whose count restarts this one; None means any higher level."""
    legal: bool = False

    @property
    def is_plain(self) -> bool:
        """Return True if the label is only its own count."""
        return self.style == "decimal" and re.fullmatch(r"\W*%\d\W*", self.pattern) is not None


@dataclass(slots=True)
class Numbering:
    """Counters of all lists of a document."""

    levels: Mapping[str, dict[int, _Level]] = field(default_factory=dict)
    """Level definitions by list."""
    abstract: Mapping[str, str] = field(default_factory=dict)
    """Abstract numbering of each list; lists with the same one share their counts."""
    overridden: Mapping[str, dict[int, int]] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    _started: set[tuple[str, int]] = field(default_factory=set)

    @classmethod
    def of(cls, root: Element | None) -> Numbering:
        """Read `numbering.xml`; without it no list is numbered."""
        if root is None:
            return cls()
        patterns = {
            str(one.get(W + "abstractNumId")): {
                _integer(level.get(W + "ilvl"), 0): _level(level) for level in one.iter(W + "lvl")
            }
            for one in root.iter(W + "abstractNum")
        }
        levels, abstract, overridden = {}, {}, {}
        for one in root.iter(W + "num"):
            list_id, pattern = str(one.get(W + "numId")), get_child_value(one, "abstractNumId") or ""
            own = dict(patterns.get(pattern, {}))
            starts: dict[int, int] = {}
            for override in one.iter(W + "lvlOverride"):
                at = _integer(override.get(W + "ilvl"), 0)
                level = override.find(W + "lvl")
                if level is not None:
                    own[at] = _level(level)
                start = get_child_value(override, "startOverride")
                if start is not None:
                    starts[at] = _integer(start, 1)
            levels[list_id], abstract[list_id], overridden[list_id] = own, pattern, starts
        return cls(levels, abstract, overridden)

    def next_label(self, place: NumberingLevel) -> str:
        """Count a paragraph and return its label; empty for a bullet."""
        levels = self.levels.get(place.list_id)
        if levels is None or place.level not in levels:
            return ""
        counts = self._counts[self.abstract[place.list_id]]
        level = levels[place.level]
        start = self.overridden[place.list_id].get(place.level)
        if start is not None and (place.list_id, place.level) not in self._started:
            self._started.add((place.list_id, place.level))
            counts[place.level] = start
        else:
            counts[place.level] = min(counts.get(place.level, level.start - 1) + 1, _LARGEST)
        for deeper in [other for other in counts if other > place.level]:
            if _restarts(levels.get(deeper), place.level):
                del counts[deeper]
        return self._said(levels, place.level, counts)

    def is_plain_count(self, place: NumberingLevel) -> bool:
        """Return True if the list counts 1, 2, 3, as Markdown lists do."""
        level = self.levels.get(place.list_id, {}).get(place.level)
        return level is not None and level.is_plain

    def count(self, place: NumberingLevel) -> int:
        """Return the current count of a list."""
        return self._counts[self.abstract[place.list_id]][place.level]

    def _said(self, levels: Mapping[int, _Level], at: int, counts: Mapping[int, int]) -> str:
        level = levels[at]
        if level.style in ("bullet", "none"):
            return ""
        text = level.pattern
        for other in range(_LEVELS):
            mark = f"%{other + 1}"
            if mark in text:
                known = levels.get(other, _Level())
                count = counts.get(other, known.start)
                text = text.replace(mark, format_numeral(count, "decimal" if level.legal else known.style))
        return text.strip()


def find_style_numbering(style: str | None, styles: Mapping[str, Element]) -> NumberingLevel | None:
    """Return the list of a paragraph style, its own or inherited."""
    level: int | None = None
    for _ in range(_LEVELS):
        element = styles.get(style or "")
        if element is None:
            return None
        properties = element.find(W + "pPr")
        numbered = None if properties is None else properties.find(W + "numPr")
        if numbered is not None:
            found = get_child_value(numbered, "ilvl")
            level = _integer(found, 0) if level is None and found is not None else level
            list_id = get_child_value(numbered, "numId")
            if list_id is not None:
                return None if list_id == "0" else NumberingLevel(list_id, level or 0)
        style = get_child_value(element, "basedOn")
    return None


def _level(element: Element) -> _Level:
    restart = get_child_value(element, "lvlRestart")
    return _Level(
        get_child_value(element, "numFmt") or "decimal",
        get_child_value(element, "lvlText") or "",
        _integer(get_child_value(element, "start"), 1),
        None if restart is None else _integer(restart, 0),
        element.find(W + "isLgl") is not None,
    )


def _restarts(level: _Level | None, counted: int) -> bool:
    if level is None or level.restarts_after is None:
        return True
    return level.restarts_after != 0 and counted < level.restarts_after


def _integer(text: str | None, otherwise: int) -> int:
    try:
        return max(-1, min(_LARGEST, int(text or "")))
    except ValueError:
        return otherwise


def convert_to_bullets(root: Element) -> None:
    """Turn levels whose labels are written into the text into bullets, so that labels do not appear twice."""
    for element in root.iter(W + "lvl"):
        if not _level(element).is_plain:
            style = element.find(W + "numFmt")
            if style is not None:
                style.set(W + "val", "bullet")

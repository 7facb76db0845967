"""List numbers that Word computes for display: `1.2.1` before a heading is not in the text of the file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from scraper.documents.docx.xml_names import W, get_child_value
from scraper.documents.list_numerals import format_numeral
from scraper.html.dom.xpath import Element

_LEVELS = 9
_MAX_COUNT = 100_000


class NumberingLevel(NamedTuple):
    """List and level of a paragraph."""

    list_id: str
    level: int


@dataclass(frozen=True, slots=True)
class _Level:
    style: str = "decimal"
    pattern: str = "%1."
    start: int = 1
    restarts_after: int | None = None
    """Level, from 1, whose count restarts this one, as do higher levels. None means any higher level, 0 none."""
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
    """Start of levels that a list sets itself, by list and level."""
    _counts: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    _started: set[NumberingLevel] = field(default_factory=set)

    @classmethod
    def of(cls, root: Element | None) -> Numbering:
        """Read `numbering.xml`; without it no list is numbered."""
        if root is None:
            return cls()
        patterns = {
            one.get(W + "abstractNumId"): {
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
                if (level := override.find(W + "lvl")) is not None:
                    own[at] = _level(level)
                if (start := get_child_value(override, "startOverride")) is not None:
                    starts[at] = _integer(start, 1)
            levels[list_id], abstract[list_id], overridden[list_id] = own, pattern, starts
        return cls(levels, abstract, overridden)

    def count(self, position: NumberingLevel) -> tuple[str, int | None]:
        """Count a paragraph; return its label, and the count if the list counts 1, 2, 3, as Markdown lists do.

        The label of a bullet is empty.
        """
        list_id, at = position
        levels = self.levels.get(list_id)
        if levels is None or at not in levels:
            return "", None
        counts, level = self._counts[self.abstract[list_id]], levels[at]
        start = self.overridden[list_id].get(at)
        if start is not None and position not in self._started:
            self._started.add(position)
            counts[at] = start
        else:
            counts[at] = min(counts.get(at, level.start - 1) + 1, _MAX_COUNT)
        for deeper in [other for other in counts if other > at]:
            restarts_after = levels[deeper].restarts_after if deeper in levels else None
            if restarts_after is None or (restarts_after != 0 and at < restarts_after):
                del counts[deeper]
        return _format_label(level, levels, counts), counts[at] if level.is_plain else None


def _format_label(level: _Level, levels: Mapping[int, _Level], counts: Mapping[int, int]) -> str:
    def numeral(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        other = levels.get(at, _Level())
        return format_numeral(counts.get(at, other.start), "decimal" if level.legal else other.style)

    return "" if level.style in ("bullet", "none") else re.sub("%([1-9])", numeral, level.pattern).strip()


def find_style_numbering(style: str | None, styles: Mapping[str, Element]) -> NumberingLevel | None:
    """Return the list and level that a paragraph style sets or inherits, or None."""
    level: int | None = None
    for _ in range(_LEVELS):
        element = styles.get(style or "")
        if element is None:
            return None
        own_level = get_child_value(element, "pPr", "numPr", "ilvl")
        level = _integer(own_level, 0) if level is None and own_level is not None else level
        list_id = get_child_value(element, "pPr", "numPr", "numId")
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


def _integer(text: str | None, default: int) -> int:
    try:
        return max(-1, min(_MAX_COUNT, int(text or "")))
    except ValueError:
        return default


def convert_to_bullets(root: Element) -> None:
    """Turn levels whose labels are written into the text into bullets, so that labels do not appear twice."""
    for element in root.iter(W + "lvl"):
        style = element.find(W + "numFmt")
        if style is not None and not _level(element).is_plain:
            style.set(W + "val", "bullet")

"""Resolve OpenDocument styles to heading level, text format and list labels, and count list items."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from scraper.documents import office_xml as ns
from scraper.documents.office_markup import MONOSPACED_FONT
from scraper.documents.office_xml import get_attribute, get_int_attribute
from scraper.html.dom.xpath import Element
from scraper.text.numerals import format_numeral

_MAX_COUNT = 100_000


@dataclass(slots=True)
class ListCounter:
    """Counts of one list by level."""

    levels: Mapping[int, ListLevel]
    _counts: dict[int, int] = field(default_factory=dict)

    def level(self, at: int) -> ListLevel:
        """Return the label format of a level; a list that defines only one level uses it for all."""
        alone = next(iter(self.levels.values()), ListLevel()) if len(self.levels) == 1 else ListLevel()
        return self.levels.get(at, alone)

    def count(self, at: int, start: int | None = None) -> int:
        """Increment the count of a level, or set it to `start`, and return it; deeper levels restart."""
        for above in range(1, at):
            # A skipped level counts as begun: 2.1.1 is followed by 2.2.
            if 1 in self._counts:
                self._counts.setdefault(above, self.level(above).start)
        count = self._counts.get(at, self.level(at).start - 1) + 1 if start is None else start
        self.restart(at)
        self._counts[at] = min(count, _MAX_COUNT)
        return self._counts[at]

    def restart(self, at: int) -> None:
        """Restart a level and all deeper ones."""
        for deeper in [level for level in self._counts if level >= at]:
            del self._counts[deeper]

    def label(self, at: int) -> str:
        """Return the label of the last count of a level; empty if it is hidden."""
        level = self.level(at)
        if not level.numeral:
            return ""
        numbers = []
        for shown in range(max(1, at - level.level_count + 1), at + 1):
            known = self.levels.get(shown, ListLevel("decimal"))
            if known.numeral:
                numbers.append(format_numeral(self._counts.get(shown, known.start), known.numeral))
        return f"{level.before}{'.'.join(numbers)}{level.after}".strip()


_DEPTH = 20
_HEADING = re.compile(r"heading (\d{1,2})", re.IGNORECASE)
_CODE = frozenset({"preformatted text", "source code", "code", "code block", "html preformatted", "macro text"})
_POINTS = re.compile(r"([\d.]{1,8})pt")
_NUMERALS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_BOLD = frozenset({"bold", "600", "700", "800", "900"})


@dataclass(frozen=True, slots=True)
class OdfTextFormat:
    """Text format that a style defines."""

    title: bool = False
    subtitle: bool = False
    heading: int | None = None
    code: bool = False
    mono: bool = False
    hidden: bool = False
    bold: bool = False
    italic: bool = False
    struck: bool = False
    raised: str = ""
    """`sup`, `sub`, or empty."""
    points: float | None = None


@dataclass(frozen=True, slots=True)
class ListLevel:
    """Label format of one list level."""

    numeral: str = ""
    """One of Word's number styles; empty for bullets and unlabeled items."""
    before: str = ""
    after: str = ""
    level_count: int = 1
    """Number of levels in the label: 2 gives `1.1`."""
    start: int = 1

    @property
    def is_plain(self) -> bool:
        """Return True if it counts 1, 2, 3, as Markdown lists do."""
        return self.numeral == "decimal" and self.level_count < 2


@dataclass
class OdfStyles:
    """All styles of a file."""

    roots: tuple[Element, ...]
    """Roots of the parts with styles; earlier ones take precedence."""
    _formats: dict[tuple[str, str], OdfTextFormat] = field(default_factory=dict)

    def text_format(self, element: Element, family: str) -> OdfTextFormat:
        """Return the format of an element of a family (`paragraph`, `text`), including inherited properties."""
        name = get_attribute(element, ns.TEXT + "style-name")
        if (family, name) not in self._formats:
            self._formats[family, name] = _text_format(name, list(self._iter_inherited(name, family)))
        return self._formats[family, name]

    def levels(self, name: str) -> dict[int, ListLevel]:
        """Return the levels of a list style, counted from 1."""
        return self._lists.get(name, {})

    @cached_property
    def outline(self) -> dict[int, ListLevel]:
        """Return the numbering of headings."""
        return _levels(next((style for root in self.roots for style in root.iter(ns.TEXT + "outline-style")), ()))

    @cached_property
    def _styles(self) -> dict[tuple[str, str], Element]:
        found: dict[tuple[str, str], Element] = {}
        for root in self.roots:
            for style in root.iter(ns.STYLE + "style"):
                family, name = (get_attribute(style, ns.STYLE + key) for key in ("family", "name"))
                found.setdefault((family, name), style)
        return found

    @cached_property
    def _lists(self) -> dict[str, dict[int, ListLevel]]:
        found: dict[str, dict[int, ListLevel]] = {}
        for root in self.roots:
            for style in root.iter(ns.TEXT + "list-style"):
                found.setdefault(get_attribute(style, ns.STYLE + "name"), _levels(style))
        return found

    def _iter_inherited(self, name: str, family: str) -> Iterator[Element]:
        """Yield a style and the styles it is based on."""
        for _ in range(_DEPTH):
            style = self._styles.get((family, name))
            if style is None:
                return
            yield style
            name = get_attribute(style, ns.STYLE + "parent-style-name")


def _text_format(name: str, inherited: list[Element]) -> OdfTextFormat:
    # A built-in style need not be defined in the file: use its name alone.
    base = get_attribute(inherited[-1], ns.STYLE + "parent-style-name") if inherited else name
    own = (get_attribute(one, ns.STYLE + "display-name") or get_attribute(one, ns.STYLE + "name") for one in inherited)
    names = [style_name.replace("_20_", " ").lower() for style_name in (*own, base)]
    found: dict[str, str] = {}
    for style in reversed(inherited):
        for properties in reversed(list(style.iter(ns.STYLE + "text-properties"))):
            found.update((str(key), str(value)) for key, value in properties.attrib.items())
    named = [match for style_name in names if (match := _HEADING.fullmatch(style_name))]
    level = get_attribute(inherited[0], ns.STYLE + "default-outline-level") if inherited else ""
    heading = int(level) if level.isdecimal() else None
    position = found.get(ns.STYLE + "text-position", "")
    fonts = found.get(ns.STYLE + "font-name", "") + found.get(ns.FO + "font-family", "")
    size = _POINTS.fullmatch(found.get(ns.FO + "font-size", ""))
    return OdfTextFormat(
        title="title" in names,
        subtitle="subtitle" in names,
        heading=int(named[0][1]) if named else heading,
        code=any(name in _CODE for name in names),
        mono=MONOSPACED_FONT.search(fonts) is not None,
        hidden=found.get(ns.TEXT + "display") == "none",
        bold=found.get(ns.FO + "font-weight", "") in _BOLD,
        italic=found.get(ns.FO + "font-style", "") in ("italic", "oblique"),
        struck=found.get(ns.STYLE + "text-line-through-style", "none") != "none",
        raised=_raised(position),
        points=float(size[1]) if size and size[1].count(".") < 2 else None,
    )


def _raised(position: str) -> str:
    if position.startswith(("sup", "sub")):
        return position[:3]
    moved = re.match(r"(-?)[\d.]*[1-9]", position)
    return "" if moved is None else "sub" if moved[1] else "sup"


def _levels(style: Iterable[Element]) -> dict[int, ListLevel]:
    found = {}
    for level in style:
        if not isinstance(level.tag, str):
            continue
        found[get_int_attribute(level, ns.TEXT + "level", 1)] = ListLevel(
            _NUMERALS.get(str(level.get(ns.STYLE + "num-format", "1")), "") if "bullet" not in level.tag else "",
            get_attribute(level, ns.STYLE + "num-prefix"),
            get_attribute(level, ns.STYLE + "num-suffix"),
            get_int_attribute(level, ns.TEXT + "display-levels", 1),
            get_int_attribute(level, ns.TEXT + "start-value", 1),
        )
    return found

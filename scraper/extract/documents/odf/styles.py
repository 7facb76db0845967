"""Meaning of OpenDocument styles: heading level, bold, lists, hidden text, and list counters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from scraper.extract.documents.office import format_numeral
from scraper.extract.dom.xpath import Element

_URN = "urn:oasis:names:tc:opendocument:xmlns:"
TEXT, OFFICE, TABLE = f"{{{_URN}text:1.0}}", f"{{{_URN}office:1.0}}", f"{{{_URN}table:1.0}}"
DRAW, STYLE, META = f"{{{_URN}drawing:1.0}}", f"{{{_URN}style:1.0}}", f"{{{_URN}meta:1.0}}"
PRESENTATION, CHART = f"{{{_URN}presentation:1.0}}", f"{{{_URN}chart:1.0}}"
FO = f"{{{_URN}xsl-fo-compatible:1.0}}"
DUBLIN = "{http://purl.org/dc/elements/1.1/}"
MATH = "{http://www.w3.org/1998/Math/MathML}"
LINK = "{http://www.w3.org/1999/xlink}href"


def get_int_attribute(element: Element, name: str, otherwise: int) -> int:
    """Return an integer attribute, or `otherwise` if it is no number or too long."""
    value = get_attribute(element, name)
    return int(value) if value.isdecimal() and len(value) < 10 else otherwise


def get_attribute(element: Element, name: str) -> str:
    """Return an attribute; empty if it is missing."""
    return str(element.get(name, ""))


_LARGEST = 100_000


@dataclass(slots=True)
class Counter:
    """Counts of one list by level."""

    levels: Mapping[int, ListLevel]
    _counts: dict[int, int] = field(default_factory=dict)

    def level(self, at: int) -> ListLevel:
        """Return the label format of a level; a list that defines only one level uses it for all."""
        alone = next(iter(self.levels.values()), ListLevel()) if len(self.levels) == 1 else ListLevel()
        return self.levels.get(at, alone)

    def count(self, at: int, start: int | None = None) -> int:
        """Increment the count of a level; deeper levels restart."""
        for above in range(1, at):
            # A skipped level counts as begun: 2.1.1 is followed by 2.2.
            if 1 in self._counts:
                self._counts.setdefault(above, self.level(above).start)
        first = self.level(at).start
        following = self._counts.get(at, first - 1) + 1 if start is None else start
        self._counts[at] = min(following, _LARGEST)
        for deeper in [level for level in self._counts if level > at]:
            del self._counts[deeper]
        return self._counts[at]

    def begin(self, at: int) -> None:
        """Restart a level and all deeper ones."""
        for deeper in [level for level in self._counts if level >= at]:
            del self._counts[deeper]

    def label(self, at: int) -> str:
        """Return the label of the last count of a level; empty if it is hidden."""
        level = self.level(at)
        if not level.numeral:
            return ""
        above = range(max(1, at - level.shown + 1), at + 1)
        numbers = []
        for one in above:
            known = self.levels.get(one, ListLevel("decimal"))
            if known.numeral:
                numbers.append(format_numeral(self._counts.get(one, known.start), known.numeral))
        return f"{level.before}{'.'.join(numbers)}{level.after}".strip()


_DEPTH = 20
_HEADING = re.compile(r"heading (\d{1,2})", re.IGNORECASE)
_CODE = frozenset({"preformatted text", "source code", "code", "code block", "html preformatted", "macro text"})
_MONO = re.compile(r"courier|consolas|mono|menlo|monaco", re.IGNORECASE)
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
    shown: int = 1
    """Number of levels in the label: 2 gives `1.1`."""
    start: int = 1

    @property
    def is_plain(self) -> bool:
        """Return True if it counts 1, 2, 3, as Markdown lists do."""
        return self.numeral == "decimal" and self.shown < 2


@dataclass
class OdfStyles:
    """All styles of a file; earlier parts take precedence."""

    roots: tuple[Element, ...]
    _looks: dict[tuple[str, str], OdfTextFormat] = field(default_factory=dict)

    def look(self, name: str, family: str) -> OdfTextFormat:
        """Return the format of a style of a family (`paragraph`, `text`), including inherited properties."""
        key = (family, name)
        if key not in self._looks:
            self._looks[key] = _look(name, list(self._line(name, family)))
        return self._looks[key]

    def levels(self, name: str) -> dict[int, ListLevel]:
        """Return the levels of a list style, counted from 1."""
        return self._lists.get(name, {})

    @cached_property
    def outline(self) -> dict[int, ListLevel]:
        """Return the numbering of headings."""
        found = (style for root in self.roots for style in root.iter(TEXT + "outline-style"))
        return _levels(next(found, ()))

    @cached_property
    def _styles(self) -> dict[tuple[str, str], Element]:
        found: dict[tuple[str, str], Element] = {}
        for root in self.roots:
            for style in root.iter(STYLE + "style"):
                found.setdefault((get_attribute(style, STYLE + "family"), get_attribute(style, STYLE + "name")), style)
        return found

    @cached_property
    def _lists(self) -> dict[str, dict[int, ListLevel]]:
        found: dict[str, dict[int, ListLevel]] = {}
        for root in self.roots:
            for style in root.iter(TEXT + "list-style"):
                found.setdefault(get_attribute(style, STYLE + "name"), _levels(style))
        return found

    def _line(self, name: str, family: str) -> Iterator[Element]:
        """Yield a style and the styles it is based on."""
        for _ in range(_DEPTH):
            style = self._styles.get((family, name))
            if style is None:
                return
            yield style
            name = get_attribute(style, STYLE + "parent-style-name")


def _look(name: str, line: list[Element]) -> OdfTextFormat:
    # A built-in style need not be defined in the file: use its name alone.
    first = get_attribute(line[-1], STYLE + "parent-style-name") if line else name
    names = [*map(_plain_name, line), _shown(first)]
    found: dict[str, str] = {}
    for style in line:
        for properties in style.iter(STYLE + "text-properties"):
            for key, value in properties.attrib.items():
                found.setdefault(str(key), str(value))
    levels = [get_attribute(style, STYLE + "default-outline-level") for style in line[:1]]
    named = [match for name in names if (match := _HEADING.fullmatch(name))]
    heading = next((int(level) for level in levels if level.isdecimal()), None)
    position = found.get(STYLE + "text-position", "")
    size = _POINTS.fullmatch(found.get(FO + "font-size", ""))
    return OdfTextFormat(
        title="title" in names,
        subtitle="subtitle" in names,
        heading=int(named[0][1]) if named else heading,
        code=any(name in _CODE for name in names),
        mono=_MONO.search(found.get(STYLE + "font-name", "") + found.get(FO + "font-family", "")) is not None,
        hidden=found.get(TEXT + "display") == "none",
        bold=found.get(FO + "font-weight", "") in _BOLD,
        italic=found.get(FO + "font-style", "") in ("italic", "oblique"),
        struck=found.get(STYLE + "text-line-through-style", "none") != "none",
        raised=_raised(position),
        points=float(size[1]) if size and size[1].count(".") < 2 else None,
    )


def _plain_name(style: Element) -> str:
    """Return the display name of a style in lower case."""
    return _shown(get_attribute(style, STYLE + "display-name") or get_attribute(style, STYLE + "name"))


def _shown(name: str) -> str:
    return name.replace("_20_", " ").lower()


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
        found[get_int_attribute(level, TEXT + "level", 1)] = ListLevel(
            _NUMERALS.get(str(level.get(STYLE + "num-format", "1")), "") if "bullet" not in level.tag else "",
            get_attribute(level, STYLE + "num-prefix"),
            get_attribute(level, STYLE + "num-suffix"),
            get_int_attribute(level, TEXT + "display-levels", 1),
            get_int_attribute(level, TEXT + "start-value", 1),
        )
    return found

"""Resolve OpenDocument styles to heading level, text format and list labels."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from scraper.documents import office_xml as ns
from scraper.documents.office_markup import MONOSPACED_FONT, ListLevel
from scraper.documents.office_xml import get_attribute, get_int_attribute
from scraper.html.dom.parsing import Element

_DEPTH = 20
_MAX_LEVELS = 10
_CODE = frozenset({"preformatted text", "source code", "code", "code block", "html preformatted", "macro text"})
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


class OdfStyles:
    """All styles of a file."""

    def __init__(self, roots: Iterable[Element]) -> None:
        """Read the styles of these parts; earlier ones take precedence."""
        self._formats: dict[tuple[str, str], OdfTextFormat] = {}
        self._styles: dict[tuple[str, str], Element] = {}
        self._lists: dict[str, dict[int, ListLevel]] = {}
        outlines: list[Element] = []
        for root in roots:
            for style in root.iter(ns.STYLE + "style"):
                family, name = (get_attribute(style, ns.STYLE + key) for key in ("family", "name"))
                self._styles.setdefault((family, name), style)
            for style in root.iter(ns.TEXT + "list-style"):
                self._lists.setdefault(get_attribute(style, ns.STYLE + "name"), _levels(style))
            outlines += root.iter(ns.TEXT + "outline-style")
        self.outline = _levels(outlines[0]) if outlines else {}

    def text_format(self, element: Element, family: str) -> OdfTextFormat:
        """Return the format of an element of a family (`paragraph`, `text`), including inherited properties."""
        name = get_attribute(element, ns.TEXT + "style-name")
        if (family, name) not in self._formats:
            inherited: list[Element] = []  # The style and those it is based on.
            base = name
            while len(inherited) < _DEPTH and (style := self._styles.get((family, base))) is not None:
                inherited.append(style)
                base = get_attribute(style, ns.STYLE + "parent-style-name")
            self._formats[family, name] = _text_format(name, inherited)
        return self._formats[family, name]

    def levels(self, name: str) -> dict[int, ListLevel]:
        """Return the levels of a list style, counted from 0."""
        return self._lists.get(name, {})


def _text_format(name: str, inherited: list[Element]) -> OdfTextFormat:
    # A built-in style need not be defined in the file: use its name alone.
    base = get_attribute(inherited[-1], ns.STYLE + "parent-style-name") if inherited else name
    own = (get_attribute(one, ns.STYLE + "display-name") or get_attribute(one, ns.STYLE + "name") for one in inherited)
    names = [style_name.replace("_20_", " ").lower() for style_name in (*own, base)]
    found: dict[str, str] = {}
    for style in reversed(inherited):
        for properties in reversed(list(style.iter(ns.STYLE + "text-properties"))):
            found.update((str(key), str(value)) for key, value in properties.attrib.items())
    levels = [style_name.removeprefix("heading ") for style_name in names if style_name.startswith("heading ")]
    named = next((int(one) for one in levels if one.isdecimal() and len(one) < 3), None)
    level = get_attribute(inherited[0], ns.STYLE + "default-outline-level") if inherited else ""
    heading = int(level) if level.isdecimal() else None
    fonts = found.get(ns.STYLE + "font-name", "") + found.get(ns.FO + "font-family", "")
    number, unit = (size := found.get(ns.FO + "font-size", ""))[:-2], size[-2:]
    return OdfTextFormat(
        title="title" in names,
        subtitle="subtitle" in names,
        heading=heading if named is None else named,
        code=any(name in _CODE for name in names),
        mono=MONOSPACED_FONT.search(fonts) is not None,
        hidden=found.get(ns.TEXT + "display") == "none",
        bold=found.get(ns.FO + "font-weight", "") in _BOLD,
        italic=found.get(ns.FO + "font-style", "") in ("italic", "oblique"),
        struck=found.get(ns.STYLE + "text-line-through-style", "none") != "none",
        raised=_raised(found.get(ns.STYLE + "text-position", "")),
        points=float(number) if unit == "pt" and number.replace(".", "", 1).isdecimal() else None,
    )


def _raised(position: str) -> str:
    moved = re.match(r"su[bp]|(-?)[\d.]*[1-9]", position)
    return "" if moved is None else moved[0] if moved[1] is None else "sub" if moved[1] else "sup"


def _levels(style: Iterable[Element]) -> dict[int, ListLevel]:
    """Return the levels of a list style, from 0; a level that is defined alone is used for all."""
    found: dict[int, ListLevel] = {}
    for level in style:
        if not isinstance(level.tag, str):
            continue
        at = get_int_attribute(level, ns.TEXT + "level", 1) - 1
        if at not in range(_MAX_LEVELS):
            continue
        numeral = _NUMERALS.get(str(level.get(ns.STYLE + "num-format", "1")), "none")
        first = max(0, at + 1 - get_int_attribute(level, ns.TEXT + "display-levels", 1))
        above = (one for one in range(first, at) if found.get(one, ListLevel()).style not in ("bullet", "none"))
        numbers = ".".join(f"%{(one + 1) % 10}" for one in (*above, at))
        found[at] = ListLevel(
            "bullet" if "bullet" in level.tag else numeral,
            f"{get_attribute(level, ns.STYLE + 'num-prefix')}{numbers}{get_attribute(level, ns.STYLE + 'num-suffix')}",
            get_int_attribute(level, ns.TEXT + "start-value", 1),
        )
    if len(found) != 1:
        return found
    ((at, alone),) = found.items()
    own = f"%{(at + 1) % 10}"
    return {one: replace(alone, pattern=alone.pattern.replace(own, f"%{(one + 1) % 10}")) for one in range(_MAX_LEVELS)}

"""A page beside the output of a reader: what of the page is written, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import ada_url

from benchmarks.integrity.alignment import Found, align
from benchmarks.integrity.dom import Element
from benchmarks.integrity.output import Block, Output, file_name
from benchmarks.integrity.visible import Page, Unit, squash

_PRESENT, _ABSENT = 0.8, 0.1
"""Shares of the letters from which a part of a page is written, or not."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A place where an output breaks an invariant."""

    name: str
    detail: str
    context: str = ""


@dataclass
class Case:
    """A page with an output."""

    page: Page
    output: Output
    url: str
    title: str = ""
    has_posts: bool = False
    """True if the reader wrote posts, with its own heads instead of those of the page."""
    examined: Counter[str] = field(default_factory=Counter)
    """Number of examined places by invariant."""

    def __post_init__(self) -> None:
        self.found: list[Found] = align(self.page.units, self.output)

    def units_in(self, element: Element) -> list[Unit]:
        """Return the units in an element."""
        return self.page.within.get(element, [])

    def state(self, units: Iterable[Unit]) -> str:
        """Return `present`, `absent` or `mixed`; `unknown` if no unit has needed text in a clear place."""
        total = written = 0.0
        is_partial = False
        for unit in units:
            one = self.found[unit.number]
            if not unit.is_optional and not unit.is_misread and one.status != "unknown" and not one.is_repeat:
                total += len(unit.needed_squashed)
                written += len(unit.needed_squashed) * one.covered
                is_partial = is_partial or one.status == "partial"
        if not total:
            return "unknown"
        if written >= _PRESENT * total:
            return "present"
        return "absent" if written <= _ABSENT * total and not is_partial else "mixed"

    def block_of(self, unit: Unit) -> Block | None:
        """Return the block of the output in which a unit begins."""
        return self.output.block_at(self.found[unit.number].start)

    def siblings(self, element: Element) -> tuple[Element | None, Element | None]:
        """Return the nearest siblings with text, before and behind."""
        around = element.parent.elements if element.parent is not None else [element]
        at = next(number for number, one in enumerate(around) if one is element)
        before = next((one for one in reversed(around[:at]) if self.units_in(one)), None)
        return before, next((one for one in around[at + 1 :] if self.units_in(one)), None)

    def is_written(self, image: Element) -> bool:
        """Return True if the output has an image, by its file or its description."""
        if files_of(image) & self.output.image_files:
            return True
        name = squash(image.get("alt"))
        return bool(name) and (name in self.output.image_names or (len(name) > 8 and name in self.output.squashed))


def files_of(image: Element) -> set[str]:
    """Return the names of the files under which an image may be written."""
    names = set()
    for name, value in image.attrs.items():
        if value and name not in ("alt", "class", "style", "title", "sizes"):
            names |= {file_name(part) for part in value.replace(",", " ").split() if "/" in part or "." in part}
    return names - {""}


def joined(units: Iterable[Unit]) -> str:
    """Return the texts of units, as they are shown in a violation."""
    return " | ".join(" ".join(unit.needed_text.split()) for unit in units)[:300]


def absolute(address: str, base: str = "") -> str:
    """Resolve an address by the URL standard, as a browser does; return an empty text if it is invalid."""
    try:
        return str(ada_url.URL(address, base=base or None).href)
    except ValueError:
        return ""

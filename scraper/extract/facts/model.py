"""One fact: what it is, where on the page it stands, how sure that is. The first source that has it wins."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any


class FactSource(enum.StrEnum):
    """Where a fact stands."""

    JSON_LD = "json_ld"
    MICRODATA = "microdata"
    RDFA = "rdfa"
    OPENGRAPH = "opengraph"
    FRAGMENT = "microdata_fragment"
    """A property outside of every item."""
    STATE = "scripts"
    """Data that the page's own scripts work with."""
    ATTRIBUTE = "attributes"
    """An attribute that the page's own scripts read."""
    XHR = "xhr"
    """Data that the page fetched while it rendered."""
    VISIBLE = "visible"
    """What a person reads."""
    ADDRESS = "address"
    """The page's URL."""
    SUM = "sum"
    """Made from other facts."""


CONFIDENCE: Mapping[FactSource, float] = MappingProxyType(
    {
        FactSource.JSON_LD: 0.9,
        FactSource.MICRODATA: 0.9,
        FactSource.RDFA: 0.9,
        FactSource.OPENGRAPH: 0.85,
        FactSource.FRAGMENT: 0.8,
        FactSource.STATE: 0.8,
        FactSource.ATTRIBUTE: 0.6,
        FactSource.XHR: 0.7,
        FactSource.VISIBLE: 0.6,
        FactSource.ADDRESS: 0.7,
        FactSource.SUM: 0.8,
    }
)
"""About the share of right ones, as `python -m benchmarks.structured` counts it by source."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A value that is stated somewhere."""

    value: Any
    source: FactSource
    confidence: float
    more: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """What else is worth knowing of it, by name."""

    def as_object(self) -> dict[str, Any]:
        """The fact as plain data."""
        return {"value": self.value, "source": self.source.value, "confidence": self.confidence, **self.more}


class Facts:
    """The facts of one thing, by name."""

    def __init__(self) -> None:
        self._facts: dict[str, Fact] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._facts

    def value(self, name: str) -> Any:
        """The value of a fact; None where there is none."""
        fact = self._facts.get(name)
        return None if fact is None else fact.value

    def add(
        self, name: str, value: Any, source: FactSource, *, confidence: float | None = None, **more: Any
    ) -> None:
        """State a fact, unless it is empty or an earlier source has stated it."""
        if value in (None, "", [], {}) or name in self._facts:
            return
        sure = CONFIDENCE[source] if confidence is None else confidence
        self._facts[name] = Fact(value, source, sure, {key: part for key, part in more.items() if part})

    def replace(self, name: str, value: Any, source: FactSource, *, confidence: float, **more: Any) -> None:
        """State a fact in the place of an earlier one."""
        self._facts.pop(name, None)
        self.add(name, value, source, confidence=confidence, **more)

    def forget(self, name: str) -> None:
        """Leave a fact out after all."""
        self._facts.pop(name, None)

    def note(self, name: str, **more: Any) -> None:
        """Say something more of a fact that is stated already."""
        fact = self._facts.get(name)
        if fact is not None:
            told = {key: part for key, part in more.items() if part}
            self._facts[name] = replace(fact, more={**fact.more, **told})

    def as_object(self, order: tuple[str, ...]) -> dict[str, Any] | None:
        """All facts as plain data in this order; None where there is none."""
        found = {name: self._facts[name].as_object() for name in order if name in self._facts}
        return found or None

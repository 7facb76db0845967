"""Facts with source and confidence. The first source that states a fact wins."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any


class FactSource(enum.StrEnum):
    """Source of a fact."""

    JSON_LD = "json_ld"
    MICRODATA = "microdata"
    OPENGRAPH = "opengraph"
    STATE = "scripts"
    """Data in the scripts of the page."""
    XHR = "xhr"
    """JSON that the page fetched during rendering."""
    VISIBLE = "visible"
    """Visible text."""
    ADDRESS = "address"
    """The URL of the page."""
    SUM = "sum"
    """Computed from other facts."""


_CONFIDENCE: Mapping[FactSource, float] = MappingProxyType(
    {
        FactSource.JSON_LD: 0.9,
        FactSource.MICRODATA: 0.9,
        FactSource.OPENGRAPH: 0.85,
        FactSource.STATE: 0.8,
        FactSource.XHR: 0.7,
        FactSource.VISIBLE: 0.6,
        FactSource.ADDRESS: 0.7,
        FactSource.SUM: 0.8,
    }
)
"""Approximate share of correct facts by source, from `python -m benchmarks.structured`."""


DISPUTED = 0.45
"""Confidence of a value that another source or reading contradicts. The other value is in `alternatives`."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A value with its source."""

    value: Any
    source: FactSource
    confidence: float
    more: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Additional properties by name."""

    def as_object(self) -> dict[str, Any]:
        """Return the fact as plain data."""
        return {"value": self.value, "source": self.source.value, "confidence": self.confidence, **self.more}


class Facts:
    """Facts of one product or recipe, by name."""

    def __init__(self) -> None:
        """Start without facts."""
        self._facts: dict[str, Fact] = {}

    def __contains__(self, name: str) -> bool:
        """Return True if there is a fact of this name."""
        return name in self._facts

    def value(self, name: str) -> Any:
        """Return the value of a fact, or None."""
        fact = self._facts.get(name)
        return None if fact is None else fact.value

    def add(self, name: str, value: Any, source: FactSource, *, confidence: float | None = None, **more: Any) -> None:
        """Add a fact unless it is empty or an earlier source stated it."""
        if value in (None, "", [], {}) or name in self._facts:
            return
        certainty = _CONFIDENCE[source] if confidence is None else confidence
        self._facts[name] = Fact(value, source, certainty, {key: part for key, part in more.items() if part})

    def replace(self, name: str, value: Any, source: FactSource, *, confidence: float, **more: Any) -> None:
        """Replace a fact; an empty value removes it."""
        self._facts.pop(name, None)
        self.add(name, value, source, confidence=confidence, **more)

    def dispute(self, name: str, other: Any) -> None:
        """Add the value of another source to a fact, and lower its confidence."""
        self._facts[name] = replace(self._facts[name], confidence=DISPUTED)
        self.note(name, alternatives=[other])

    def forget(self, name: str) -> None:
        """Remove a fact."""
        self._facts.pop(name, None)

    def note(self, name: str, **more: Any) -> None:
        """Add properties to a fact, except empty ones; do nothing if the fact does not exist."""
        fact = self._facts.get(name)
        if fact is not None:
            added = {key: part for key, part in more.items() if part}
            self._facts[name] = replace(fact, more={**fact.more, **added})

    def as_object(self, order: tuple[str, ...]) -> dict[str, Any] | None:
        """Return all facts as plain data in this order, or None if there are none."""
        found = {name: self._facts[name].as_object() for name in order if name in self._facts}
        return found or None

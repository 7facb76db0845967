"""Facts with source and confidence. The first source that states a fact wins."""

import enum
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


_CONFIDENCE = dict(zip(FactSource, (0.9, 0.9, 0.85, 0.8, 0.7, 0.6, 0.7, 0.8), strict=True))
"""Approximate share of correct facts by source, from `python -m benchmarks.structured`."""


DISPUTED = 0.45
"""Confidence of a value that another source or reading contradicts. The other value is in `alternatives`."""


class Facts:
    """Facts of one product or recipe, by name."""

    def __init__(self) -> None:
        """Start without facts."""
        self._facts: dict[str, dict[str, Any]] = {}

    def __contains__(self, name: str) -> bool:
        """Return True if there is a fact of this name."""
        return name in self._facts

    def value(self, name: str) -> Any:
        """Return the value of a fact, or None."""
        return self._facts.get(name, {}).get("value")

    def add(self, name: str, value: Any, source: FactSource, *, confidence: float | None = None, **more: Any) -> None:
        """Add a fact with further properties unless it is empty or an earlier source stated it."""
        if value not in (None, "", [], {}) and name not in self._facts:
            certainty = _CONFIDENCE[source] if confidence is None else confidence
            self._facts[name] = {"value": value, "source": source.value, "confidence": certainty}
            self.note(name, **more)

    def replace(self, name: str, value: Any, source: FactSource, *, confidence: float, **more: Any) -> None:
        """Replace a fact; an empty value removes it."""
        self.forget(name)
        self.add(name, value, source, confidence=confidence, **more)

    def dispute(self, name: str, other: Any) -> None:
        """Add the value of another source to a fact, and lower its confidence."""
        self.note(name, confidence=DISPUTED, alternatives=[*self._facts.get(name, {}).get("alternatives", []), other])

    def forget(self, name: str) -> None:
        """Remove a fact."""
        self._facts.pop(name, None)

    def note(self, name: str, **more: Any) -> None:
        """Add properties to a fact, except empty ones; do nothing if the fact does not exist."""
        if name in self._facts:
            self._facts[name] |= {key: part for key, part in more.items() if part}

    def as_object(self, order: tuple[str, ...]) -> dict[str, Any] | None:
        """Return all facts as plain data in this order, or None if there are none."""
        return {name: self._facts[name] for name in order if name in self._facts} or None

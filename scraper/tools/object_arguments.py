"""Arguments that are objects, and text that may be blank: kinds that only some tools take."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from scraper.errors import InvalidArgumentError
from scraper.tools.arguments import Parameters


@dataclass(frozen=True, slots=True)
class AnyString:
    """A text, blank or not: the tool itself says what a blank one means."""

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        return {"type": "string"}

    def read(self, value: object) -> str:
        """The text."""
        if not isinstance(value, str):
            raise ValueError("a string")
        return value


@dataclass(frozen=True, slots=True)
class AnyObject:
    """An object of whatever names and values."""

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        return {"type": "object", "additionalProperties": True}

    def read(self, value: object) -> dict[str, Any]:
        """The object; one written as JSON is taken too."""
        return _object(value)


class ObjectWithDefaults:
    """An object of known names, each with its own kind and default."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        return {name: part for name, part in self._parameters.schema().items() if name != "required"}

    def read(self, value: object) -> dict[str, Any]:
        """A value for every name."""
        try:
            return self._parameters.read(_object(value))
        except InvalidArgumentError as error:
            raise ValueError(f"right inside: {error}") from None


def _object(value: object) -> dict[str, Any]:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            raise ValueError("an object; as text it is no JSON") from None
    if not isinstance(value, dict):
        raise ValueError("an object")
    return value

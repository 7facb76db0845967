"""Define the parameters of tools: parse the arguments of a call, and describe them as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scraper.errors import InvalidArgumentError
from scraper.settings import Settings
from scraper.values.types import (
    ECHO_CHARS,
    ChoiceValue,
    InvalidValueError,
    NumberValue,
    ObjectValue,
    ValueType,
    clip,
    closest_match,
)

MAX_FAULTS = 3
"""Faults in one error message: enough to repair a call, few enough to be read."""

_SIMILARITY = 0.5
"""Least similarity of an unknown argument and the suggested one; num_results and max_results have 0.73."""
_HOUR_S = 3_600.0
_MAX_AGE_HOURS = 87_600


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool."""

    name: str
    kind: ValueType
    about: str
    default: Any = None
    required: bool = False

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the parameter."""
        schema = self.kind.schema() | {"description": self.about}
        if self.default is not None:
            schema["default"] = self.default
        return schema

    def parse(self, value: object) -> Any:
        """Parse the argument, or raise InvalidValueError; None means that it is absent."""
        if value is None and self.required:
            raise InvalidValueError("given")
        return self.default if value is None else self.kind.parse(value)


class Parameters:
    """All parameters of a tool."""

    def __init__(self, *parameters: Parameter) -> None:
        """Define the parameters in the order of the schema."""
        self._parameters = {parameter.name: parameter for parameter in parameters}

    def schema(self) -> dict[str, Any]:
        """Return a strict JSON Schema without unions, references and titles, which some clients reject."""
        return {
            "type": "object",
            "properties": {name: parameter.schema() for name, parameter in self._parameters.items()},
            "required": [name for name, parameter in self._parameters.items() if parameter.required],
            "additionalProperties": False,
        }

    def parse(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return a value for every parameter by name, or raise InvalidArgumentError with the first three faults."""
        faults = [self._explain_unknown(name) for name in arguments if name not in self._parameters]
        values: dict[str, Any] = {}
        for name, parameter in self._parameters.items():
            try:
                values[name] = parameter.parse(arguments.get(name))
            except InvalidValueError as error:
                faults.append(f"{name} must be {error}.")
        if faults:
            raise InvalidArgumentError(" ".join(faults[:MAX_FAULTS]), target=", ".join(arguments)[:ECHO_CHARS])
        return values

    def _explain_unknown(self, name: str) -> str:
        known = tuple(self._parameters)
        closest = closest_match(name.lower(), known, _SIMILARITY)
        hint = f' (did you mean "{closest}"?)' if closest else ""
        names = f"Known: {', '.join(known)}." if known else "None is taken."
        return f'Unknown argument "{clip(name)}"{hint}. {names}'


class ParametersValue(ObjectValue):
    """Value type of an argument that is an object with parameters of its own."""

    def __init__(self, *parameters: Parameter) -> None:
        """Define the parameters of the object."""
        self._parameters = Parameters(*parameters)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the object."""
        return {name: part for name, part in self._parameters.schema().items() if name != "required"}

    def parse(self, value: object) -> dict[str, Any]:
        """Return a value for every parameter of the object, by name."""
        try:
            return self._parameters.parse(super().parse(value))
        except InvalidArgumentError as error:
            raise InvalidValueError(f"right inside: {error}") from None


RENDER = Parameter(
    "render",
    ChoiceValue(("auto", "http", "browser")),
    "http: no scripts. browser: run scripts. auto: only if needed.",
    default="auto",
)
FORMAT = Parameter("format", ChoiceValue(("markdown", "json")), "Answer format.", default="markdown")


def max_age_parameter(about: str, settings: Settings) -> Parameter:
    """Declare the maximum age of a cached copy, with the operator's default in its description."""
    description = f"{about} Default: {settings.cache_ttl_h:g}."
    return Parameter("max_age_hours", NumberValue(0, _MAX_AGE_HOURS), description)


def max_age_s(arguments: Mapping[str, Any]) -> float | None:
    """Return the maximum age in seconds, or None for the operator's default."""
    hours: float | None = arguments["max_age_hours"]
    return None if hours is None else hours * _HOUR_S

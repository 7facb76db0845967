"""Generate the output schemas of tools from the types of their answers."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Any, NotRequired, Union, get_args, get_origin

TEXT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"result": {"type": "string"}},
    "required": ["result"],
}
"""Schema of an answer in Markdown."""

_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type, without references.

    JSON types, TypedDicts and unions of them are supported.

    Raises:
        TypeError: The type is not supported.
    """
    if kind is Any:
        return {}
    if kind in _TYPES:
        return {"type": _TYPES[kind]}
    if typing.is_typeddict(kind):
        return _object_schema(kind)
    if get_origin(kind) is list:
        return {"type": "array", "items": schema_of(get_args(kind)[0])}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": schema_of(get_args(kind)[1]) or True}
    if get_origin(kind) in (types.UnionType, Union):
        parts = [schema_of(part) for part in get_args(kind)]
        if all(set(part) == {"type"} for part in parts):
            return {"type": [part["type"] for part in parts]}
        return _merge_objects(parts)
    raise TypeError(f"no JSON Schema for {kind!r}")


def _merge_objects(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of an object that has the required keys of at least one of the schemas.

    Its type is "object", because many clients accept no other type.
    """
    properties: dict[str, Any] = {}
    for schema in schemas:
        properties |= schema["properties"]
    required = [{"required": schema["required"]} for schema in schemas]
    return {"type": "object", "properties": properties, "anyOf": required}


def output_schema(data: Mapping[str, Any] | None, *, has_text: bool, wraps_lists: bool) -> dict[str, Any]:
    """Return the schema of a tool's structured content.

    Args:
        data: Schema of its answers in JSON; None if it has none.
        has_text: True if it also answers in Markdown, as `{"result": text}`.
        wraps_lists: True for clients that accept only objects: a list is then `{"result": list}`.
    """
    if data is None:
        return dict(TEXT_SCHEMA)
    if data["type"] == "object":
        return _with_text(dict(data)) if has_text else dict(data)
    if wraps_lists:
        result = {"anyOf": [{"type": "string"}, data]} if has_text else data
        return {"type": "object", "properties": {"result": result}, "required": ["result"]}
    return {"anyOf": [TEXT_SCHEMA, data]} if has_text else dict(data)


def _with_text(data: dict[str, Any]) -> dict[str, Any]:
    return _merge_objects([dict(TEXT_SCHEMA), data])


def _object_schema(kind: Any) -> dict[str, Any]:
    properties, required = {}, []
    for name, hint in typing.get_type_hints(kind, include_extras=True).items():
        is_optional = get_origin(hint) is NotRequired
        properties[name] = schema_of(get_args(hint)[0] if is_optional else hint)
        if not is_optional:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}

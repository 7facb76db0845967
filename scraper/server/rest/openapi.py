"""Generate the OpenAPI 3.1 document of the REST interface from the schemas of the tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scraper.tools.model import Tool
from scraper.tools.output_schemas import TEXT_SCHEMA

_ERRORS = {
    400: "The arguments violate the schema.",
    401: "The token is missing or wrong.",
    403: "The request comes from a page of another site.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    422: "The call failed: for example, the URL is wrong, or the site blocked the call or could not be reached.",
    429: "Too many calls; Retry-After is the number of seconds to wait.",
    500: "The server has a bug; the details are in its log.",
    503: "The server is shutting down.",
}
_ERROR_SCHEMA = {
    "type": "object",
    "properties": {
        "error": {"type": "string", "description": "What happened and what to do next."},
        "error_code": {"type": "string"},
        "retryable": {"type": "boolean"},
    },
    "required": ["error"],
}
_GET_STATUSES = (400, 401, 403, 422, 429, 500, 503)
_POST_STATUSES = tuple(_ERRORS)


def document(tools: Sequence[Tool], *, version: str, requires_token: bool) -> dict[str, Any]:
    """Return the OpenAPI document for these tools."""
    schemas: dict[str, Any] = {"Error": _ERROR_SCHEMA, "Text": dict(TEXT_SCHEMA)}
    paths: dict[str, Any] = {}
    for tool in tools:
        if tool.data_schema is not None:
            schemas[_schema_name(tool)] = dict(tool.data_schema)
        operations = {"post": _post(tool, requires_token)}
        if tool.read_only:
            operations["get"] = _get(tool, requires_token)
        paths[f"/v1/{tool.name}"] = operations
    if any(tool.name == "fetch" for tool in tools):
        paths["/r/{url}"] = {"get": _reader(requires_token)}
    answer: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Search MCP", "version": version},
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if requires_token:
        answer["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        answer["security"] = [{"token": []}]
    return answer


def _post(tool: Tool, requires_token: bool) -> dict[str, Any]:
    content = {"application/json": {"schema": dict(tool.input_schema)}}
    body = {"required": bool(tool.input_schema.get("required")), "content": content}
    operation = _operation(tool, tool.name, _POST_STATUSES, requires_token)
    return {**operation, "requestBody": body}


def _get(tool: Tool, requires_token: bool) -> dict[str, Any]:
    required = tool.input_schema.get("required", ())
    parameters = [
        {"name": name, "in": "query", "required": name in required, **_parameter_format(schema)}
        for name, schema in tool.input_schema["properties"].items()
    ]
    operation = _operation(tool, f"get_{tool.name}", _GET_STATUSES, requires_token)
    return {**operation, "parameters": parameters}


def _parameter_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the format of a query parameter: an object is JSON, other values are plain text."""
    is_object = schema.get("type") == "object"
    return {"content": {"application/json": {"schema": schema}}} if is_object else {"schema": schema}


def _operation(tool: Tool, operation_id: str, statuses: Sequence[int], requires_token: bool) -> dict[str, Any]:
    answers = [{"$ref": "#/components/schemas/Text"}] if tool.has_text else []
    if tool.data_schema is not None:
        answers.append({"$ref": f"#/components/schemas/{_schema_name(tool)}"})
    schema = answers[0] if len(answers) == 1 else {"anyOf": answers}
    content = {"application/json": {"schema": schema}, "text/event-stream": {"schema": {"type": "string"}}}
    return {
        "operationId": operation_id,
        "summary": tool.title,
        "description": tool.description,
        "responses": {"200": {"description": "The answer.", "content": content}, **_errors(statuses, requires_token)},
    }


def _reader(requires_token: bool) -> dict[str, Any]:
    url = {"name": "url", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    return {
        "operationId": "read",
        "summary": "Read a web page as Markdown",
        "description": "The URL follows /r/ as it is, with its query, or percent-encoded.",
        "parameters": [url],
        "responses": {
            "200": {"description": "The page.", "content": {"text/markdown": {"schema": {"type": "string"}}}},
            **_errors(_GET_STATUSES, requires_token),
        },
    }


def _errors(statuses: Sequence[int], requires_token: bool) -> Mapping[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        str(status): {"description": _ERRORS[status], "content": content}
        for status in statuses
        if requires_token or status != 401
    }


def _schema_name(tool: Tool) -> str:
    return "".join(word.title() for word in tool.name.split("_")) + "Answer"

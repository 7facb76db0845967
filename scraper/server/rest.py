"""Serve the tools over plain HTTP: `/v1/TOOL` in JSON, `/r/URL` as Markdown, with the limits and tokens of MCP."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import math
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from scraper.background_tasks import run_in_background
from scraper.errors import InternalError, InvalidArgumentError, OverloadedError
from scraper.reading.scheme_retry import read_with_other_urls
from scraper.render.json_truncation import compact_json
from scraper.server.access import principal_of
from scraper.server.calls.dispatcher import CallDispatcher, ShuttingDownError, ToolCaller
from scraper.server.http.middleware import MESSAGE_BYTES, disconnect_future, read_body
from scraper.text.sanitize import clean_line
from scraper.tools.model import TEXT_SCHEMA, Tool, ToolAnswer
from scraper.urls import guess_urls
from scraper.values.text import suggest

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


_RETRY_AFTER_S = 5
_ECHO_CHARS = 60
_JSON = "application/json"
_EVENTS = "text/event-stream"
_MARKDOWN = "text/markdown"
_EVENT_HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
_ENCODED_URL = re.compile(r"https?%3a", re.IGNORECASE)
_URL = re.compile(r"(https?):/+(.*)", re.IGNORECASE | re.DOTALL)
_INTEGER = re.compile(r"-?[0-9]{1,18}")


class RequestError(Exception):
    """The request is rejected before the call of the tool."""

    def __init__(self, status: int, message: str) -> None:
        """Set the status and the text of the error."""
        super().__init__(message)
        self.status = status


class RestInterface:
    """Routes of the REST interface."""

    def __init__(self, tools: Sequence[Tool], calls: CallDispatcher, *, version: str, requires_token: bool) -> None:
        """Create routes for the tools; `calls` runs their calls."""
        self._tools = tools
        self._calls = calls
        self._document = _json(document(tools, version=version, requires_token=requires_token))

    def routes(self) -> list[Route]:
        """Return a route for each tool, the reader and the OpenAPI document."""
        routes = [self._route(tool) for tool in self._tools]
        routes.append(Route("/v1/openapi.json", self._describe))
        readers = [self._reader(tool) for tool in self._tools if tool.name == "fetch"]
        routes += (Route("/r/{url:path}", reader) for reader in readers)
        return [*routes, Route("/v1/{name:path}", self._reject, methods=["GET", "POST"])]

    async def _describe(self, _request: Request) -> Response:
        return self._document

    async def _reject(self, request: Request) -> Response:
        """Reject GET of a tool that writes, and unknown tools."""
        name = clean_line(request.path_params["name"], _ECHO_CHARS)
        if any(tool.name == name for tool in self._tools):
            return _error(405, f"{name} writes: call it with POST.", {"Allow": "POST"})
        hint = suggest(name, (tool.name for tool in self._tools))
        return _error(404, f'There is no tool "{name}" here{hint}. /v1/openapi.json lists the tools.')

    def _route(self, tool: Tool) -> Route:
        async def answer(request: Request) -> Response:
            try:
                arguments = await self._arguments(tool, request)
            except RequestError as error:
                return _error(error.status, str(error))
            if _EVENTS in request.headers.get("accept", ""):
                return StreamingResponse(
                    self._events(tool, arguments, request), media_type=_EVENTS, headers=_EVENT_HEADERS
                )
            try:
                # Only `receive` reports a disconnect.
                async with run_in_background(request.receive()):
                    return _response(await self._call(tool, arguments, request))
            except MCPError as error:
                return _unavailable(error)

        return Route(f"/v1/{tool.name}", answer, methods=["GET", "POST"] if tool.read_only else ["POST"])

    def _reader(self, fetch: Tool) -> Any:
        async def read(request: Request) -> Response:
            if _is_foreign(request):
                return _error(403, _FOREIGN)
            try:
                async with run_in_background(request.receive()):
                    answer = await self._fetch(fetch, request)
            except MCPError as error:
                return _unavailable(error)
            if answer.is_error or answer.reading is None:
                return _response(answer)
            text = answer.reading.document.markdown.encode("utf-8", "replace")
            return Response(text, media_type=_MARKDOWN, headers={"X-Content-Type-Options": "nosniff"})

        return read

    async def _fetch(self, fetch: Tool, request: Request) -> ToolAnswer:
        """Fetch the page of a reader request; an address without a scheme is tried with https and http."""
        url, other = guess_urls(_target(request))

        async def read(others: Mapping[str, str]) -> ToolAnswer:
            return await self._call(fetch, {"url": others.get(url, url)}, request)

        return await read_with_other_urls(read, {url: other}, lambda answer: answer.errors_by_url)

    async def _arguments(self, tool: Tool, request: Request) -> dict[str, Any]:
        """Return the arguments of a request; raise RequestError for invalid ones and for pages of other sites."""
        if _is_foreign(request):
            raise RequestError(403, _FOREIGN)
        if request.method == "POST":
            arguments = await _read_arguments(request)
        else:
            arguments = _parse_query(tool.input_schema["properties"], request)
        missing = [name for name in tool.input_schema.get("required", ()) if arguments.get(name) is None]
        fault = tool.fault(arguments)
        # Other faults, such as a text that is no URL, have codes of their own: those of the call.
        if fault is not None and any(isinstance(one, InvalidArgumentError) for one in fault.failures):
            raise RequestError(400, fault.text)
        if missing:
            raise RequestError(400, f"{missing[0]} must be given.")
        return arguments

    async def _call(
        self, tool: Tool, arguments: Mapping[str, Any], request: Request, send_progress: Any = None
    ) -> ToolAnswer:
        """Run a call, or raise MCPError if the server is shutting down or the client has disconnected."""
        if self._calls.draining:
            raise ShuttingDownError
        with self._calls.admitted():
            caller = ToolCaller(
                principal=principal_of(request.scope) or "local",
                send_progress=send_progress,
                disconnected=disconnect_future(request.scope),
                admitted=True,
            )
            return await self._calls.answer(tool.name, arguments, caller)

    async def _events(self, tool: Tool, arguments: Mapping[str, Any], request: Request) -> AsyncIterator[bytes]:
        """Yield the progress of a call as server-sent events, then its result or error."""
        events: asyncio.Queue[bytes | None] = asyncio.Queue()

        async def send_progress(done: float, total: float | None, message: str | None) -> None:
            events.put_nowait(_event("progress", {"progress": done, "total": total, "message": message}))

        async def run() -> None:
            try:
                answer = await self._call(tool, arguments, request, send_progress)
            except MCPError as error:
                events.put_nowait(_event("error", {"error": error.error.message, "status": 503}))
            else:
                status = _status(answer)
                if status == 200:
                    events.put_nowait(_event("result", _data(answer)))
                else:
                    events.put_nowait(_event("error", {**_error_data(answer), "status": status}))
            finally:
                events.put_nowait(None)

        async with run_in_background(run()):
            while (event := await events.get()) is not None:
                yield event


_FOREIGN = "Pages of other sites may not call this server. The operator can add them to SEARCH_MCP_ALLOWED_ORIGINS."


def _is_foreign(request: Request) -> bool:
    """Return True if a page of another site caused the request without an Origin header, as links and images do."""
    headers = request.headers
    return "origin" not in headers and headers.get("sec-fetch-site", "none") in {"cross-site", "same-site"}


async def _read_arguments(request: Request) -> dict[str, Any]:
    body = await read_body(request.receive, MESSAGE_BYTES)
    if body.size_bytes > MESSAGE_BYTES:
        raise RequestError(413, f"The body exceeds {MESSAGE_BYTES:,} bytes.")
    if not body.size_bytes:
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        raise RequestError(415, "Send the arguments as application/json.")
    value = body.value()
    if not isinstance(value, dict):
        raise RequestError(400, "The body is not a JSON object with the arguments of the tool.")
    return value


def _parse_query(properties: Mapping[str, Any], request: Request) -> dict[str, Any]:
    """Return the arguments of a query; the validator rejects values that do not have the type of their parameter."""
    arguments: dict[str, Any] = {}
    for name in request.query_params:
        values = request.query_params.getlist(name)
        kind = properties.get(name, {}).get("type")
        if kind == "array":
            arguments[name] = values
        elif len(values) > 1:
            raise RequestError(400, f"{name[:60]} is given more than once.")
        else:
            arguments[name] = _convert(values[0], kind)
    return arguments


def _convert(text: str, kind: str | None) -> Any:
    if kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    if kind == "integer":
        return int(text) if _INTEGER.fullmatch(text) else text
    if kind in {"number", "object"}:
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(text)
    return text


def _target(request: Request) -> str:
    """Return the URL or address after /r/: proxies merge its slashes, and some clients encode it."""
    path = request.scope.get("raw_path", request.scope["path"].encode()).decode("latin-1").partition("?")[0]
    url = path.removeprefix("/r/")
    if _ENCODED_URL.match(url):
        url = unquote(url)
    if request.scope["query_string"]:
        url += "?" + request.scope["query_string"].decode("latin-1")
    match = _URL.fullmatch(url)
    if match:
        return f"{match[1]}://{match[2]}"
    # Names without a dot, such as those of a local network, are hosts here.
    return url if not url or guess_urls(url)[0] != url else f"https://{url}"


def _status(answer: ToolAnswer) -> int:
    """Return the status of an answer; 5xx is for faults of this server only."""
    if not answer.is_error:
        return 200
    failure = answer.failures[0] if answer.failures else None
    if isinstance(failure, OverloadedError):
        return 429
    return 500 if isinstance(failure, InternalError) else 422


def _data(answer: ToolAnswer) -> Any:
    if answer.media:
        images = [{"media_type": one.media_type, "data": base64.b64encode(one.data).decode()} for one in answer.media]
        return {"result": answer.text, "media": images}
    return {"result": answer.text} if answer.structured is None else answer.structured


def _error_data(answer: ToolAnswer) -> dict[str, Any]:
    """Return the error of an answer, with its data if there is any."""
    failure = answer.failures[0] if answer.failures else None
    data = dict(answer.structured) if isinstance(answer.structured, dict) else None
    text = answer.text if data is None else data.get("error", "No engine answered; errors has the reasons.")
    code = "failed" if failure is None else failure.code
    return {**(data or {}), "error": text, "error_code": code, "retryable": bool(failure and failure.retryable)}


def _response(answer: ToolAnswer) -> Response:
    status = _status(answer)
    if status == 200:
        return _json(_data(answer))
    failure = answer.failures[0] if answer.failures else None
    wait = {"Retry-After": str(math.ceil(failure.retry_after_s))} if isinstance(failure, OverloadedError) else {}
    return _json(_error_data(answer), status, wait)


def _unavailable(error: MCPError) -> Response:
    return _json({"error": error.error.message, "retryable": True}, 503, {"Retry-After": str(_RETRY_AFTER_S)})


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return _json({"error": message, "error_code": "bad_request", "retryable": False}, status, headers)


def _json(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    # A page may contain half a surrogate pair, which UTF-8 cannot represent.
    return Response(compact_json(data).encode("utf-8", "replace"), status, dict(headers or {}), _JSON)


def _event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {compact_json(data)}\n\n".encode("utf-8", "replace")

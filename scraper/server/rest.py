"""Serve the tools over plain HTTP: `/v1/TOOL` in JSON, `/r/URL` as Markdown, with the limits and tokens of MCP."""

import asyncio
import base64
import contextlib
import json
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from mcp.shared.exceptions import MCPError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from scraper.background_tasks import run_in_background
from scraper.errors import InternalError, InvalidArgumentError, OverloadedError
from scraper.reading.batch import read_with_other_urls
from scraper.render.json_truncation import compact_json
from scraper.server.access import principal_of
from scraper.server.calls.dispatcher import CallDispatcher, ShuttingDownError, ToolCaller
from scraper.server.http.middleware import MESSAGE_BYTES, disconnect_future, read_body
from scraper.text.sanitize import clean_line
from scraper.tools.model import TEXT_SCHEMA, Tool, ToolAnswer
from scraper.urls import guess_urls
from scraper.values.text import read_table, suggest

_OPENAPI = read_table(__package__, "openapi.toml")
_JSON = "application/json"
_EVENTS = "text/event-stream"
_MARKDOWN = "text/markdown"


def document(tools: Sequence[Tool], *, version: str, requires_token: bool) -> dict[str, Any]:
    """Return the OpenAPI document for these tools."""
    failed = {_JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}
    texts = {status: text for status, text in _OPENAPI["errors"].items() if requires_token or status != "401"}
    errors = {status: {"description": text, "content": failed} for status, text in texts.items()}
    get_errors = {status: error for status, error in errors.items() if status not in ("413", "415")}
    schemas: dict[str, Any] = {"Error": _OPENAPI["error_schema"], "Text": dict(TEXT_SCHEMA)}
    paths: dict[str, Any] = {}
    for tool in tools:
        kinds = ["Text"] if tool.has_text else []
        if tool.data_schema is not None:
            kinds.append("".join(word.title() for word in tool.name.split("_")) + "Answer")
            schemas[kinds[-1]] = dict(tool.data_schema)
        answers = [{"$ref": f"#/components/schemas/{kind}"} for kind in kinds]
        schema = answers[0] if len(answers) == 1 else {"anyOf": answers}
        content = {_JSON: {"schema": schema}, _EVENTS: {"schema": {"type": "string"}}}
        answered = {"200": {"description": "The answer.", "content": content}}
        about = {"summary": tool.title, "description": tool.description}
        required, properties = tool.input_schema.get("required", ()), tool.input_schema["properties"]
        body = {"required": bool(required), "content": {_JSON: {"schema": dict(tool.input_schema)}}}
        post: dict[str, Any] = {"operationId": tool.name, **about, "responses": answered | errors, "requestBody": body}
        paths[f"/v1/{tool.name}"] = operations = {"post": post}
        if tool.read_only:
            parameters = [
                # An object is JSON, other values are plain text.
                {"name": name, "in": "query", "required": name in required}
                | ({"content": {_JSON: {"schema": one}}} if one.get("type") == "object" else {"schema": one})
                for name, one in properties.items()
            ]
            get: dict[str, Any] = {"operationId": f"get_{tool.name}", **about, "responses": answered | get_errors}
            operations["get"] = {**get, "parameters": parameters}
    if any(tool.name == "fetch" for tool in tools):
        reader: dict[str, Any] = _OPENAPI["reader"]
        paths["/r/{url}"] = {"get": {**reader, "responses": {**reader["responses"], **get_errors}}}
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


_EVENT_HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}


class RestInterface:
    """Routes of the REST interface."""

    def __init__(self, tools: Sequence[Tool], calls: CallDispatcher, *, version: str, requires_token: bool) -> None:
        """Create routes for the tools; `calls` runs their calls."""
        self._tools = tools
        self._calls = calls
        self._document = _json(document(tools, version=version, requires_token=requires_token))

    def routes(self) -> list[Route]:
        """Return a route for each tool, the reader and the OpenAPI document."""

        async def describe(_request: Request) -> Response:
            return self._document

        routes = [self._route(tool) for tool in self._tools]
        routes.append(Route("/v1/openapi.json", describe))
        routes += (Route("/r/{url:path}", self._reader(tool)) for tool in self._tools if tool.name == "fetch")
        return [*routes, Route("/v1/{name:path}", self._reject, methods=["GET", "POST"])]

    async def _reject(self, request: Request) -> Response:
        name = clean_line(request.path_params["name"], 60)
        if any(tool.name == name for tool in self._tools):
            return _error(405, f"{name} writes: call it with POST.", {"Allow": "POST"})
        hint = suggest(name, (tool.name for tool in self._tools))
        return _error(404, f'There is no tool "{name}" here{hint}. /v1/openapi.json lists the tools.')

    def _route(self, tool: Tool) -> Route:
        async def answer(request: Request) -> Response:
            try:
                arguments = await self._arguments(tool, request)
            except HTTPException as error:
                return _error(error.status_code, error.detail)
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
            # An address without a scheme is tried with https and http.
            url, other = guess_urls(_target(request))

            async def call(others: Mapping[str, str]) -> ToolAnswer:
                return await self._call(fetch, {"url": others.get(url, url)}, request)

            try:
                async with run_in_background(request.receive()):
                    answer = await read_with_other_urls(call, {url: other}, lambda answer: answer.errors_by_url)
            except MCPError as error:
                return _unavailable(error)
            if answer.is_error or answer.reading is None:
                return _response(answer)
            text = answer.reading.document.markdown.encode("utf-8", "replace")
            return Response(text, media_type=_MARKDOWN, headers={"X-Content-Type-Options": "nosniff"})

        return read

    async def _arguments(self, tool: Tool, request: Request) -> dict[str, Any]:
        if _is_foreign(request):
            raise HTTPException(403, _FOREIGN)
        if request.method == "POST":
            arguments = await _read_arguments(request)
        else:
            arguments = _parse_query(tool.input_schema["properties"], request)
        missing = [name for name in tool.input_schema.get("required", ()) if arguments.get(name) is None]
        fault = tool.fault(arguments)
        # Other faults, such as a text that is no URL, have codes of their own: those of the call.
        if fault is not None and any(isinstance(one, InvalidArgumentError) for one in fault.failures):
            raise HTTPException(400, fault.text)
        if missing:
            raise HTTPException(400, f"{missing[0]} must be given.")
        return arguments

    async def _call(
        self, tool: Tool, arguments: Mapping[str, Any], request: Request, send_progress: Any = None
    ) -> ToolAnswer:
        """Run a call, or raise MCPError if the server is shutting down or the client has disconnected."""
        if self._calls.draining:
            raise ShuttingDownError
        with self._calls.admitted.add():
            caller = ToolCaller(
                principal=principal_of(request.scope) or "local",
                send_progress=send_progress,
                disconnected=disconnect_future(request.scope),
                admitted=True,
            )
            return await self._calls.answer(tool.name, arguments, caller)

    async def _events(self, tool: Tool, arguments: Mapping[str, Any], request: Request) -> AsyncIterator[bytes]:
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
        raise HTTPException(413, f"The body exceeds {MESSAGE_BYTES:,} bytes.")
    if not body.data:
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        raise HTTPException(415, "Send the arguments as application/json.")
    value = body.value()
    if not isinstance(value, dict):
        raise HTTPException(400, "The body is not a JSON object with the arguments of the tool.")
    return value


def _parse_query(properties: Mapping[str, Any], request: Request) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name in request.query_params:
        values = request.query_params.getlist(name)
        kind = properties.get(name, {}).get("type")
        if kind == "array":
            arguments[name] = values
        elif len(values) > 1:
            raise HTTPException(400, f"{name[:60]} is given more than once.")
        else:
            arguments[name] = text = values[0]
            digits = text.removeprefix("-")
            if kind == "boolean":
                arguments[name] = {"true": True, "false": False}.get(text, text)
            elif kind == "integer" and digits.isascii() and digits.isdigit() and len(digits) <= 18:
                arguments[name] = int(text)
            elif kind in {"number", "object"}:
                with contextlib.suppress(ValueError, RecursionError):
                    arguments[name] = json.loads(text)
    return arguments


def _target(request: Request) -> str:
    """Return the URL or address after /r/: proxies merge its slashes, and some clients encode it."""
    path = request.scope.get("raw_path", request.scope["path"].encode()).decode("latin-1").partition("?")[0]
    url = path.removeprefix("/r/")
    if url.lower().startswith(("http%3a", "https%3a")):
        url = unquote(url)
    if request.scope["query_string"]:
        url += "?" + request.scope["query_string"].decode("latin-1")
    scheme, _, rest = url.partition(":")
    if scheme.lower() in ("http", "https") and rest.startswith("/"):
        return f"{scheme}://{rest.lstrip('/')}"
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
    """Return 503, after which proxies repeat a call elsewhere, only if it has not run."""
    if getattr(error, "has_run", False):
        return _json({"error": "The server stopped during this call.", "retryable": False}, 500)
    return _json({"error": error.error.message, "retryable": True}, 503, {"Retry-After": "5"})


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return _json({"error": message, "error_code": "bad_request", "retryable": False}, status, headers)


def _json(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    # A page may contain half a surrogate pair, which UTF-8 cannot represent.
    return Response(compact_json(data).encode("utf-8", "replace"), status, dict(headers or {}), _JSON)


def _event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {compact_json(data)}\n\n".encode("utf-8", "replace")

"""ASGI endpoint for posted JSON-RPC messages that the SDK mishandles.

It splits batches, rejects ids that no response can carry or that are in use, and rejects new work during shutdown.

The SDK treats a request with an unusable id as a notification and returns "202 Accepted", so that its sender waits
forever. Of two requests with the same id, the second takes over the stream of the first. Batches are part of the
revision 2025-03-26 only, which the search methods extend: its clients request tools, prompts and resources at once.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any

from mcp import types
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from pydantic import ValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scraper.server.calls.dispatcher import ADMITTED_KEY, CallDispatcher, ShuttingDownError
from scraper.server.http.middleware import MESSAGE_BYTES, RequestBody, read_body, replace_lone_surrogates

BATCH_PROTOCOL_VERSION = "2025-03-26"
"""The only protocol revision with batches."""
INVALID_MESSAGE = "Invalid request: no message of JSON-RPC 2.0."
_TOO_LONG = f"Invalid request: the message has more than {MESSAGE_BYTES:,} bytes."
_ID = r'"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")'
_MEMBER = r'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"'
_ID_AT_AN_END = re.compile(rf"^\s*\{{\s*(?:{_MEMBER}\s*,\s*)*{_ID}|{_ID}(?:\s*,\s*{_MEMBER})*\s*\}}\s*$")
"""The id of a message whose middle was cut: clients write it before or after the parameters."""

Refuse = Callable[[types.JSONRPCError], Awaitable[None]]
Note = Callable[[types.JSONRPCRequest], None]


class JsonRpcValidator:
    """Iterate over the valid messages in the lines of a client."""

    def __init__(self, lines: AsyncIterable[str], refuse: Refuse, note: Note) -> None:
        """Read `lines`; pass errors for invalid ones to `refuse`, and requests to `note` before they are yielded."""
        self._lines = lines
        self._refuse = refuse
        self._note = note
        self._accepts_batches = False

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield valid messages, one per line."""
        async for line in self._lines:
            line = replace_lone_surrogates(line.removeprefix("\ufeff").encode("utf-8", "replace")).decode()
            for one in _split_batch(line) if self._accepts_batches else (line,):
                fault = self._fault(one) if one.strip() else None
                if fault is not None:
                    await self._refuse(fault)
                elif one.strip():
                    yield one

    def _fault(self, line: str) -> types.JSONRPCError | None:
        if len(line.encode()) > MESSAGE_BYTES:
            found = _ID_AT_AN_END.search(line)
            return _make_error(json.loads(found[1] or found[2]) if found else None, _TOO_LONG)
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except (ValidationError, ValueError):
            return _explain(line)
        if isinstance(message, types.JSONRPCNotification) and is_request(json.loads(line)):
            return _explain(line)
        if isinstance(message, types.JSONRPCRequest):
            self._note(message)
        if isinstance(message, types.JSONRPCRequest) and message.method == "initialize":
            self._accepts_batches = (message.params or {}).get("protocolVersion") == BATCH_PROTOCOL_VERSION
        return None


def _split_batch(line: str) -> Iterator[str]:
    try:
        messages = json.loads(line) if line.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        messages = None
    if messages and isinstance(messages, list):
        yield from map(json.dumps, messages)
    else:
        yield line


def is_request(message: Mapping[str, Any]) -> bool:
    """Return True if what the SDK took for a notification is a request with an id that no response can carry."""
    method = message.get("method")
    return isinstance(method, str) and not method.startswith("notifications/") and "id" in message


def id_of(message: Mapping[str, Any]) -> str | int | None:
    """Return the id of a message, or None if no response can carry it."""
    request_id: Any = message.get("id")
    # A lone surrogate cannot be encoded.
    is_text = isinstance(request_id, str) and request_id.encode(errors="ignore").decode() == request_id
    return request_id if is_text or type(request_id) is int else None


def _explain(line: str) -> types.JSONRPCError:
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return _make_error(None, "Parse error: the line is not JSON.", types.PARSE_ERROR)
    return _make_error(id_of(message) if isinstance(message, dict) else None, INVALID_MESSAGE)


def _make_error(request_id: str | int | None, message: str, code: int = types.INVALID_REQUEST) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))


MAX_MESSAGES = 50
"""Messages in a batch; each counts as a running call of its own."""
_IN_USE = "Invalid request: id {} is in use by a request not answered yet; give each request an id of its own."
_ID_REUSE_S = 1.0
"""Seconds to wait until an id is free. Simple clients use one id for all requests, and send the next request when they
see a response, before its end."""
_NEW_WORK = frozenset({"initialize", "tools/call"})
"""Methods that another server can serve as well. The others are answered until the end: a client lists the tools before
it returns the answer of its first call, and a cancellation belongs to a call that runs here."""
_JSON = b"application/json"
_STREAM = b"text/event-stream"
_STREAM_RANGES = frozenset({_STREAM, b"text/*", b"*/*"})
_REFUSED = (b";q=0", b";q=0.0", b";q=0.00", b";q=0.000")
"""Ends of a media range that is not acceptable (RFC 9110, 12.4.2)."""


class JsonRpcMiddleware:
    """Forward single messages with usable ids to another endpoint.

    During shutdown it rejects new work with status 503, so that a proxy sends it to another server. A JSON-RPC error
    would have status 200 and reach the client, which could not know that the request is safe to repeat.
    """

    def __init__(self, app: ASGIApp, calls: CallDispatcher) -> None:
        """Wrap `app`; `calls` decides when new work is rejected."""
        self._app = app
        self._calls = calls
        self._active: dict[tuple[str, str], asyncio.Event] = {}
        """End of each active request by session and id; for the SDK, the ids 1 and "1" are equal."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        scope = {**scope, "headers": _plain_headers(scope)}
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await read_body(receive, MESSAGE_BYTES)
        if body.is_cut:
            # The SDK would log a server error with a traceback; usually the client has disconnected.
            await _reject("Invalid request: the body was cut off.")(scope, receive, send)
        elif body.data.lstrip().startswith(b"[") and _accepts_batches(scope):
            await self._answer_batch(scope, body, receive, send)
        else:
            await self._answer(scope, body, send)

    async def _answer(self, scope: Scope, body: RequestBody, send: Send) -> None:
        session = Headers(scope=scope).get(MCP_SESSION_ID_HEADER)
        message = body.message() if session else {}
        request_id = id_of(message) if "method" in message else None
        if session is None or request_id is None:
            await self._forward(scope, body, send)
            return
        key = session, str(request_id)
        try:
            async with asyncio.timeout(_ID_REUSE_S):
                while (earlier := self._active.get(key)) is not None:
                    await earlier.wait()
        except TimeoutError:
            await _reject(_IN_USE.format(json.dumps(request_id)), request_id)(scope, body.receive, send)
            return
        ended = self._active[key] = asyncio.Event()
        try:
            await self._forward(scope, body, send)
        finally:
            del self._active[key]
            ended.set()

    async def _forward(self, scope: Scope, body: RequestBody, send: Send) -> None:
        checked = _replace_unclear_errors(body, send)
        if not self._calls.draining:
            with self._calls.admitted.add():
                await self._app({**scope, ADMITTED_KEY: True}, body.receive, checked)
            return
        message = body.message()
        if message.get("method") in _NEW_WORK:
            why, request_id = ShuttingDownError().error, message.get("id")
            error = _make_error(request_id if isinstance(request_id, str | int) else None, why.message, why.code)
            content = error.model_dump(by_alias=True, exclude_unset=True)
            await JSONResponse(content, 503, {"Retry-After": "5"})(scope, body.receive, send)
        else:
            await self._app(scope, body.receive, checked)

    async def _answer_batch(self, scope: Scope, body: RequestBody, receive: Receive, send: Send) -> None:
        messages = body.value()
        if not isinstance(messages, list) or not 0 < len(messages) <= MAX_MESSAGES:
            response: Response = _reject(f"Invalid request: send 1 to {MAX_MESSAGES} messages at once.")
        else:
            pending = [self._answer_one(scope, message, receive) for message in messages]
            answers = [answer for answer in await asyncio.gather(*pending) if answer is not None]
            response = JSONResponse(answers) if answers else Response(status_code=202)
        await response(scope, receive, send)

    async def _answer_one(self, scope: Scope, message: Any, receive: Receive) -> Any:
        if not isinstance(message, dict):
            return _error(None, INVALID_MESSAGE)
        if message.get("method") == "initialize":
            return _error(id_of(message), "Invalid request: initialize comes alone.")
        single = json.dumps(message).encode()
        headers = MutableHeaders(raw=list(scope["headers"]))
        headers["content-length"] = str(len(single))
        parts: list[Message] = []

        async def record(part: Message) -> None:
            parts.append(part)

        await self._answer({**scope, "headers": headers.raw}, RequestBody(single, receive), record)
        text = b"".join(part.get("body", b"") for part in parts).decode()
        events = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
        try:
            answer = json.loads(events[-1] if events else text)
        except ValueError:
            status = next((part["status"] for part in parts if "status" in part), 0)
            return None if status == 202 else _error(id_of(message), text or f"HTTP {status}")
        # The SDK does not repeat the id of an invalid request.
        return answer | {"id": id_of(message)} if answer.get("id") is None else answer


def _replace_unclear_errors(body: RequestBody, send: Send) -> Send:
    """Replace "202 Accepted" by an error if the request expects a response, and 406 without text by one with it."""
    is_replaced = False

    async def send_clear(message: Message) -> None:
        nonlocal is_replaced
        error, status = None, message.get("status")
        if status == 202 and is_request(body.message()):
            error = _reject(INVALID_MESSAGE)
        elif status == 406:
            text = "This request needs the header Accept: application/json, text/event-stream."
            error = _reject(text, id_of(body.message()), 406)
        if error is not None:
            is_replaced = True
            await send({**message, "status": error.status_code, "headers": error.raw_headers})
            await send({"type": "http.response.body", "body": error.body})
        elif not is_replaced:
            await send(message)

    return send_clear


def _plain_headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return the headers with the media type in lower case, and with one Accept line that the SDK knows."""
    # Several lines are one list (RFC 9110, 5.3). Without a line, or with other types only, a POST is answered with
    # JSON, as section 12.5.1 allows.
    names = (b"accept", b"content-type")
    lines = {name: b",".join(value for key, value in scope["headers"] if key == name).lower() for name in names}
    offers = [offer.replace(b" ", b"") for offer in lines[b"accept"].split(b",")]
    offered = {offer.partition(b";")[0] for offer in offers if not offer.endswith(_REFUSED)}
    accepted = [_JSON] if scope["method"] == "POST" else []
    if offered & _STREAM_RANGES or not (accepted or lines[b"accept"]):
        accepted.append(_STREAM)
    others = [field for field in scope["headers"] if field[0] not in names]
    known = {b"accept": b", ".join(accepted), b"content-type": lines[b"content-type"]}
    return [*others, *((name, value) for name, value in known.items() if value)]


def _accepts_batches(scope: Scope) -> bool:
    # Clients of that revision send no version header.
    return Headers(scope=scope).get("mcp-protocol-version", BATCH_PROTOCOL_VERSION) == BATCH_PROTOCOL_VERSION


def _error(request_id: str | int | None, text: str) -> dict[str, Any]:
    return _make_error(request_id, text).model_dump(by_alias=True, exclude_unset=True)


def _reject(text: str, request_id: str | int | None = None, status: int = 400) -> JSONResponse:
    return JSONResponse(_error(request_id, text), status)

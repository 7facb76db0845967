"""Takes what clients post and the SDK does not: several messages at once, and requests nobody could answer.

The SDK takes a request whose id no answer can carry for a notification and says "202 Accepted", so that its
sender waits for ever; so does the first of two whose ids are the same, as the second takes over its stream. A
list of messages is part of the revision 2025-03-26 alone, which is also the one that
the search methods are an extension of: its clients ask for tools, prompts and resources in one go.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scraper.server.http.request_body import RequestBody, read_body
from scraper.server.transport.jsonrpc_validation import BATCHES_SINCE, NO_MESSAGE, has_odd_id, id_of

MOST = 50
"""Messages in a list; each takes a place among the calls under way as if it had come alone."""
_ALONE = "initialize"
"""The only request that the revision wants to come by itself: before it there is nobody to answer."""
_IN_USE = (
    "Invalid request: id {} is in use by a request not answered yet; give each request an id of its own."
)
_GRACE_S = 1.0
"""Plain clients give all requests one id, and send the next when they see the answer, before its end."""


class JsonRpcBatches:
    """ASGI endpoint in front of another that takes single messages with proper ids."""

    def __init__(self, app: ASGIApp, body_limit_bytes: int) -> None:
        self._app = app
        self._body_limit_bytes = body_limit_bytes
        self._underway: dict[tuple[str, str], asyncio.Event] = {}
        """Session and id of each request that is being answered, and its end; to the SDK 1 is "1"."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await read_body(receive, self._body_limit_bytes)
        if body.is_cut:
            # The SDK would log a fault of the server with its traceback; mostly nobody is there to be told.
            await _refusal("Invalid request: the body was cut off.")(scope, receive, send)
        elif body.is_list() and _takes_lists(scope):
            await self._answer_list(scope, body, receive, send)
        else:
            await self._answer(scope, body, send)

    async def _answer(self, scope: Scope, body: RequestBody, send: Send) -> None:
        session = Headers(scope=scope).get(MCP_SESSION_ID_HEADER)
        message = body.message() if session else {}
        name = id_of(message) if "method" in message else None
        if session is None or name is None:
            await self._app(scope, body.receive, _Checked(body, send))
            return
        key = session, str(name)
        if not await self._is_free(key):
            await _refusal(_IN_USE.format(json.dumps(name)), name)(scope, body.receive, send)
            return
        ended = self._underway[key] = asyncio.Event()
        try:
            await self._app(scope, body.receive, _Checked(body, send))
        finally:
            del self._underway[key]
            ended.set()

    async def _is_free(self, key: tuple[str, str]) -> bool:
        try:
            async with asyncio.timeout(_GRACE_S):
                while (earlier := self._underway.get(key)) is not None:
                    await earlier.wait()
        except TimeoutError:
            return False
        return True

    async def _answer_list(self, scope: Scope, body: RequestBody, receive: Receive, send: Send) -> None:
        messages = body.value()
        if not isinstance(messages, list) or not 0 < len(messages) <= MOST:
            answer: Response = _refusal(f"Invalid request: send 1 to {MOST} messages at once.")
        else:
            asked = [self._answer_one(scope, message, receive) for message in messages]
            answers = [one for one in await asyncio.gather(*asked) if one is not None]
            answer = JSONResponse(answers) if answers else Response(status_code=202)
        await answer(scope, receive, send)

    async def _answer_one(self, scope: Scope, message: Any, receive: Receive) -> Any:
        """The answer to one message of a list; None where it wants none."""
        if not isinstance(message, dict):
            return _error(None, NO_MESSAGE)
        if message.get("method") == _ALONE:
            return _error(id_of(message), "Invalid request: initialize comes alone.")
        single = json.dumps(message).encode()
        headers = MutableHeaders(raw=list(scope["headers"]))
        headers["content-length"] = str(len(single))
        said = _Said()
        body = RequestBody([{"type": "http.request", "body": single, "more_body": False}], receive)
        await self._answer({**scope, "headers": headers.raw}, body, said.send)
        return said.message(message)


class _Checked:
    """A `send` that does not let "202 Accepted" stand where the body asks for an answer."""

    def __init__(self, body: RequestBody, send: Send) -> None:
        self._body = body
        self._send = send
        self._refused = False

    async def __call__(self, message: Message) -> None:
        """Pass a part of the answer on, or refuse in its place."""
        if message["type"] == "http.response.start" and message["status"] == 202:
            self._refused = has_odd_id(self._body.message())
            if self._refused:
                refusal = _refusal(NO_MESSAGE)
                await self._send({**message, "status": refusal.status_code, "headers": refusal.raw_headers})
                await self._send({"type": "http.response.body", "body": refusal.body})
        if not self._refused:
            await self._send(message)


class _Said:
    """One answer of the endpoint behind, kept."""

    def __init__(self) -> None:
        self._status = 0
        self._parts: list[bytes] = []

    async def send(self, message: Message) -> None:
        """Keep a part of it."""
        self._status = message.get("status", self._status)
        self._parts.append(message.get("body", b""))

    def message(self, asked: dict[str, Any]) -> Any:
        """The message that it is; None where none was asked for."""
        text = b"".join(self._parts).decode()
        events = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
        try:
            return json.loads(events[-1] if events else text)
        except ValueError:
            return None if self._status == 202 else _error(id_of(asked), text or f"HTTP {self._status}")


def _takes_lists(scope: Scope) -> bool:
    # That revision knew no header for itself, and clients that send none speak it.
    return Headers(scope=scope).get("mcp-protocol-version", BATCHES_SINCE) == BATCHES_SINCE


def _error(name: str | int | None, text: str) -> dict[str, Any]:
    error = JSONRPCError(jsonrpc="2.0", id=name, error=ErrorData(code=INVALID_REQUEST, message=text))
    return error.model_dump(by_alias=True, exclude_unset=True)


def _refusal(text: str, name: str | int | None = None) -> JSONResponse:
    return JSONResponse(_error(name, text), 400)

"""Middleware of HTTP requests: access rules, clients that disconnect, and the body of a request.

Protocol revisions up to 2025-11-25 do not treat a lost connection as a cancellation, because a client may resume the
stream from an event store. This server has no event store: a response without its stream is lost, so its work is
stopped. A server with an event store must not use this layer.
"""

import asyncio
import codecs
import contextlib
import json
import logging
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scraper.server.access import AccessRules
from scraper.server.http.connection_limits import AUTHORITY
from scraper.server.lifecycle import ActiveCount

MESSAGE_BYTES = 4 * 1024 * 1024
_END = "http.disconnect"
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.DOTALL
)
"""An escape in JSON, or a pair of escapes that encodes one character."""
_LONE_BYTES = len(rb"\ud800")


class RequestBody:
    """The body of a request, and a `receive` that returns it again."""

    def __init__(self, data: bytes, receive: Receive, *, has_more: bool = False, is_cut: bool = False) -> None:
        """Store the data that was read, without a byte order mark (RFC 8259, 8.1); a disconnect may have cut it."""
        self.size_bytes = len(data)
        self.data = replace_lone_surrogates(data.removeprefix(codecs.BOM_UTF8))
        self.is_cut = is_cut
        self._has_more = has_more
        self._receive = receive
        self._is_returned = False

    def value(self) -> Any:
        """Return the JSON value of the body, or None if it is not JSON."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError):
            return None

    def message(self) -> dict[str, Any]:
        """Return the JSON object of the body, or an empty one if it is not an object."""
        value = self.value()
        return value if isinstance(value, dict) else {}

    async def receive(self) -> Message:
        """Return the data again, then further messages of the client."""
        if self._is_returned:
            return await self._receive()
        self._is_returned = True
        return {"type": "http.request", "body": self.data, "more_body": self._has_more or self.is_cut}


def replace_lone_surrogates(message: bytes) -> bytes:
    r"""Return JSON of the same length with `\ufffd` for each escape of half a surrogate pair, which is no character."""
    if b"\\ud" not in message and b"\\uD" not in message:
        return message
    return _ESCAPE.sub(lambda escape: rb"\ufffd" if len(escape[0]) == _LONE_BYTES else escape[0], message)


async def read_body(receive: Receive, limit_bytes: int) -> RequestBody:
    """Read the body of a request up to the part that exceeds the limit; compare `size_bytes` with the limit."""
    data, more, is_cut = bytearray(), True, False
    while more and len(data) <= limit_bytes:
        part = await receive()
        data += part.get("body", b"")
        is_cut = part["type"] == _END
        more = not is_cut and part.get("more_body", False)
    return RequestBody(bytes(data), receive, has_more=more, is_cut=is_cut)


_REQUEST_HEADERS = (
    "Accept Authorization Content-Type Last-Event-ID MCP-Protocol-Version Mcp-Method Mcp-Name Mcp-Session-Id"
).split()
"""Headers that pages of listed origins may send; clients of old and new protocol versions need them."""
_ANONYMOUS = "search_mcp.anonymous"
_READER = "/r/"
"""Prefix of paths that end in the URL of a page, which is passed on as it is."""
_LOG = logging.getLogger("scraper.server")


def is_anonymous(scope: Scope) -> bool:
    """Return True for a request without the token that other paths of this server require."""
    return bool(scope.get(_ANONYMOUS))


class AccessMiddleware:
    """ASGI layer in front of all routes: status 421, 403 or 401 for requests that violate the rules.

    Pages of listed origins may read the responses. Their preflight requests need no token. Routes see the path without
    the prefix of a proxy and without a final slash.
    """

    def __init__(self, app: ASGIApp, rules: AccessRules) -> None:
        """Wrap `app`."""
        self._app = app
        self._rules = rules
        self._inner: ASGIApp = self._authorize
        if rules.origins:
            self._inner = CORSMiddleware(
                self._inner,
                allow_origins=sorted(rules.origins),
                allow_methods=("GET", "POST", "DELETE"),
                allow_headers=_REQUEST_HEADERS,
                expose_headers=("Mcp-Session-Id", "Retry-After", "WWW-Authenticate"),
                max_age=600,
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check Host and Origin, then CORS, then the token."""
        if scope["type"] != "http":
            return
        forwarded = Headers(scope=scope).get("x-forwarded-prefix", "").partition(",")[0].strip().strip("/")
        bare = ""
        for prefix in map(unquote, (self._rules.prefix, "/" + forwarded)):
            if len(prefix) > 1 and f"{scope['path']}/".startswith(prefix + "/"):
                bare = "" if scope["path"] != prefix else prefix.rpartition("/")[2]
                scope["path"] = scope["path"].removeprefix(prefix)
                scope["raw_path"] = scope["raw_path"].removeprefix(quote(prefix).encode())
                break
        if not scope["path"].startswith(_READER):
            scope["path"] = scope["path"].rstrip("/") or "/"
        error = self._check_host_and_origin(scope)
        if bare and not error and scope["method"] == "GET":
            # The addresses of the page are relative to its folder.
            error = RedirectResponse(f"{quote(bare)}/")
        await (error or self._inner)(scope, receive, send)

    async def _authorize(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._check_token(scope) or self._app)(scope, receive, send)

    def _check_host_and_origin(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        # A proxy may have used the other one of two headers, or the host of an absolute URL in the request line.
        names = [*hosts, scope[AUTHORITY]] if AUTHORITY in scope else hosts
        # HTTP/1.0 has no Host header; browsers always send one.
        is_one = len(hosts) == 1 or (not hosts and scope["http_version"] == "1.0")
        if not (is_one and all(map(self._rules.knows_host, names))) and not self._is_probe(scope):
            return _refuse(421, "Unknown host name. The operator can add it to SEARCH_MCP_ALLOWED_HOSTS.", "host")
        if len(origins) > 1 or not self._rules.knows_origin(origins[0] if origins else None, "".join(hosts[:1])):
            return _refuse(403, "Unknown origin. The operator can add it to SEARCH_MCP_ALLOWED_ORIGINS.", "origin")
        return None

    def _is_probe(self, scope: Scope) -> bool:
        """Return True for probes under any host name: they show nothing without a token, which no other site has."""
        requires_token = self._rules.requires_token
        if scope["path"] in self._rules.open_paths:
            scope[_ANONYMOUS] = not requires_token
            return True
        return requires_token and scope["path"] == "/metrics"

    def _check_token(self, scope: Scope) -> Response | None:
        if not self._rules.requires_token:
            return None
        authorization = Headers(scope=scope).get("authorization", "")
        name = self._rules.principal(authorization)
        if name is None and self._rules.is_open(scope["path"]):
            scope[_ANONYMOUS] = True
            return None
        if name is None:
            has_token = authorization.lower().startswith(("bearer ", "basic "))
            challenge = self._rules.challenge(scope["path"], error="invalid_token" if has_token else "")
            headers = {"WWW-Authenticate": challenge}
            if has_token:
                return _refuse(401, "The token is wrong or has expired.", "token", headers)
            return _refuse(401, "Send the header Authorization: Bearer <token>.", "no_token", headers)
        # The SDK binds sessions to this user; a session id of another user gets 404.
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        return None


def _refuse(status: int, message: str, reason: str, headers: dict[str, str] | None = None) -> Response:
    _LOG.info("refused", extra={"fields": {"status": status, "reason": reason}})
    return JSONResponse({"error": message}, status_code=status, headers=headers)


_KEY = "search_mcp.client_gone"
_SHUTTING_DOWN = JSONResponse(
    {"error": "The server is shutting down. Try again in a few seconds."}, 503, headers={"Retry-After": "5"}
)


def disconnect_future(scope: Mapping[str, Any]) -> asyncio.Future[None] | None:
    """Return a future that is done when the client disconnects before its response."""
    disconnected: asyncio.Future[None] | None = scope.get(_KEY)
    return disconnected


class DisconnectMiddleware:
    """ASGI middleware that watches the connection of each request, and ends idle streams at shutdown."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self._app = app
        self._is_closing = self._is_stopped = False
        self._unanswered = ActiveCount()
        self._waits: set[asyncio.Timeout] = set()
        """Timeouts of all pending `receive` calls."""

    def close_after_response(self) -> None:
        """Close each connection after its next response, so that no request arrives meanwhile."""
        self._is_closing = True

    async def wait_until_answered(self, limit_s: float) -> None:
        """Return when all POST requests are answered, or after `limit_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._unanswered.none.wait()

    def stop(self) -> None:
        """End all open streams: the inner application sees disconnected clients."""
        self._is_stopped = True
        now = asyncio.get_running_loop().time()
        for timeout in self._waits:
            timeout.reschedule(now)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        disconnected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        has_started = is_answered = False

        async def receive_or_end() -> Message:
            """Return the next message of the client, a disconnect after `stop`."""
            message = await self._receive(receive)
            if message["type"] == _END and not (self._is_stopped or is_answered or disconnected.done()):
                disconnected.set_result(None)
            return message

        async def send_once(message: Message) -> None:
            """Send a part of the response; drop a second response, which the SDK sends for an ended session."""
            nonlocal has_started, is_answered
            if is_answered:
                return
            if message["type"] == "http.response.start":
                # uvicorn knows the version of HTTP, and so sets the Connection header if it is not to close.
                headers = [field for field in message.get("headers", ()) if field[0] != b"connection"]
                headers += [(b"connection", b"close")] if self._is_closing else []
                message = {**message, "headers": headers}
            has_started = True
            is_answered = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        if self._is_stopped:
            await _SHUTTING_DOWN(scope, receive, send_once)
            return
        scope[_KEY] = disconnected
        # A stream opened by GET gets no response.
        with self._unanswered.add() if scope["method"] == "POST" else contextlib.nullcontext():
            await self._app(scope, receive_or_end, send_once)
            if has_started and not is_answered:
                # An incomplete response ends properly, and so does its connection.
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _receive(self, receive: Receive) -> Message:
        if not self._is_stopped:
            # A timeout that `stop` sets is cheaper than a second task.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None) as timeout:
                    self._waits.add(timeout)
                    try:
                        return await receive()
                    finally:
                        self._waits.discard(timeout)
        return {"type": _END}

"""Reject requests that violate the access rules: unknown host, unknown origin or missing token."""

from __future__ import annotations

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from scraper.server.access.header_rules import AccessRules
from scraper.server.http.connection_limits import AUTHORITY

_METHODS = ("GET", "POST", "DELETE")
_REQUEST_HEADERS = (
    "Accept",
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    "MCP-Protocol-Version",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Session-Id",
)
"""Headers that pages of listed origins may send; clients of old and new protocol versions need them."""
_RESPONSE_HEADERS = ("Mcp-Session-Id", "Retry-After", "WWW-Authenticate")
_PREFLIGHT_CACHE_S = 600
_ANONYMOUS = "search_mcp.anonymous"


def is_anonymous(scope: Scope) -> bool:
    """Return True for a request without the token that other paths of this server require."""
    return bool(scope.get(_ANONYMOUS))


class AccessMiddleware:
    """ASGI layer in front of all routes: status 421, 403 or 401 for requests that violate the rules.

    Pages of listed origins may read the responses. Their preflight requests need no token.
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
                allow_methods=_METHODS,
                allow_headers=_REQUEST_HEADERS,
                expose_headers=_RESPONSE_HEADERS,
                max_age=_PREFLIGHT_CACHE_S,
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check Host and Origin, then CORS, then the token."""
        if scope["type"] != "http":
            return
        error = self._check_host_and_origin(scope)
        await (error or self._inner)(scope, receive, send)

    async def _authorize(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = self._check_token(scope)
        await (error or self._app)(scope, receive, send)

    def _check_host_and_origin(self, scope: Scope) -> Response | None:
        """Return the error for an unknown host or origin."""
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        # A proxy may have used the other one of two headers, or the host of an absolute URL in the request line.
        names = [*hosts, scope[AUTHORITY]] if AUTHORITY in scope else hosts
        if len(hosts) != 1 or not all(map(self._rules.knows_host, names)):
            return _error(421, "Unknown host name. The operator can add it to SEARCH_MCP_ALLOWED_HOSTS.")
        if len(origins) > 1 or not self._rules.knows_origin(origins[0] if origins else None, hosts[0]):
            return _error(403, "Unknown origin. The operator can add it to SEARCH_MCP_ALLOWED_ORIGINS.")
        return None

    def _check_token(self, scope: Scope) -> Response | None:
        """Return the error for a missing token, or set the principal of the request."""
        if not self._rules.requires_token:
            return None
        name = self._rules.principal(Headers(scope=scope).get("authorization", ""))
        if name is None and self._rules.is_open(scope["path"]):
            scope[_ANONYMOUS] = True
            return None
        if name is None:
            challenge = {"WWW-Authenticate": self._rules.challenge(scope["path"])}
            return _error(401, "Send the header Authorization: Bearer <token>.", challenge)
        # The SDK binds sessions to this user; a session id of another user gets 404.
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        return None


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": message}, status_code=status, headers=headers)

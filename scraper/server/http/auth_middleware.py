"""Stands in front of every route and turns away whom the access rules do not know."""

from __future__ import annotations

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from scraper.server.access.rules import AccessRules

_METHODS = ("GET", "POST", "DELETE")
_SENT = (
    "Accept",
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    "MCP-Protocol-Version",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Session-Id",
)
"""What clients of either era send; a page may send no other header without being asked for again."""
_SHOWN = ("Mcp-Session-Id", "Retry-After", "WWW-Authenticate")
_REMEMBERED_S = 600


class AuthMiddleware:
    """ASGI layer in front of every route: 421, 403 or 401 for those whom the rules do not know.

    Pages of the origins that an operator lists may read the answers; to a browser's question whether they may
    no token belongs.
    """

    def __init__(self, app: ASGIApp, rules: AccessRules) -> None:
        self._rules = rules
        self._inner: ASGIApp = _Token(app, rules)
        if rules.origins:
            self._inner = CORSMiddleware(
                self._inner,
                allow_origins=sorted(rules.origins),
                allow_methods=_METHODS,
                allow_headers=_SENT,
                expose_headers=_SHOWN,
                max_age=_REMEMBERED_S,
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refusal = self._judge(scope)
        await (refusal or self._inner)(scope, receive, send)

    def _judge(self, scope: Scope) -> Response | None:
        """The answer for a request under a name, or from a page, that is not ours."""
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        # Of two, a proxy in front may have gone by the other one.
        if len(hosts) != 1 or not self._rules.knows_host(hosts[0]):
            return _refusal(421, "Unknown host name. The operator can add it to SEARCH_MCP_ALLOWED_HOSTS.")
        if len(origins) > 1 or not self._rules.knows_origin(origins[0] if origins else None):
            return _refusal(403, "Unknown origin. The operator can add it to SEARCH_MCP_ALLOWED_ORIGINS.")
        return None


class _Token:
    """Lets those in who carry a token, where one is asked for, and marks them with their principal."""

    def __init__(self, app: ASGIApp, rules: AccessRules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._judge(scope)
        await (refusal or self._app)(scope, receive, send)

    def _judge(self, scope: Scope) -> Response | None:
        if not self._rules.asks_for_token or self._rules.is_open(scope["path"]):
            return None
        name = self._rules.principal(Headers(scope=scope).get("authorization", ""))
        if name is None:
            challenge = {"WWW-Authenticate": self._rules.challenge(scope["path"])}
            return _refusal(401, "Send the header Authorization: Bearer <token>.", challenge)
        # The SDK binds each session to this user: another token's session id is answered 404.
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        return None


def _refusal(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": message}, status_code=status, headers=headers)

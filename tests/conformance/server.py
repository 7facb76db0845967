"""`python -m tests.conformance.server [--flag=value ...]`: the product's server with the suite's fixtures.

The suite calls tools, prompts and resources by fixed names. They are added to the product's server, whose
transports, access rules, middleware and lists are tested.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateBoundary
from mcp.server.subscriptions import ListenHandler
from mcp.types import EmptyResult, SetLevelRequestParams, SubscribeRequestParams, UnsubscribeRequestParams

from scraper.server import entrypoints
from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.protocol import mcp_server as protocol
from scraper.server.telemetry import logs
from scraper.settings import Settings
from scraper.tools import registry, search_tools
from tests.conformance import multi_round, resources_and_prompts, tasks, tools

_BY_NAME = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resource_templates",
}
_FIXTURES = ("test_", "test://", "json_schema_2020_12")


def main() -> None:
    """Serve until a signal stops the server."""
    protocol.build = _patch_build(protocol.build)
    given = dict(flag.removeprefix("--").split("=", 1) for flag in sys.argv[1:])
    settings = Settings.load({}, {"port": 0, **given})
    logs.configure(settings.log_level, settings.log_format)
    pair = search_tools.openai_tools()
    open_services = entrypoints.services_factory(settings)
    serving = entrypoints.serve_http(
        settings, registry.tools(settings), open_services, version="0.0.0", openai_tools=pair
    )
    asyncio.run(serving)


def _patch_build(build: Callable[..., Server[Any]]) -> Callable[..., Server[Any]]:
    def built(*given: Any, **named: Any) -> Server[Any]:
        _, calls = given
        return with_fixtures(build(*given, **named), calls)

    return built


def with_fixtures(product: Server[Any], calls: CallDispatcher) -> Server[Any]:
    """Add the fixtures of the suite to the product's server."""
    suite: MCPServer[Any] = MCPServer("fixtures")
    for part in (tools, multi_round, resources_and_prompts):
        part.add(suite)
    fixtures = suite._lowlevel_server
    for method, name in _BY_NAME.items():
        _prefer_fixtures(product, fixtures, method, _route_by_name(product, fixtures, method, name))
    for method, field in _LISTS.items():
        _prefer_fixtures(product, fixtures, method, _join_lists(product, fixtures, method, field))
    _prefer_fixtures(product, fixtures, "completion/complete", _handler(fixtures, "completion/complete"))
    # Signs the state that a client carries between two rounds.
    product.middleware.extend(one for one in fixtures.middleware if isinstance(one, RequestStateBoundary))
    product.add_request_handler(
        "subscriptions/listen", _params(fixtures, "subscriptions/listen"), ListenHandler(suite._subscriptions)
    )
    for method, params in (
        ("logging/setLevel", SetLevelRequestParams),
        ("resources/subscribe", SubscribeRequestParams),
        ("resources/unsubscribe", UnsubscribeRequestParams),
    ):
        product.add_request_handler(method, params, _nothing)
    tasks.add(product, calls)
    return product


def _prefer_fixtures(product: Server[Any], fixtures: Server[Any], method: str, handler: Any) -> None:
    product.add_request_handler(method, _params(fixtures, method), handler)


def _route_by_name(product: Server[Any], fixtures: Server[Any], method: str, name: str) -> Any:
    own, other = _handler(product, method), _handler(fixtures, method)

    async def handler(context: Any, params: Any) -> Any:
        asked = str(getattr(params, name))
        return await (other if asked.startswith(_FIXTURES) else own)(context, params)

    return handler


def _join_lists(product: Server[Any], fixtures: Server[Any], method: str, field: str) -> Any:
    own, other = _handler(product, method), _handler(fixtures, method)

    more = tasks.list_tools() if method == "tools/list" else []

    async def handler(context: Any, params: Any) -> Any:
        ours, theirs = await own(context, params), await other(context, params)
        return ours.model_copy(update={field: [*getattr(ours, field), *getattr(theirs, field), *more]})

    return handler


def _handler(server: Server[Any], method: str) -> Any:
    entry = server.get_request_handler(method)
    assert entry is not None, method
    return entry.handler


def _params(server: Server[Any], method: str) -> Any:
    entry = server.get_request_handler(method)
    assert entry is not None, method
    return entry.params_type


async def _nothing(_context: Any, _params: Any) -> EmptyResult:
    return EmptyResult()


if __name__ == "__main__":
    main()

"""Serve cached pages and indexed documents as MCP resources: paged lists, and contents as Markdown."""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextResourceContents,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.protocol import schemas
from scraper.server.protocol.requests import caller_of, refuse_cursor
from scraper.tools import cached_resources

Context = ServerRequestContext[Any, Any]

NOT_FOUND = -32002
"""Error code of protocol versions before 2026-07-28; later ones use INVALID_PARAMS."""
_PAGE_ITEMS = 50


def add(server: Server[Any], calls: CallDispatcher) -> None:
    """Add the request handlers of resources."""

    async def list_resources(context: Context, params: PaginatedRequestParams) -> ListResourcesResult:
        caller = caller_of(context)
        cursor = params.cursor
        try:
            page = await calls.query(
                context.method,
                caller,
                lambda app: cached_resources.list_resources(app, caller.principal, cursor, _PAGE_ITEMS),
            )
        except cached_resources.InvalidCursorError:
            raise MCPError(INVALID_PARAMS, "Invalid cursor") from None
        resources = [schemas.resource(item) for item in page.items]
        # Each caller has a private list, and every new page changes it.
        return ListResourcesResult(resources=resources, next_cursor=page.cursor, ttl_ms=0, cache_scope="private")

    async def list_templates(_context: Context, params: PaginatedRequestParams) -> ListResourceTemplatesResult:
        refuse_cursor(params)
        return ListResourceTemplatesResult(resource_templates=schemas.TEMPLATES)

    async def read(context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        caller, uri = caller_of(context), str(params.uri)
        text = await calls.query(context.method, caller, lambda app: cached_resources.read(app, caller.principal, uri))
        if text is None:
            raise _not_found(uri, context.protocol_version)
        contents = TextResourceContents(uri=uri, mime_type=schemas.MARKDOWN, text=text)
        return ReadResourceResult(contents=[contents], ttl_ms=0, cache_scope="private")

    server.add_request_handler("resources/list", PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, read)


def _not_found(uri: str, protocol_version: str) -> MCPError:
    code = INVALID_PARAMS if protocol_version in MODERN_PROTOCOL_VERSIONS else NOT_FOUND
    message = "Resource not found: nothing is cached at this address. fetch reads a page from the web."
    return MCPError(code, message, {"uri": uri})

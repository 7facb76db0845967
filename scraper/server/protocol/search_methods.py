"""Serve `tools/search`, `prompts/search` and `resources/search`, an extension of the protocol.

The SDK knows neither the methods nor the capability; handlers and a middleware add them.
"""

import base64
import contextlib
import hashlib
from collections.abc import Sequence
from typing import Any

from mcp import types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from scraper.render.untrusted_text import mark_untrusted
from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.calls.limits import RateLimiter
from scraper.server.protocol.extensions import caller_of
from scraper.server.protocol.handshake import names_strict_client
from scraper.tools import cached_resources, model, prompts, tool_search
from scraper.tools.cached_resources import CachedResource
from scraper.values.text import read_table

MARKDOWN = "text/markdown"
_SIZE_HINT = "anthropic/maxResultSizeChars"
"""Metadata key. One client writes answers above 50,000 characters to a file unless the tool declares more."""

TEMPLATES = [
    types.ResourceTemplate(name=name, mime_type=MARKDOWN, **row)
    for name, row in read_table(__package__, "resource_templates.toml").items()
]


def to_sdk_tool(source: model.Tool, protocol_version: str | None = None) -> types.Tool:
    """Convert a tool to the SDK type that `tools/list` returns."""
    output = None if protocol_version is None else source.output_schema(wraps_lists=wraps_lists(protocol_version))
    return types.Tool(
        name=source.name,
        title=source.title,
        description=source.description,
        input_schema=dict(source.input_schema),
        output_schema=output,
        annotations=types.ToolAnnotations(
            read_only_hint=source.read_only,
            destructive_hint=source.destructive,
            idempotent_hint=source.idempotent,
            open_world_hint=source.open_world,
        ),
        _meta={_SIZE_HINT: source.result_chars} if source.result_chars else None,
    )


def wraps_lists(protocol_version: str) -> bool:
    """Return True for versions before 2026-07-28, in which structured content must be an object."""
    return protocol_version not in MODERN_PROTOCOL_VERSIONS


def to_sdk_prompt(source: prompts.Prompt) -> types.Prompt:
    """Convert a prompt to the SDK type that `prompts/list` returns."""
    return types.Prompt(
        name=source.name,
        title=source.title,
        description=source.about,
        arguments=[
            types.PromptArgument(name=argument.name, description=argument.about, required=argument.required)
            for argument in source.arguments
        ],
    )


def to_sdk_content(item: model.Media) -> types.ImageContent | types.ResourceLink:
    """Convert an image or a file to the content block of an answer."""
    if item.uri:
        return types.ResourceLink(
            uri=item.uri, name=item.uri.rpartition("/")[2], mime_type=item.media_type, size=len(item.data)
        )
    return types.ImageContent(data=base64.b64encode(item.data).decode("ascii"), mime_type=item.media_type)


def to_sdk_resource(item: CachedResource) -> types.Resource:
    """Convert a page or document to the SDK type; its description marks the title, which a site chose."""
    title = f"\n{mark_untrusted(item.title, model.region_of(item.title))}" if item.title else ""
    return types.Resource(
        uri=item.uri,
        name=item.name,
        description=item.about + title,
        mime_type=MARKDOWN,
        annotations=types.Annotations(last_modified=item.modified) if item.modified else None,
    )


Context = ServerRequestContext[Any, Any]

_NO_CACHE: dict[str, Any] = {"ttl_ms": 0, "cache_scope": "private"}
"""The contract requires that clients do not cache search results."""


class _SearchParams(types.RequestParams):
    """Parameters of a search, checked by `_parse` for better error messages."""

    query: Any = None
    cursor: Any = None


def add(
    server: Server[Any],
    calls: CallDispatcher,
    rate: RateLimiter,
    *,
    tools: Sequence[model.Tool],
    prompts: Sequence[prompts.Prompt],
    output_schemas: bool = False,
) -> None:
    """Add the three methods."""
    tool_items = [tool_search.searchable_tool(tool) for tool in tools]
    prompt_items = [tool_search.searchable_prompt(prompt) for prompt in prompts]

    async def search_tools(context: Context, params: _SearchParams) -> types.ListToolsResult:
        query, start = await _parse(context, params, rate)
        indexes, cursor = _page(tool_search.rank_items(query, tool_items), query, start)
        version = context.protocol_version if output_schemas else None
        found = [to_sdk_tool(tools[at], version) for at in indexes]
        return types.ListToolsResult(tools=found, next_cursor=cursor, **_NO_CACHE)

    async def search_prompts(context: Context, params: _SearchParams) -> types.ListPromptsResult:
        query, start = await _parse(context, params, rate)
        indexes, cursor = _page(tool_search.rank_items(query, prompt_items), query, start)
        found = [to_sdk_prompt(prompts[at]) for at in indexes]
        return types.ListPromptsResult(prompts=found, next_cursor=cursor, **_NO_CACHE)

    async def search_resources(context: Context, params: _SearchParams) -> types.ListResourcesResult:
        query, start = await _parse(context, params, rate)
        caller = caller_of(context)

        async def work(app: model.Services) -> tuple[list[CachedResource], bool]:
            return await cached_resources.search(app, caller.principal, query, start, tool_search.ITEMS_PER_PAGE)

        items, more = await calls.query(context.method, caller, work)
        end = start + tool_search.ITEMS_PER_PAGE
        cursor = _cursor(query, end) if more and end < tool_search.MAX_DEPTH else None
        found = [to_sdk_resource(item) for item in items]
        return types.ListResourcesResult(resources=found, next_cursor=cursor, **_NO_CACHE)

    server.add_request_handler("tools/search", _SearchParams, search_tools)
    server.add_request_handler("prompts/search", _SearchParams, search_prompts)
    server.add_request_handler("resources/search", _SearchParams, search_resources)


def declare(server: Server[Any], strict_clients: Sequence[str]) -> None:
    """Add `search: true` to the capabilities in a handshake, except for clients that refuse unknown ones."""

    async def add_capability(ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if (
            ctx.method not in {"initialize", "server/discover"}
            or not isinstance(result, dict)
            or _is_strict(ctx, strict_clients)
        ):
            return result
        capabilities = dict(result["capabilities"])
        for area in ("tools", "prompts", "resources"):
            if area in capabilities:
                capabilities[area] = {**capabilities[area], "search": True}
        return {**result, "capabilities": capabilities}

    server.middleware.append(add_capability)


def _is_strict(ctx: Context, patterns: Sequence[str]) -> bool:
    client = (ctx.params or {}).get("clientInfo") or (ctx.meta or {}).get(types.CLIENT_INFO_META_KEY)
    library = None if ctx.request is None else ctx.request.headers.get("user-agent")
    return names_strict_client(client, patterns, library)


async def _parse(context: Context, params: _SearchParams, rate: RateLimiter) -> tuple[str, int]:
    """Return the query and the index of the first result; raise MCPError also if the caller searches too often."""
    query = params.query
    if not isinstance(query, str) or not query.strip() or len(query) > tool_search.MAX_QUERY_CHARS:
        raise MCPError(
            types.INVALID_PARAMS, f"query must be given: a string of 1 to {tool_search.MAX_QUERY_CHARS:,} characters."
        )
    start = 0 if params.cursor is None else _parse_cursor(params.cursor, query)
    await rate.take(caller_of(context).principal)
    return query, start


def _page(indexes: list[int], query: str, start: int) -> tuple[list[int], str | None]:
    end = start + tool_search.ITEMS_PER_PAGE
    return indexes[start:end], _cursor(query, end) if len(indexes) > end else None


def _cursor(query: str, start: int) -> str:
    return cached_resources.write_cursor([_digest(query), start])


def _parse_cursor(cursor: object, query: str) -> int:
    with contextlib.suppress(ValueError, TypeError, cached_resources.InvalidCursorError):
        digest, start = cached_resources.read_cursor(cursor)
        if (
            digest == _digest(query)
            and type(start) is int
            and 0 < start < tool_search.MAX_DEPTH
            and not start % tool_search.ITEMS_PER_PAGE
        ):
            return start
    raise MCPError(types.INVALID_PARAMS, "Invalid cursor: give the one of the last answer, with its query.")


def _digest(query: str) -> str:
    full = hashlib.sha256(query.encode("utf-8", "replace")).digest()
    return base64.urlsafe_b64encode(full[:9]).decode()

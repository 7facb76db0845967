"""Build the MCP server: tools, prompts, resources, search methods and instructions."""

import base64
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcp import types
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from opentelemetry import trace

from scraper.errors import InvalidArgumentError
from scraper.render.untrusted_text import error_sentence
from scraper.server.calls.dispatcher import CallDispatcher, ToolCaller
from scraper.server.calls.limits import RateLimiter
from scraper.server.lifecycle import ServerContext
from scraper.server.protocol import search_methods
from scraper.server.protocol.extensions import Elicitation, TaskMethods, caller_of, refuse_cursor
from scraper.server.protocol.handshake import INSTRUCTIONS, OPENAI_INSTRUCTIONS
from scraper.server.tasks import RunningTask, TaskRunner
from scraper.tools import cached_resources, skills
from scraper.tools.model import Services, Tool, ToolAnswer
from scraper.tools.prompts import Prompt, prompts_for

Context = ServerRequestContext[Any, Any]

_LIST_HINT = CacheHint(ttl_ms=3_600_000, scope="public")
"""The tools of a running server never change and are the same for all callers."""
_CACHE_HINTS: Mapping[Any, CacheHint] = {
    "tools/list": _LIST_HINT,
    "prompts/list": _LIST_HINT,
    "resources/templates/list": _LIST_HINT,
}
_NOT_FOUND = -32002
"""Error code of protocol versions before 2026-07-28; later ones use INVALID_PARAMS."""
_HEADER = "x-mcp-header"
"""Key of a parameter that clients repeat as a request header for proxies."""
_TASK_LIMIT_S = 600.0
_SKILLS = "io.modelcontextprotocol/skills"


def build(
    tools: Sequence[Tool],
    calls: CallDispatcher,
    *,
    version: str,
    on_handshake: Callable[[], object],
    rate: RateLimiter | None = None,
    output_schemas: bool = False,
    resources: bool = True,
    strict_clients: Sequence[str] = (),
) -> Server[Any]:
    """Return a server of tools, their prompts, resources and search methods.

    It calls `on_handshake` when a client has received the response to its handshake. `rate` limits the search methods.
    With `output_schemas`, tools declare the schema of their structured content. Without, answers have only content.
    Clients with a name in `strict_clients` get no capability that the protocol does not know.
    """
    prompts = prompts_for([tool for tool in tools if tool.listed])
    server = _server(tools, calls, version, INSTRUCTIONS, on_handshake, output_schemas=output_schemas)
    TaskMethods(calls, _task_runner(tools, calls, output_schemas=output_schemas)).add(server)
    _add_prompts(server, prompts)
    if resources:
        _add_resources(server, calls)
        _add_skills(server)
    rate = rate or RateLimiter(calls.limits, name="searches")
    search_methods.add(server, calls, rate, tools=tools, prompts=prompts, output_schemas=output_schemas)
    search_methods.declare(server, strict_clients)
    return server


def build_for(context: ServerContext, calls: CallDispatcher) -> Server[Any]:
    """Return the server of a process, with its settings."""
    settings = context.settings
    return build(
        context.tools,
        calls,
        version=context.version,
        on_handshake=context.holder.open,
        output_schemas=settings.output_schemas,
        resources=settings.resources,
        strict_clients=settings.strict_clients,
    )


def build_openai(context: ServerContext, calls: CallDispatcher) -> Server[Any]:
    """Return a server of two tools, whose answers are one text item without structured content."""
    return _server(
        context.openai_tools, calls, context.version, OPENAI_INSTRUCTIONS, context.holder.open, output_schemas=False
    )


def _server(
    tools: Sequence[Tool],
    calls: CallDispatcher,
    version: str,
    instructions: str,
    on_handshake: Callable[[], object],
    *,
    output_schemas: bool,
) -> Server[Any]:
    known = {tool.name: tool for tool in tools}

    @functools.cache
    def listing(protocol_version: str | None) -> types.ListToolsResult:
        listed = [search_methods.to_sdk_tool(tool, protocol_version) for tool in tools if tool.listed]
        return types.ListToolsResult(tools=listed)

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        refuse_cursor(params)
        return listing(context.protocol_version if output_schemas else None)

    elicitation = Elicitation()

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        async def work(caller: ToolCaller) -> types.CallToolResult:
            answer = await calls.answer(params.name, params.arguments or {}, caller, known)
            return _result(answer, context.protocol_version if output_schemas else None)

        if params.name in known and known[params.name].asks:
            return await elicitation.run(context, params, work)
        return await work(caller_of(context))

    async def detect_handshake(ctx: Context, call_next: CallNext) -> HandlerResult:
        # A request after the handshake proves that its response has arrived.
        if ctx.method not in {"initialize", "server/discover", "ping"}:
            on_handshake()
        return await call_next(ctx)

    # The SDK checks the headers of a call against these. Without `get_tool_input_schema`, it lists all tools for each
    # call and searches schemas without headers.
    schemas_with_headers = {tool.name: tool.input_schema for tool in tools if _HEADER in str(tool.input_schema)}
    server: Server[Any] = Server(
        "search-mcp",
        title="Search MCP",
        version=version,
        instructions=instructions,
        cache_hints=_CACHE_HINTS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=schemas_with_headers.get,
    )
    # `entrypoints` sets the provider before servers are built, if spans are exported.
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        server.middleware.clear()  # the spans of the SDK, a tenth of the protocol's cost per call
    server.middleware.append(detect_handshake)
    return server


def _task_runner(tools: Sequence[Tool], calls: CallDispatcher, *, output_schemas: bool) -> TaskRunner:
    known = {tool.name: tool for tool in tools}

    async def work(task: RunningTask) -> Mapping[str, Any]:
        caller = ToolCaller(task.principal, task.id, task.report, deadline_s=_TASK_LIMIT_S, resume_key=task.id)
        answer = await calls.answer(task.tool, task.arguments, caller, known)
        result = _result(answer, LATEST_MODERN_VERSION if output_schemas else None)
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    return TaskRunner(work, calls.background.add)


def _add_prompts(server: Server[Any], prompts: Sequence[Prompt]) -> None:
    listing = types.ListPromptsResult(prompts=[search_methods.to_sdk_prompt(prompt) for prompt in prompts])
    known = {prompt.name: prompt for prompt in prompts}

    async def list_prompts(_context: Context, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        refuse_cursor(params)
        return listing

    async def get_prompt(_context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = known.get(params.name)
        if prompt is None:
            names = ", ".join(known) or "none"
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt {params.name[:60]!r}. Known: {names}.")
        try:
            text = prompt.message(params.arguments or {})
        except InvalidArgumentError as error:
            raise MCPError(types.INVALID_PARAMS, error_sentence(error)) from None
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.about, messages=[message])

    server.add_request_handler("prompts/list", types.PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get_prompt)


def _add_resources(server: Server[Any], calls: CallDispatcher) -> None:
    async def list_resources(context: Context, params: types.PaginatedRequestParams) -> types.ListResourcesResult:
        caller, cursor = caller_of(context), params.cursor

        async def work(app: Services) -> cached_resources.ResourcePage:
            return await cached_resources.list_resources(app, caller.principal, cursor, 50)

        try:
            page = await calls.query(context.method, caller, work)
        except cached_resources.InvalidCursorError:
            raise MCPError(types.INVALID_PARAMS, "Invalid cursor") from None
        resources = [search_methods.to_sdk_resource(item) for item in page.items]
        # Each caller has a private list, and every new page changes it.
        return types.ListResourcesResult(resources=resources, next_cursor=page.cursor, ttl_ms=0, cache_scope="private")

    async def list_templates(
        _context: Context, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        refuse_cursor(params)
        return types.ListResourceTemplatesResult(resource_templates=search_methods.TEMPLATES)

    async def read(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        caller, uri = caller_of(context), str(params.uri)
        if (guide := skills.read_file(uri)) is not None:
            file = types.TextResourceContents(uri=uri, mime_type=search_methods.MARKDOWN, text=guide)
            return types.ReadResourceResult(contents=[file], ttl_ms=_LIST_HINT.ttl_ms, cache_scope="public")

        async def work(app: Services) -> types.TextResourceContents | types.BlobResourceContents | None:
            if uri.startswith(cached_resources.PICTURE):
                file = await cached_resources.read_file(app, caller.principal, uri)
                blob = base64.b64encode(file[0]).decode("ascii") if file else ""
                return types.BlobResourceContents(uri=uri, mime_type=file[1], blob=blob) if file else None
            text = await cached_resources.read(app, caller.principal, uri)
            if text is None:
                return None
            return types.TextResourceContents(uri=uri, mime_type=search_methods.MARKDOWN, text=text)

        contents = await calls.query(context.method, caller, work)
        if contents is None:
            code = types.INVALID_PARAMS if context.protocol_version in MODERN_PROTOCOL_VERSIONS else _NOT_FOUND
            message = "Resource not found: nothing is cached at this address. fetch reads a page from the web."
            raise MCPError(code, message, {"uri": uri})
        return types.ReadResourceResult(contents=[contents], ttl_ms=0, cache_scope="private")

    server.add_request_handler("resources/list", types.PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read)


def _add_skills(server: Server[Any]) -> None:
    """Serve the guides for coding agents as a skill, by the extension of SEP-2640."""
    skill, hint = skills.describe_skill(), {"ttlMs": _LIST_HINT.ttl_ms, "cacheScope": "public"}

    async def list_skills(context: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        refuse_cursor(params)
        return {"resultType": "complete", "skills": [skill], **hint}

    async def get_skill(context: Context, params: types.ReadResourceRequestParams) -> dict[str, Any]:
        if str(params.uri) != skill["uri"]:
            raise MCPError(types.INVALID_PARAMS, f"Unknown skill. Known: {skill['uri']}.")
        return {"resultType": "complete", "skill": skill, **hint}

    server.extensions[_SKILLS] = {}
    server.add_request_handler("skills/list", types.PaginatedRequestParams, list_skills)
    server.add_request_handler("skills/get", types.ReadResourceRequestParams, get_skill)


def _result(answer: ToolAnswer, protocol_version: str | None) -> types.CallToolResult:
    """Return an answer as clients receive it; without a version, it has no structured content."""
    structured: Any = answer.structured
    if answer.media or protocol_version is None:
        structured = None  # images and files are only in the content, and some clients show a model nothing else
    elif isinstance(structured, list) and search_methods.wraps_lists(protocol_version):
        structured = {"result": structured}
    elif structured is None and not answer.is_error:
        structured = {"result": answer.text}
    content: list[types.ContentBlock] = [
        types.TextContent(text=answer.text),
        *map(search_methods.to_sdk_content, answer.media),
    ]
    return types.CallToolResult(content=content, structured_content=structured, is_error=answer.is_error)

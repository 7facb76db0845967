"""Ask the user of a client during a call, and serve long calls as tasks.

Tasks are the extension `io.modelcontextprotocol/tasks` of 2026-07-28.
"""

import asyncio
import functools
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from scraper.server.access import principal_of
from scraper.server.calls.dispatcher import ADMITTED_KEY, CallDispatcher, ToolCaller
from scraper.server.http.middleware import disconnect_future
from scraper.server.tasks import TTL_S, TaskRunner, TaskState, TaskStore
from scraper.store.protocols import DatabaseUnavailableError


def caller_of(context: ServerRequestContext[Any, Any]) -> ToolCaller:
    """Return the caller of a request on any transport."""
    scope: Mapping[str, Any] = {} if context.request is None else context.request.scope
    wants_progress = context.meta is not None and "progress_token" in context.meta
    return ToolCaller(
        principal=principal_of(scope) or "local",
        request_id=str(context.request_id),
        send_progress=context.session.report_progress if wants_progress else None,
        disconnected=disconnect_future(scope),
        admitted=bool(scope.get(ADMITTED_KEY)),
    )


def refuse_cursor(params: types.PaginatedRequestParams | None) -> None:
    """Reject a cursor, because a client that follows it would get the same list again forever."""
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor: the list has one page.")


Work = Callable[[ToolCaller], Awaitable[types.CallToolResult]]

_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}}
"""The person accepts or declines; there is nothing to fill in."""
_QUESTION = "consent"


@dataclass(eq=False)
class _PendingCall:
    principal: str
    params: types.CallToolRequestParams
    task: asyncio.Task[types.CallToolResult] | None = None
    question: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    answered: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def ask(self, question: str) -> bool:
        """Hand a question to the request that waits for this call, and wait for the answer of another request."""
        self.answered = asyncio.get_running_loop().create_future()
        self.question.set_result(question)
        return await self.answered


class Elicitation:
    """Calls of one server that may ask."""

    def __init__(self) -> None:
        """Start without calls."""
        self._pending: dict[str, _PendingCall] = {}
        """Calls that wait for an answer, by the secret state that the client sends back."""

    async def run(
        self, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams, work: Work
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Return the result or the question of a call; raise MCPError for an answer to no question of this caller."""
        caller, capabilities = caller_of(context), context.session.client_capabilities
        if params.request_state is not None:
            call = self._pending.get(params.request_state)
            same = (caller.principal, params.name, params.arguments)
            if call is None or same != (call.principal, call.params.name, call.params.arguments):
                raise MCPError(
                    types.INVALID_PARAMS, "This question is not open: it was answered, or its call has ended."
                )
            del self._pending[params.request_state]
            call.question = asyncio.get_running_loop().create_future()
            answer = (params.input_responses or {}).get(_QUESTION)
            if not call.answered.done():
                call.answered.set_result(isinstance(answer, types.ElicitResult) and answer.action == "accept")
            return await self._wait(call)
        if capabilities is None or capabilities.elicitation is None:
            return await work(caller)
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return await work(replace(caller, ask=functools.partial(_ask_directly, context)))
        call = _PendingCall(caller.principal, params)
        # The call outlives its request.
        call.task = asyncio.ensure_future(work(replace(caller, ask=call.ask, disconnected=None)))
        return await self._wait(call)

    async def _wait(self, call: _PendingCall) -> types.CallToolResult | types.InputRequiredResult:
        assert call.task is not None
        ends: set[asyncio.Future[Any]] = {call.task, call.question}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            call.task.cancel()
            raise
        if call.task.done():
            return call.task.result()
        key = secrets.token_hex(16)

        def forget(task: asyncio.Task[types.CallToolResult]) -> None:
            """Drop a call that ended without an answer."""
            if self._pending.pop(key, None) is not None and not task.cancelled():
                task.exception()

        self._pending[key] = call
        call.task.add_done_callback(forget)
        form = types.ElicitRequestFormParams(message=call.question.result(), requested_schema=dict(_SCHEMA))
        return types.InputRequiredResult(
            input_requests={_QUESTION: types.ElicitRequest(params=form)}, request_state=key
        )


async def _ask_directly(context: ServerRequestContext[Any, Any], question: str) -> bool:
    try:
        answer = await context.session.elicit_form(question, dict(_SCHEMA), context.request_id)
    except NoBackChannelError:
        return True  # as for a client that cannot ask
    except MCPError:
        return False
    return answer.action == "accept"


Context = ServerRequestContext[Any, Any]
T = TypeVar("T")

_EXTENSION = "io.modelcontextprotocol/tasks"
_TASK_TOOLS = frozenset({"crawl", "research", "fetch_batch"})
"""Tools that may take longer than a client waits for an answer."""


class TaskParams(types.RequestParams):
    """Parameters of `tasks/get` and `tasks/cancel`."""

    task_id: str = Field(alias="taskId", max_length=100)


class _TaskUpdateParams(TaskParams):
    input_responses: dict[str, Any] = Field(alias="inputResponses")


@dataclass(frozen=True)
class TaskMethods:
    """Handlers of the task methods of one server."""

    calls: CallDispatcher
    runner: TaskRunner

    def add(self, server: Server[Any]) -> None:
        """Add the task methods, wrap `tools/call`, and declare the extension."""
        server.extensions[_EXTENSION] = {}
        entry = server.get_request_handler("tools/call")
        if entry is not None:
            call_tool: Callable[[Context, Any], Awaitable[Any]] = entry.handler

            async def call_or_start(context: Context, params: Any) -> Any:
                is_long = params.name in _TASK_TOOLS
                task = await self.start(context, params.name, params.arguments or {}) if is_long else None
                return await call_tool(context, params) if task is None else task

            server.add_request_handler("tools/call", entry.params_type, call_or_start)
        server.add_request_handler("tasks/get", TaskParams, self._get)
        server.add_request_handler("tasks/update", _TaskUpdateParams, self._update)
        server.add_request_handler("tasks/cancel", TaskParams, self._cancel)

    async def start(self, context: Context, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Run a call as a task; return None if tasks are not possible or the caller has too many."""
        if not declares_tasks(context):
            return None
        principal = caller_of(context).principal
        try:
            state = await self._query(context, lambda store: self.runner.start(store, principal, tool, arguments))
        except DatabaseUnavailableError:
            return None
        return None if state is None else {"resultType": "task", **_describe(state)}

    async def _get(self, context: Context, params: TaskParams) -> dict[str, Any]:
        principal = _check(context, params)
        state = await self._query(context, lambda store: self.runner.read(store, principal, params.task_id))
        if state is None:
            raise _unknown_task()
        answer = {"resultType": "complete", **_describe(state)}
        if state.status == "completed":
            answer["result"] = state.result
        elif state.status == "failed":
            answer["error"] = state.error
        elif state.status == "input_required":
            answer["inputRequests"] = state.input_requests
        return answer

    async def _update(self, context: Context, params: _TaskUpdateParams) -> dict[str, Any]:
        respond = functools.partial(self.runner.respond, responses=params.input_responses)
        return await self._change(context, params, respond)

    async def _cancel(self, context: Context, params: TaskParams) -> dict[str, Any]:
        return await self._change(context, params, self.runner.cancel)

    async def _change(
        self, context: Context, params: TaskParams, change: Callable[[TaskStore, str, str], Awaitable[bool]]
    ) -> dict[str, Any]:
        principal = _check(context, params)
        if not await self._query(context, lambda store: change(store, principal, params.task_id)):
            raise _unknown_task()
        return {"resultType": "complete"}

    async def _query(self, context: Context, work: Callable[[TaskStore], Awaitable[T]]) -> T:
        return await self.calls.query(
            context.method, caller_of(context), lambda services: work(TaskStore(services.store.records))
        )


def declares_tasks(context: Context) -> bool:
    """Return True if the client of a request accepts a task as the answer."""
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return False
    meta: Mapping[str, Any] = context.meta or {}
    capabilities = meta.get(types.CLIENT_CAPABILITIES_META_KEY)
    extensions = capabilities.get("extensions") if isinstance(capabilities, Mapping) else None
    return isinstance(extensions, Mapping) and _EXTENSION in extensions


def missing_capability() -> MCPError:
    """Return the error for a client that does not support tasks."""
    text = f"This request needs a client that declares {_EXTENSION}."
    required: dict[str, Any] = {"requiredCapabilities": {"extensions": {_EXTENSION: {}}}}
    return MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, text, required)


def _check(context: Context, params: TaskParams) -> str:
    """Return the principal of a request about a task, or reject the request."""
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found", context.method)
    headers = {} if context.request is None else context.request.headers
    if MCP_NAME_HEADER in headers and decode_header_value(headers[MCP_NAME_HEADER]) != params.task_id:
        raise MCPError(types.HEADER_MISMATCH, f"The header {MCP_NAME_HEADER} does not match taskId.")
    if not declares_tasks(context):
        raise missing_capability()
    return caller_of(context).principal


def _describe(state: TaskState) -> dict[str, Any]:
    created_at, updated_at = (
        datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        for at in (state.created_at, state.updated_at)
    )
    return {
        "taskId": state.id,
        "status": state.status,
        "createdAt": created_at,
        "lastUpdatedAt": updated_at,
        "ttlMs": TTL_S * 1_000,
        "pollIntervalMs": 1_000,
        **({"statusMessage": state.message} if state.message else {}),
    }


def _unknown_task() -> MCPError:
    return MCPError(types.INVALID_PARAMS, "Unknown task: it has expired, or it belongs to another caller.")

"""Ask the person at the client for consent while a tool call runs (elicitation).

Before protocol version 2026-07-28, the question is a request on the connection of the call. Since then, the question is
the result of the call, and the client repeats the call with the answer: the tool waits in between.
"""

from __future__ import annotations

import asyncio
import functools
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    PaginatedRequestParams,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from scraper.server.access import principal_of
from scraper.server.calls.dispatcher import ADMITTED_KEY, ToolCaller
from scraper.server.http.middleware import disconnect_future


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


def refuse_cursor(params: PaginatedRequestParams | None) -> None:
    """Reject a cursor, because a client that follows it would get the same list again forever."""
    if params is not None and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "Invalid cursor: the list has one page.")


Work = Callable[[ToolCaller], Awaitable[CallToolResult]]

_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}}
"""The person accepts or declines; there is nothing to fill in."""
_QUESTION = "consent"
_KEY_BYTES = 16


@dataclass(eq=False)
class _PendingCall:
    """A call that may ask the user a question."""

    principal: str
    params: CallToolRequestParams
    task: asyncio.Task[CallToolResult] | None = None
    question: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    answered: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def ask(self, question: str) -> bool:
        """Hand a question to the request that waits for this call, and wait for the answer of another request."""
        self.answered = asyncio.get_running_loop().create_future()
        self.question.set_result(question)
        return await self.answered

    def is_repeated_by(self, principal: str, params: CallToolRequestParams) -> bool:
        """Return True if a request is this call again."""
        mine = (self.principal, self.params.name, self.params.arguments)
        return mine == (principal, params.name, params.arguments)


class Elicitation:
    """Calls of one server that may ask."""

    def __init__(self) -> None:
        """Start without calls."""
        self._pending: dict[str, _PendingCall] = {}
        """Calls that wait for an answer, by the secret state that the client sends back."""

    async def run(
        self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams, work: Work
    ) -> CallToolResult | InputRequiredResult:
        """Run a call whose tool may ask; return its result, or its question.

        Raises:
            MCPError: The answer belongs to no question of this caller.
        """
        caller, capabilities = caller_of(context), context.session.client_capabilities
        if params.request_state is not None:
            call = self._pending.get(params.request_state)
            if call is None or not call.is_repeated_by(caller.principal, params):
                raise MCPError(INVALID_PARAMS, "This question is not open: it was answered, or its call has ended.")
            del self._pending[params.request_state]
            call.question = asyncio.get_running_loop().create_future()
            answer = (params.input_responses or {}).get(_QUESTION)
            if not call.answered.done():
                call.answered.set_result(isinstance(answer, ElicitResult) and answer.action == "accept")
            return await self._wait(call)
        if capabilities is None or capabilities.elicitation is None:
            return await work(caller)
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return await work(replace(caller, ask=functools.partial(_ask_directly, context)))
        call = _PendingCall(caller.principal, params)
        # The call outlives its request.
        call.task = asyncio.ensure_future(work(replace(caller, ask=call.ask, disconnected=None)))
        return await self._wait(call)

    async def _wait(self, call: _PendingCall) -> CallToolResult | InputRequiredResult:
        """Wait until a call has ended or asks."""
        assert call.task is not None
        ends: set[asyncio.Future[Any]] = {call.task, call.question}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            call.task.cancel()
            raise
        if call.task.done():
            return call.task.result()
        key = secrets.token_hex(_KEY_BYTES)
        self._pending[key] = call
        call.task.add_done_callback(functools.partial(self._forget, key))
        request = ElicitRequest(params=_form(call.question.result()))
        return InputRequiredResult(input_requests={_QUESTION: request}, request_state=key)

    def _forget(self, key: str, task: asyncio.Task[CallToolResult]) -> None:
        """Drop a call that ended without an answer."""
        if self._pending.pop(key, None) is not None and not task.cancelled():
            task.exception()


async def _ask_directly(context: ServerRequestContext[Any, Any], question: str) -> bool:
    try:
        answer = await context.session.elicit_form(question, dict(_SCHEMA), context.request_id)
    except NoBackChannelError:
        return True  # as for a client that cannot ask
    except MCPError:
        return False
    return answer.action == "accept"


def _form(question: str) -> ElicitRequestFormParams:
    return ElicitRequestFormParams(message=question, requested_schema=dict(_SCHEMA))

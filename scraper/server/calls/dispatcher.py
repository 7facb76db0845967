"""Run each tool call in its own task, which ends at a disconnect, at its deadline or at shutdown.

The SDK cancels through anyio scopes, which cancel again at every await, also during cleanup. Our task is canceled once
and awaited, so that a tool can close its page in a `finally`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR

from scraper.coordination.local_state import LocalLimits
from scraper.coordination.protocols import RateLimits
from scraper.errors import OverloadedError
from scraper.render.answer_text import error_sentence
from scraper.server.calls.limits import TOO_MANY, CallLimiter
from scraper.server.calls.progress import ProgressNotifier, Send, report_progress
from scraper.server.lifecycle import AppHolder, AppOpenError, wait_for_first
from scraper.server.telemetry.logs import CallLine
from scraper.tools.model import Tool, ToolAnswer, ToolCall
from scraper.values.types import closest_match

if TYPE_CHECKING:
    from scraper.services import Services

T = TypeVar("T")

_LOG = logging.getLogger(__name__)

_GRACE_S = 2.0
"""Seconds after its deadline at which a call is canceled. Tools answer at the deadline; clients wait 60 s."""
_CLEANUP_S = 3.0
"""Seconds that a canceled tool has to release its resources before it is abandoned."""
_DEFAULT_LIMIT = 200
"""Running calls, without a setting."""
_NAME_CHARS = 60
"""Characters of an unknown name that an answer repeats."""
_QUERY_S = 10.0
"""Seconds for a query of stored data, so that a hanging disk does not block clients. It takes milliseconds."""


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """The caller of a request, with its progress callback and its disconnect future."""

    principal: str = "local"
    request_id: str = ""
    send_progress: Send | None = None
    gone: asyncio.Future[None] | None = None
    admitted: bool = False
    """True if the request arrived before shutdown, even if it is dispatched later."""


class ShuttingDownError(MCPError):
    """The server is shutting down."""

    outcome = "refused"

    def __init__(self) -> None:
        """Create the JSON-RPC error."""
        super().__init__(-32000, "The server is shutting down. Try again in a few seconds.")


class _ClientDisconnectedError(MCPError):
    """The client has disconnected."""

    outcome = "gone"

    def __init__(self) -> None:
        super().__init__(-32800, "Request cancelled")


class _QueryFailedError(MCPError):
    """Stored data cannot be queried."""

    outcome = "error"

    def __init__(self, why: str) -> None:
        super().__init__(INTERNAL_ERROR, why)


class _BusyError(MCPError):
    """The caller must wait."""

    outcome = "busy"

    def __init__(self, why: OverloadedError) -> None:
        super().__init__(TOO_MANY, error_sentence(why), {"retryAfter": math.ceil(why.retry_after_s)})


class _ActiveCount:
    """The number of active blocks, and an event that is set while there are none."""

    def __init__(self) -> None:
        self.count = 0
        self.none = asyncio.Event()
        self.none.set()

    @contextlib.contextmanager
    def add(self) -> Iterator[None]:
        """Count the block while it runs."""
        self.count += 1
        self.none.clear()
        try:
            yield
        finally:
            self.count -= 1
            if not self.count:
                self.none.set()


class CallDispatcher:
    """All tool calls of one process."""

    def __init__(
        self,
        tools: Sequence[Tool],
        holder: AppHolder[Services],
        *,
        deadline_s: float,
        turns: CallLimiter | None = None,
        limits: RateLimits | None = None,
    ) -> None:
        """Create a dispatcher.

        Args:
            tools: The tools of the process.
            holder: Holder of the App.
            deadline_s: Deadline of each call.
            turns: Limiter of running calls.
            limits: Rate limits; by default they count in this process only.
        """
        self.limits = limits or LocalLimits()
        self.draining = False
        self._tools = {tool.name: tool for tool in tools}
        self._holder = holder
        self._deadline_s = deadline_s
        self._turns = turns or CallLimiter(limit=_DEFAULT_LIMIT)
        self._stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._running = _ActiveCount()
        self._admitted = _ActiveCount()

    async def answer(
        self, name: str, arguments: Mapping[str, Any], caller: ToolCaller, tools: Mapping[str, Tool] | None = None
    ) -> ToolAnswer:
        """Run a tool and return its answer.

        Args:
            name: Name of the tool.
            arguments: Arguments as received.
            caller: The caller.
            tools: Tools of the endpoint, if they differ from those of the process.

        Raises:
            MCPError: The server is shutting down, or the client has disconnected.
        """
        available = self._tools if tools is None else tools
        with CallLine(name, caller.principal, caller.request_id) as line:
            if self.draining and not caller.admitted:
                raise ShuttingDownError
            tool = available.get(name)
            try:
                async with self._turns.admit(caller.principal):
                    if tool is None:
                        answer = _unknown_tool(name, available)
                    else:
                        answer = await self._run(tool, arguments, caller)
            except OverloadedError as error:
                line.set_outcome("busy", 0)
                return ToolAnswer(error_sentence(error), is_error=True)
            line.set_outcome("error" if answer.is_error else "ok", len(answer.text))
            return answer

    async def query(
        self, method: str, caller: ToolCaller, work: Callable[[Services], Awaitable[T]], *, limit_s: float = _QUERY_S
    ) -> T:
        """Run `work` on stored data for a request that is not a tool call.

        Raises:
            MCPError: The server is shutting down or busy, the client has disconnected, the services do not
                open, or the store does not respond.
        """
        with CallLine(method, caller.principal, caller.request_id) as line, self._running.add():
            if self.draining and not caller.admitted:
                raise ShuttingDownError
            try:
                async with self._turns.admit(caller.principal):
                    found = await self._supervise(self._run_on_app(work), caller.gone, limit_s)
            except OverloadedError as error:
                raise _BusyError(error) from None
            except AppOpenError as error:
                raise _QueryFailedError(str(error)) from None
            except TimeoutError:
                raise _QueryFailedError("Stored data could not be read in time. Try again.") from None
            line.set_outcome("ok", 0)
            return found

    @property
    def running(self) -> int:
        """The number of running calls."""
        return self._running.count

    def admitted(self) -> contextlib.AbstractContextManager[None]:
        """Count a request that may become a call, so that a drain waits for it."""
        return self._admitted.add()

    @property
    def full(self) -> bool:
        """True if a caller with running calls would be rejected."""
        return self._turns.full

    async def drain(self, limit_s: float, at_once: asyncio.Event) -> None:
        """Reject new calls, wait at most `limit_s` for running ones, then cancel these."""
        self.draining = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await wait_for_first(self._wait_until_idle(), at_once.wait())
        if not self._stopped.done():
            self._stopped.set_result(None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLEANUP_S):
                await self._running.none.wait()

    async def _wait_until_idle(self) -> None:
        await self._admitted.none.wait()
        await self._running.none.wait()

    async def _run(self, tool: Tool, arguments: Mapping[str, Any], caller: ToolCaller) -> ToolAnswer:
        with self._running.add():
            async with report_progress(caller.send_progress) as progress:
                work = self._work(tool, arguments, caller, progress)
                try:
                    return await self._supervise(work, caller.gone, self._deadline_s + _GRACE_S)
                except TimeoutError:
                    why = f"Nothing could be read within {self._deadline_s:g} s."
                    return ToolAnswer(f"{why} Try again later, or ask for less.", is_error=True)

    async def _work(
        self, tool: Tool, arguments: Mapping[str, Any], caller: ToolCaller, progress: ProgressNotifier
    ) -> ToolAnswer:
        start = time.monotonic()
        try:
            app = await self._holder.app()
        except AppOpenError as error:
            return ToolAnswer(str(error), is_error=True)
        left_s = self._deadline_s - (time.monotonic() - start)
        call = ToolCall(principal=caller.principal, deadline_s=left_s, progress=progress.report)
        return await tool.run(app, arguments, call)

    async def _run_on_app(self, work: Callable[[Services], Awaitable[T]]) -> T:
        return await work(await self._holder.app())

    async def _supervise(self, work: Coroutine[Any, Any, T], gone: asyncio.Future[None] | None, limit_s: float) -> T:
        """Return the result of `work`; on return, its task has ended.

        Raises:
            MCPError: The server is shutting down, or the client has disconnected.
            TimeoutError: The work takes longer than `limit_s`.
        """
        task = asyncio.create_task(work)
        ends: set[asyncio.Future[Any]] = {self._stopped} if gone is None else {self._stopped, gone}
        try:
            await asyncio.wait({task, *ends}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancel(task)
        if task.done() and not task.cancelled():
            return task.result()
        if self._stopped.done():
            raise ShuttingDownError
        if gone is not None and gone.done():
            raise _ClientDisconnectedError
        raise TimeoutError


def _unknown_tool(name: str, available: Mapping[str, Tool]) -> ToolAnswer:
    if len(name) > _NAME_CHARS:
        # The name comes from the client, and the search for a similar name takes time by its length.
        name = name[: _NAME_CHARS - 1] + "…"
    closest = closest_match(name, list(available))
    hint = f" Did you mean {closest}?" if closest else ""
    return ToolAnswer(f'Unknown tool "{name}".{hint} Known: {", ".join(available)}.', is_error=True)


async def _cancel(task: asyncio.Task[Any]) -> None:
    """Cancel a task once and wait for its cleanup, even if this task is being canceled."""
    if task.done():
        return
    task.cancel()
    with anyio.CancelScope(shield=True):
        _, left = await asyncio.wait({task}, timeout=_CLEANUP_S)
    if left:
        _LOG.warning("a canceled call has not ended after %g s", _CLEANUP_S)

"""Run each tool call in its own task, which ends at a disconnect, at its deadline or at shutdown.

The SDK cancels through anyio scopes, which cancel again at every await, also during cleanup. Our task is canceled once
and awaited, so that a tool can close its page in a `finally`.
"""

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR

from scraper.background_tasks import run_in_background
from scraper.call_context import AskUser
from scraper.coordination.state import RateLimits
from scraper.errors import OverloadedError
from scraper.render.untrusted_text import error_sentence
from scraper.server.calls.limits import TOO_MANY_REQUESTS, CallLimiter, ServicesLimits
from scraper.server.lifecycle import ActiveCount, ServerContext, ServicesHolder, ServicesOpenError, wait_for_first
from scraper.tools.model import Services, Tool, ToolAnswer, ToolCall
from scraper.values.text import suggest, truncate

_PACE_S = 0.5
"""Seconds between notifications: at most two per second. A shorter call sends none and stays plain JSON."""
_SILENCE_S = 4.0
"""Seconds without news, after `_PACE_S`, until the last state is sent again: less than 5 s in total."""

SendProgress = Callable[[float, float | None, str | None], Awaitable[None]]


class ProgressNotifier:
    """Store the progress of one call and send it as notifications."""

    def __init__(self) -> None:
        """Start with no progress."""
        self._done = 0.0
        self._sent = -1.0
        self._base = 0.0
        self._total: float | None = None
        self._message: str | None = None
        self._repeats = 0
        self._has_news = asyncio.Event()

    def report(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Record the state of the call; `send_forever` sends it."""
        # The last step is announced by `send_end`: a repeat of it would exceed the total.
        base = done if total is None else min(done, total - 1)
        if base > self._base:
            self._repeats = 0
        self._base = max(base, self._base)
        self._done = max(done, self._done)
        self._total = total
        self._message = message
        self._has_news.set()

    async def send_forever(self, send: SendProgress, *, pace_s: float, silence_s: float) -> None:
        """Send each new state, and repeat the last one during silence, until canceled."""
        while True:
            await asyncio.sleep(pace_s)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(silence_s):
                    await self._has_news.wait()
            self._has_news.clear()
            # The specification requires increasing values; repeats stay below the next step.
            self._sent = self._base + self._repeats / (self._repeats + 1)
            # A total below the value belongs to a part of the call that counts other steps.
            total = None if self._total is None or self._total <= self._sent else self._total
            await send(self._sent, total, self._message)
            self._repeats += 1

    async def send_end(self, send: SendProgress) -> None:
        """Send that all steps are done, if they are and a notification was sent before."""
        if self._total is not None and self._done >= self._total > self._sent >= 0:
            await send(self._total, self._total, self._message)


@contextlib.asynccontextmanager
async def report_progress(
    send: SendProgress | None, *, pace_s: float = _PACE_S, silence_s: float = _SILENCE_S
) -> AsyncIterator[ProgressNotifier]:
    """Send the progress of one call while the block runs; without `send`, only record it."""
    progress = ProgressNotifier()
    if send is None:
        yield progress
        return
    async with run_in_background(progress.send_forever(send, pace_s=pace_s, silence_s=silence_s)):
        yield progress
    end = asyncio.create_task(progress.send_end(send))
    # The answer does not wait for a client that does not read.
    await asyncio.wait({end}, timeout=pace_s)
    end.cancel()


T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_CALL_LOG = logging.getLogger("scraper.server")

ADMITTED_KEY = "search_mcp.admitted"
"""Key in the ASGI scope of a request; True if the request arrived before shutdown."""
_GRACE_S = 2.0
"""Seconds after its deadline at which a call is canceled. Tools answer at the deadline; clients wait 60 s."""
_CLEANUP_S = 3.0
"""Seconds that a canceled tool has to release its resources before it is abandoned."""
_LOG_CHARS = 64
_NAME_CHARS = 60
"""Characters of an unknown name that an answer repeats."""
_UNCOUNTED = frozenset({"resources/list"})
"""Methods outside the limits of calls: clients list all resources at their start, in many requests of little work."""
_QUERY_S = 10.0
"""Seconds for a query of stored data, so that a hanging disk does not block clients. It takes milliseconds."""


class CallLine(AbstractContextManager["CallLine"]):
    """Log one line when a call ends, also by an exception."""

    def __init__(self, tool: str, principal: str, request_id: str) -> None:
        """Start the clock of a call."""
        self._started_at = time.monotonic()
        # The name comes from the client and may be unknown; it is cut so that it cannot fill the log.
        self._fields: dict[str, str | int] = {"tool": tool[:_LOG_CHARS], "principal": principal}
        self._fields["request"] = request_id[:_LOG_CHARS]

    def set_outcome(self, outcome: str, chars: int) -> None:
        """Set the outcome and the length of the answer."""
        self._fields |= {"outcome": outcome, "chars": chars}

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        """Log the line."""
        if isinstance(error, asyncio.CancelledError):
            self.set_outcome("cancelled", 0)
        elif error is not None:
            self.set_outcome(getattr(error, "outcome", type(error).__name__), 0)
        ms = round((time.monotonic() - self._started_at) * 1000)
        _CALL_LOG.info("call", extra={"fields": {**self._fields, "ms": ms}})


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """The caller of a request, with its progress callback and its disconnect future."""

    principal: str = "local"
    request_id: str = ""
    send_progress: SendProgress | None = None
    disconnected: asyncio.Future[None] | None = None
    admitted: bool = False
    """True if the request arrived before shutdown, even if it is dispatched later."""
    deadline_s: float | None = None
    """Seconds for the call; None for those of the server."""
    resume_key: str = ""
    ask: AskUser | None = None


class ShuttingDownError(MCPError):
    """The server is shutting down."""

    outcome = "refused"

    def __init__(self, *, has_run: bool = False) -> None:
        """Create the JSON-RPC error; `has_run` says that the call was cut off, so that a proxy must not repeat it."""
        self.has_run = has_run
        super().__init__(-32000, "The server is shutting down. Try again in a few seconds.")


class _QueryError(MCPError):
    """A request has no result; `outcome` is that of its log line."""

    def __init__(self, outcome: str, code: int, message: str, data: object = None) -> None:
        super().__init__(code, message, data)
        self.outcome = outcome


class CallDispatcher:
    """Run the tool calls of one process."""

    def __init__(
        self,
        tools: Sequence[Tool],
        holder: ServicesHolder[Services],
        *,
        deadline_s: float,
        limiter: CallLimiter | None = None,
        limits: RateLimits | None = None,
    ) -> None:
        """Create a dispatcher of calls with a deadline each; by default, its limits count in this process only."""
        self.limits = limits or RateLimits()
        self.draining = False
        self._tools = {tool.name: tool for tool in tools}
        self._holder = holder
        self._deadline_s = deadline_s
        self._limiter = limiter or CallLimiter(limit=200)
        self._stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._running = ActiveCount()
        self.admitted = ActiveCount()
        """Requests that may become calls, for which `drain` waits."""
        self.background = ActiveCount()
        """Work that is not a call; `drain` waits for it after all calls have been canceled."""

    async def answer(
        self, name: str, arguments: Mapping[str, Any], caller: ToolCaller, tools: Mapping[str, Tool] | None = None
    ) -> ToolAnswer:
        """Return the answer of a tool; raise MCPError if the server is shutting down or the client has disconnected."""
        available = self._tools if tools is None else tools
        with CallLine(name, caller.principal, caller.request_id) as line:
            if self.draining and not caller.admitted:
                raise ShuttingDownError
            tool = available.get(name)
            try:
                async with self._limiter.admit(caller.principal):
                    if tool is None:
                        # The name comes from the client, and the search for a similar name takes time by its length.
                        short, names = truncate(name, _NAME_CHARS), ", ".join(available)
                        text = f'Unknown tool "{short}"{suggest(short, available)}. Known: {names}.'
                        answer = ToolAnswer(text, is_error=True)
                    else:
                        answer = await self._run(tool, arguments, caller)
            except OverloadedError as error:
                line.set_outcome("busy", 0)
                return ToolAnswer(error_sentence(error), is_error=True, failures=(error,))
            line.set_outcome("error" if answer.is_error else "ok", len(answer.text))
            return answer

    async def query(
        self, method: str, caller: ToolCaller, work: Callable[[Services], Awaitable[T]], *, limit_s: float = _QUERY_S
    ) -> T:
        """Return the result of `work` on stored data; raise MCPError if the server cannot do it now."""
        with CallLine(method, caller.principal, caller.request_id) as line, self._running.add():
            if self.draining and not caller.admitted:
                raise ShuttingDownError

            async def run() -> T:
                return await work(await self._holder.services())

            try:
                async with nullcontext() if method in _UNCOUNTED else self._limiter.admit(caller.principal):
                    found = await self._supervise(run(), caller.disconnected, limit_s)
            except OverloadedError as error:
                data = {"retryAfter": math.ceil(error.retry_after_s)}
                raise _QueryError("busy", TOO_MANY_REQUESTS, error_sentence(error), data) from None
            except ServicesOpenError as error:
                raise _QueryError("error", INTERNAL_ERROR, str(error)) from None
            except TimeoutError:
                text = "Stored data could not be read in time. Try again."
                raise _QueryError("error", INTERNAL_ERROR, text) from None
            line.set_outcome("ok", 0)
            return found

    @property
    def running(self) -> int:
        """The number of running calls."""
        return self._running.count

    @property
    def full(self) -> bool:
        """True if a caller with running calls would be rejected."""
        return self._limiter.full

    async def drain(self, limit_s: float, at_once: asyncio.Event) -> None:
        """Reject new calls, wait up to `limit_s` for running ones, then cancel these."""
        self.draining = True

        async def wait_until_idle() -> None:
            await self.admitted.none.wait()
            await self._running.none.wait()

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await wait_for_first(wait_until_idle(), at_once.wait())
        if not self._stopped.done():
            self._stopped.set_result(None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLEANUP_S):
                await self._running.none.wait()
                await self.background.none.wait()

    async def _run(self, tool: Tool, arguments: Mapping[str, Any], caller: ToolCaller) -> ToolAnswer:
        deadline_s = caller.deadline_s or self._deadline_s
        with self._running.add():
            async with report_progress(caller.send_progress) as progress:

                async def work() -> ToolAnswer:
                    start = time.monotonic()
                    try:
                        services = await self._holder.services()
                    except ServicesOpenError as error:
                        return ToolAnswer(str(error), is_error=True)
                    if tool.open_world:
                        # At once, if they are lazy: they start beside each other.
                        services.start_soon()
                    left_s = deadline_s - (time.monotonic() - start)
                    call = ToolCall(caller.principal, left_s, progress.report, caller.resume_key, caller.ask)
                    return await tool.run(services, arguments, call)

                try:
                    return await self._supervise(work(), caller.disconnected, deadline_s + _GRACE_S)
                except TimeoutError:
                    why = f"Nothing could be read within {deadline_s:g} s."
                    return ToolAnswer(f"{why} Try again later, or ask for less.", is_error=True)

    async def _supervise(
        self, work: Coroutine[Any, Any, T], disconnected: asyncio.Future[None] | None, limit_s: float
    ) -> T:
        """Run `work` in a task and return its result; the task has ended then, or its cleanup took too long."""
        task = asyncio.create_task(work)
        ends: set[asyncio.Future[Any]] = {self._stopped} if disconnected is None else {self._stopped, disconnected}
        try:
            await asyncio.wait({task, *ends}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancel(task)
        if task.done() and not task.cancelled():
            return task.result()
        if self._stopped.done():
            raise ShuttingDownError(has_run=True)
        if disconnected is not None and disconnected.done():
            raise _QueryError("gone", -32800, "Request cancelled")
        raise TimeoutError


def make_dispatcher(context: ServerContext) -> CallDispatcher:
    """Return the dispatcher of a server, with the limits of its settings."""
    settings, limits = context.settings, ServicesLimits(context.holder)
    limiter = CallLimiter(limit=settings.call_limit, per_minute=settings.calls_per_minute, limits=limits)
    return CallDispatcher(
        context.tools, context.holder, deadline_s=settings.tool_timeout_s, limiter=limiter, limits=limits
    )


async def _cancel(task: asyncio.Task[Any]) -> None:
    """Cancel a task once and wait for its cleanup, even if this task is being canceled."""
    if task.done():
        return
    task.cancel()
    with anyio.CancelScope(shield=True):
        _, left = await asyncio.wait({task}, timeout=_CLEANUP_S)
    if left:
        _LOG.warning("a canceled call has not ended after %g s", _CLEANUP_S)

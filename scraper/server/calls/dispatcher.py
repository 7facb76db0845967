"""Runs tool calls: each in a task of its own that ends when its client, its time or the server does.

The SDK cancels through anyio scopes, which cancel again at every wait, clean-up included. A task of our own
is cancelled once, and waited for, so that a tool can close its page in a `finally`.
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
from scraper.render.errors import error_sentence
from scraper.server.calls.call_limiter import CallLimiter
from scraper.server.calls.progress import ProgressNotifier, Send, reporting
from scraper.server.calls.rate_limit import TOO_MANY
from scraper.server.lifecycle.app_holder import AppHolder, AppOpenError
from scraper.server.lifecycle.signals import first_of
from scraper.server.telemetry.logs import CallLine
from scraper.tools.model import Tool, ToolAnswer, ToolCall
from scraper.values import closest_match

if TYPE_CHECKING:
    from scraper.app import App

T = TypeVar("T")

_LOG = logging.getLogger(__name__)

_GRACE_S = 2.0
"""A tool answers with what it has at its deadline; so long after it the call is ended. Clients wait 60 s."""
_CLEANUP_S = 3.0
"""How long a cancelled tool may take to give back what it holds before it is left to itself."""
_LIMIT = 200
"""Calls under way where no operator has said how many."""
_NAME_CHARS = 60
"""How much of an unknown name an answer repeats."""
_LOOK_S = 10.0
"""For a look at what is kept, which takes milliseconds: a disk that hangs must not hold the client."""


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """Who asks, how to tell them where the call stands, and how to know that they have gone."""

    principal: str = "local"
    request_id: str = ""
    send_progress: Send | None = None
    gone: asyncio.Future[None] | None = None
    admitted: bool = False
    """Let in before the process was told to stop, though it may be heard only after that."""


class ShuttingDownError(MCPError):
    """The process is told to stop."""

    outcome = "refused"

    def __init__(self) -> None:
        super().__init__(-32000, "The server is shutting down. Try again in a few seconds.")


class _ClientGone(MCPError):
    """Nobody waits for the answer."""

    outcome = "gone"

    def __init__(self) -> None:
        super().__init__(-32800, "Request cancelled")


class _CannotLook(MCPError):
    """What is kept cannot be looked at."""

    outcome = "error"

    def __init__(self, why: str) -> None:
        super().__init__(INTERNAL_ERROR, why)


class _Busy(MCPError):
    """This caller must wait."""

    outcome = "busy"

    def __init__(self, why: OverloadedError) -> None:
        super().__init__(TOO_MANY, error_sentence(why), {"retryAfter": math.ceil(why.retry_after_s)})


class _Tally:
    """How many there are, and the moment when there are none."""

    def __init__(self) -> None:
        self.count = 0
        self.none = asyncio.Event()
        self.none.set()

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """One more while the block runs."""
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
        house: AppHolder[App],
        *,
        deadline_s: float,
        turns: CallLimiter | None = None,
        limits: RateLimits | None = None,
    ) -> None:
        """`limits`: who counts what callers do; this process where nobody is named."""
        self.limits = limits or LocalLimits()
        self.draining = False
        self._tools = {tool.name: tool for tool in tools}
        self._house = house
        self._deadline_s = deadline_s
        self._turns = turns or CallLimiter(limit=_LIMIT)
        self._stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._running = _Tally()
        self._admitted = _Tally()

    async def answer(
        self,
        name: str,
        arguments: Mapping[str, Any],
        caller: ToolCaller,
        tools: Mapping[str, Tool] | None = None,
    ) -> ToolAnswer:
        """Run a tool, one of `tools` where an endpoint offers others than the process at large.

        Raises:
            MCPError: the server is shutting down, or the client has gone.
        """
        offered = self._tools if tools is None else tools
        with CallLine(name, caller.principal, caller.request_id) as line:
            if self.draining and not caller.admitted:
                raise ShuttingDownError
            tool = offered.get(name)
            try:
                async with self._turns.taken(caller.principal):
                    answer = await self._run(tool, arguments, caller) if tool else _unknown(name, offered)
            except OverloadedError as error:
                line.ended("busy", 0)
                return ToolAnswer(error_sentence(error), is_error=True)
            line.ended("error" if answer.is_error else "ok", len(answer.text))
            return answer

    async def look(
        self,
        method: str,
        caller: ToolCaller,
        work: Callable[[App], Awaitable[T]],
        *,
        limit_s: float = _LOOK_S,
    ) -> T:
        """What `work` finds in what is kept, for a request that is no tool call.

        Raises:
            MCPError: the server is shutting down or full, the client has gone, the services do not open, or
                the store does not answer.
        """
        with CallLine(method, caller.principal, caller.request_id) as line, self._running.one():
            if self.draining and not caller.admitted:
                raise ShuttingDownError
            try:
                async with self._turns.taken(caller.principal):
                    found = await self._supervised(self._looking(work), caller.gone, limit_s)
            except OverloadedError as error:
                raise _Busy(error) from None
            except AppOpenError as error:
                raise _CannotLook(str(error)) from None
            except TimeoutError:
                raise _CannotLook("What is kept could not be read in time. Try again.") from None
            line.ended("ok", 0)
            return found

    @property
    def running(self) -> int:
        """Calls under way."""
        return self._running.count

    def admitted(self) -> contextlib.AbstractContextManager[None]:
        """Let a request in that may become a call: a drain that begins in the meantime waits for it too."""
        return self._admitted.one()

    @property
    def full(self) -> bool:
        """Whether a caller with calls under way would be told to wait."""
        return self._turns.full

    async def drain(self, limit_s: float, at_once: asyncio.Event) -> None:
        """Refuse new calls, let the running ones finish within `limit_s`, then end them."""
        self.draining = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await first_of(self._none_left(), at_once.wait())
        if not self._stopped.done():
            self._stopped.set_result(None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLEANUP_S):
                await self._running.none.wait()

    async def _none_left(self) -> None:
        await self._admitted.none.wait()
        await self._running.none.wait()

    async def _run(self, tool: Tool, arguments: Mapping[str, Any], caller: ToolCaller) -> ToolAnswer:
        with self._running.one():
            async with reporting(caller.send_progress) as progress:
                work = self._work(tool, arguments, caller, progress)
                try:
                    return await self._supervised(work, caller.gone, self._deadline_s + _GRACE_S)
                except TimeoutError:
                    why = f"Nothing could be read within {self._deadline_s:g} s."
                    return ToolAnswer(f"{why} Try again later, or ask for less.", is_error=True)

    async def _work(
        self, tool: Tool, arguments: Mapping[str, Any], caller: ToolCaller, progress: ProgressNotifier
    ) -> ToolAnswer:
        begun = time.monotonic()
        try:
            app = await self._house.app()
        except AppOpenError as error:
            return ToolAnswer(str(error), is_error=True)
        left_s = self._deadline_s - (time.monotonic() - begun)
        call = ToolCall(principal=caller.principal, deadline_s=left_s, progress=progress.report)
        return await tool.run(app, arguments, call)

    async def _looking(self, work: Callable[[App], Awaitable[T]]) -> T:
        return await work(await self._house.app())

    async def _supervised(
        self, work: Coroutine[Any, Any, T], gone: asyncio.Future[None] | None, limit_s: float
    ) -> T:
        """What comes of `work`, unless something ends it first; on return it has ended.

        Raises:
            MCPError: the server is shutting down, or the client has gone.
            TimeoutError: it takes longer than `limit_s`.
        """
        task = asyncio.create_task(work)
        ends: set[asyncio.Future[Any]] = {self._stopped} if gone is None else {self._stopped, gone}
        try:
            await asyncio.wait({task, *ends}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _end(task)
        if task.done() and not task.cancelled():
            return task.result()
        if self._stopped.done():
            raise ShuttingDownError
        if gone is not None and gone.done():
            raise _ClientGone
        raise TimeoutError


def _unknown(name: str, offered: Mapping[str, Tool]) -> ToolAnswer:
    if len(name) > _NAME_CHARS:
        # It is the client's word, and looking for what it is like takes time by its length.
        name = name[: _NAME_CHARS - 1] + "…"
    closest = closest_match(name, list(offered))
    hint = f" Did you mean {closest}?" if closest else ""
    return ToolAnswer(f'Unknown tool "{name}".{hint} Known: {", ".join(offered)}.', is_error=True)


async def _end(task: asyncio.Task[Any]) -> None:
    """Cancel a task once and wait until it has cleaned up, although we are being cancelled ourselves."""
    if task.done():
        return
    task.cancel()
    with anyio.CancelScope(shield=True):
        _, left = await asyncio.wait({task}, timeout=_CLEANUP_S)
    if left:
        _LOG.warning("a cancelled call has not ended after %g s", _CLEANUP_S)

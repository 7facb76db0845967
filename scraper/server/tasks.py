"""Run tasks, watch the store for changes by other servers, and take over tasks whose server has ended."""

import asyncio
import json
import logging
import secrets
import time
import zlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR

from scraper.server.calls.dispatcher import ShuttingDownError
from scraper.store.protocols import DatabaseUnavailableError
from scraper.store.record_logs import RecordExistsError, RecordLogs

TTL_S = 3_600
"""Seconds from its creation during which a task can be read."""
MAX_TASKS = 50
"""Stored tasks of one caller. Each holds at most one answer."""
MAX_RESULT_BYTES = 2_000_000
"""Bytes of a result as JSON: ten times the longest answer that a call can request."""
_RECORD_LOG = "task:"


@dataclass(frozen=True, slots=True)
class TaskState:
    """State of one task. The names of the statuses are those of the protocol."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    created_at: float
    """Seconds of the epoch."""
    updated_at: float
    """Seconds of the epoch. Without a newer time for `task_runner.STALE_S`, its server counts as ended."""
    status: str = "working"
    message: str = ""
    attempts: int = 1
    """Number of servers that have run it. Another one takes over if a server ends."""
    input_requests: Mapping[str, Any] = field(default_factory=dict)
    input_responses: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None

    @property
    def is_final(self) -> bool:
        """Return True if the state cannot change anymore."""
        return self.status in {"completed", "failed", "cancelled"}


@dataclass(frozen=True, slots=True)
class StoredTask:
    """State of a task with the number of its record."""

    state: TaskState
    number: int


@dataclass(frozen=True, slots=True)
class TaskStore:
    """Tasks of all callers, each a log whose last record is its state; methods raise DatabaseUnavailableError."""

    records: RecordLogs

    async def create(self, principal: str, tool: str, arguments: Mapping[str, Any]) -> StoredTask | None:
        """Store a new task; return None if the caller has too many."""
        now = time.time()
        count = 0
        for log in await self.records.list_logs(principal, _RECORD_LOG):
            if now - _read_time(log.removeprefix(_RECORD_LOG)) > TTL_S:
                await self.records.delete(principal, log)
            else:
                count += 1
        if count >= MAX_TASKS:
            return None
        # The time in the id shows the age of a task without reading it.
        task_id = f"{int(now):x}-{secrets.token_urlsafe(16)}"
        task = StoredTask(TaskState(task_id, tool, arguments, now, now), 0)
        await self.records.append(principal, _RECORD_LOG + task_id, 0, _dump(task.state))
        return task

    async def read(self, principal: str, task_id: str) -> StoredTask | None:
        """Return a task of a caller, or None if it does not exist."""
        records = await self.records.read(principal, _RECORD_LOG + task_id)
        if not records or time.time() - _read_time(task_id) > TTL_S:
            return None
        return StoredTask(TaskState(**json.loads(zlib.decompress(records[-1].data))), records[-1].number)

    async def replace(self, principal: str, task: StoredTask, state: TaskState) -> bool:
        """Store the next state of a task; return False if another server has changed the task since it was read."""
        log, number = _RECORD_LOG + state.id, task.number + 1
        try:
            await self.records.append(principal, log, number, _dump(state))
        except RecordExistsError:
            return False
        records = await self.records.read(principal, log)
        # If this server is far behind, the record with its number has been deleted already.
        if records and records[-1].number != number:
            return False
        await self.records.delete(principal, log, below=number)
        return True


def _read_time(task_id: str) -> float:
    try:
        return float(int(task_id.partition("-")[0], 16))
    except ValueError:
        return 0.0


def _dump(state: TaskState) -> bytes:
    return zlib.compress(json.dumps(asdict(state), ensure_ascii=False).encode("utf-8", "replace"), 1)


_LOG = logging.getLogger(__name__)

POLL_S = 1.0
"""Seconds between two checks of the store for cancellations and responses that other servers received."""
_HEARTBEAT_S = 5.0
"""Seconds between two writes of a running task whose state does not change."""
STALE_S = 30.0
"""Seconds without a write after which the server of a task counts as ended: six missed heartbeats."""
MAX_ATTEMPTS = 3
"""Servers that may run one task, so that a call that crashes its server does not crash all of them."""


class RunningTask:
    """A task that runs in this process."""

    def __init__(self, principal: str, state: TaskState) -> None:
        """Start from a stored state."""
        self.principal = principal
        self.id = state.id
        self.tool = state.tool
        self.arguments = state.arguments
        self.message = state.message
        self.requests: dict[str, Any] = {}
        """Questions to the client without an answer."""
        self.has_news = asyncio.Event()
        self._responses: dict[str, Any] = {}
        self._is_answered = asyncio.Event()

    async def report(self, done: float, total: float | None, message: str | None) -> None:
        """Set the progress as the message of the task."""
        steps = f"{done:g}" if total is None else f"{done:g} of {total:g}"
        self.message = f"{steps}: {message}" if message else steps

    async def ask(self, requests: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send requests to the client and return its responses by key."""
        self.requests = dict(requests)
        self.has_news.set()
        while self.requests:
            self._is_answered.clear()
            await self._is_answered.wait()
        return self._responses

    def take_responses(self, responses: Mapping[str, Any]) -> None:
        """Accept stored responses of the client; responses without a request are ignored."""
        for key in self.requests.keys() & responses.keys():
            self._responses[key] = responses[key]
            del self.requests[key]
        self._is_answered.set()


Work = Callable[[RunningTask], Awaitable[Mapping[str, Any]]]
"""Return the result of a task as JSON."""


class TaskRunner:
    """Run the tasks of this process."""

    def __init__(self, work: Work, occupy: Callable[[], AbstractContextManager[None]]) -> None:
        """Run each task with `work`, within a block of `occupy` that delays the end of the process."""
        self._work = work
        self._occupy = occupy
        self._runs: dict[str, tuple[RunningTask, asyncio.Task[None]]] = {}
        """Running tasks, each with the task of asyncio that follows it."""

    async def start(
        self, store: TaskStore, principal: str, tool: str, arguments: Mapping[str, Any]
    ) -> TaskState | None:
        """Store a task and run it in the background; return None if the caller has too many tasks."""
        created = await store.create(principal, tool, arguments)
        if created is None:
            return None
        self._begin(store, principal, created.state)
        return created.state

    async def read(self, store: TaskStore, principal: str, task_id: str) -> TaskState | None:
        """Return the state of a task; continue it here if its server has ended."""
        stored = await store.read(principal, task_id)
        if stored is None:
            return None
        state = stored.state
        if state.is_final or state.id in self._runs or time.time() - state.updated_at < STALE_S:
            return state
        now = time.time()
        if stored.state.attempts < MAX_ATTEMPTS:
            state = replace(stored.state, attempts=stored.state.attempts + 1, updated_at=now, status="working")
        else:
            error = {
                "code": INTERNAL_ERROR,
                "message": "The servers that ran this task have ended. Call the tool again.",
            }
            state = replace(stored.state, status="failed", error=error, updated_at=now)
        if not await store.replace(principal, stored, state):
            latest = await store.read(principal, state.id)
            return stored.state if latest is None else latest.state
        if not state.is_final:
            self._begin(store, principal, state)
        return state

    async def cancel(self, store: TaskStore, principal: str, task_id: str) -> bool:
        """Cancel a task unless it has ended; return False if there is none."""
        return await self._change(store, principal, task_id, lambda state: replace(state, status="cancelled"))

    async def respond(self, store: TaskStore, principal: str, task_id: str, responses: Mapping[str, Any]) -> bool:
        """Store the responses to requests that the task has made; return False if there is no such task."""

        def add(state: TaskState) -> TaskState:
            known = {key: responses[key] for key in state.input_requests.keys() & responses.keys()}
            left = {key: value for key, value in state.input_requests.items() if key not in known}
            status = state.status if left or not known else "working"
            return replace(
                state, status=status, input_requests=left, input_responses={**state.input_responses, **known}
            )

        return await self._change(store, principal, task_id, add)

    async def _change(
        self, store: TaskStore, principal: str, task_id: str, change: Callable[[TaskState], TaskState]
    ) -> bool:
        while True:
            stored = await store.read(principal, task_id)
            if stored is None:
                return False
            if stored.state.is_final or await store.replace(
                principal, stored, replace(change(stored.state), updated_at=time.time())
            ):
                if task_id in self._runs:
                    self._runs[task_id][0].has_news.set()
                return True

    def _begin(self, store: TaskStore, principal: str, state: TaskState) -> None:
        task = RunningTask(principal, state)
        self._runs[state.id] = task, asyncio.create_task(self._follow(store, task), name=f"task {state.id}")

    async def _follow(self, store: TaskStore, task: RunningTask) -> None:
        with self._occupy():
            work = asyncio.ensure_future(self._work(task))
            try:
                while not await self._write_news(store, task, work):
                    news = asyncio.create_task(task.has_news.wait())
                    waits: set[asyncio.Future[Any]] = {news} if work.done() else {news, work}
                    await asyncio.wait(waits, timeout=POLL_S, return_when=asyncio.FIRST_COMPLETED)
                    news.cancel()
            finally:
                del self._runs[task.id]
                work.cancel()
                await asyncio.wait({work})

    async def _write_news(self, store: TaskStore, task: RunningTask, work: asyncio.Future[Mapping[str, Any]]) -> bool:
        """Read changes by other servers, then write own changes; return True if the task has ended."""
        task.has_news.clear()
        try:
            stored = await store.read(task.principal, task.id)
            if stored is None or stored.state.is_final:
                return True
            task.take_responses(stored.state.input_responses)
            state = _next_state(stored.state, task, work)
            if state == stored.state and time.time() - state.updated_at < _HEARTBEAT_S:
                return False
            is_released = work.done() and not state.is_final
            now = time.time() - STALE_S if is_released else time.time()
            is_written = await store.replace(task.principal, stored, replace(state, updated_at=now))
        except DatabaseUnavailableError:
            _LOG.warning("the state of a task could not be written; it is tried again")
            return False
        if not is_written:
            task.has_news.set()
        # A task that is stopped with its server is not final: another server takes it over.
        return is_written and work.done()


def _next_state(state: TaskState, task: RunningTask, work: asyncio.Future[Mapping[str, Any]]) -> TaskState:
    if not work.done():
        status = "input_required" if task.requests else "working"
        return replace(state, status=status, message=task.message, input_requests=dict(task.requests))
    error = None if work.cancelled() else work.exception()
    if isinstance(error, ShuttingDownError) or work.cancelled():
        return replace(state, message="The server of this task has ended.")
    if error is not None:
        code = error.error.code if isinstance(error, MCPError) else INTERNAL_ERROR
        if not isinstance(error, MCPError):
            _LOG.error("a task has failed", exc_info=error)
        return replace(state, status="failed", error={"code": code, "message": str(error) or type(error).__name__})
    result = work.result()
    if len(json.dumps(result)) > MAX_RESULT_BYTES:
        text = "The result is too long for a task. Ask for less, or call the tool without tasks."
        return replace(state, status="failed", error={"code": INTERNAL_ERROR, "message": text})
    return replace(state, status="completed", message="", input_requests={}, result=result)

"""Store the state of tasks, so that every server with the same store can read and change it."""

from __future__ import annotations

import json
import secrets
import time
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from scraper.store.record_logs import RecordExistsError, RecordLogs

TTL_S = 3_600
"""Seconds from its creation during which a task can be read."""
MAX_TASKS = 50
"""Stored tasks of one caller. Each holds at most one answer."""
MAX_RESULT_BYTES = 2_000_000
"""Bytes of a result as JSON: ten times the longest answer that a call can request."""
_LOG = "task:"
_FINAL = frozenset({"completed", "failed", "cancelled"})


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
        return self.status in _FINAL


@dataclass(frozen=True, slots=True)
class StoredTask:
    """State of a task with the number of its record."""

    state: TaskState
    number: int


class TaskStore:
    """Tasks of all callers. Methods raise RecordsUnavailableError if the store is unavailable."""

    def __init__(self, records: RecordLogs) -> None:
        """Store each task as a log whose last record is its state."""
        self._records = records

    async def create(self, principal: str, tool: str, arguments: Mapping[str, Any]) -> StoredTask | None:
        """Store a new task; return None if the caller has too many."""
        now = time.time()
        count = 0
        for log in await self._records.list_logs(principal, _LOG):
            if now - _read_time(log.removeprefix(_LOG)) > TTL_S:
                await self._records.delete(principal, log)
            else:
                count += 1
        if count >= MAX_TASKS:
            return None
        # The time in the id shows the age of a task without reading it.
        task_id = f"{int(now):x}-{secrets.token_urlsafe(16)}"
        task = StoredTask(TaskState(task_id, tool, arguments, now, now), 0)
        await self._records.append(principal, _LOG + task_id, 0, _dump(task.state))
        return task

    async def read(self, principal: str, task_id: str) -> StoredTask | None:
        """Return a task of a caller, or None if it does not exist."""
        records = await self._records.read(principal, _LOG + task_id)
        if not records or time.time() - _read_time(task_id) > TTL_S:
            return None
        return StoredTask(TaskState(**json.loads(zlib.decompress(records[-1].data))), records[-1].number)

    async def replace(self, principal: str, task: StoredTask, state: TaskState) -> bool:
        """Store the next state of a task; return False if another server has changed the task since it was read."""
        log, number = _LOG + state.id, task.number + 1
        try:
            await self._records.append(principal, log, number, _dump(state))
        except RecordExistsError:
            return False
        records = await self._records.read(principal, log)
        # If this server is far behind, the record with its number has been deleted already.
        if records and records[-1].number != number:
            return False
        await self._records.delete(principal, log, below=number)
        return True


def _read_time(task_id: str) -> float:
    try:
        return float(int(task_id.partition("-")[0], 16))
    except ValueError:
        return 0.0


def _dump(state: TaskState) -> bytes:
    return zlib.compress(json.dumps(asdict(state), ensure_ascii=False).encode("utf-8", "replace"), 1)

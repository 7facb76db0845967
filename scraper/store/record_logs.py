"""Protocol of record logs: numbered records under a name, for state that outlives a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

TOTAL_BYTES = 1_000_000_000
"""Bytes of all logs. Above this, the oldest logs of the principals with most bytes are deleted."""
KEEP_S = 90 * 86_400.0
"""Seconds after its last record until a log is deleted."""
PRUNE_EVERY = 200
"""Records written between two deletions of old logs."""
READ_LIMIT_S = 20.0
WRITE_LIMIT_S = 10.0

PRUNE = """
    DELETE FROM records WHERE (principal, log) IN (
        SELECT principal, log FROM (
            SELECT principal, log, written_at, sum(bytes) OVER (ORDER BY newer_bytes, principal, log) AS total FROM (
                SELECT principal, log, written_at, bytes,
                    sum(bytes) OVER (PARTITION BY principal ORDER BY written_at DESC, log) AS newer_bytes
                FROM (
                    SELECT principal, log, max(written_at) AS written_at, sum(length(data)) AS bytes
                    FROM records GROUP BY principal, log
                ) AS logs
            ) AS shares
        ) AS totals
        WHERE total > $1 OR written_at < $2
    )
"""
"""Delete old logs; the parameters are the bytes to keep and the oldest time, in seconds of the epoch.

A principal's own logs that are as new or newer decide, so that one with many bytes deletes no log of another.
"""


class RecordsUnavailableError(Exception):
    """The store of record logs is unavailable; the server's log says why."""


class RecordExistsError(Exception):
    """The log already contains a record with this number, written by another call or server."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record of a log."""

    number: int
    written_at: float
    """Seconds of the epoch."""
    data: bytes


class RecordLogs(Protocol):
    """Logs of each principal by name. Methods raise RecordsUnavailableError if the store is unavailable."""

    async def append(self, principal: str, log: str, number: int, data: bytes) -> None:
        """Write a record; it is stored on return.

        Raises:
            RecordExistsError: The log has a record with this number.
        """

    async def read(self, principal: str, log: str) -> list[StoredRecord]:
        """Return the records of a log in the order of their numbers; an unknown log has none."""

    async def delete(self, principal: str, log: str, *, below: int | None = None) -> None:
        """Delete the records of a log, or those with numbers below `below`."""

    async def list_logs(self, principal: str, prefix: str) -> list[str]:
        """Return the names of one principal's logs that begin with `prefix`, in alphabetical order."""

    async def close(self) -> None:
        """Close the backend."""

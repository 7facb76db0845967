"""What can happen to a call besides its own exceptions.

WorkerFailed        root; raised itself for an exception that could not travel back
    WorkerTimeout       it took longer than its limit and was killed
    WorkerMemory        it needed more memory than it may have
    WorkerDied          its process died, twice
        NoWorker            there is none, and none can be started
"""

from __future__ import annotations

__all__ = ["NoWorker", "WorkerDied", "WorkerFailed", "WorkerMemory", "WorkerTimeout"]


class WorkerFailed(Exception):
    """The call has no result, through no wish of the function's."""


class WorkerTimeout(WorkerFailed):
    """It took longer than its limit."""


class WorkerMemory(WorkerFailed):
    """It needed more memory than it may have."""


class WorkerDied(WorkerFailed):
    """Its process died, and so did the one of the second try."""


class NoWorker(WorkerDied):
    """No process can be started: it says nothing of the call."""

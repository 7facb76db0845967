"""What can happen to a call besides its own exceptions.

WorkerFailed        root; raised itself for an exception that could not travel back
    WorkerTimeout       it took longer than its limit and was killed
    WorkerMemory        it needed more memory than it may have
    WorkerDied          its process died, twice
        NoWorker            there is none, and none can be started
"""

from __future__ import annotations


class WorkerFailedError(Exception):
    """The call has no result, through no wish of the function's."""


class WorkerTimeoutError(WorkerFailedError):
    """It took longer than its limit."""


class WorkerMemoryError(WorkerFailedError):
    """It needed more memory than it may have."""


class WorkerDiedError(WorkerFailedError):
    """Its process died, and so did the one of the second try."""


class NoWorkerError(WorkerDiedError):
    """No process can be started: it says nothing of the call."""

"""Errors of a call that runs in another process.

WorkerFailedError       root; raised itself for a result or an exception that cannot be sent back
    WorkerTimeoutError      the call exceeded its time limit and was killed
    WorkerMemoryError       the call exceeded its memory limit
    WorkerDiedError         the process of the call died
        NoWorkerError           no process can be started
"""

from __future__ import annotations


class WorkerFailedError(Exception):
    """The call has no result, and the reason is no exception of the called function."""


class WorkerTimeoutError(WorkerFailedError):
    """The call exceeded its time limit."""


class WorkerMemoryError(WorkerFailedError):
    """The call exceeded its memory limit."""


class WorkerDiedError(WorkerFailedError):
    """The process died; a pool raises this error after the second process died too."""


class NoWorkerError(WorkerDiedError):
    """No process can be started; the call itself was never tried."""

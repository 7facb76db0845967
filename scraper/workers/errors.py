"""Errors of a call that runs in another process."""

from __future__ import annotations


class WorkerFailedError(Exception):
    """The call has no result: see the subclasses, or its result or exception cannot be sent back."""


class WorkerTimeoutError(WorkerFailedError):
    """The call exceeded its time limit."""


class WorkerMemoryError(WorkerFailedError):
    """The call exceeded its memory limit."""


class WorkerDiedError(WorkerFailedError):
    """The process died; a pool raises this error after the second process died too."""


class NoWorkerError(WorkerDiedError):
    """No process can be started; the call itself was never tried."""

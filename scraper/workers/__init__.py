"""Run functions in other processes: a pool for pages, a single-use sandbox for documents."""

from scraper.workers.messages import (
    NoWorkerError,
    WorkerDiedError,
    WorkerFailedError,
    WorkerMemoryError,
    WorkerTimeoutError,
)
from scraper.workers.pool import WorkerPool
from scraper.workers.single_use import ResourceLimits, SingleUseProcesses

__all__ = [
    "NoWorkerError",
    "ResourceLimits",
    "SingleUseProcesses",
    "WorkerDiedError",
    "WorkerFailedError",
    "WorkerMemoryError",
    "WorkerPool",
    "WorkerTimeoutError",
]

"""Pure functions run in processes that can be killed: what a page does to a parser stays there."""

from scraper.workers.errors import (
    NoWorkerError,
    WorkerDiedError,
    WorkerFailedError,
    WorkerMemoryError,
    WorkerTimeoutError,
)
from scraper.workers.pool import Workers

__all__ = [
    "NoWorkerError",
    "WorkerDiedError",
    "WorkerFailedError",
    "WorkerMemoryError",
    "WorkerTimeoutError",
    "Workers",
]

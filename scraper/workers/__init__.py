"""Pure functions run in processes that can be killed: what a page does to a parser stays there."""

from scraper.workers.errors import NoWorker, WorkerDied, WorkerFailed, WorkerMemory, WorkerTimeout
from scraper.workers.pool import Workers

__all__ = ["NoWorker", "WorkerDied", "WorkerFailed", "WorkerMemory", "WorkerTimeout", "Workers"]

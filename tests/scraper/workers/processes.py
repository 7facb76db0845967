"""The processes of a worker pool."""

from __future__ import annotations

from scraper.workers import WorkerPool


def pids_of(workers: WorkerPool) -> tuple[int, ...]:
    """Return the process numbers, the fork server's first."""
    fork_server = () if workers._fork_server is None else (workers._fork_server.pid,)
    return fork_server + tuple(worker.pid for worker in workers._workers if worker.pid is not None)

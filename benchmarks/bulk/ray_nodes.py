"""A Ray cluster of two nodes on this machine, in a separate process that ends when its stdin closes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from benchmarks.common.contender import REPOSITORY
from benchmarks.common.cpu import Account
from benchmarks.common.processes import command_of, tree

_NODES = 2
_STORE_BYTES = 160_000_000
_START_LIMIT_S = 180.0
_STOP_LIMIT_S = 60.0
_READER = "ray::ReaderProcess"


@dataclass(frozen=True, slots=True)
class RayNodes:
    """A running cluster."""

    address: str
    pid: int

    def readers(self) -> list[int]:
        """Return the ids of the processes that read pages."""
        return [process.pid for process in tree(self.pid) if command_of(process.pid).startswith(_READER)]


@asynccontextmanager
async def ray_nodes(account: Account) -> AsyncIterator[RayNodes]:
    """Run the cluster and charge its CPU to `account`."""
    process = await asyncio.create_subprocess_exec(
        *account.command([sys.executable, "-m", "benchmarks.bulk.ray_nodes"]),
        cwd=REPOSITORY,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    account.adopt(process.pid)
    try:
        assert process.stdout is not None and process.stdin is not None
        line = await asyncio.wait_for(process.stdout.readline(), _START_LIMIT_S)
        if not line:
            raise SystemExit("The Ray cluster did not start: pip install 'search-mcp[bulk]'.")
        yield RayNodes(line.decode().strip(), process.pid)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        await asyncio.wait_for(process.wait(), _STOP_LIMIT_S)


def _main() -> None:
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    try:
        for _ in range(_NODES - 1):
            cluster.add_node(num_cpus=1, object_store_memory=_STORE_BYTES)
        print(cluster.address, flush=True)
        os.read(sys.stdin.fileno(), 1)
    finally:
        cluster.shutdown()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    _main()

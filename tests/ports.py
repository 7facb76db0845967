"""Free ports for programs that need a fixed port, also after a restart."""

from __future__ import annotations

import contextlib
import os
import random
import socket
from pathlib import Path

_GIVEN_OUT = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST, _USUAL_BOUND = 15_000, 32_768
_TRIES = 1_000
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
"""Each process of the tests takes every n-th port, so that no two take the same one."""


def free_port() -> int:
    """Return a free port below the range of ephemeral ports."""
    below = _USUAL_BOUND
    with contextlib.suppress(OSError, ValueError):
        below = int(_GIVEN_OUT.read_text().split()[0])
    for _ in range(_TRIES if below > 2 * _LOWEST else 0):
        with contextlib.suppress(OSError), socket.socket() as found:
            port = random.randrange(_LOWEST + _WORKER, below, _WORKERS)
            found.bind(("127.0.0.1", port))
            return port
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])

"""Health check of the image: ask the server of this container where it listens, whatever set its address.

`healthcheck.py [PID]` looks at this process, the first one by default, and its children. A container that does not
serve over HTTP, as with `stdio`, is healthy while it runs.
"""

from __future__ import annotations

import http.client
import ipaddress
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
LISTEN = "0A"
TIMEOUT_S = 4


def family(pid: int) -> Iterator[int]:
    """Yield a process and all its descendants."""
    yield pid
    for task in (PROC / str(pid) / "task").glob("*/children"):
        for child in task.read_text().split():
            yield from family(int(child))


def addresses(pid: int) -> Iterator[tuple[str, int]]:
    """Yield the addresses at which a process listens."""
    links = [link.readlink().name for link in (PROC / str(pid) / "fd").iterdir() if link.is_symlink()]
    for table in ("tcp", "tcp6"):
        for row in (PROC / str(pid) / "net" / table).read_text().splitlines()[1:]:
            _, local, _, state, *more = row.split()
            if state == LISTEN and f"socket:[{more[5]}]" in links:
                number, _, port = local.partition(":")
                words = struct.unpack(f">{len(number) // 8}I", bytes.fromhex(number))
                address = ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))
                loopback = "127.0.0.1" if address.version == 4 else "::1"
                yield loopback if address.is_unspecified else str(address), int(port, 16)


def is_healthy(host: str, port: int) -> bool:
    """Return True if a server of ours answers there."""
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False


def main(pid: int) -> int:
    """Return the exit code."""
    processes = list(family(pid))
    commands = [(PROC / str(one) / "cmdline").read_bytes().split(b"\0") for one in processes]
    if not any(b"serve" in command for command in commands):
        return 0
    return 0 if any(is_healthy(*address) for one in processes for address in addresses(one)) else 1


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))

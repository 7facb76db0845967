"""A script that tries forbidden operations in a sandboxed process and prints those that succeed."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def main() -> None:
    """Sandbox this process, try the operations and print the results."""
    sys.path[:] = json.loads(sys.argv[1])
    from scraper.workers import sandbox

    kept = os.open(sys.argv[2], os.O_RDONLY)
    sandbox.apply_limits(sandbox.SandboxLimits())
    sandbox.confine()
    tries: dict[str, Callable[[], object]] = {
        "read a file": lambda: Path("/etc/passwd").read_bytes(),
        "write a file": lambda: Path("/tmp/a-file-of-a-confined-process").write_text("a"),
        "list a folder": lambda: os.listdir("/"),
        "remove a file": lambda: os.unlink(sys.argv[2]),
        "rename a file": lambda: os.rename(sys.argv[2], sys.argv[2] + "x"),
        "speak TCP": lambda: socket.create_connection(("127.0.0.1", 9), 0.2),
        "speak UDP": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"a", ("127.0.0.1", 9)),
        "speak to a neighbour": lambda: socket.socket(socket.AF_UNIX),
        "run a program": lambda: subprocess.run(["/bin/true"], check=True),
        "kill its parent": lambda: os.kill(os.getppid(), 0),
    }
    could = []
    for name, attempt in tries.items():
        try:
            attempt()
            could.append(name)
        except OSError:
            pass
    print(json.dumps({"could": could, "kept": len(os.read(kept, 100))}))


if __name__ == "__main__":
    main()

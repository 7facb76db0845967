"""Find out if a sandbox around this process forbids sockets, which Chromium and its driver need."""

from __future__ import annotations

import socket

ALLOW_SOCKETS = (
    "A sandbox around this process forbids sockets, and Chromium needs them. Run the command outside the sandbox: in "
    "Claude Code add `search-mcp *` to sandbox.excludedCommands, in Codex approve it (docs/clients.md, Sandboxes)."
)


def are_sockets_forbidden() -> bool:
    """Return True if this process may not create, bind or use sockets that never leave this machine.

    Sandboxes differ: Claude Code forbids to create Unix sockets, Codex to bind, configure and write to any.
    """
    try:
        first, second = socket.socketpair()
        with first, second, socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET) as listener:
            first.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            first.send(b"x")
            listener.bind(("127.0.0.1", 0))
            listener.listen()
    except PermissionError:
        return True
    except OSError:
        # Out of files or addresses: another cause.
        return False
    return False

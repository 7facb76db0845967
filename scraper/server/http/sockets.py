"""Open the listening sockets before anything else starts, so that a port in use is reported at once."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import socket
import struct
import sys
from collections.abc import Iterator

from scraper.server.errors import ServerStartError

_BACKLOG = 2048
_NOT_HERE = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
"""Errors of addresses that this machine lacks: `localhost` has an IPv6 address even if IPv6 is disabled."""
_ATTACH_FILTER = 26
"""SO_ATTACH_FILTER of asm-generic/socket.h, which the module `socket` does not define."""
_DROP_ALL = struct.pack("HBBI", 0x06, 0, 0, 0)
"""BPF program of one instruction, "return 0 bytes" (linux/filter.h), which drops all packets."""


@contextlib.contextmanager
def open_sockets(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Open a socket for each address of `host`, or raise ServerStartError; port 0 chooses a free port for all."""
    with contextlib.ExitStack() as opened:
        try:
            sockets = _open_all(opened, host, port)
        except OSError as error:
            raise ServerStartError(_reason(host, port, error)) from None
        yield sockets


def ignore_new_connections(listener: socket.socket) -> None:
    """Ignore new connection attempts on a listening socket, but keep established ones acceptable.

    Closing a listening socket resets connections that are not accepted yet. Their clients may have sent a request and
    cannot know if it was received. An ignored client tries again after a second, when the socket is closed. This works
    only on Linux; elsewhere nothing happens.
    """
    if not sys.platform.startswith("linux"):
        return
    code = ctypes.create_string_buffer(_DROP_ALL, len(_DROP_ALL))
    program = struct.pack("HP", 1, ctypes.addressof(code))
    with contextlib.suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)


def _open_all(stack: contextlib.ExitStack, host: str, port: int) -> list[socket.socket]:
    """Open a socket for each address that this machine has, or raise OSError."""
    sockets: list[socket.socket] = []
    missing: OSError | None = None
    for family, address in _addresses(host, port):
        actual_port = sockets[0].getsockname()[1] if sockets else port
        try:
            sockets.append(stack.enter_context(_open_socket(family, address, actual_port)))
        except OSError as error:
            if error.errno not in _NOT_HERE:
                raise
            missing = error
    if missing is not None and not sockets:
        raise missing
    return sockets


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, str]]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))


def _open_socket(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    # asyncio disables Nagle's algorithm only if the protocol is given. Otherwise the parts of an event stream wait for
    # acknowledgements, 40 ms per call.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.bind((address, port))
        opened.listen(_BACKLOG)
    except OSError:
        opened.close()
        raise
    return opened


def _reason(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is already in use. Stop the other program, or choose another port: --port."
    if error.errno == errno.EACCES:
        return f"This user may not listen on port {port}. Choose one above 1023 with --port."
    return f"Cannot listen on {host} port {port}: {error.strerror or error}."

"""Opens the server's listening sockets before anything is started, so that a taken port costs one line."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import socket
import struct
import sys
from collections.abc import Iterator

from scraper.server.access.rules import ServerStartError

_BACKLOG = 2048
_NOT_HERE = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
"""A machine may lack some of a name's addresses: `localhost` has one of IPv6 though that is turned off."""
_ATTACH_FILTER = 26
"""SO_ATTACH_FILTER of asm-generic/socket.h, which the module `socket` does not name."""
_DROP_ALL = struct.pack("HBBI", 0x06, 0, 0, 0)
"""A program of one instruction, "return 0 bytes" (linux/filter.h): of no packet is anything kept."""


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[list[socket.socket]]:
    """One socket for each address of `host`; port 0 takes a free one, the same for all.

    Raises:
        CannotStart: the port is taken, or the address is not ours.
    """
    with contextlib.ExitStack() as opened:
        try:
            sockets = _every(opened, host, port)
        except OSError as error:
            raise ServerStartError(_reason(host, port, error)) from None
        yield sockets


def ignore_new_connections(door: socket.socket) -> None:
    """Let those who connect now wait until they are refused; connections that have been made stay acceptable.

    A listening socket that is closed resets what nobody has accepted, and its client, who may have sent a
    request by then, cannot know whether it was heard. Who was ignored tries again after a second, and finds
    the socket closed. Only Linux can do it; elsewhere nothing happens.
    """
    if not sys.platform.startswith("linux"):
        return
    code = ctypes.create_string_buffer(_DROP_ALL, len(_DROP_ALL))
    program = struct.pack("HP", 1, ctypes.addressof(code))
    with contextlib.suppress(OSError):
        door.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)


def _every(opened: contextlib.ExitStack, host: str, port: int) -> list[socket.socket]:
    """One for each address that this machine has; the error of the last where it has none of them."""
    sockets: list[socket.socket] = []
    missing: OSError | None = None
    for family, address in _addresses(host, port):
        taken = sockets[0].getsockname()[1] if sockets else port
        try:
            sockets.append(opened.enter_context(_listening(family, address, taken)))
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


def _listening(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    # asyncio turns Nagle's algorithm off only where the protocol is named: without it the parts of an event
    # stream wait for each other's acknowledgement, 40 ms a call.
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
        return f"Port {port} on {host} is already in use. Stop what listens there, or choose another: --port."
    if error.errno == errno.EACCES:
        return f"This user may not listen on port {port}. Choose one above 1023 with --port."
    return f"Cannot listen on {host} port {port}: {error.strerror or error}."

"""uvicorn server with its listening sockets, graceful shutdown and buffered writes."""

import asyncio
import contextlib
import ctypes
import errno
import functools
import socket
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from scraper.server.access import ServerStartError
from scraper.server.http.connection_limits import ConnectionTable, LimitedHttpProtocol
from scraper.server.lifecycle import LAST_BYTES_S

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
            reason = f"Cannot listen on {host} port {port}: {error.strerror or error}."
            if error.errno == errno.EADDRINUSE:
                reason = f"Port {port} on {host} is already in use. Stop the other program, or choose another port"
                reason += ": --port."
            if error.errno == errno.EACCES:
                reason = f"This user may not listen on port {port}. Choose one above 1023 with --port."
            raise ServerStartError(reason) from None
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
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, address in dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found):
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


def _open_socket(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    # asyncio disables Nagle's algorithm only if the protocol is given. Otherwise the parts of an event stream wait for
    # acknowledgements, 40 ms per call.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.bind((address, port))
        opened.listen(2048)
    except OSError:
        opened.close()
        raise
    return opened


_KEEP_ALIVE_S = 75
"""Seconds. Longer than clients keep an idle connection, so that no request arrives while it is being closed."""
_ACCEPT_ITERATIONS = 5
"""Iterations of the event loop to accept waiting connections: one polls, one accepts, one creates protocols."""
_FLUSH_S = 0.7
"""Seconds to send the last response to a distant client: 100 kB at one megabit per second."""


class GracefulServer(uvicorn.Server):
    """uvicorn without its signal handlers, which would cut running responses."""

    def __init__(self, app: ASGIApp) -> None:
        """Serve `app`."""
        options: Any = {
            "log_config": None,
            "access_log": False,
            "lifespan": "off",
            "ws": "none",
            "server_header": False,
        }
        # Nothing uses the client address from proxy headers, and reading them costs time.
        options |= {"proxy_headers": False, "http": functools.partial(BufferedHttpProtocol, table=ConnectionTable())}
        options |= {"timeout_keep_alive": _KEEP_ALIVE_S, "timeout_graceful_shutdown": round(LAST_BYTES_S)}
        super().__init__(uvicorn.Config(app, **options))

    async def drain(self, sockets: Sequence[socket.socket], limit_s: float = LAST_BYTES_S) -> None:
        """Accept no new connections, and wait for the first request of established ones."""
        self.config.timeout_graceful_shutdown = max(limit_s, _FLUSH_S)  # type: ignore[assignment]  # any number will do
        for listener in sockets:
            ignore_new_connections(listener)
        for _ in range(_ACCEPT_ITERATIONS):
            await asyncio.sleep(0)
        for server in self.servers:
            server.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                connections = self.server_state.connections
                while any(getattr(one, "cycle", True) is None for one in connections):  # noqa: ASYNC110 - no event
                    await asyncio.sleep(0.02)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no signal handlers; `lifecycle` has its own."""
        yield


class BufferedHttpProtocol(LimitedHttpProtocol):
    """HTTP protocol that sends all writes of one event loop iteration together, so that a client wakes once."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wrap the transport of a new connection."""
        super().connection_made(cast(Any, _BufferedTransport(transport)))


class _BufferedTransport:
    """Transport that buffers writes until the next event loop iteration."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def write_eof(self) -> None:
        self._flush()
        self._transport.write_eof()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _flush(self) -> None:
        if self._parts:
            parts, self._parts = self._parts, []
            self._transport.write(b"".join(parts))

"""The server's half of SOCKS5 (RFC 1928), CONNECT only: bytes in, meaning out."""

from __future__ import annotations

import socket

from browsers.egress.traffic_log import FailureKind

VERSION = 5
NO_AUTHENTICATION = 0
CONNECT = 1
IPV4, NAME, IPV6 = 1, 3, 4
_BOUND = bytes((0, IPV4, 0, 0, 0, 0, 0, 0))
"""Where we connect from concerns nobody."""

GREETED = bytes((VERSION, NO_AUTHENTICATION))
NO_METHOD = bytes((VERSION, 0xFF))
REFUSED_COMMAND = bytes((VERSION, 7)) + _BOUND

_CODES = {
    FailureKind.BLOCKED_ADDRESS: 2,
    FailureKind.UNSAFE_PORT: 2,
    FailureKind.NOT_ALLOWED: 2,
    FailureKind.HOST_UNREACHABLE: 3,
    FailureKind.NAME_NOT_RESOLVED: 4,
    FailureKind.CONNECTION_REFUSED: 5,
    FailureKind.CONNECT_TIMEOUT: 6,
    FailureKind.NAME_LOOKUP_TIMEOUT: 6,
}
GENERAL_FAILURE = 1


class SocksProtocolError(Exception):
    """Not SOCKS5, or not what is served here; carries the last words to the other side."""

    def __init__(self, answer: bytes = b"") -> None:
        super().__init__("not SOCKS5 CONNECT")
        self.answer = answer


def greeting(data: bytes) -> int | None:
    """The length of a complete greeting; None when more is to come.

    Raises:
        Garbage
    """
    if data[:1] not in (b"", b"\x05"):
        raise SocksProtocolError
    if len(data) < 2 or len(data) < 2 + data[1]:
        return None
    end = 2 + data[1]
    if NO_AUTHENTICATION not in data[2:end]:
        raise SocksProtocolError(NO_METHOD)
    return end


def request(data: bytes) -> tuple[str, int, int] | None:
    """Host, port and length of a complete request; None when more is to come.

    Raises:
        Garbage
    """
    if data[:1] not in (b"", b"\x05"):
        raise SocksProtocolError
    if len(data) < 5:
        return None
    if data[1] != CONNECT:
        raise SocksProtocolError(REFUSED_COMMAND)
    start, length = {IPV4: (4, 4), NAME: (5, data[4]), IPV6: (4, 16)}.get(data[3], (0, 0))
    if not length:
        raise SocksProtocolError
    end = start + length
    if len(data) < end + 2:
        return None
    return _host(data[3], data[start:end]), int.from_bytes(data[end : end + 2], "big"), end + 2


def reply(kind: FailureKind) -> bytes:
    """What a refused caller is told: Chromium shows the same error for every code."""
    return bytes((VERSION, _CODES.get(kind, GENERAL_FAILURE))) + _BOUND


def succeeded() -> bytes:
    """The connection stands."""
    return bytes((VERSION, 0)) + _BOUND


def _host(kind: int, data: bytes) -> str:
    if kind == IPV4:
        return socket.inet_ntoa(data)
    if kind == IPV6:
        return socket.inet_ntop(socket.AF_INET6, data)
    return data.decode("latin-1")

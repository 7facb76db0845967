"""The client's half of what proxies speak: HTTP CONNECT, and SOCKS5 with a password (RFC 1928, 1929)."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket

from browsers.egress.traffic_log import FailureKind

ANSWER_BYTES = 16 * 1024
"""More than any proxy says before it lets through."""

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([0-9]{3})")

REJECTED = "it rejected the credentials"
_HTTP_MEANING = {
    407: (FailureKind.PROXY_FAILED, REJECTED),
    403: (FailureKind.PROXY_FAILED, "it does not allow this host or port"),
    405: (FailureKind.PROXY_FAILED, "it does not allow this host or port"),
    502: (FailureKind.HOST_UNREACHABLE, "the upstream proxy could not reach it"),
    503: (FailureKind.HOST_UNREACHABLE, "the upstream proxy could not reach it"),
    504: (FailureKind.CONNECT_TIMEOUT, "the upstream proxy waited in vain"),
}
_SOCKS_MEANING = {
    2: (FailureKind.PROXY_FAILED, "it does not allow this host or port"),
    3: (FailureKind.HOST_UNREACHABLE, "the upstream proxy could not reach it"),
    4: (FailureKind.HOST_UNREACHABLE, "the upstream proxy could not reach it"),
    5: (FailureKind.CONNECTION_REFUSED, ""),
    6: (FailureKind.CONNECT_TIMEOUT, "the upstream proxy waited in vain"),
}


class HandshakeRejectedError(Exception):
    """The proxy, or the site behind it, refused."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


async def http_connect(sock: socket.socket, authority: str, authorization: str | None) -> bytes:
    """Ask an HTTP proxy for a tunnel; returns what already came through it.

    Raises:
        SaidNo, OSError
    """
    lines = [f"CONNECT {authority} HTTP/1.1", f"Host: {authority}"]
    if authorization is not None:
        lines.append(f"Proxy-Authorization: {authorization}")
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(sock, ("\r\n".join(lines) + "\r\n\r\n").encode("ascii"))
    head, early = await read_head(sock, ANSWER_BYTES)
    status = _STATUS_LINE.match(head)
    if status is None:
        raise HandshakeRejectedError(FailureKind.PROXY_FAILED, "it does not speak HTTP")
    code = int(status[1])
    if not 200 <= code < 300:
        raise HandshakeRejectedError(
            *_HTTP_MEANING.get(code, (FailureKind.PROXY_FAILED, f"it answered {code}"))
        )
    return early


async def read_head(sock: socket.socket, limit: int) -> tuple[bytes, bytes]:
    """An HTTP head with its empty line, and what came after it.

    Raises:
        SaidNo: it is too long.
        OSError: the other side closed.
    """
    loop = asyncio.get_running_loop()
    data = bytearray()
    while (end := data.find(b"\r\n\r\n")) < 0:
        if len(data) > limit:
            raise HandshakeRejectedError(FailureKind.PROXY_FAILED, "its answer has no end")
        more = await loop.sock_recv(sock, 65536)
        if not more:
            raise ConnectionResetError("closed")
        data += more
    return bytes(data[: end + 4]), bytes(data[end + 4 :])


async def socks5_connect(sock: socket.socket, host: str, port: int, user: str, password: str) -> None:
    """Ask a SOCKS5 proxy for a connection.

    Raises:
        SaidNo, OSError
    """
    loop = asyncio.get_running_loop()
    methods = b"\x00\x02" if user else b"\x00"
    await loop.sock_sendall(sock, bytes((5, len(methods))) + methods)
    version, method = await _exactly(sock, 2)
    if version != 5:
        raise HandshakeRejectedError(FailureKind.PROXY_FAILED, "it does not speak SOCKS5")
    if method == 2 and user:
        await _authenticate(sock, user.encode(), password.encode())
    elif method != 0:
        raise HandshakeRejectedError(FailureKind.PROXY_FAILED, REJECTED if user else "it wants credentials")
    await loop.sock_sendall(sock, b"\x05\x01\x00" + _socks_address(host) + port.to_bytes(2, "big"))
    _, code, _, kind = await _exactly(sock, 4)
    if code:
        raise HandshakeRejectedError(
            *_SOCKS_MEANING.get(code, (FailureKind.PROXY_FAILED, f"it answered {code}"))
        )
    bound = {1: 4, 4: 16}.get(kind)
    await _exactly(sock, 2 + (bound if bound is not None else (await _exactly(sock, 1))[0]))


async def _authenticate(sock: socket.socket, user: bytes, password: bytes) -> None:
    message = bytes((1, len(user))) + user + bytes((len(password),)) + password
    await asyncio.get_running_loop().sock_sendall(sock, message)
    _, status = await _exactly(sock, 2)
    if status:
        raise HandshakeRejectedError(FailureKind.PROXY_FAILED, REJECTED)


def _socks_address(host: str) -> bytes:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        name = host.encode("ascii")
        return bytes((3, len(name))) + name
    return bytes((1 if address.version == 4 else 4,)) + address.packed


async def _exactly(sock: socket.socket, count: int) -> bytes:
    loop = asyncio.get_running_loop()
    data = b""
    while len(data) < count:
        more = await loop.sock_recv(sock, count - len(data))
        if not more:
            raise ConnectionResetError("closed")
        data += more
    return data

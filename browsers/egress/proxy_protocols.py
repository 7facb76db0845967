"""SOCKS5 and HTTP proxy protocols: messages of the browser side, and handshakes with the upstream proxy.

Browsers connect to the egress proxy with SOCKS5 (RFC 1928), CONNECT only. The egress proxy connects to the operator's
upstream proxy with HTTP CONNECT or SOCKS5 with a password (RFC 1928, 1929). Plain http over an HTTP proxy uses
requests in absolute form, because proxies refuse CONNECT to port 80. Such a connection carries one request: its head
is rewritten and its body passes up to its length, so nothing behind it can evade the policy.
"""

import asyncio
import ipaddress
import re
import socket
import tomllib
from importlib.resources import files

from browsers.egress.traffic_log import FailureKind

# --- SOCKS5, server side

_VERSION = 5
_NO_AUTHENTICATION = 0
CONNECT = 1
IPV4, NAME, IPV6 = 1, 3, 4
_BOUND = bytes((0, IPV4, 0, 0, 0, 0, 0, 0))
"""Rest of a reply with a zero bound address: the browser needs no other."""

METHOD_ACCEPTED = bytes((_VERSION, _NO_AUTHENTICATION))
NO_METHOD = bytes((_VERSION, 0xFF))
COMMAND_NOT_SUPPORTED = bytes((_VERSION, 7)) + _BOUND
CONNECTED = bytes((_VERSION, 0)) + _BOUND

_TABLE = tomllib.loads(files(__package__).joinpath("proxy_failures.toml").read_text(encoding="utf-8"))
_REPLY_CODES = {FailureKind[name]: code for name, code in _TABLE["reply_codes"].items()}
_GENERAL_FAILURE = 1

# --- upstream proxies

_MAX_HANDSHAKE_BYTES = 16 * 1024
"""Bytes of a proxy's answer. Proxies send less before they connect."""
MAX_HEAD_BYTES = 256 * 1024
"""Bytes of a request head. Chromium has the same limit for headers."""

_HTTP_FAILURES, _SOCKS5_FAILURES = (
    {int(code): (FailureKind[name], text) for code, (name, text) in _TABLE[key].items()} for key in ("http", "socks5")
)
CREDENTIALS_REJECTED = _HTTP_FAILURES[407][1]

_REQUEST_LINE = re.compile(rb"([A-Z]{1,20}) (/[\x21-\x7e]*) HTTP/1\.1")
_HEADER = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([^\x00\r\n]*)")
_HOP_BY_HOP = frozenset({b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive"})


class Socks5Error(Exception):
    """The client does not speak SOCKS5 CONNECT. The error carries the reply to send before the connection closes."""

    def __init__(self, reply: bytes = b"") -> None:
        """Set the reply to send."""
        super().__init__("not SOCKS5 CONNECT")
        self.reply = reply


class HandshakeRejectedError(Exception):
    """The upstream proxy, or the site behind it, refused the connection, or the proxy's answer was invalid."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        """Set the kind and the detail of the failure."""
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


def parse_socks5_greeting(data: bytes) -> int | None:
    """Return the length of a greeting, or None if it is incomplete. Raises Socks5Error if it cannot be accepted."""
    if data[:1] not in (b"", b"\x05"):
        raise Socks5Error
    if len(data) < 2 or len(data) < 2 + data[1]:
        return None
    end = 2 + data[1]
    if _NO_AUTHENTICATION not in data[2:end]:
        raise Socks5Error(NO_METHOD)
    return end


def parse_socks5_request(data: bytes) -> tuple[str, int, int] | None:
    """Return host, port and length of a request, or None if incomplete. Raises Socks5Error if it is not CONNECT."""
    if data[:1] not in (b"", b"\x05"):
        raise Socks5Error
    if len(data) < 5:
        return None
    if data[1] != CONNECT:
        raise Socks5Error(COMMAND_NOT_SUPPORTED)
    start, length = {IPV4: (4, 4), NAME: (5, data[4]), IPV6: (4, 16)}.get(data[3], (0, 0))
    if not length:
        raise Socks5Error
    end = start + length
    if len(data) < end + 2:
        return None
    encoded, port = data[start:end], int.from_bytes(data[end : end + 2], "big")
    families = {IPV4: socket.AF_INET, IPV6: socket.AF_INET6}
    host = socket.inet_ntop(families[data[3]], encoded) if data[3] in families else encoded.decode("latin-1")
    return host, port, end + 2


def build_socks5_refusal(kind: FailureKind) -> bytes:
    """Return the SOCKS5 reply for a failure. Chromium shows the same error for every code."""
    return bytes((_VERSION, _REPLY_CODES.get(kind, _GENERAL_FAILURE))) + _BOUND


def rewrite_request_head(head: bytes, authority: str, authorization: str | None) -> tuple[bytes, int]:
    """Rewrite a request head, up to and including its empty line, to absolute form for an HTTP proxy.

    Return it with the length of its body in bytes. The authority is the checked one, regardless of the Host header.
    Raises ValueError if it is not a request that a browser sends.
    """
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    request = _REQUEST_LINE.fullmatch(first)
    if request is None:
        raise ValueError("not an HTTP/1.1 request")
    method, path = request.groups()
    host = authority.encode("ascii")
    out = [b"%s http://%s%s HTTP/1.1" % (method, host, path), b"Host: " + host]
    body_bytes: int | None = None
    for line in lines:
        header = _HEADER.fullmatch(line)
        if header is None:
            raise ValueError("not a header")
        name = header[1].lower()
        if name == b"transfer-encoding":
            raise ValueError("a body without a length")
        if name == b"content-length":
            length = header[2].strip()
            if body_bytes is not None or not (length.isdigit() and len(length) <= 15):
                raise ValueError("not a length")
            body_bytes = int(length)
        if name != b"host" and name not in _HOP_BY_HOP:
            out.append(line)
    out.append(b"Connection: close")
    if authorization is not None:
        out.append(b"Proxy-Authorization: " + authorization.encode("ascii"))
    return b"\r\n".join(out) + b"\r\n\r\n", body_bytes or 0


def is_upgrade_request(head: bytes) -> bool:
    """Return True if the request asks for another protocol, such as a web socket, which needs CONNECT."""
    return b"\r\nupgrade:" in head.lower()


def is_proxy_auth_required(first_bytes: bytes) -> bool:
    """Return True if a response begins with status 407, which comes from the proxy and not from the site."""
    return first_bytes.startswith((b"HTTP/1.0 407", b"HTTP/1.1 407"))


async def http_connect(sock: socket.socket, authority: str, authorization: str | None) -> bytes:
    """Open a tunnel; return the bytes received through it. Raises HandshakeRejectedError, or OSError if it broke."""
    lines = [f"CONNECT {authority} HTTP/1.1", f"Host: {authority}"]
    if authorization is not None:
        lines.append(f"Proxy-Authorization: {authorization}")
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(sock, ("\r\n".join(lines) + "\r\n\r\n").encode("ascii"))
    data = bytearray()
    while (end := data.find(b"\r\n\r\n")) < 0:
        if len(data) > _MAX_HANDSHAKE_BYTES:
            raise HandshakeRejectedError(FailureKind.PROXY_FAILED, "its answer has no end")
        data += await receive(sock)
    if not data.startswith((b"HTTP/1.0 ", b"HTTP/1.1 ")) or not (status := data[9:12]).isdigit():
        raise HandshakeRejectedError(FailureKind.PROXY_FAILED, "it does not speak HTTP")
    code = int(status)
    if not 200 <= code < 300:
        unknown = (FailureKind.PROXY_FAILED, f"it answered {code}")
        raise HandshakeRejectedError(*_HTTP_FAILURES.get(code, unknown))
    return bytes(data[end + 4 :])


async def socks5_connect(sock: socket.socket, host: str, port: int, user: str, password: str) -> None:
    """Connect through a SOCKS5 proxy. Raises HandshakeRejectedError if it refused, and OSError if it broke."""
    loop = asyncio.get_running_loop()
    methods = b"\x00\x02" if user else b"\x00"
    await loop.sock_sendall(sock, bytes((5, len(methods))) + methods)
    version, method = await _receive_exactly(sock, 2)
    if version != 5:
        raise HandshakeRejectedError(FailureKind.PROXY_FAILED, "it does not speak SOCKS5")
    if method == 2 and user:
        name, secret = user.encode(), password.encode()
        await loop.sock_sendall(sock, bytes((1, len(name))) + name + bytes((len(secret),)) + secret)
        _, status = await _receive_exactly(sock, 2)
        if status:
            raise HandshakeRejectedError(FailureKind.PROXY_FAILED, CREDENTIALS_REJECTED)
    elif method != 0:
        reason = CREDENTIALS_REJECTED if user else "it wants credentials"
        raise HandshakeRejectedError(FailureKind.PROXY_FAILED, reason)
    await loop.sock_sendall(sock, b"\x05\x01\x00" + _encode_host(host) + port.to_bytes(2, "big"))
    _, code, _, kind = await _receive_exactly(sock, 4)
    if code:
        unknown = (FailureKind.PROXY_FAILED, f"it answered {code}")
        raise HandshakeRejectedError(*_SOCKS5_FAILURES.get(code, unknown))
    bound = {IPV4: 4, IPV6: 16}.get(kind)
    await _receive_exactly(sock, 2 + (bound if bound is not None else (await _receive_exactly(sock, 1))[0]))


def _encode_host(host: str) -> bytes:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bytes((NAME, len(host))) + host.encode("ascii")
    return bytes((IPV4 if address.version == 4 else IPV6,)) + address.packed


async def _receive_exactly(sock: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        data += await receive(sock, count - len(data))
    return data


async def receive(sock: socket.socket, limit: int = 65536) -> bytes:
    """Return the bytes that came, at least one. Raises OSError at the end of the connection."""
    data = await asyncio.get_running_loop().sock_recv(sock, limit)
    if not data:
        raise ConnectionResetError("closed")
    return data

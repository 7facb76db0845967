"""Plain http over an HTTP proxy: the request in absolute form, because proxies refuse CONNECT to port 80.

One request a connection: its head is rewritten, its body passes up to its length, and then nothing more, so
that nothing can be smuggled past the judgement behind it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

HEAD_BYTES = 256 * 1024
"""Chromium's own limit for headers."""

_REQUEST_LINE = re.compile(rb"([A-Z]{1,20}) (/[\x21-\x7e]*) HTTP/1\.1")
_HEADER = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([^\x00\r\n]*)")
_HOP_BY_HOP = frozenset({b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive"})


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A request head for the proxy, and how many bytes of body belong to it."""

    head: bytes
    body_bytes: int


def rewritten(head: bytes, authority: str, authorization: str | None) -> Rewritten:
    """The head, up to and including its empty line, in the form that an HTTP proxy wants.

    The authority is the judged one, whatever the request's Host says.

    Raises:
        ValueError: not a request that a browser sends.
    """
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    request = _REQUEST_LINE.fullmatch(first)
    if request is None:
        raise ValueError("not an HTTP/1.1 request")
    method, path = request.groups()
    host = authority.encode("ascii")
    out = [b"%s http://%s%s HTTP/1.1" % (method, host, path), b"Host: " + host]
    lengths: list[bytes] = []
    for line in lines:
        name, value = _header(line)
        if name == b"transfer-encoding":
            raise ValueError("a body without a length")
        if name == b"content-length":
            lengths.append(value)
        if name != b"host" and name not in _HOP_BY_HOP:
            out.append(line)
    out.append(b"Connection: close")
    if authorization is not None:
        out.append(b"Proxy-Authorization: " + authorization.encode("ascii"))
    return Rewritten(b"\r\n".join(out) + b"\r\n\r\n", _length(lengths))


def wants_upgrade(head: bytes) -> bool:
    """Whether the request asks for another protocol, such as a web socket, which goes through CONNECT."""
    return b"\r\nupgrade:" in head.lower()


def says_proxy_authentication(first_bytes: bytes) -> bool:
    """Whether an answer begins with status 407: it is the proxy's, about us, and not for the page."""
    return re.match(rb"HTTP/1\.[01] 407", first_bytes) is not None


def _header(line: bytes) -> tuple[bytes, bytes]:
    header = _HEADER.fullmatch(line)
    if header is None:
        raise ValueError("not a header")
    return header[1].lower(), header[2].strip()


def _length(values: list[bytes]) -> int:
    if not values:
        return 0
    if len(values) > 1 or not re.fullmatch(rb"[0-9]{1,15}", values[0]):
        raise ValueError("not a length")
    return int(values[0])

"""A connection that stands, and the two ways to get one."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Protocol

from browsers.egress.dialer import Dialer
from browsers.egress.judgement import Judgement

__all__ = ["Connector", "Direct", "FirstRequest", "Opened"]


@dataclass(frozen=True, slots=True)
class FirstRequest:
    """How the first request on a connection to an HTTP proxy is to be rewritten."""

    authority: str
    authorization: str | None


@dataclass(frozen=True, slots=True)
class Opened:
    """A connected socket, what the other side said already, and what is to be done to the first request."""

    sock: socket.socket
    early: bytes = b""
    first_request: FirstRequest | None = None


class Connector(Protocol):
    """The only thing that opens sockets to the outside."""

    async def connect(self, host: str, port: int) -> Opened:
        """A connection to a judged address; raises Denied."""
        ...


class Direct:
    """Straight to the judged address."""

    def __init__(self, judgement: Judgement, dialer: Dialer) -> None:
        self._judgement = judgement
        self._dialer = dialer

    async def connect(self, host: str, port: int) -> Opened:
        """A connection to a judged address; raises Denied."""
        targets = await self._judgement.targets(host, port)
        return Opened(await self._dialer.connect(host, port, targets))

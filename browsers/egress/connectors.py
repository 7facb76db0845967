"""A connection that stands, and the two ways to get one."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Protocol

from browsers.egress.dialer import Dialer
from browsers.egress.target_policy import TargetPolicy


@dataclass(frozen=True, slots=True)
class FirstRequest:
    """How the first request on a connection to an HTTP proxy is to be rewritten."""

    authority: str
    authorization: str | None


@dataclass(frozen=True, slots=True)
class OpenConnection:
    """A connected socket, what the other side said already, and what is to be done to the first request."""

    sock: socket.socket
    early: bytes = b""
    first_request: FirstRequest | None = None


class Connector(Protocol):
    """The only thing that opens sockets to the outside."""

    async def connect(self, host: str, port: int) -> OpenConnection:
        """A connection to a judged address; raises Denied."""
        ...


class DirectConnector:
    """Straight to the judged address."""

    def __init__(self, judgement: TargetPolicy, dialer: Dialer) -> None:
        self._judgement = judgement
        self._dialer = dialer

    async def connect(self, host: str, port: int) -> OpenConnection:
        """A connection to a judged address; raises Denied."""
        targets = await self._judgement.targets(host, port)
        return OpenConnection(await self._dialer.connect(host, port, targets))

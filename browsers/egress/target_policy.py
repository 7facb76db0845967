"""Where a host and port may be dialled: every address of a name is judged, and one bad one condemns it."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from browsers.egress import ip_rules
from browsers.egress.dns_resolver import CachingResolver
from browsers.egress.ip_rules import Address, Network
from browsers.egress.test_hosts import TestHosts
from browsers.egress.traffic_log import ConnectionDeniedError, FailureKind

TARGETS_TRIED = 6
"""Of a name with more addresses, this many are dialled."""

LOOPBACK: tuple[Address, ...] = (ipaddress.IPv4Address("127.0.0.1"), ipaddress.IPv6Address("::1"))


@dataclass(frozen=True, slots=True)
class Target:
    """One judged address, and where it is dialled."""

    judged: Address
    address: str
    port: int
    may_be_own: bool = False
    """The operator allowed this address, or turned it here: it may be this very machine's."""

    @property
    def is_ipv6(self) -> bool:
        """Whether the dialled address is of the newer kind."""
        return ":" in self.address


class TargetPolicy:
    """The rule of the wall; the same for every browser, page and redirect."""

    def __init__(self, resolver: CachingResolver, allowed: tuple[Network, ...], hosts: TestHosts) -> None:
        self._resolver = resolver
        self._allowed = allowed
        self._hosts = hosts

    async def targets(self, host: str, port: int) -> list[Target]:
        """The addresses to dial, in order.

        Raises:
            Denied: the port, the name or one of its addresses is not public, or there is no such name.
        """
        name = self.named(host, port)
        found = name if isinstance(name, list) else await self._looked_up(name, host, port)
        for address in found:
            self._judge(address, host, port)
        return [self._target(address, port) for address in _interleaved(found)[:TARGETS_TRIED]]

    def named(self, host: str, port: int) -> str | list[Address]:
        """What can be said without asking anyone: addresses, or the name that must be looked up.

        Raises:
            Denied: the port or the name is not the public web's.
        """
        if port in ip_rules.UNSAFE_PORTS:
            raise ConnectionDeniedError(FailureKind.UNSAFE_PORT, host, port)
        name = ip_rules.normal_host(host)
        try:
            literal = ip_rules.literal(name)
        except ValueError as error:
            raise ConnectionDeniedError(FailureKind.NAME_NOT_RESOLVED, host, port, str(error)) from None
        if literal is not None:
            self._judge(literal, host, port)
            return [literal]
        if ip_rules.is_loopback_name(name):
            return self._own_loopback(host, port)
        synthetic = self._hosts.address_of(name)
        if synthetic is not None:
            return [synthetic]
        # With networks allowed, such names may be meant: then it is their addresses that count.
        if ip_rules.is_special_name(name) and not self._allowed:
            raise ConnectionDeniedError(FailureKind.BLOCKED_ADDRESS, host, port, "a name of a local network")
        return name

    async def public_or_unknown(self, host: str, port: int, *, limit_s: float) -> bool:
        """Whether the name was found and judged here, for whom another resolver has the last word.

        False: it could not be looked up within the limit.

        Raises:
            Denied: one of its addresses is known not to be public.
        """
        name = self.named(host, port)
        if isinstance(name, list):
            return True
        try:
            answers = await self._resolver.lookup(name, limit_s=limit_s)
        except OSError:
            return False
        for answer in answers:
            self._judge(_parsed(answer, host, port), host, port)
        return len(answers) > 0

    async def _looked_up(self, name: str, host: str, port: int) -> list[Address]:
        try:
            answers = await self._resolver.lookup(name)
        except TimeoutError:
            raise ConnectionDeniedError(FailureKind.NAME_LOOKUP_TIMEOUT, host, port) from None
        except socket.gaierror as error:
            again = error.errno == socket.EAI_AGAIN
            kind = FailureKind.NAME_LOOKUP_TIMEOUT if again else FailureKind.NAME_NOT_RESOLVED
            raise ConnectionDeniedError(kind, host, port, error.strerror or "") from None
        except OSError as error:
            raise ConnectionDeniedError(
                FailureKind.NAME_NOT_RESOLVED, host, port, error.strerror or ""
            ) from None
        if not answers:
            raise ConnectionDeniedError(FailureKind.NAME_NOT_RESOLVED, host, port, "no address")
        return [_parsed(answer, host, port) for answer in answers]

    def _judge(self, address: Address, host: str, port: int) -> None:
        reason = ip_rules.refusal(address, self._allowed)
        if reason is not None:
            raise ConnectionDeniedError(FailureKind.BLOCKED_ADDRESS, host, port, reason)

    def _own_loopback(self, host: str, port: int) -> list[Address]:
        allowed = [a for a in LOOPBACK if ip_rules.refusal(a, self._allowed) is None]
        if not allowed:
            raise ConnectionDeniedError(FailureKind.BLOCKED_ADDRESS, host, port, "this machine's own name")
        return allowed

    def _target(self, address: Address, port: int) -> Target:
        turned = self._hosts.dial(address)
        if turned is not None:
            return Target(address, *turned, may_be_own=True)
        plain = ip_rules.unwrapped(address)
        own = any(plain in network for network in self._allowed)
        return Target(plain, str(plain), port, may_be_own=own)


def _parsed(answer: str, host: str, port: int) -> Address:
    try:
        return ipaddress.ip_address(answer)
    except ValueError:
        raise ConnectionDeniedError(
            FailureKind.BLOCKED_ADDRESS, host, port, "an answer that is no address"
        ) from None


def _interleaved(found: list[Address]) -> list[Address]:
    """Both families in turn, beginning with the one that the resolver put first (RFC 8305, section 4)."""
    first = [address for address in found if address.version == found[0].version]
    other = [address for address in found if address.version != found[0].version]
    shorter = min(len(first), len(other))
    turns = [address for pair in zip(first, other, strict=False) for address in pair]
    return turns + first[shorter:] + other[shorter:]

"""Decide which addresses may be dialed for a host and port. A name with one blocked address is blocked.

`TestHosts` maps names to addresses that the operator chose, for tests and demonstrations. Each name gets a made-up
public address that is checked like any other; only a dial of exactly this address is redirected. A page that requests
the real address is refused.
"""

import ipaddress
import itertools
import logging
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network

from browsers.egress import ip_rules
from browsers.egress.dns_resolver import CachingResolver
from browsers.egress.ip_rules import Address, Network
from browsers.egress.traffic_log import ConnectionDeniedError, FailureKind

log = logging.getLogger(__name__)

_MAX_TARGETS = 6
"""Maximum of addresses to dial for one name."""

LOOPBACK_ADDRESSES: tuple[Address, ...] = (ipaddress.IPv4Address("127.0.0.1"), ipaddress.IPv6Address("::1"))
"""Addresses of the names of this machine, such as localhost."""

SYNTHETIC = IPv6Network("2e00:7465:7374::/48")
"""Made-up addresses of test hosts. They lie inside 2000::/3, so that the policy accepts them, and are never assigned
(IANA: 2e00::/7 is reserved)."""

_LOGGED_NAMES = 8
"""Maximum of names in a log line."""

_EXAMPLE = "www.example.com=127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class Target:
    """A checked address to dial, or the one that the operator put in its place, and the port."""

    address: str
    port: int
    may_be_own: bool = False
    """True if the operator allowed this address or redirected it: it may be an address of this machine."""

    @property
    def is_ipv6(self) -> bool:
        """Return True if the dialed address is an IPv6 address."""
        return ":" in self.address


class TestHosts:
    """Map names of test hosts to the addresses that serve them."""

    __test__ = False  # pytest would collect it because of its name

    def __init__(self, entries: Iterable[tuple[str, str, int]] = ()) -> None:
        """Check the entries: (name, address, port). Raises ValueError, with a valid example, for an invalid one."""
        self.addresses: dict[str, IPv6Address] = {}
        """Made-up address by host name."""
        self.dials: dict[Address, tuple[str, int]] = {}
        """Real address and port by made-up address."""
        for number, entry in enumerate(entries, 1):
            name, address, port = _check_entry(*entry)
            if name in self.addresses:
                raise _entry_error(entry[0], "is there twice")
            synthetic = SYNTHETIC[number]
            self.addresses[name] = synthetic
            self.dials[synthetic] = (address, port)
        if self.addresses:
            log.warning(
                "TEST HOSTS: SEARCH_MCP_TEST_HOSTS gives the addresses of these names, not the internet: %s%s",
                ", ".join(list(self.addresses)[:_LOGGED_NAMES]),
                ", ..." if len(self.addresses) > _LOGGED_NAMES else "",
            )


class TargetPolicy:
    """Decide which addresses the egress proxy may dial. The rules are the same for every browser and page."""

    def __init__(self, resolver: CachingResolver, allowed: tuple[Network, ...], test_hosts: TestHosts) -> None:
        """Allow public addresses, the networks in `allowed` and the test hosts."""
        self._resolver = resolver
        self._allowed = allowed
        self._test_hosts = test_hosts

    async def find_targets(self, host: str, port: int) -> list[Target]:
        """Return up to `_MAX_TARGETS` checked addresses, both families in turn. Raises ConnectionDeniedError."""
        name = self.check_name(host, port)
        found = name if isinstance(name, list) else await self._look_up(name, host, port)
        for address in found:
            self._check_address(address, host, port)
        return [self._make_target(address, port) for address in _interleave(found)[:_MAX_TARGETS]]

    def check_name(self, host: str, port: int) -> str | list[Address]:
        """Return the addresses of a host if known, else its normalized name. Raises ConnectionDeniedError."""
        if port in ip_rules.UNSAFE_PORTS:
            raise ConnectionDeniedError(FailureKind.UNSAFE_PORT, host, port)
        name = ip_rules.normalize_host(host)
        try:
            literal = ip_rules.parse_address(name)
        except ValueError as error:
            raise ConnectionDeniedError(FailureKind.NAME_NOT_RESOLVED, host, port, str(error)) from None
        if literal is not None:
            self._check_address(literal, host, port)
            return [literal]
        if ip_rules.is_loopback_name(name):
            allowed = [a for a in LOOPBACK_ADDRESSES if ip_rules.find_refusal(a, self._allowed) is None]
            if not allowed:
                raise ConnectionDeniedError(FailureKind.BLOCKED_ADDRESS, host, port, "this machine's own name")
            return allowed
        synthetic = self._test_hosts.addresses.get(name)
        if synthetic is not None:
            return [synthetic]
        # Where networks are allowed, such names may belong to them: then their addresses are checked.
        if ip_rules.is_special_name(name) and not self._allowed:
            raise ConnectionDeniedError(FailureKind.BLOCKED_ADDRESS, host, port, "a name of a local network")
        return name

    async def is_known_public(self, host: str, port: int, *, limit_s: float) -> bool:
        """Return True if a name resolves to public addresses, False if it fails. Raises ConnectionDeniedError."""
        name = self.check_name(host, port)
        if isinstance(name, list):
            return True
        try:
            answers = await self._resolver.lookup(name, limit_s=limit_s)
        except OSError:
            return False
        for answer in answers:
            self._check_address(_parse_answer(answer, host, port), host, port)
        return len(answers) > 0

    async def _look_up(self, name: str, host: str, port: int) -> list[Address]:
        kind, detail = FailureKind.NAME_NOT_RESOLVED, "no address"
        try:
            answers = await self._resolver.lookup(name)
        except TimeoutError:
            answers, kind, detail = (), FailureKind.NAME_LOOKUP_TIMEOUT, ""
        except OSError as error:
            answers, detail = (), error.strerror or ""
            if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
                kind = FailureKind.NAME_LOOKUP_TIMEOUT
        if not answers:
            raise ConnectionDeniedError(kind, host, port, detail)
        return [_parse_answer(answer, host, port) for answer in answers]

    def _check_address(self, address: Address, host: str, port: int) -> None:
        reason = ip_rules.find_refusal(address, self._allowed)
        if reason is not None:
            raise ConnectionDeniedError(FailureKind.BLOCKED_ADDRESS, host, port, reason)

    def _make_target(self, address: Address, port: int) -> Target:
        redirected = self._test_hosts.dials.get(address)
        if redirected is not None:
            return Target(*redirected, may_be_own=True)
        unmapped = ip_rules.unmap_ipv4(address)
        is_allowed = any(unmapped in network for network in self._allowed)
        return Target(str(unmapped), port, may_be_own=is_allowed)


def _parse_answer(answer: str, host: str, port: int) -> Address:
    try:
        return ipaddress.ip_address(answer)
    except ValueError:
        detail = "an answer that is not an address"
        raise ConnectionDeniedError(FailureKind.BLOCKED_ADDRESS, host, port, detail) from None


def _interleave(addresses: list[Address]) -> list[Address]:
    """Alternate both families, beginning with that of the first address (RFC 8305, section 4)."""
    first = [address for address in addresses if address.version == addresses[0].version]
    other = [address for address in addresses if address.version != addresses[0].version]
    pairs = itertools.zip_longest(first, other)
    return [address for pair in pairs for address in pair if address is not None]


def _check_entry(host: str, address: str, port: int) -> tuple[str, str, int]:
    name = ip_rules.normalize_host(host)
    if "*" in host:
        raise _entry_error(host, "has a wildcard; names must be exact")
    try:
        is_literal = ip_rules.parse_address(name) is not None
    except ValueError:
        raise _entry_error(host, "is not a host name") from None
    if is_literal or ip_rules.is_loopback_name(name):
        raise _entry_error(host, "is an address, not the name of a web site")
    try:
        ipaddress.ip_address(address)
    except ValueError:
        raise _entry_error(host, f"is given {address!r}, which is not an IP address") from None
    if not 0 < port < 65536:
        raise _entry_error(host, f"is given port {port}, which does not exist")
    return name, address, port


def _entry_error(host: str, problem: str) -> ValueError:
    return ValueError(f"SEARCH_MCP_TEST_HOSTS: {host!r} {problem}. Write entries such as {_EXAMPLE}.")

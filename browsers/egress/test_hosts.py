"""The seam for tests and demonstrations: names that are served from an address of the operator's choice.

It opens nothing else. Each name gets a made-up public address of its own, that address is judged like any
other, and only the dial of exactly this address is turned: a page that asks for the real one is refused.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterable
from ipaddress import IPv6Address, IPv6Network

from browsers.egress import ip_rules

log = logging.getLogger(__name__)

SYNTHETIC = IPv6Network("2e00:7465:7374::/48")
"""Inside 2000::/3, so that the judgement lets it pass, and never given out (IANA: 2e00::/7 is reserved)."""

NAMES_SHOWN = 8
"""In the log, at most."""

EXAMPLE = "www.example.com=127.0.0.1:8080"


class TestHosts:
    """Which names are served from where."""

    __test__ = False  # not a test class, whatever its name tells pytest

    def __init__(self, entries: Iterable[tuple[str, str, int]] = ()) -> None:
        """Raises ValueError with a message that shows how an entry is written."""
        self._by_name: dict[str, IPv6Address] = {}
        self._dials: dict[IPv6Address, tuple[str, int]] = {}
        for number, entry in enumerate(entries, 1):
            name, address, port = _checked(*entry)
            if name in self._by_name:
                raise _wrong(entry[0], "is there twice")
            synthetic = SYNTHETIC[number]
            self._by_name[name] = synthetic
            self._dials[synthetic] = (address, port)
        if self._by_name:
            shown = ", ".join(list(self._by_name)[:NAMES_SHOWN])
            log.warning(
                "TEST HOSTS: %d names are not those of the internet, but served from where "
                "SEARCH_MCP_TEST_HOSTS says: %s%s",
                len(self._by_name),
                shown,
                ", ..." if len(self._by_name) > NAMES_SHOWN else "",
            )

    def address_of(self, name: str) -> IPv6Address | None:
        """The made-up address of a test host; None for any other name."""
        return self._by_name.get(name)

    def dial(self, address: ip_rules.Address) -> tuple[str, int] | None:
        """Where a made-up address is served from; None for any other address."""
        return self._dials.get(address) if isinstance(address, IPv6Address) else None


def _checked(host: str, address: str, port: int) -> tuple[str, str, int]:
    name = ip_rules.normal_host(host)
    if "*" in host:
        raise _wrong(host, "has a wildcard; names must be exact")
    try:
        is_literal = ip_rules.literal(name) is not None
    except ValueError:
        raise _wrong(host, "is not a host name") from None
    if is_literal or ip_rules.is_loopback_name(name):
        raise _wrong(host, "is an address, not the name of a web site")
    try:
        ipaddress.ip_address(address)
    except ValueError:
        raise _wrong(host, f"is given {address!r}, which is not an IP address") from None
    if not 0 < port < 65536:
        raise _wrong(host, f"is given port {port}, which does not exist")
    return name, address, port


def _wrong(host: str, what: str) -> ValueError:
    return ValueError(f"SEARCH_MCP_TEST_HOSTS: {host!r} {what}. Write entries such as {EXAMPLE}.")

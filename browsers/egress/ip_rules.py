"""Tell addresses, names and ports of the public web from private and special ones. Addresses are compared as numbers.

`ipaddress.is_global` is not used, because its answers change between versions. Python 3.11.7 calls `::127.0.0.1`,
`64:ff9b::7f00:1`, `2002:7f00:1::`, `ff02::1`, `fec0::1`, `192.0.0.192` (Oracle's metadata) and `224.0.0.1` global.
"""

import ipaddress
import re
import socket
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

FAKE_DNS = IPv4Network("198.18.0.0/15")
"""Network reserved for tests of routers. Some tunnels (Clash, Surge) answer every name with an address of it."""
FAKE_DNS_REASON = "an address that a tunnel made up"

_NAT64 = IPv6Network("64:ff9b::/96")
"""IPv4 addresses embedded in IPv6 (RFC 6052): blocked, or checked by the IPv4 rules if the operator allows it."""

NAT64_REASON = "a NAT64 address"

_TABLE = tomllib.loads(files(__package__).joinpath("special_addresses.toml").read_text(encoding="utf-8"))
SPECIAL_IPV4 = tuple(map(IPv4Network, (*_TABLE["special_ipv4"], *_TABLE["multicast"], *_TABLE["azure"])))
PUBLIC_IPV6 = IPv6Network("2000::/3")
"""All addresses that were ever assigned for the public internet."""
SPECIAL_IPV6 = tuple(map(IPv6Network, _TABLE["special_ipv6"]))
UNSAFE_PORTS = frozenset(_TABLE["unsafe_ports"])
# As numbers: each connection checks an address, and `in` of a network takes ten times as long.
_NAT64_PREFIX = int(_NAT64.network_address) >> 32
_PUBLIC_PREFIX = int(PUBLIC_IPV6.network_address) >> 125
_DENIED_V4 = tuple((int(n.netmask), int(n.network_address)) for n in SPECIAL_IPV4)
_DENIED_V6 = tuple((int(n.netmask), int(n.network_address)) for n in SPECIAL_IPV6)

_SPECIAL_SUFFIXES = (".local", ".internal", ".home.arpa")

_NAME = re.compile(r"(?!.{254})[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")


def normalize_host(host: str) -> str:
    """Return the host in lower case, without brackets and without a final dot."""
    return host.removeprefix("[").removesuffix("]").removesuffix(".").lower()


def bracket_host(host: str) -> str:
    """Return the host as written in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def parse_address(host: str) -> Address | None:
    """Parse an address in any form, or return None for a name. Raises ValueError if a host is neither."""
    if ":" in host:
        return ipaddress.IPv6Address(host)
    if not _NAME.fullmatch(host):
        raise ValueError("not a host name")
    if not ends_with_number(host):
        return None
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        raise ValueError("not an IPv4 address") from None


def ends_with_number(host: str) -> bool:
    """Return True if the last label is a number, as in an IPv4 address in any spelling, which no name ends with."""
    digits = host.rpartition(".")[2]
    if digits.startswith("0x"):
        return set(digits[2:]) <= set("0123456789abcdef")
    return digits.isascii() and digits.isdecimal()


def is_loopback_name(host: str) -> bool:
    """Return True if the name always refers to this machine (RFC 6761)."""
    return host == "localhost" or host.endswith(".localhost")


def is_special_name(host: str) -> bool:
    """Return True if the name is reserved for local networks (RFC 6762, RFC 8375, ICANN's `internal`)."""
    return f".{host}".endswith(_SPECIAL_SUFFIXES)


def unmap_ipv4(address: Address) -> Address:
    """Return the IPv4 address inside an IPv4-mapped one, and any other address unchanged."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def find_refusal(address: Address, allowed: Iterable[Network] = ()) -> str | None:
    """Return the reason why this address is blocked, or None if it is public or in one of the `allowed` networks.

    The reason contains no address: it may reach the author of a page, who must not learn addresses.
    """
    address = unmap_ipv4(address)
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return "an address with a scope"
        if int(address) >> 32 == _NAT64_PREFIX:
            if not any(isinstance(network, IPv6Network) and _NAT64.subnet_of(network) for network in allowed):
                return NAT64_REASON
            return find_refusal(IPv4Address(int(address) & 0xFFFF_FFFF), allowed)
    if any(address in network for network in allowed):
        return None
    if isinstance(address, IPv6Address):
        return _ipv6_refusal(address, allowed)
    if any(int(address) & mask == network for mask, network in _DENIED_V4):
        return FAKE_DNS_REASON if address in FAKE_DNS else "a special-purpose IPv4 address"
    return None


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Parse networks in CIDR form. Raises ValueError if a text is not a network. The message shows the format."""
    networks: list[Network] = []
    for text in map(str.strip, texts):
        try:
            networks.append(ipaddress.ip_network(text))
        except ValueError as error:
            raise ValueError(
                f"SEARCH_MCP_ALLOW_NETS: {text!r} is not a network ({error}). "
                "Write networks such as 10.1.0.0/16 or fd00:1::/32, separated by commas."
            ) from None
    return tuple(networks)


def _ipv6_refusal(address: IPv6Address, allowed: Iterable[Network]) -> str | None:
    value = int(address)
    if value >> 125 != _PUBLIC_PREFIX:
        return "outside the public IPv6 internet"
    if any(value & mask == network for mask, network in _DENIED_V6):
        return "a special-purpose IPv6 address"
    # ISATAP (RFC 5214): an interface identifier of [02]00:5efe and an IPv4 address
    if (value >> 32) & 0xFDFF_FFFF == 0x0000_5EFE:
        return find_refusal(IPv4Address(value & 0xFFFF_FFFF), allowed)
    return None

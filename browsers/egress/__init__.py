"""Egress proxy: the only path from the browsers to the network, and the policy for targets.

Each browser context uses a SOCKS5 listener of its own as its proxy. The proxy resolves names, checks every address,
connects to a checked address and counts bytes. It logs failures for each visit, because Chromium reports one error for
all of them.
"""

from browsers.egress.dns_resolver import DnsResolver, is_fake_dns_suspected
from browsers.egress.proxy_listener import ProxyLimits, ProxyListener
from browsers.egress.proxy_server import EgressProxy
from browsers.egress.traffic_log import ConnectionFailure, FailureKind, TrafficLog

__all__ = [
    "ConnectionFailure",
    "DnsResolver",
    "EgressProxy",
    "FailureKind",
    "ProxyLimits",
    "ProxyListener",
    "TrafficLog",
    "is_fake_dns_suspected",
]

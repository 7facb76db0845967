"""The egress wall: the only way from the browsers to the network, and the rule of what may pass.

Every browser context is given a gate of its own as its proxy. Behind it names are resolved, every address is
judged, the judged address itself is dialled, and bytes are counted. What failed stands in the visit's ledger,
because Chromium shows one and the same error for all of it.
"""

from browsers.egress.dns_resolver import DnsResolver, fake_dns_suspected
from browsers.egress.proxy_server import EgressProxy, ProxyLimits, ProxyListener
from browsers.egress.traffic_log import Failure, FailureKind, TrafficLog

__all__ = [
    "DnsResolver",
    "EgressProxy",
    "Failure",
    "FailureKind",
    "ProxyLimits",
    "ProxyListener",
    "TrafficLog",
    "fake_dns_suspected",
]

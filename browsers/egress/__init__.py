"""The egress wall: the only way from the browsers to the network, and the rule of what may pass.

Every browser context is given a gate of its own as its proxy. Behind it names are resolved, every address is
judged, the judged address itself is dialled, and bytes are counted. What failed stands in the visit's ledger,
because Chromium shows one and the same error for all of it.
"""

from browsers.egress.ledger import Failure, FailureKind, Ledger
from browsers.egress.resolver import NameService, fake_dns_suspected
from browsers.egress.wall import Egress, Gate, WallLimits

__all__ = [
    "Egress",
    "Failure",
    "FailureKind",
    "Gate",
    "Ledger",
    "NameService",
    "WallLimits",
    "fake_dns_suspected",
]

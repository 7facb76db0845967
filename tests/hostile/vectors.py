"""All vectors: each page tries to reach the local network in one way."""

from __future__ import annotations

from tests.hostile.elements import elements
from tests.hostile.navigations import navigations
from tests.hostile.other_protocols import other_protocols
from tests.hostile.scripts import scripts
from tests.hostile.target import Target, Vector

QUICK_VECTORS = (
    "redirect302 redirect-chain fetch-redirect specrules websocket sharedworker serviceworker rtc-stun-udp "
    "rtc-candidate rtc-turn-tcp"
).split()
"""One vector of each kind that other products missed."""


def vectors(target: Target) -> dict[str, Vector]:
    """Return the vectors by name, for one target."""
    return navigations(target) | elements(target) | scripts(target) | other_protocols(target)

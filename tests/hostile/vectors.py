"""All vectors: each page tries to reach the local network in one way."""

from __future__ import annotations

from tests.hostile.aim import Aim, Vector
from tests.hostile.beyond import beyond
from tests.hostile.elements import elements
from tests.hostile.navigations import navigations
from tests.hostile.scripts import scripts

QUICK_VECTORS = (
    "redirect302 redirect-chain fetch-redirect specrules websocket sharedworker serviceworker rtc-stun-udp "
    "rtc-candidate rtc-turn-tcp"
).split()
"""One vector of each kind that other products missed."""


def vectors(aim: Aim) -> dict[str, Vector]:
    """Return the vectors by name, for one target."""
    return navigations(aim) | elements(aim) | scripts(aim) | beyond(aim)

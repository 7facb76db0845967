"""All vectors: each page is one way in which a page could make the browser reach what is near it."""

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
"""One of each kind that peers were seen to miss."""


def vectors(aim: Aim) -> dict[str, Vector]:
    """Vector by name, for one aim."""
    return navigations(aim) | elements(aim) | scripts(aim) | beyond(aim)

"""The hosts of the benchmark: 60 sites and the third parties of their pages, drawn once from a fixed seed.

Third parties, their categories and their script times come from HTTP Archive, as third-party-web aggregates them (MIT).
A script takes a quarter of the time that Lighthouse's phone needs, and at most 400 ms.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SEED = 30
SITES = 60
KINDS = ("complete", "script", "news", "shop")
MARKS = 24
"""Marker words of each page: one for each paragraph of its text."""
PHONE_DIVISOR = 4
MAX_BURN_MS = 400
MEDIAN_MS, P95_MS = 120.0, 600.0
"""Milliseconds until a response: log-normal."""
SLOW_MS = 3_000.0
_SIGMA = math.log(P95_MS / MEDIAN_MS) / 1.645
_COUNTS = {
    "tag-manager": 2,
    "ad": 12,
    "analytics": 8,
    "social": 4,
    "marketing": 4,
    "customer-success": 4,
    "consent-provider": 4,
    "cdn": 3,
    "video": 2,
}
"""Most frequent entities of each category."""
_TROUBLED = ("ad", "analytics", "social", "marketing", "customer-success")
"""Categories in which hosts are slow or dead; pages need the others."""


@dataclass(frozen=True, slots=True)
class ThirdParty:
    """A host that pages load a script from."""

    host: str
    category: str
    burn_ms: float
    """CPU milliseconds of its script."""
    state: str = "ok"
    """`ok`, `slow` or `dead`."""


@dataclass(frozen=True, slots=True)
class World:
    """All third parties, and those of each site."""

    parties: Mapping[str, ThirdParty]
    sites: Sequence[Mapping[str, Sequence[str]]]
    """Hosts by category, for each site."""


def create_world(entities_file: Path) -> World:
    """Return the world that the seed determines.

    Raises:
        FileNotFoundError: the data is missing.
    """
    rng = random.Random(SEED)
    parties = _choose_parties(json.loads(entities_file.read_text(encoding="utf-8")), rng)
    hosts = {category: [party.host for party in parties if party.category == category] for category in _COUNTS}
    sites = tuple(_choose_of_site(KINDS[site % len(KINDS)], hosts, rng) for site in range(SITES))
    return World({party.host: party for party in parties}, sites)


def _choose_parties(entities: list[dict[str, object]], rng: random.Random) -> list[ThirdParty]:
    chosen = []
    for category, count in _COUNTS.items():
        found = sorted(
            (entity for entity in entities if entity["category"] == category),
            key=lambda entity: -int(str(entity.get("totalOccurrences", 0))),
        )
        for entity in found[:count]:
            mean_ms = float(str(entity["totalExecutionTime"])) / int(str(entity["totalOccurrences"]))
            burn_ms = min(MAX_BURN_MS, mean_ms / PHONE_DIVISOR)
            chosen.append(ThirdParty(_host_of(entity), category, burn_ms))
    troubled = rng.sample([party.host for party in chosen if party.category in _TROUBLED], len(chosen) // 10)
    states = {host: ("slow", "dead")[number % 2] for number, host in enumerate(troubled)}
    return [
        ThirdParty(party.host, party.category, party.burn_ms, states.get(party.host, party.state)) for party in chosen
    ]


def _host_of(entity: dict[str, object]) -> str:
    names = entity.get("examples") or entity["domains"]
    assert isinstance(names, list)
    host = str(names[0])
    return f"cdn.{host.removeprefix('*.')}" if host.startswith("*.") else host


def _choose_of_site(kind: str, hosts: Mapping[str, Sequence[str]], rng: random.Random) -> dict[str, list[str]]:
    numbers = {
        "complete": {"tag-manager": 1, "analytics": 1, "cdn": 1},
        "script": {"tag-manager": 1, "analytics": 2, "social": 1, "cdn": 1},
        "news": {
            "tag-manager": 1, "ad": 4, "analytics": 3, "social": 1, "consent-provider": 1, "customer-success": 1,
            "cdn": 1, "video": 1,
        },
        "shop": {
            "tag-manager": 1, "ad": 1, "analytics": 2, "marketing": 2, "consent-provider": 1, "customer-success": 1,
            "cdn": 1,
        },
    }[kind]  # fmt: skip
    # The first entity of a category is by far the most frequent: half of the sites have it.
    return {
        category: list(dict.fromkeys((*hosts[category][: rng.randint(0, 1)], *rng.sample(hosts[category], number))))
        for category, number in numbers.items()
    }


def latency_ms(host: str, path: str) -> float:
    """Return the milliseconds until a path of a host responds; the same in each run."""
    rng = random.Random(f"{SEED} {host} {path}")
    return min(rng.lognormvariate(math.log(MEDIAN_MS), _SIGMA), 4 * P95_MS)

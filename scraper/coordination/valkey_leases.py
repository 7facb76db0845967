"""Leases held by all servers together; by each for its share while they cannot agree."""

from __future__ import annotations

import asyncio
import itertools
import math
from dataclasses import replace

from scraper.coordination.local_leases import LocalLeases
from scraper.coordination.lua_scripts import HOLD, LEASE, REST
from scraper.coordination.protocols import Lease, RetryLater, ThrottleTerms
from scraper.coordination.server_registry import ServerRegistry
from scraper.coordination.valkey_client import BEAT_S, ValkeyClient, ValkeyUnavailableError

HOLD_S = 5 * BEAT_S
"""A lease ends so long after its server did."""
LOOK_S = 0.1
"""Between two looks whether another server has given back a lease; a page takes a multiple."""

_GRANTED, _RESTING, _FULL, _GAP = range(4)


class ValkeyLeases:
    """The `Leases` protocol over Valkey. What it grants is counted here too, for when it goes away."""

    def __init__(self, valkey: ValkeyClient, roll: ServerRegistry) -> None:
        self._valkey = valkey
        self._roll = roll
        self._own = LocalLeases()
        self._numbers = itertools.count()

    async def take(self, key: str, terms: ThrottleTerms) -> Lease | RetryLater:
        """A lease, or how long there is none."""
        if self._valkey.there:
            lease = Lease(key, f"{self._roll.name}-{next(self._numbers)}")
            try:
                return await self._asked(lease, terms)
            except ValkeyUnavailableError:
                pass
        wait = await self._own.take(key, _share(terms, self._roll.servers))
        # It may be back before one of ours is given back.
        return (
            replace(wait, seconds=LOOK_S)
            if isinstance(wait, RetryLater) and math.isinf(wait.seconds)
            else wait
        )

    def give_back(self, lease: Lease) -> None:
        """The request is over."""
        self._own.give_back(lease)
        self._forget(lease)

    async def rest(self, key: str, seconds: float) -> None:
        """Let nobody ask for so long."""
        await self._own.rest(key, seconds)
        self._tell_rest(key, seconds)

    def hold(self) -> None:
        """Keep what is held here for a while longer; said again and again while the server lives."""
        held = self._own.held()
        if held:
            keys = [self._held(lease.key) for lease in held]
            self._valkey.later(HOLD, keys, round(HOLD_S * 1_000), *(lease.token for lease in held))

    def tell_all(self) -> None:
        """After a time alone: tell the others what was agreed here, and by whom we were sent away."""
        self.hold()
        for key, seconds in self._own.rests().items():
            self._tell_rest(key, seconds)

    async def _asked(self, lease: Lease, terms: ThrottleTerms) -> Lease | RetryLater:
        keys = [self._held(lease.key), self._rests(lease.key), self._valkey.key("next", lease.key)]
        words = (lease.token, terms.at_once, round(terms.gap_s * 1_000), round(HOLD_S * 1_000))
        try:
            said = await self._valkey.run(LEASE, keys, *words)
        except asyncio.CancelledError:
            # It may have been granted all the same.
            self._forget(lease)
            raise
        if said[0] == _GRANTED:
            self._own.note(lease, terms)
            return lease
        if said[0] == _FULL:
            return RetryLater(LOOK_S, known=False)
        if said[0] == _RESTING:
            await self._own.rest(lease.key, said[1] / 1_000)
        return RetryLater(said[1] / 1_000, resting=said[0] == _RESTING)

    def _forget(self, lease: Lease) -> None:
        self._valkey.tell("ZREM", self._held(lease.key), lease.token)

    def _tell_rest(self, key: str, seconds: float) -> None:
        self._valkey.later(REST, [self._rests(key)], max(1, round(seconds * 1_000)))

    def _held(self, key: str) -> str:
        return self._valkey.key("held", key)

    def _rests(self, key: str) -> str:
        return self._valkey.key("rests", key)


def _share(terms: ThrottleTerms, servers: int) -> ThrottleTerms:
    """One server's part: all together they keep the terms, but for bounds below their number."""
    return ThrottleTerms(max(1, terms.at_once // servers) if terms.at_once else 0, terms.gap_s * servers)

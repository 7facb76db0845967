"""Leases on hosts and claims on work, shared through Valkey."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import secrets
from collections.abc import Callable
from dataclasses import replace

from scraper.coordination.local_state import LocalLeases
from scraper.coordination.lua_scripts import ALIVE, BEGIN, EXTEND, GIVE_UP, HOLD, LAND, LEASE, REST
from scraper.coordination.protocols import (
    ClaimedElsewhere,
    Lease,
    RetryLater,
    ThrottleTerms,
    WorkClaim,
    WorkCompleted,
)
from scraper.coordination.valkey_client import BEAT_S, ValkeyClient, ValkeyUnavailableError

FORGOTTEN_S = 5 * BEAT_S
"""A server that has said nothing for so long is gone."""
UNSEEN = 2
"""Servers assumed while nobody was ever seen: who configures shared state has more than one."""


class ServerRegistry:
    """The servers that share one state."""

    def __init__(self, valkey: ValkeyClient) -> None:
        self.servers = UNSEEN
        """Last seen alive, this one among them."""
        self.name = secrets.token_hex(6)
        """This server's."""
        self.on_forgotten: Callable[[], None] = lambda: None
        """Called when the service no longer knew this server: it was restarted or emptied in between."""
        self._known = False
        self._valkey = valkey
        self._key = valkey.key("servers", "all")

    async def call(self) -> None:
        """Say that this server lives, and count."""
        with contextlib.suppress(ValkeyUnavailableError):
            count, new = await self._valkey.run(ALIVE, [self._key], self.name, round(FORGOTTEN_S * 1_000))
            self.servers = max(1, int(count))
            if new and self._known:
                self.on_forgotten()
            self._known = True

    def leave(self) -> None:
        """This server ends."""
        self._valkey.tell("ZREM", self._key, self.name)


LEASE_S = 5 * BEAT_S
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
            self._valkey.later(HOLD, keys, round(LEASE_S * 1_000), *(lease.token for lease in held))

    def tell_all(self) -> None:
        """After a time alone: tell the others what was agreed here, and by whom we were sent away."""
        self.hold()
        for key, seconds in self._own.rests().items():
            self._tell_rest(key, seconds)

    async def _asked(self, lease: Lease, terms: ThrottleTerms) -> Lease | RetryLater:
        keys = [self._held(lease.key), self._rests(lease.key), self._valkey.key("next", lease.key)]
        words = (lease.token, terms.at_once, round(terms.gap_s * 1_000), round(LEASE_S * 1_000))
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


CLAIM_S = 3 * BEAT_S
"""Who dies is replaced so long after his last word."""
LANDED_S = 15.0
"""For those who wait to look, and for those who come just too late; the page cache is for later ones."""
VALUE_BYTES = 8_000_000
"""A larger result is not worth its way: the next server does the work again."""

_OURS, _TAKEN, _LANDED = range(3)


class ValkeyClaims:
    """The `Claims` protocol over Valkey."""

    def __init__(self, valkey: ValkeyClient, roll: ServerRegistry) -> None:
        self._valkey = valkey
        self._roll = roll
        self._numbers = itertools.count()
        self._held: dict[str, WorkClaim] = {}

    async def begin(self, key: str, *, waited: bool) -> WorkClaim | ClaimedElsewhere | WorkCompleted:
        """Claim the work."""
        claim = WorkClaim(key, f"{self._roll.name}-{next(self._numbers)}")
        keys = [self._claim(key), self._landed(key)]
        try:
            said = await self._valkey.run(BEGIN, keys, claim.token, round(CLAIM_S * 1_000), int(waited))
        except ValkeyUnavailableError:
            # Whoever cannot ask does the work himself.
            return claim
        except BaseException:
            # It may have been granted all the same.
            self._free(claim)
            raise
        if said[0] == _LANDED:
            return WorkCompleted(said[1])
        if said[0] == _TAKEN:
            return ClaimedElsewhere()
        self._held[claim.token] = claim
        return claim

    def land(self, claim: WorkClaim, value: bytes) -> None:
        """Tell what the work came to."""
        if len(value) > VALUE_BYTES:
            self.give_up(claim)
        elif self._held.pop(claim.token, None) is not None:
            keys = [self._claim(claim.key), self._landed(claim.key)]
            self._valkey.later(LAND, keys, claim.token, value, round(LANDED_S * 1_000))

    def give_up(self, claim: WorkClaim) -> None:
        """Let another server do it."""
        if self._held.pop(claim.token, None) is not None:
            self._free(claim)

    def hold(self) -> None:
        """Keep what is claimed here for a while longer."""
        held = list(self._held.values())
        if held:
            keys = [self._claim(claim.key) for claim in held]
            self._valkey.later(EXTEND, keys, round(CLAIM_S * 1_000), *(claim.token for claim in held))

    def _free(self, claim: WorkClaim) -> None:
        self._valkey.later(GIVE_UP, [self._claim(claim.key)], claim.token)

    def _claim(self, key: str) -> str:
        return self._valkey.key("claim", key)

    def _landed(self, key: str) -> str:
        return self._valkey.key("landed", key)

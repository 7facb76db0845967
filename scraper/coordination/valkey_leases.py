"""Leases on hosts, claims on work and the registry of servers, shared through Valkey."""

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
from scraper.coordination.protocols import ClaimedElsewhere, Lease, RetryLater, ThrottleTerms, WorkClaim, WorkCompleted
from scraper.coordination.valkey_client import HEARTBEAT_S, ValkeyClient, ValkeyUnavailableError

FORGOTTEN_S = 5 * HEARTBEAT_S
"""Seconds after its last heartbeat at which a server counts as gone."""
UNSEEN = 2
"""Servers assumed before the first count: an operator who configures shared state has more than one."""


class ServerRegistry:
    """The servers that share one state."""

    def __init__(self, valkey: ValkeyClient) -> None:
        """Register servers through the client."""
        self.servers = UNSEEN
        """Number of servers last seen alive, including this one."""
        self.name = secrets.token_hex(6)
        """Name of this server."""
        self.on_forgotten: Callable[[], None] = lambda: None
        """Called if the service no longer lists this server: it lost its data, or heartbeats failed."""
        self._known = False
        self._valkey = valkey
        self._key = valkey.key("servers", "all")

    async def register(self) -> None:
        """Register this server as alive, and count the servers."""
        with contextlib.suppress(ValkeyUnavailableError):
            count, new = await self._valkey.run(ALIVE, [self._key], self.name, round(FORGOTTEN_S * 1_000))
            self.servers = max(1, int(count))
            if new and self._known:
                self.on_forgotten()
            self._known = True

    def leave(self) -> None:
        """Remove this server."""
        self._valkey.send("ZREM", self._key, self.name)


LEASE_S = 5 * HEARTBEAT_S
"""Seconds after which the lease of a server that ended expires."""
POLL_S = 0.1
"""Seconds between two polls for a lease of another server. A page takes a multiple of this."""

_GRANTED, _RESTING, _FULL, _GAP = range(4)


class ValkeyLeases:
    """The `Leases` protocol over Valkey.

    Granted leases are counted here too. While the service is down, each server keeps its share of the limits.
    """

    def __init__(self, valkey: ValkeyClient, registry: ServerRegistry) -> None:
        """Use the client, and the registry for the share of this server."""
        self._valkey = valkey
        self._registry = registry
        self._own = LocalLeases()
        self._numbers = itertools.count()

    async def take(self, key: str, terms: ThrottleTerms) -> Lease | RetryLater:
        """Return a lease, or the time until the next attempt."""
        if self._valkey.is_available:
            lease = Lease(key, f"{self._registry.name}-{next(self._numbers)}")
            try:
                return await self._request(lease, terms)
            except ValkeyUnavailableError:
                pass
        wait = await self._own.take(key, _share(terms, self._registry.servers))
        # The service may be back before a lease of this server is given back.
        return replace(wait, seconds=POLL_S) if isinstance(wait, RetryLater) and math.isinf(wait.seconds) else wait

    def give_back(self, lease: Lease) -> None:
        """End a lease."""
        self._own.give_back(lease)
        self._forget(lease)

    async def start_cooldown(self, key: str, seconds: float) -> None:
        """Start a cooldown."""
        await self._own.start_cooldown(key, seconds)
        self._publish_rest(key, seconds)

    def renew(self) -> None:
        """Renew the leases of this server; to be called with each heartbeat."""
        held = self._own.held()
        if held:
            keys = [self._held(lease.key) for lease in held]
            self._valkey.run_later(HOLD, keys, round(LEASE_S * 1_000), *(lease.token for lease in held))

    def publish(self) -> None:
        """Publish leases and cooldowns after a time without the service."""
        self.renew()
        for key, seconds in self._own.cooldowns().items():
            self._publish_rest(key, seconds)

    async def _request(self, lease: Lease, terms: ThrottleTerms) -> Lease | RetryLater:
        keys = [self._held(lease.key), self._rests(lease.key), self._valkey.key("next", lease.key)]
        words = (lease.token, terms.at_once, round(terms.gap_s * 1_000), round(LEASE_S * 1_000))
        try:
            answer = await self._valkey.run(LEASE, keys, *words)
        except asyncio.CancelledError:
            # It may have been granted.
            self._forget(lease)
            raise
        if answer[0] == _GRANTED:
            self._own.note(lease, terms)
            return lease
        if answer[0] == _FULL:
            return RetryLater(POLL_S, known=False)
        if answer[0] == _RESTING:
            await self._own.start_cooldown(lease.key, answer[1] / 1_000)
        return RetryLater(answer[1] / 1_000, is_cooldown=answer[0] == _RESTING)

    def _forget(self, lease: Lease) -> None:
        self._valkey.send("ZREM", self._held(lease.key), lease.token)

    def _publish_rest(self, key: str, seconds: float) -> None:
        self._valkey.run_later(REST, [self._rests(key)], max(1, round(seconds * 1_000)))

    def _held(self, key: str) -> str:
        return self._valkey.key("held", key)

    def _rests(self, key: str) -> str:
        return self._valkey.key("rests", key)


def _share(terms: ThrottleTerms, servers: int) -> ThrottleTerms:
    """Return the terms of one server.

    `at_once` is divided by the number of servers (at least 1), the gap is multiplied by it. With fewer slots than
    servers, all servers together exceed the limit.
    """
    return ThrottleTerms(max(1, terms.at_once // servers) if terms.at_once else 0, terms.gap_s * servers)


CLAIM_S = 3 * HEARTBEAT_S
"""Seconds after its last heartbeat at which the claim of a server expires."""
RESULT_S = 15.0
"""Seconds for which a result is stored, for servers that poll or come just too late. Later ones use the page cache."""
MAX_RESULT_BYTES = 8_000_000
"""A larger result is not published: the next server does the work again."""

_OURS, _TAKEN, _LANDED = range(3)


class ValkeyClaims:
    """The `WorkClaims` protocol over Valkey. While the service is down, every server does its own work."""

    def __init__(self, valkey: ValkeyClient, registry: ServerRegistry) -> None:
        """Use the client, and the registry to detect lost servers."""
        self._valkey = valkey
        self._registry = registry
        self._numbers = itertools.count()
        self._held: dict[str, WorkClaim] = {}

    async def begin(self, key: str, *, waited: bool) -> WorkClaim | ClaimedElsewhere | WorkCompleted:
        """Claim work, unless another server is doing it.

        Only a caller that `waited` for that server gets its stored result; for others the work is done again.
        """
        claim = WorkClaim(key, f"{self._registry.name}-{next(self._numbers)}")
        keys = [self._claim(key), self._landed(key)]
        try:
            answer = await self._valkey.run(BEGIN, keys, claim.token, round(CLAIM_S * 1_000), int(waited))
        except ValkeyUnavailableError:
            # Without the service, this server does the work.
            return claim
        except BaseException:
            # It may have been granted.
            self._free(claim)
            raise
        if answer[0] == _LANDED:
            return WorkCompleted(answer[1])
        if answer[0] == _TAKEN:
            return ClaimedElsewhere()
        self._held[claim.token] = claim
        return claim

    def land(self, claim: WorkClaim, value: bytes) -> None:
        """Publish the result."""
        if len(value) > MAX_RESULT_BYTES:
            self.give_up(claim)
        elif self._held.pop(claim.token, None) is not None:
            keys = [self._claim(claim.key), self._landed(claim.key)]
            self._valkey.run_later(LAND, keys, claim.token, value, round(RESULT_S * 1_000))

    def give_up(self, claim: WorkClaim) -> None:
        """Let another server do the work."""
        if self._held.pop(claim.token, None) is not None:
            self._free(claim)

    def renew(self) -> None:
        """Renew the claims of this server."""
        held = list(self._held.values())
        if held:
            keys = [self._claim(claim.key) for claim in held]
            self._valkey.run_later(EXTEND, keys, round(CLAIM_S * 1_000), *(claim.token for claim in held))

    def _free(self, claim: WorkClaim) -> None:
        self._valkey.run_later(GIVE_UP, [self._claim(claim.key)], claim.token)

    def _claim(self, key: str) -> str:
        return self._valkey.key("claim", key)

    def _landed(self, key: str) -> str:
        return self._valkey.key("landed", key)

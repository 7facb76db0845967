"""State that servers share through Valkey or Redis, including claims on work and files."""

import asyncio
import contextlib
import itertools
import math
import time
from dataclasses import replace

from scraper.coordination import state
from scraper.coordination.valkey_client import HEARTBEAT_S, SLOW_S, ValkeyClient, ValkeyUnavailableError

_EXPIRED_S = 5 * HEARTBEAT_S
"""Seconds after its last heartbeat at which a server counts as gone."""


class _ValkeyLimits(state.RateLimits):
    """Rate limits in Valkey. While the service is down, each server uses its share."""

    def __init__(self, valkey: ValkeyClient) -> None:
        super().__init__()
        self._valkey = valkey

    async def take(self, limit: state.RateLimit, key: str) -> float:
        is_down = True
        with contextlib.suppress(ValkeyUnavailableError):
            keys = [self._valkey.key(f"limit:{limit.name}", key)]
            wait_s = float(await self._valkey.run("take_limit", keys, 1_000 / limit.per_second, limit.burst)) / 1_000
            if wait_s:
                return wait_s
            is_down = False
        # An event that the service granted is counted here too, so that its loss brings no new burst.
        wait_s = self._take_share(limit, key, self._valkey.servers)
        return wait_s if is_down else 0.0


LEASE_S = 5 * HEARTBEAT_S
"""Seconds after its last heartbeat at which the leases of a server expire."""
_POLL_S = 0.1
"""Seconds between two polls for a lease of another server. A page takes a multiple of this."""

_GRANTED, _COOLDOWN, _FULL, _GAP = range(4)


class _ValkeyLeases(state.Leases):
    """Leases in Valkey; granted leases are counted in this process too."""

    def __init__(self, valkey: ValkeyClient) -> None:
        super().__init__()
        self._valkey = valkey

    async def take(self, key: str, terms: state.ThrottleTerms) -> state.Lease | state.RetryLater:
        with contextlib.suppress(ValkeyUnavailableError):
            return await self._request(state.Lease(key, f"{self._valkey.name}-{next(self._numbers)}"), terms)
        # Each server has at least 1 slot: with fewer slots than servers, all together exceed the limit.
        servers = self._valkey.servers
        at_once = max(1, terms.at_once // servers) if terms.at_once else 0
        wait = await super().take(key, state.ThrottleTerms(at_once, terms.gap_s * servers))
        # The service may be back before a lease of this server is given back.
        if isinstance(wait, state.RetryLater) and math.isinf(wait.seconds):
            return replace(wait, seconds=_POLL_S)
        return wait

    def give_back(self, lease: state.Lease) -> None:
        super().give_back(lease)
        self._withdraw(lease)

    async def start_cooldown(self, key: str, seconds: float) -> None:
        await super().start_cooldown(key, seconds)
        self._publish_cooldown(key, seconds)

    def renew(self) -> None:
        leases = self.list_leases()
        if leases:
            keys = [self._valkey.key("held", lease.key) for lease in leases]
            self._valkey.run_later("renew_leases", keys, round(LEASE_S * 1_000), *(lease.token for lease in leases))

    def publish(self) -> None:
        self.renew()
        for key, seconds in self.cooldowns().items():
            self._publish_cooldown(key, seconds)

    async def _request(self, lease: state.Lease, terms: state.ThrottleTerms) -> state.Lease | state.RetryLater:
        keys = [
            self._valkey.key("held", lease.key),
            self._valkey.key("rests", lease.key),
            self._valkey.key("next", lease.key),
        ]
        words = (lease.token, terms.at_once, round(terms.gap_s * 1_000), round(LEASE_S * 1_000))
        try:
            answer = await self._valkey.run("take_lease", keys, *words)
        except asyncio.CancelledError:
            # It may have been granted.
            self._withdraw(lease)
            raise
        if answer[0] == _GRANTED:
            self.note(lease, terms)
            return lease
        if answer[0] == _FULL:
            return state.RetryLater(_POLL_S, known=False)
        if answer[0] == _COOLDOWN:
            await super().start_cooldown(lease.key, answer[1] / 1_000)
        return state.RetryLater(answer[1] / 1_000, is_cooldown=answer[0] == _COOLDOWN)

    def _withdraw(self, lease: state.Lease) -> None:
        self._valkey.send("ZREM", self._valkey.key("held", lease.key), lease.token)

    def _publish_cooldown(self, key: str, seconds: float) -> None:
        self._valkey.run_later("start_host_cooldown", [self._valkey.key("rests", key)], max(1, round(seconds * 1_000)))


_COOLDOWN_MEMORY_S = 6 * 3_600.0
"""Seconds. If an engine fails again within this time after a cooldown, the next cooldown is longer."""


class _ValkeyCooldowns:
    """Implement `Cooldowns` over Valkey."""

    def __init__(self, valkey: ValkeyClient, local: state.Cooldowns) -> None:
        self._valkey = valkey
        self._local = local
        self._published: dict[tuple[str, str], state.Cooldown] = {}
        """Cooldowns that this server set and did not remove."""

    async def get_cooldown(self, engine: str, egress: str) -> state.Cooldown | None:
        with contextlib.suppress(ValkeyUnavailableError):
            row = await self._valkey.run("get_engine_cooldown", [self._key(engine, egress)])
            if not row:
                return None
            reason, step, faults, left_ms = (part.decode() for part in row)
            return state.Cooldown(reason, int(step), int(faults), time.time() + int(left_ms) / 1_000)
        return await self._local.get_cooldown(engine, egress)

    def set_cooldown(self, engine: str, egress: str, cooldown: state.Cooldown | None) -> None:
        self._local.set_cooldown(engine, egress, cooldown)
        self._send(engine, egress, cooldown)
        if cooldown is None:
            self._published.pop((engine, egress), None)
        else:
            self._published[engine, egress] = cooldown

    def publish(self) -> None:
        for (engine, egress), cooldown in self._published.items():
            if cooldown.until > time.time():
                self._send(engine, egress, cooldown)

    def _send(self, engine: str, egress: str, cooldown: state.Cooldown | None) -> None:
        key = self._key(engine, egress)
        if cooldown is None:
            self._valkey.send("DEL", key)
            return
        left_ms = round((cooldown.until - time.time()) * 1_000)
        words = (cooldown.reason, cooldown.step, cooldown.faults, left_ms, round(_COOLDOWN_MEMORY_S * 1_000))
        self._valkey.run_later("set_engine_cooldown", [key], *words)

    def _key(self, engine: str, egress: str) -> str:
        return self._valkey.key("engine", f"{engine}:{egress}")


class ValkeyState(state.SharedState):
    """Implement `SharedState` over Valkey."""

    is_alone = False

    def __init__(self, url: str) -> None:
        """Use the service at `url`; connect on first use."""
        self._valkey = ValkeyClient(url)
        self.limits: _ValkeyLimits = _ValkeyLimits(self._valkey)
        self.leases: _ValkeyLeases = _ValkeyLeases(self._valkey)
        self.claims: _ValkeyClaims = _ValkeyClaims(self._valkey)
        self.blobs: _ValkeyBlobs = _ValkeyBlobs(self._valkey)
        self._cooldowns: list[_ValkeyCooldowns] = []
        self._servers_key = self._valkey.key("servers", "all")
        self._was_registered = False
        self._valkey.on_connected = self._publish
        self._valkey.on_heartbeat = self._renew

    async def wait_connected(self, limit_s: float) -> None:
        """Wait until the service has answered or failed for the first time, at most `limit_s` seconds."""
        await self._valkey.wait_connected(limit_s)

    def cooldowns(self, local: state.Cooldowns) -> state.Cooldowns:
        """Return the shared cooldowns of engines; `local` is used while the service is down."""
        cooldowns = _ValkeyCooldowns(self._valkey, local)
        self._cooldowns.append(cooldowns)
        return cooldowns

    def status(self) -> state.SharedStateStatus:
        """Return the status as of the last command."""
        valkey = self._valkey
        slow = valkey.is_available and valkey.command_s > SLOW_S
        note = f"{valkey.where} is slow: {valkey.command_s * 1_000:.0f} ms a command." if slow else valkey.note
        return state.SharedStateStatus(True, valkey.problem, note, slow, valkey.servers, valkey.command_s)

    async def close(self) -> None:
        """Remove this server and close the connection."""
        self._valkey.send("ZREM", self._servers_key, self._valkey.name)
        await self._valkey.close()

    async def register(self) -> None:
        """Register this server as alive, and count the servers; publish all if the service has lost its data."""
        words = (self._valkey.name, round(_EXPIRED_S * 1_000))
        with contextlib.suppress(ValkeyUnavailableError):
            count, is_new = await self._valkey.run("register", [self._servers_key], *words)
            self._valkey.servers = max(1, int(count))
            if is_new and self._was_registered:
                self._publish()
            self._was_registered = True

    async def _renew(self) -> None:
        await self.register()
        self.leases.renew()
        self.claims.renew()

    def _publish(self) -> None:
        self.leases.publish()
        for cooldowns in self._cooldowns:
            cooldowns.publish()


CLAIM_S = 3 * HEARTBEAT_S
"""Seconds after its last heartbeat at which the claim of a server expires."""
_RESULT_S = 15.0
"""Seconds for which a result is stored, for servers that poll or come just too late. Later ones use the page cache."""
_MAX_RESULT_BYTES = 8_000_000
"""Bytes. A larger result is not published, so the next server repeats the work."""

_OURS, _CLAIMED, _COMPLETED = range(3)


class _ValkeyClaims:
    """Implement `WorkClaims` over Valkey. While the service is down, every server does its own work."""

    def __init__(self, valkey: ValkeyClient) -> None:
        self._valkey = valkey
        self._numbers = itertools.count()
        self._claims: dict[str, state.WorkClaim] = {}

    async def begin(self, key: str, *, waited: bool) -> state.WorkClaim | state.WorkCompleted | None:
        claim = state.WorkClaim(key, f"{self._valkey.name}-{next(self._numbers)}")
        keys = [self._valkey.key("claim", key), self._valkey.key("landed", key)]
        try:
            answer = await self._valkey.run("begin_work", keys, claim.token, round(CLAIM_S * 1_000), int(waited))
        except ValkeyUnavailableError:
            # Without the service, this server does the work.
            return claim
        except BaseException:
            # It may have been granted.
            self._withdraw(claim)
            raise
        if answer[0] == _COMPLETED:
            return state.WorkCompleted(answer[1])
        if answer[0] == _CLAIMED:
            return None
        self._claims[claim.token] = claim
        return claim

    def complete(self, claim: state.WorkClaim, value: bytes) -> None:
        if len(value) > _MAX_RESULT_BYTES:
            self.give_up(claim)
        elif self._claims.pop(claim.token, None) is not None:
            keys = [self._valkey.key("claim", claim.key), self._valkey.key("landed", claim.key)]
            self._valkey.run_later("complete_work", keys, claim.token, value, round(_RESULT_S * 1_000))

    def give_up(self, claim: state.WorkClaim) -> None:
        if self._claims.pop(claim.token, None) is not None:
            self._withdraw(claim)

    def renew(self) -> None:
        claims = list(self._claims.values())
        if claims:
            keys = [self._valkey.key("claim", claim.key) for claim in claims]
            self._valkey.run_later("renew_claims", keys, round(CLAIM_S * 1_000), *(claim.token for claim in claims))

    def _withdraw(self, claim: state.WorkClaim) -> None:
        self._valkey.run_later("give_up_work", [self._valkey.key("claim", claim.key)], claim.token)


class _ValkeyBlobs:
    """Implement `SharedBlobs` over Valkey."""

    def __init__(self, valkey: ValkeyClient) -> None:
        self._valkey = valkey

    async def get(self, key: str) -> bytes | None:
        with contextlib.suppress(ValkeyUnavailableError):
            found = await self._valkey.command("GET", self._valkey.key("text", key))
            return found if isinstance(found, bytes) else None
        return None

    def put(self, key: str, value: bytes, keep_s: float) -> None:
        self._valkey.send("SET", self._valkey.key("text", key), value, "PX", max(1, round(keep_s * 1_000)))

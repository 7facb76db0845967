"""State that servers share through Valkey or Redis, including claims on work and files."""

from __future__ import annotations

import contextlib
import itertools

from scraper.coordination.lua_scripts import BEGIN_WORK, COMPLETE_WORK, GIVE_UP_WORK, RENEW_CLAIMS
from scraper.coordination.protocols import Cooldowns, SharedState, SharedStateStatus, WorkClaim, WorkCompleted
from scraper.coordination.server_registry import ServerRegistry
from scraper.coordination.valkey_client import HEARTBEAT_S, SLOW_S, ValkeyClient, ValkeyUnavailableError
from scraper.coordination.valkey_throttling import ValkeyCooldowns, ValkeyLeases, ValkeyLimits


class ValkeyState(SharedState):
    """Implement `SharedState` over Valkey."""

    is_alone = False

    def __init__(self, url: str) -> None:
        """Use the service at `url`; connect on first use."""
        self._valkey = ValkeyClient(url)
        self._registry = ServerRegistry(self._valkey)
        self.limits = ValkeyLimits(self._valkey, self._registry)
        self.leases = ValkeyLeases(self._valkey, self._registry)
        self.claims: ValkeyClaims = ValkeyClaims(self._valkey, self._registry)
        self.blobs: _ValkeyBlobs = _ValkeyBlobs(self._valkey)
        self._cooldowns: list[ValkeyCooldowns] = []
        self._valkey.on_connected = self._publish
        self._registry.on_lost = self._publish
        self._valkey.on_heartbeat = self._renew

    async def wait_connected(self, limit_s: float) -> None:
        """Wait until the service has answered or failed for the first time, at most `limit_s` seconds."""
        await self._valkey.wait_connected(limit_s)

    def cooldowns(self, local: Cooldowns) -> Cooldowns:
        """Return the shared cooldowns of engines; `local` is used while the service is down."""
        cooldowns = ValkeyCooldowns(self._valkey, local)
        self._cooldowns.append(cooldowns)
        return cooldowns

    def status(self) -> SharedStateStatus:
        """Return the status as of the last command."""
        valkey = self._valkey
        slow = valkey.is_available and valkey.command_s > SLOW_S
        note = f"{valkey.where} is slow: {valkey.command_s * 1_000:.0f} ms a command." if slow else valkey.note
        return SharedStateStatus(True, valkey.problem, note, slow, self._registry.servers, valkey.command_s)

    async def close(self) -> None:
        """Remove this server and close the connection."""
        self._registry.leave()
        await self._valkey.close()

    async def _renew(self) -> None:
        await self._registry.register()
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


class ValkeyClaims:
    """Implement `WorkClaims` over Valkey. While the service is down, every server does its own work."""

    def __init__(self, valkey: ValkeyClient, registry: ServerRegistry) -> None:
        """Use the client, and the registry to detect lost servers."""
        self._valkey = valkey
        self._registry = registry
        self._numbers = itertools.count()
        self._claims: dict[str, WorkClaim] = {}

    async def begin(self, key: str, *, waited: bool) -> WorkClaim | WorkCompleted | None:
        """Claim work, unless another server is doing it; its stored result is only for callers that `waited`."""
        claim = WorkClaim(key, f"{self._registry.name}-{next(self._numbers)}")
        keys = [self._claim_key(key), self._result_key(key)]
        try:
            answer = await self._valkey.run(BEGIN_WORK, keys, claim.token, round(CLAIM_S * 1_000), int(waited))
        except ValkeyUnavailableError:
            # Without the service, this server does the work.
            return claim
        except BaseException:
            # It may have been granted.
            self._withdraw(claim)
            raise
        if answer[0] == _COMPLETED:
            return WorkCompleted(answer[1])
        if answer[0] == _CLAIMED:
            return None
        self._claims[claim.token] = claim
        return claim

    def complete(self, claim: WorkClaim, value: bytes) -> None:
        """Publish the result."""
        if len(value) > _MAX_RESULT_BYTES:
            self.give_up(claim)
        elif self._claims.pop(claim.token, None) is not None:
            keys = [self._claim_key(claim.key), self._result_key(claim.key)]
            self._valkey.run_later(COMPLETE_WORK, keys, claim.token, value, round(_RESULT_S * 1_000))

    def give_up(self, claim: WorkClaim) -> None:
        """Let another server do the work."""
        if self._claims.pop(claim.token, None) is not None:
            self._withdraw(claim)

    def renew(self) -> None:
        """Renew the claims of this server."""
        claims = list(self._claims.values())
        if claims:
            keys = [self._claim_key(claim.key) for claim in claims]
            self._valkey.run_later(RENEW_CLAIMS, keys, round(CLAIM_S * 1_000), *(claim.token for claim in claims))

    def _withdraw(self, claim: WorkClaim) -> None:
        self._valkey.run_later(GIVE_UP_WORK, [self._claim_key(claim.key)], claim.token)

    def _claim_key(self, key: str) -> str:
        return self._valkey.key("claim", key)

    def _result_key(self, key: str) -> str:
        return self._valkey.key("landed", key)


class _ValkeyBlobs:
    """Implement `SharedBlobs` over Valkey."""

    def __init__(self, valkey: ValkeyClient) -> None:
        """Use the client."""
        self._valkey = valkey

    async def get(self, key: str) -> bytes | None:
        """Return the file stored under a key, or None; also None while the service is down."""
        with contextlib.suppress(ValkeyUnavailableError):
            found = await self._valkey.command("GET", self._valkey.key("text", key))
            return found if isinstance(found, bytes) else None
        return None

    def put(self, key: str, value: bytes, keep_s: float) -> None:
        """Store a file for `keep_s` seconds."""
        self._valkey.send("SET", self._valkey.key("text", key), value, "PX", max(1, round(keep_s * 1_000)))

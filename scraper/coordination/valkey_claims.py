"""Work claimed by one of many servers; by each for itself while they cannot agree."""

from __future__ import annotations

import itertools

from scraper.coordination.lua_scripts import BEGIN, EXTEND, GIVE_UP, LAND
from scraper.coordination.protocols import ClaimedElsewhere, WorkClaim, WorkCompleted
from scraper.coordination.server_registry import ServerRegistry
from scraper.coordination.valkey_client import BEAT_S, ValkeyClient, ValkeyUnavailableError

HOLD_S = 3 * BEAT_S
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
            said = await self._valkey.run(BEGIN, keys, claim.token, round(HOLD_S * 1_000), int(waited))
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
            self._valkey.later(EXTEND, keys, round(HOLD_S * 1_000), *(claim.token for claim in held))

    def _free(self, claim: WorkClaim) -> None:
        self._valkey.later(GIVE_UP, [self._claim(claim.key)], claim.token)

    def _claim(self, key: str) -> str:
        return self._valkey.key("claim", key)

    def _landed(self, key: str) -> str:
        return self._valkey.key("landed", key)

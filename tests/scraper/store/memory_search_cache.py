"""A search cache in memory, for tests of services that need one."""

from __future__ import annotations

import time
from typing import Any

from scraper.coordination.state import Cooldown
from scraper.engines.model import SearchAnswer
from scraper.store.protocols import CacheScope
from scraper.store.search_cache import SearchCache, SqlStatement

ANSWERS_LIMIT = 20_000


class MemorySearchCache(SearchCache):
    """A search cache over dictionaries."""

    def __init__(self) -> None:
        self._answers: dict[tuple[CacheScope, str], SearchAnswer] = {}
        self._rests: dict[tuple[str, str], Cooldown] = {}

    async def get(self, key: str, *, scope: CacheScope, max_age_s: float) -> SearchAnswer | None:
        """Return the answer cached under a key, or None if it is older than `max_age_s`."""
        answer = self._answers.get((scope, key))
        if answer is None or answer.retrieved_at is None or max_age_s <= 0:
            return None
        return answer if time.time() - answer.retrieved_at.timestamp() <= max_age_s else None

    def put(self, key: str, answer: SearchAnswer, *, scope: CacheScope) -> None:
        """Store an answer."""
        self._answers[scope, key] = answer
        while len(self._answers) > ANSWERS_LIMIT:
            del self._answers[next(iter(self._answers))]

    async def get_cooldown(self, engine: str, egress: str) -> Cooldown | None:
        """Return the cooldown of an engine, or None."""
        return self._rests.get((engine, egress))

    def set_cooldown(self, engine: str, egress: str, cooldown: Cooldown | None) -> None:
        """Set or clear the cooldown of an engine."""
        if cooldown is None:
            self._rests.pop((engine, egress), None)
        else:
            self._rests[engine, egress] = cooldown

    async def close(self) -> None:
        """Do nothing."""

    async def _fetch(self, statement: str, values: tuple[Any, ...]) -> list[Any] | None:
        raise NotImplementedError

    async def _write(self, batch: list[SqlStatement]) -> None:
        raise NotImplementedError

    def _answer_key(self, scope: CacheScope, key: str) -> tuple[Any, ...]:
        raise NotImplementedError

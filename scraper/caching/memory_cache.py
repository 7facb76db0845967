"""Readings of the last minutes in memory: what is paged through but must not lie on a disk."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from scraper.model import Reading

KEPT_S = 900.0
KEPT = 32
KEPT_CHARACTERS = 20_000_000


@dataclass(frozen=True, slots=True)
class _Entry:
    reading: Reading
    until: float


class MemoryCache:
    """A few readings, the newest ones."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._characters = 0

    def get(self, key: Hashable) -> Reading | None:
        """A reading that is not too old."""
        entry = self._entries.get(key)
        if entry is None or entry.until < time.monotonic():
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return entry.reading

    def put(self, key: Hashable, reading: Reading) -> None:
        """Keep one, and let go of the oldest beyond the bounds."""
        self._drop(key)
        self._entries[key] = _Entry(reading, time.monotonic() + KEPT_S)
        self._characters += len(reading.document.markdown)
        while len(self._entries) > KEPT or (self._characters > KEPT_CHARACTERS and len(self._entries) > 1):
            self._drop(next(iter(self._entries)))

    def _drop(self, key: Hashable) -> None:
        dropped = self._entries.pop(key, None)
        if dropped is not None:
            self._characters -= len(dropped.reading.document.markdown)

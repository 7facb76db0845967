"""An engine that refused has a cooldown, longer each time, and is retried with one request."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from scraper.coordination.state import Cooldown
from scraper.search.engine_throttle import COOLDOWNS_S, MAX_FAULTS, CircuitBreakers, after_failure, is_cooling_down
from scraper.store.search_cache import open_search_cache
from tests.scraper.store.memory_search_cache import MemorySearchCache

NOW = 1_800_000_000.0


def test_each_block_in_a_row_has_a_longer_cooldown_up_to_an_hour() -> None:
    cooldown, pauses = None, []
    for _ in range(6):
        cooldown = after_failure(cooldown, "captcha", NOW)
        pauses.append(cooldown.until - NOW)
    assert pauses == [60, 300, 1_800, 3_600, 3_600, 3_600]


def test_a_cooldown_is_at_least_as_long_as_the_engine_asks_up_to_an_hour() -> None:
    pauses = [after_failure(None, "rate_limited", NOW, asked_s).until - NOW for asked_s in (0, 5, 900, 86_400)]
    assert pauses == [60, 60, 900, 3_600]


def test_only_repeated_timeouts_start_a_cooldown() -> None:
    cooldown = None
    for _ in range(MAX_FAULTS - 1):
        cooldown = after_failure(cooldown, "timeout", NOW)
        assert not is_cooling_down(cooldown, NOW)
    assert is_cooling_down(after_failure(cooldown, "timeout", NOW), NOW)


def test_a_cooldown_ends() -> None:
    cooldown = after_failure(None, "captcha", NOW)
    assert is_cooling_down(cooldown, NOW + 59)
    assert not is_cooling_down(cooldown, NOW + 61)


def test_a_cooldown_from_a_wrong_clock_is_ignored() -> None:
    assert not is_cooling_down(Cooldown("captcha", 1, 0, NOW + 10 * COOLDOWNS_S[-1]), NOW)


async def test_a_success_resets_the_cooldown() -> None:
    searches = MemorySearchCache()
    breakers = CircuitBreakers(searches)
    await breakers.note_outcome("bing", "captcha")
    cooldown = await breakers.find_cooldown("bing")
    assert cooldown is not None and cooldown[0] == "captcha" and 55 < cooldown[1] <= 60
    assert await breakers.find_cooldown("mojeek") is None
    await breakers.note_outcome("bing", None)
    assert await breakers.find_cooldown("bing") is None


async def test_a_block_after_a_cooldown_has_a_longer_one() -> None:
    searches = MemorySearchCache()
    breakers = CircuitBreakers(searches)
    searches.set_cooldown("bing", "direct", Cooldown("captcha", step=1, until=time.time() - 1))
    assert await breakers.find_cooldown("bing") is None
    await breakers.note_outcome("bing", "captcha")
    cooldown = await breakers.find_cooldown("bing")
    assert cooldown is not None and cooldown[1] == pytest.approx(300, abs=5)


async def test_a_restart_does_not_end_a_cooldown(tmp_path: Path) -> None:
    first = open_search_cache(tmp_path)
    await CircuitBreakers(first).note_outcome("bing", "captcha")
    await first.close()
    second = open_search_cache(tmp_path)
    assert await CircuitBreakers(second).find_cooldown("bing") is not None
    # The engine did not block the other egress proxy.
    assert await CircuitBreakers(second, "http://user:word@proxy.example:8080").find_cooldown("bing") is None
    await second.close()
    assert b"word" not in (tmp_path / "searches.sqlite").read_bytes()


async def test_cooldowns_work_without_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    searches = open_search_cache(tmp_path / "file")
    breakers = CircuitBreakers(searches)
    await breakers.note_outcome("bing", "captcha")
    assert await breakers.find_cooldown("bing") is not None
    await searches.close()

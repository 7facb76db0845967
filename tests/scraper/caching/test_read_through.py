from __future__ import annotations

import pytest

from scraper import caching as page_cache
from scraper.caching import MemoryCache
from scraper.model import Reading
from scraper.reading.fetcher import markdown_size
from scraper.reading.visit_outcome import VisitJob
from tests.scraper.render.readings import reading


def cache() -> MemoryCache[Reading]:
    return MemoryCache(markdown_size)


def job(number: int, principal: str = "local") -> VisitJob:
    return VisitJob(f"https://{number}.example/", "auto", principal)


def test_the_latest_result_of_a_key_is_returned() -> None:
    kept = cache()
    kept.put(job(1), reading("first"))
    kept.put(job(1), reading("second"))
    found = kept.get(job(1))
    assert found is not None and found.document.markdown == "second"
    assert kept.get(job(1, "someone else")) is None
    assert kept.get(VisitJob("https://1.example/", "browser", "local")) is None


def test_the_oldest_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "MAX_RESULTS", 2)
    kept = cache()
    for number in (1, 2):
        kept.put(job(number), reading("x"))
    assert kept.get(job(1))
    kept.put(job(3), reading("x"))
    assert kept.get(job(2)) is None
    assert kept.get(job(1)) and kept.get(job(3))


def test_long_texts_make_the_oldest_leave_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "MAX_CHARACTERS", 100)
    kept = cache()
    for _ in range(3):
        kept.put(job(2), reading("x" * 60))
        kept.put(job(3), reading("x" * 40))
    assert kept.get(job(2)) and kept.get(job(3))
    kept.put(job(4), reading("x" * 50))
    assert kept.get(job(2)) is None
    assert kept.get(job(3)) and kept.get(job(4))


def test_expired_results_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "MEMORY_TTL_S", -1.0)
    kept = cache()
    kept.put(job(1), reading("x"))
    assert kept.get(job(1)) is None

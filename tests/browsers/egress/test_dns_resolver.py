"""Names are resolved once for concurrent callers, cached for a while, and never block the loop."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Sequence

import pytest

from browsers.egress import dns_resolver
from browsers.egress.dns_resolver import CachingResolver, DnsResolver, is_fake_dns_suspected
from tests.browsers.egress.wire import Names

MISSING = ("none.example",) * (1 + len(dns_resolver.MISSING_PAUSES_S))
"""Queries for a name that is not found."""
PATIENCE_S = 60.0
"""Seconds, far more than any test takes."""


class Slow(DnsResolver):
    """A resolver that answers when the test allows it."""

    def __init__(self) -> None:
        self.queries = 0
        self.at_once = 0
        self.most_at_once = 0
        self.let = threading.Event()
        self._lock = threading.Lock()

    @property
    def answered(self) -> int:
        with self._lock:
            return self.queries - self.at_once

    def resolve(self, host: str) -> Sequence[str]:
        with self._lock:
            self.queries += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        self.let.wait(PATIENCE_S)
        with self._lock:
            self.at_once -= 1
        return ["8.8.8.8"]


async def test_simultaneous_lookups_of_a_name_are_shared() -> None:
    names = Slow()
    asking = CachingResolver(names)
    waiting = [asyncio.ensure_future(asking.lookup("a.example")) for _ in range(50)]
    await asyncio.sleep(0.01)
    names.let.set()
    assert set(await asyncio.gather(*waiting)) == {("8.8.8.8",)}
    assert names.queries == 1


async def test_timed_out_caller_does_not_cancel_the_shared_lookup() -> None:
    names = Slow()
    asking = CachingResolver(names)
    patient = asyncio.ensure_future(asking.lookup("a.example"))
    with pytest.raises(TimeoutError):
        await asking.lookup("a.example", limit_s=0.01)
    names.let.set()
    assert await patient == ("8.8.8.8",)


async def test_late_answer_is_cached() -> None:
    names = Slow()
    asking = CachingResolver(names, limit_s=0.01)
    with pytest.raises(TimeoutError):
        await asking.lookup("a.example")
    names.let.set()
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                assert await asking.lookup("a.example") == ("8.8.8.8",)
                break
            except TimeoutError:
                continue
    assert names.queries == 1


async def test_silent_lookups_do_not_block_the_loop_and_are_limited() -> None:
    names = Slow()
    asking = CachingResolver(names, limit_s=0.2)
    lookups = [asking.lookup(f"{n}.example") for n in range(40)]
    try:
        answers = await asyncio.gather(*lookups, return_exceptions=True)
        assert all(isinstance(answer, TimeoutError) for answer in answers)
        assert names.answered == 0, "nobody waited for it"
        assert names.most_at_once <= dns_resolver.MAX_LOOKUPS
    finally:
        names.let.set()


async def test_answers_and_failures_are_cached() -> None:
    names = Names(a_example=["8.8.8.8"])
    await _ask_twice(CachingResolver(names))
    assert names.queries == ["a.example", *MISSING]


@pytest.mark.parametrize("wrong", [socket.EAI_NONAME, socket.EAI_AGAIN])
async def test_a_name_that_one_name_server_does_not_know_is_looked_up_again(wrong: int) -> None:
    class Alternating(DnsResolver):
        is_wrong = False

        def resolve(self, host: str) -> Sequence[str]:
            self.is_wrong = not self.is_wrong
            if self.is_wrong:
                raise socket.gaierror(wrong, "wrong")
            return ["8.8.8.8"]

    assert await CachingResolver(Alternating()).lookup("a.example") == ("8.8.8.8",)


async def test_expired_answer_is_looked_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(a_example=["8.8.8.8"])
    await _ask_twice(CachingResolver(names, ttl_s=0))
    assert names.queries == ["a.example", *MISSING, "a.example"]
    monkeypatch.setattr(dns_resolver, "FAILED_TTL_S", 0)
    names.queries.clear()
    await _ask_twice(CachingResolver(names))
    assert names.queries == ["a.example", *MISSING, *MISSING]


async def _ask_twice(asking: CachingResolver) -> None:
    for _ in range(2):
        assert await asking.lookup("a.example") == ("8.8.8.8",)
        with pytest.raises(socket.gaierror):
            await asking.lookup("none.example")


async def test_number_of_cached_names_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns_resolver, "MAX_CACHED_NAMES", 3)
    names = Names(**{f"{n}_example": ["8.8.8.8"] for n in "abcd"})
    asking = CachingResolver(names)
    for n in "abcd":
        await asking.lookup(f"{n}.example")
    await asking.lookup("d.example")
    await asking.lookup("a.example")
    assert names.queries == [f"{n}.example" for n in "abcda"]


async def test_resolver_error_reaches_all_callers() -> None:
    class Broken(DnsResolver):
        def resolve(self, host: str) -> Sequence[str]:
            raise RuntimeError("broken")

    asking = CachingResolver(Broken())
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken"):
            await asking.lookup("a.example")


async def test_closing_cancels_waiting_callers() -> None:
    names = Slow()
    asking = CachingResolver(names)
    waiting = asyncio.ensure_future(asking.lookup("a.example"))
    await asyncio.sleep(0)
    asking.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    names.let.set()


async def test_system_resolver_knows_localhost() -> None:
    found = await CachingResolver(DnsResolver()).lookup("localhost")
    assert set(found) & {"127.0.0.1", "::1"}


async def test_fake_dns_is_detected() -> None:
    made_up = {name.replace(".", "_"): ["198.18.0.7"] for name in dns_resolver.WELL_KNOWN_HOSTS}
    assert await is_fake_dns_suspected(Names(**made_up))


async def test_correct_or_missing_dns_is_not_suspected() -> None:
    honest = {name.replace(".", "_"): ["93.184.216.34"] for name in dns_resolver.WELL_KNOWN_HOSTS}
    half = honest | {dns_resolver.WELL_KNOWN_HOSTS[0].replace(".", "_"): ["198.18.0.7"]}
    assert not await is_fake_dns_suspected(Names(**honest))
    assert not await is_fake_dns_suspected(Names(**half))
    assert not await is_fake_dns_suspected(Names())

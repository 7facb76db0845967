"""The dialer connects to the first checked address that answers, and never to this machine."""

from __future__ import annotations

import asyncio
import ipaddress
import socket

import pytest

from browsers.egress import tcp_dialer
from browsers.egress.target_policy import Target
from browsers.egress.tcp_dialer import Dialer
from browsers.egress.traffic_log import ConnectionDeniedError, FailureKind
from tests.browsers.egress.wire import echo, served

IPV4 = ipaddress.IPv4Address("8.8.8.8")


def target(address: str, port: int, *, own: bool = True) -> Target:
    return Target(address, port, may_be_own=own)


async def denied(dialing: Dialer, *targets: Target) -> FailureKind:
    with pytest.raises(ConnectionDeniedError) as caught:
        await dialing.connect("a.example", 80, list(targets))
    return caught.value.failure.kind


async def test_refused_connection_is_reported(dead_port: int) -> None:
    assert await denied(Dialer(), target("127.0.0.1", dead_port)) is FailureKind.CONNECTION_REFUSED


async def test_silent_host_times_out() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        # A listener with a full backlog accepts no connection.
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        assert await denied(Dialer(limit_s=0.3), target(*address)) is FailureKind.CONNECT_TIMEOUT
        for filler in fillers:
            filler.close()


async def test_a_host_without_a_route_is_unreachable() -> None:
    # TCP to a multicast group fails on every network.
    assert await denied(Dialer(), target("224.0.0.1", 80)) is FailureKind.HOST_UNREACHABLE


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1"])
async def test_own_address_is_never_dialed(address: str) -> None:
    async with served(echo) as port:
        own = target(address, port, own=False)
        assert await denied(Dialer(), own) is FailureKind.BLOCKED_ADDRESS
        assert await denied(Dialer(), target("127.0.0.1", port), own) is FailureKind.BLOCKED_ADDRESS


async def test_own_address_is_detected_after_connecting_if_any_bind_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_dialer, "_can_bind", lambda _: True)
    async with served(echo) as port:
        own = target("127.0.0.1", port, own=False)
        assert await denied(Dialer(), own) is FailureKind.BLOCKED_ADDRESS


async def test_a_dead_family_costs_one_stagger_and_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    dialled: list[str] = []
    dial = Dialer._dial

    async def watched(self: Dialer, to: Target) -> socket.socket:
        dialled.append(to.address)
        if to.is_ipv6:
            await asyncio.sleep(60)
        return await dial(self, to)

    monkeypatch.setattr(Dialer, "_dial", watched)
    async with served(echo) as port:
        dialing = Dialer(stagger_s=0.05)
        targets = [target("2000::1", port), target("127.0.0.1", port)]
        for _ in range(2):
            (await dialing.connect("a.example", 80, targets)).close()
    assert dialled == ["2000::1", "127.0.0.1", "127.0.0.1"]


async def test_a_failed_attempt_starts_the_next_at_once(dead_port: int) -> None:
    async with served(echo) as port:
        targets = [target("127.0.0.1", dead_port), target("127.0.0.1", port)]
        async with asyncio.timeout(60):
            (await Dialer(stagger_s=3600).connect("a.example", 80, targets)).close()


async def test_last_reason_is_reported_if_all_fail(dead_port: int) -> None:
    targets = [target("224.0.0.1", 80), target("127.0.0.1", dead_port)]
    assert await denied(Dialer(), *targets) is FailureKind.CONNECTION_REFUSED


async def test_simultaneous_dials_to_one_host_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once: list[int] = [0, 0]

    async def counted(self: Dialer, to: Target) -> socket.socket:
        at_once[0] += 1
        at_once[1] = max(at_once)
        await asyncio.sleep(0.005)
        at_once[0] -= 1
        return socket.socket()

    monkeypatch.setattr(Dialer, "_dial", counted)
    dialing = Dialer()
    one = [target("127.0.0.1", 9)]
    for sock in await asyncio.gather(*(dialing.connect("a.example", 80, one) for _ in range(100))):
        sock.close()
    assert at_once == [0, tcp_dialer.DIALS_PER_HOST]
    assert not dialing._slots

"""A machine without network is distinguished from a host that cannot be reached."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import pytest

from browsers.egress import tcp_dialer
from browsers.egress.dns_resolver import MISSING_PAUSES_S, DnsResolver
from browsers.egress.proxy_listener import ProxyListener
from browsers.egress.traffic_log import FailureKind
from tests.browsers.egress.conftest import OpenListener
from tests.browsers.egress.wire import EXPIRED, NO_HOST, Names, code

HOST = "gone.org"
PUBLIC = "93.184.216.34"


def kind_of(listener: ProxyListener, host: str = HOST) -> FailureKind | None:
    failure = listener.traffic.failure_for(host, 80)
    return None if failure is None else failure.kind


async def test_no_name_at_all_means_no_network(open_listener: OpenListener) -> None:
    listener = await open_listener(Names())
    await code(listener, HOST)
    assert kind_of(listener) is FailureKind.NO_NETWORK


async def test_a_silent_name_server_means_no_network(open_listener: OpenListener) -> None:
    listener = await open_listener(Names(gone_org=TimeoutError()))
    await code(listener, HOST)
    assert kind_of(listener) is FailureKind.NO_NETWORK


async def test_one_known_name_proves_the_network(open_listener: OpenListener) -> None:
    listener = await open_listener(Names(www_python_org=[PUBLIC]))
    assert await code(listener, HOST) == NO_HOST
    assert kind_of(listener) is FailureKind.NAME_NOT_RESOLVED


@pytest.mark.parametrize("host", ["a.example", "b.test", "c.invalid", "1.2.3.4.5"])
async def test_names_that_cannot_exist_prove_nothing(open_listener: OpenListener, host: str) -> None:
    names = Names()
    listener = await open_listener(names)
    assert await code(listener, host) == NO_HOST
    assert kind_of(listener, host) is FailureKind.NAME_NOT_RESOLVED
    assert "example.com" not in names.queries


async def test_no_route_means_no_network(open_listener: OpenListener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_dialer, "_ROUTES", ((socket.AF_INET, "not an address"),))
    names = Names(example_com=[PUBLIC])
    listener = await open_listener(names)
    await code(listener, HOST)
    assert kind_of(listener) is FailureKind.NO_NETWORK
    assert "example.com" not in names.queries


async def test_the_network_is_checked_once_for_many_failures(open_listener: OpenListener) -> None:
    names = Names()
    listener = await open_listener(names)
    for number in range(5):
        await code(listener, f"gone{number}.org")
    assert names.queries.count("example.com") == 1 + len(MISSING_PAUSES_S)


async def test_the_network_is_found_again(open_listener: OpenListener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_dialer, "CHECK_AGE_S", 0.0)
    names = Names(example_com=[[], [PUBLIC]])
    listener = await open_listener(names)
    await code(listener, "first.org")
    assert kind_of(listener, "first.org") is FailureKind.NO_NETWORK
    assert await code(listener, "second.org") == NO_HOST
    assert kind_of(listener, "second.org") is FailureKind.NAME_NOT_RESOLVED


async def test_names_of_test_hosts_need_no_network(open_listener: OpenListener) -> None:
    listener = await open_listener(Names(), test_hosts=(("www.example.com", "127.0.0.1", 1),))
    assert await code(listener, HOST) == NO_HOST
    assert kind_of(listener) is FailureKind.NAME_NOT_RESOLVED


class Lossy(DnsResolver):
    """A resolver that loses two of three lookups."""

    def __init__(self) -> None:
        self.lookups = 0

    def resolve(self, host: str) -> Sequence[str]:
        self.lookups += 1
        if self.lookups % 3:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return ["127.0.0.1"]


async def test_a_lost_lookup_is_repeated(open_listener: OpenListener) -> None:
    names = Lossy()
    listener = await open_listener(names)
    await code(listener, HOST)
    # The answer arrived: a private address, which is refused.
    assert kind_of(listener) is FailureKind.BLOCKED_ADDRESS
    assert names.lookups == 3


async def test_a_name_that_stays_unknown_is_reported(open_listener: OpenListener) -> None:
    later = socket.gaierror(socket.EAI_AGAIN, "later")
    names = Names(gone_org=later, example_com=[PUBLIC])
    listener = await open_listener(names)
    assert await code(listener, HOST) == EXPIRED
    assert kind_of(listener) is FailureKind.NAME_LOOKUP_TIMEOUT
    assert names.queries.count(HOST) == 4

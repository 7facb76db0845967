"""The policy checks every address of a name at every use."""

from __future__ import annotations

import ipaddress
import socket

import pytest

from browsers.egress import ip_rules as addresses
from browsers.egress.dns_resolver import DnsResolver
from browsers.egress.proxy_listener import ProxyListener
from browsers.egress.target_policy import SYNTHETIC, _interleave
from browsers.egress.traffic_log import FailureKind
from tests.browsers.egress.conftest import OpenListener
from tests.browsers.egress.wire import EXPIRED, GENERAL, NO_HOST, NOT_ALLOWED, SUCCEEDED, Names, code, hello, served

PUBLIC = str(SYNTHETIC[1])
"""The made-up address of the first test host: public to the policy, with a server behind it."""

SPELLINGS = (
    "127.0.0.1 127.8.8.8 127.1 127.0.1 2130706433 0177.0.0.1 0x7f000001 0x7f.0.0.1 017700000001 0 0.0.0.0 "
    "localhost LOCALHOST localhost. x.localhost ::1 [::1] :: ::ffff:127.0.0.1 ::ffff:7f00:1 ::7f00:1 "
    "64:ff9b::7f00:1 2002:7f00:1:: fe80::1 fe80::1%lo 169.254.169.254 10.0.0.1 192.168.1.1 172.16.0.1 "
    "100.64.0.1 metadata.google.internal printer.local nas.home.arpa"
).split()


def _kind(listener: ProxyListener, host: str, port: int = 80) -> FailureKind | None:
    failure = listener.traffic.failure_for(host, port)
    return None if failure is None else failure.kind


@pytest.mark.parametrize("host", SPELLINGS)
async def test_no_spelling_of_a_private_address_passes(open_listener: OpenListener, host: str) -> None:
    names = Names()
    listener = await open_listener(names)
    assert await code(listener, host) == NOT_ALLOWED
    assert _kind(listener, host) is FailureKind.BLOCKED_ADDRESS
    assert names.queries == []


@pytest.mark.parametrize(
    "answers",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        [PUBLIC, "127.0.0.1"],
        ["127.0.0.1", PUBLIC],
        [PUBLIC] * 9 + ["fe80::1%eth0"],
        [PUBLIC, "not an address"],
    ],
    ids=str,
)
async def test_one_private_address_blocks_a_name(open_listener: OpenListener, answers: list[str]) -> None:
    async with served(hello) as port:
        listener = await open_listener(Names(a_example=answers), test_hosts=(("www.example.com", "127.0.0.1", port),))
        assert await code(listener, "a.example") == NOT_ALLOWED
    assert _kind(listener, "a.example") is FailureKind.BLOCKED_ADDRESS


async def test_addresses_are_checked_at_each_use(open_listener: OpenListener) -> None:
    names = Names(rebind_example=[[PUBLIC], ["127.0.0.1"]])
    async with served(hello) as port:
        hosts = (("www.example.com", "127.0.0.1", port),)
        listener = await open_listener(names, test_hosts=hosts)
        assert await code(listener, "rebind.example") == SUCCEEDED
        assert await code(listener, "rebind.example") == SUCCEEDED, "the first answer is remembered"
        again = await open_listener(names, test_hosts=hosts)
        assert await code(again, "rebind.example") == NOT_ALLOWED
    assert names.queries == ["rebind.example"] * 2


async def test_checked_address_is_dialed(open_listener: OpenListener) -> None:
    names = Names(a_example=[PUBLIC])
    async with served(hello) as port:
        listener = await open_listener(names, test_hosts=(("www.example.com", "127.0.0.1", port),))
        assert await code(listener, "a.example") == SUCCEEDED
    assert names.queries == ["a.example"], "queried once: the checked address is the one that is dialed"


@pytest.mark.parametrize(
    ("answer", "kind", "reply"),
    [
        (socket.gaierror(socket.EAI_NONAME, "no"), FailureKind.NAME_NOT_RESOLVED, NO_HOST),
        (socket.gaierror(socket.EAI_AGAIN, "later"), FailureKind.NAME_LOOKUP_TIMEOUT, EXPIRED),
        (TimeoutError(), FailureKind.NAME_LOOKUP_TIMEOUT, EXPIRED),
        (OSError("broken"), FailureKind.NAME_NOT_RESOLVED, NO_HOST),
        ([], FailureKind.NAME_NOT_RESOLVED, NO_HOST),
    ],
    ids=str,
)
async def test_name_without_an_address_has_a_reason(
    open_listener: OpenListener, answer: OSError | list[str], kind: FailureKind, reply: int
) -> None:
    listener = await open_listener(Names(a_example=answer, example_com=[PUBLIC]))
    assert await code(listener, "a.example") == reply
    assert _kind(listener, "a.example") is kind


@pytest.mark.parametrize("host", ["", "a b.example", "a\x00b.example", "b\xfccher.example", "1.2.3.4.5"])
async def test_invalid_host_is_not_looked_up(open_listener: OpenListener, host: str) -> None:
    names = Names()
    listener = await open_listener(names)
    assert await code(listener, host or ".") == NO_HOST
    assert names.queries == []


async def test_unsafe_ports_are_refused_without_a_lookup(open_listener: OpenListener) -> None:
    names = Names(a_example=[PUBLIC])
    listener = await open_listener(names)
    assert await code(listener, "a.example", 25) == NOT_ALLOWED
    assert _kind(listener, "a.example", 25) is FailureKind.UNSAFE_PORT
    assert names.queries == []


async def test_an_allowed_network_may_be_visited_and_nothing_else(open_listener: OpenListener) -> None:
    names = Names(wiki_internal=["127.0.0.1"], other_internal=["127.0.0.1", "10.0.0.1"])
    async with served(hello) as port:
        listener = await open_listener(names, allow_nets=("127.0.0.0/30",))
        assert await code(listener, "127.0.0.1", port) == SUCCEEDED
        assert await code(listener, "localhost", port) == SUCCEEDED
        assert await code(listener, "wiki.internal", port) == SUCCEEDED
        assert await code(listener, "other.internal", port) == NOT_ALLOWED
        assert await code(listener, "127.0.0.5", port) == NOT_ALLOWED


async def test_unexpected_error_refuses_the_connection(
    open_listener: OpenListener, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(DnsResolver):
        def resolve(self, host: str) -> list[str]:
            raise RuntimeError("unforeseen")

    listener = await open_listener(Broken())
    assert await code(listener, "a.example") == GENERAL
    assert _kind(listener, "a.example") is FailureKind.INTERNAL
    assert "egress failed" in caplog.text


async def test_fake_dns_address_is_refused_with_its_own_reason(open_listener: OpenListener) -> None:
    listener = await open_listener(Names(a_example=["198.18.0.9"]))
    assert await code(listener, "a.example") == NOT_ALLOWED
    failure = listener.traffic.failure_for("a.example", 80)
    assert failure is not None
    assert failure.detail == addresses.FAKE_DNS_REASON


@pytest.mark.parametrize(
    ("found", "turns"),
    [
        ("1.0.0.1 1.0.0.2 1.0.0.3 2000::1", "1.0.0.1 2000::1 1.0.0.2 1.0.0.3"),
        ("2000::1 2000::2 1.0.0.1 1.0.0.2", "2000::1 1.0.0.1 2000::2 1.0.0.2"),
        ("1.0.0.1 1.0.0.2", "1.0.0.1 1.0.0.2"),
        ("2000::1", "2000::1"),
    ],
)
def test_address_families_alternate_from_the_first_answer(found: str, turns: str) -> None:
    interleaved = _interleave([ipaddress.ip_address(text) for text in found.split()])
    assert " ".join(map(str, interleaved)) == turns

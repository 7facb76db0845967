"""The same policy holds behind an upstream proxy, and only the proxy receives the password."""

from __future__ import annotations

import asyncio
import logging

import pytest

from browsers.egress import proxy_server
from browsers.egress.proxy_listener import ProxyListener
from browsers.egress.proxy_server import EgressProxy, ProxyAddress, Scheme, parse_proxy
from browsers.egress.traffic_log import FailureKind
from browsers.settings import BrowserSettings
from tests.browsers.egress.conftest import OpenListener
from tests.browsers.egress.proxies import AUTHORIZATION, PASSWORD, URL_CREDENTIALS, USER, http_proxy, socks5_proxy
from tests.browsers.egress.wire import (
    EXPIRED,
    GENERAL,
    NOT_ALLOWED,
    REFUSED,
    SUCCEEDED,
    UNREACHABLE,
    Names,
    Silent,
    code,
    echo,
    hello,
    served,
    through,
)

SITE = "www.example.com"
GET = b"GET /path HTTP/1.1\r\nHost: www.example.com\r\nConnection: keep-alive\r\n\r\n"


def url(scheme: str, port: int, credentials: str = URL_CREDENTIALS) -> str:
    return f"{scheme}://{credentials}@127.0.0.1:{port}" if credentials else f"{scheme}://127.0.0.1:{port}"


def failure_of(listener: ProxyListener, host: str = SITE, port: int = 443) -> tuple[FailureKind, str]:
    failure = listener.traffic.failure_for(host, port)
    assert failure is not None
    return failure.kind, failure.detail


async def test_a_tunnel_through_an_http_proxy_carries_bytes_and_credentials(open_listener: OpenListener) -> None:
    async with served(echo) as site, http_proxy(site) as proxy:
        listener = await open_listener(Names(), proxy=url("http", proxy.port))
        async with through(listener, SITE, 443) as conversation:
            await conversation.say(b"hello")
            assert await conversation.hear(5) == b"hello"
    assert proxy.requests == ["CONNECT www.example.com:443"]


async def test_plain_http_over_an_http_proxy_uses_absolute_form(open_listener: OpenListener) -> None:
    async with served(hello) as site, http_proxy(site) as proxy:
        listener = await open_listener(Names(), proxy=url("http", proxy.port))
        async with through(listener, SITE) as conversation:
            await conversation.say(GET)
            assert (await conversation.hear_all()).endswith(b"hello")
    assert proxy.requests == ["GET http://www.example.com/path"]
    assert b"\r\nConnection: close\r\n" in proxy.heads[0]
    assert listener.traffic.down_bytes > 0
    assert listener.traffic.up_bytes == len(GET)


async def test_a_form_is_posted_through_an_http_proxy(open_listener: OpenListener) -> None:
    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(300_000)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n%d" % body.count(b"x"))

    async with served(count) as site, http_proxy(site) as proxy:
        listener = await open_listener(Names(), proxy=url("http", proxy.port))
        async with through(listener, SITE) as conversation:
            await conversation.say(b"POST / HTTP/1.1\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000)
            assert (await conversation.hear_all()).endswith(b"300000")


async def test_a_second_request_on_the_same_connection_does_not_reach_the_proxy(open_listener: OpenListener) -> None:
    async with served(echo) as site, http_proxy(site) as proxy:
        listener = await open_listener(Names(), proxy=url("http", proxy.port))
        async with through(listener, SITE) as conversation:
            await conversation.say(GET + b"GET http://10.0.0.1/ HTTP/1.1\r\n\r\n")
            assert b"10.0.0.1" not in await conversation.hear_all()
    assert proxy.requests == ["GET http://www.example.com/path"]


async def test_a_web_socket_over_an_http_proxy_goes_through_a_tunnel(open_listener: OpenListener) -> None:
    upgrade = b"GET /chat HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    async with served(echo) as site, http_proxy(site) as proxy:
        proxy.connect_ports.add(80)
        listener = await open_listener(Names(), proxy=url("http", proxy.port))
        async with through(listener, SITE) as conversation:
            await conversation.say(upgrade)
            assert await conversation.hear(len(upgrade)) == upgrade
            await conversation.say(b"frame")
            assert await conversation.hear(5) == b"frame"
    assert proxy.requests == ["CONNECT www.example.com:80"]


async def test_other_protocol_on_port_80_is_rejected(open_listener: OpenListener) -> None:
    async with served(echo) as site, http_proxy(site) as proxy:
        listener = await open_listener(Names(), proxy=url("http", proxy.port))
        async with through(listener, SITE) as conversation:
            await conversation.say(b"\x00\x03\x00\x00 not http\r\n\r\n")
            assert await conversation.hear_all() == b""
    assert proxy.requests == []


@pytest.mark.parametrize("port", [80, 443])
async def test_rejected_credentials_are_a_proxy_failure(open_listener: OpenListener, port: int) -> None:
    async with served(hello) as site, http_proxy(site) as proxy:
        listener = await open_listener(Names(), proxy=url("http", proxy.port, "someone:wrong"))
        async with through(listener, SITE, port) as conversation:
            await conversation.say(GET)
            assert b"407" not in await conversation.hear_all()
    assert failure_of(listener, port=port) == (FailureKind.PROXY_FAILED, "it rejected the credentials")


@pytest.mark.parametrize(
    ("answer", "kind", "reply"),
    [
        (b"HTTP/1.1 403 No\r\n\r\n", FailureKind.PROXY_FAILED, GENERAL),
        (b"HTTP/1.1 500 Oh\r\n\r\n", FailureKind.PROXY_FAILED, GENERAL),
        (b"HTTP/1.0 502 Bad\r\n\r\n", FailureKind.HOST_UNREACHABLE, UNREACHABLE),
        (b"HTTP/1.1 504 Late\r\n\r\n", FailureKind.CONNECT_TIMEOUT, EXPIRED),
        (b"SSH-2.0-x\r\n\r\n", FailureKind.PROXY_FAILED, GENERAL),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000, FailureKind.PROXY_FAILED, GENERAL),
        (b"", FailureKind.PROXY_FAILED, GENERAL),
    ],
)
async def test_responses_of_an_http_proxy_are_mapped(
    open_listener: OpenListener, dead_port: int, answer: bytes, kind: FailureKind, reply: int
) -> None:
    async with http_proxy(dead_port) as proxy:
        proxy.answer = answer
        listener = await open_listener(Names(), proxy=url("http", proxy.port))
        assert await code(listener, SITE, 443) == reply
        assert failure_of(listener)[0] is kind


async def test_socks5_proxy_receives_name_user_and_password(open_listener: OpenListener) -> None:
    async with served(echo) as site, socks5_proxy(site) as proxy:
        listener = await open_listener(Names(), proxy=url("socks5", proxy.port))
        async with through(listener, SITE, 80) as conversation:
            await conversation.say(b"hello")
            assert await conversation.hear(5) == b"hello"
    assert proxy.requests == ["3 www.example.com 80"]


async def test_socks5_proxy_without_password_receives_none(open_listener: OpenListener) -> None:
    async with served(echo) as site, socks5_proxy(site, open_to_all=True) as proxy:
        listener = await open_listener(Names(), proxy=url("socks5h", proxy.port, ""))
        assert await code(listener, SITE) == SUCCEEDED


async def test_rejected_socks5_password_is_a_proxy_failure(open_listener: OpenListener, dead_port: int) -> None:
    async with socks5_proxy(dead_port) as proxy:
        listener = await open_listener(Names(), proxy=url("socks5", proxy.port, "someone:wrong"))
        assert await code(listener, SITE, 443) == GENERAL
        assert failure_of(listener) == (FailureKind.PROXY_FAILED, "it rejected the credentials")
        listener = await open_listener(Names(), proxy=url("socks5", proxy.port, ""))
        assert await code(listener, SITE, 443) == GENERAL
        assert failure_of(listener) == (FailureKind.PROXY_FAILED, "it wants credentials")


@pytest.mark.parametrize(
    ("answer", "kind", "reply"),
    [
        (b"\x05\x02\x00\x01", FailureKind.PROXY_FAILED, GENERAL),
        (b"\x05\x04\x00\x01", FailureKind.HOST_UNREACHABLE, UNREACHABLE),
        (b"\x05\x05\x00\x01", FailureKind.CONNECTION_REFUSED, REFUSED),
        (b"\x05\x06\x00\x01", FailureKind.CONNECT_TIMEOUT, EXPIRED),
        (b"\x05\x09\x00\x01", FailureKind.PROXY_FAILED, GENERAL),
        (b"\x05\x00", FailureKind.PROXY_FAILED, GENERAL),
    ],
)
async def test_replies_of_a_socks5_proxy_are_mapped(
    open_listener: OpenListener, dead_port: int, answer: bytes, kind: FailureKind, reply: int
) -> None:
    async with socks5_proxy(dead_port) as proxy:
        proxy.answer = answer
        listener = await open_listener(Names(), proxy=url("socks5", proxy.port))
        assert await code(listener, SITE, 443) == reply
        assert failure_of(listener)[0] is kind


@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h"])
@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "2130706433", "::1", "169.254.169.254", "localhost", "printer.local", "metadata.google.internal"],
)
async def test_private_addresses_and_names_are_never_sent_to_the_proxy(
    open_listener: OpenListener, dead_port: int, scheme: str, host: str
) -> None:
    async with http_proxy(dead_port) as proxy:
        listener = await open_listener(Names(), proxy=url(scheme, proxy.port))
        assert await code(listener, host) == NOT_ALLOWED
        assert failure_of(listener, host, 80)[0] is FailureKind.BLOCKED_ADDRESS
    assert proxy.requests == []


async def test_a_name_that_is_private_here_is_not_sent_to_the_proxy(
    open_listener: OpenListener, dead_port: int
) -> None:
    async with http_proxy(dead_port) as proxy:
        listener = await open_listener(Names(hr_corp_example=["10.0.0.9"]), proxy=url("http", proxy.port))
        assert await code(listener, "hr.corp.example", 443) == NOT_ALLOWED
    assert proxy.requests == []


async def test_unknown_name_without_a_dot_is_not_sent_to_the_proxy(open_listener: OpenListener, dead_port: int) -> None:
    async with http_proxy(dead_port) as proxy:
        listener = await open_listener(Names(), proxy=url("http", proxy.port))
        assert await code(listener, "intranet", 443) == NOT_ALLOWED
    assert proxy.requests == []


async def test_with_socks5h_no_name_is_looked_up_here(open_listener: OpenListener) -> None:
    names = Names()
    async with served(echo) as site, socks5_proxy(site) as proxy:
        listener = await open_listener(names, proxy=url("socks5h", proxy.port))
        assert await code(listener, SITE) == SUCCEEDED
    assert names.queries == []


async def test_silent_name_server_is_queried_once(open_listener: OpenListener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_server, "LOCAL_LOOKUP_LIMIT_S", 0.05)
    names = Silent()
    async with served(echo) as site, socks5_proxy(site) as proxy:
        listener = await open_listener(names, proxy=url("socks5", proxy.port))
        assert await code(listener, SITE) == SUCCEEDED
        names.queries = False
        assert await code(listener, "www.example.net") == SUCCEEDED
        assert not names.queries
    names.speak.set()


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_proxy_receives_a_checked_address_with_local_dns(open_listener: OpenListener, scheme: str) -> None:
    names = Names(www_example_com=["2606:4700::1", "93.184.216.34"], private_example=["10.0.0.1"])
    async with served(echo) as site:
        async with (http_proxy if scheme == "http" else socks5_proxy)(site) as proxy:
            proxy.connect_ports.add(80)
            listener = await open_listener(names, proxy=url(scheme, proxy.port), proxy_dns="local")
            assert await code(listener, SITE, 80) == SUCCEEDED
            assert await code(listener, "private.example", 80) == NOT_ALLOWED
        expected = {"http": "CONNECT 93.184.216.34:80", "socks5": "1 5db8d822 80"}
        assert proxy.requests == [expected[scheme]]


async def test_pages_cannot_reach_the_address_of_the_proxy(open_listener: OpenListener) -> None:
    async with served(echo) as site, http_proxy(site) as proxy:
        listener = await open_listener(Names(), proxy=url("http", proxy.port))
        assert await code(listener, "127.0.0.1", proxy.port) == NOT_ALLOWED
    assert proxy.requests == []


async def test_proxy_that_accepts_no_connection_is_reported(open_listener: OpenListener, dead_port: int) -> None:
    listener = await open_listener(Names(), proxy=url("http", dead_port))
    assert await code(listener, SITE, 443) == GENERAL
    assert failure_of(listener) == (FailureKind.PROXY_SILENT, "")
    listener = await open_listener(Names(), proxy="http://nowhere.example:3128")
    assert await code(listener, SITE, 443) == GENERAL
    assert failure_of(listener) == (FailureKind.PROXY_SILENT, "")


async def test_proxy_may_be_a_name(open_listener: OpenListener) -> None:
    async with served(echo) as site, http_proxy(site, open_to_all=True) as proxy:
        for host in ("localhost", "proxy.corp.example"):
            names = Names(proxy_corp_example=["127.0.0.1"])
            listener = await open_listener(names, proxy=f"http://{host}:{proxy.port}")
            assert await code(listener, SITE, 443) == SUCCEEDED


def test_proxy_credentials_are_decoded() -> None:
    assert parse_proxy(f"http://{URL_CREDENTIALS}@proxy.example:3128/") == ProxyAddress(
        Scheme.HTTP, "proxy.example", 3128, USER, PASSWORD
    )
    assert parse_proxy("socks5://[::1]:1080") == ProxyAddress(Scheme.SOCKS5, "::1", 1080)


@pytest.mark.parametrize(
    "wrong",
    [
        "ftp://u:secret@proxy.example:1",
        "https://u:secret@proxy.example:1",
        "proxy.example:3128",
        "http://u:secret@proxy.example",
        "http://u:secret@:3128",
        "http://u:secret@a b:3128",
        "http://u:secret@proxy.example:99999",
        "http://u:secret@proxy.example:3128/path",
        "http://u:" + "secret" * 50 + "@proxy.example:3128",
        "http://[u:secret@proxy.example:3128",
        "",
    ],
)
def test_error_for_an_invalid_proxy_shows_the_format_without_password(wrong: str) -> None:
    with pytest.raises(ValueError, match="SEARCH_MCP_PROXY ") as caught:
        EgressProxy(BrowserSettings(proxy=wrong))
    assert "http://user:password@proxy.example:3128" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_error_for_an_invalid_dns_setting_shows_the_choices() -> None:
    with pytest.raises(ValueError, match="SEARCH_MCP_PROXY_DNS is 'here'; it can be remote or local"):
        EgressProxy(BrowserSettings(proxy="http://proxy.example:3128", proxy_dns="here"))


async def test_credentials_appear_in_no_log_and_no_failure(
    open_listener: OpenListener, dead_port: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "s3cr3t-pass"
    async with served(hello) as site, http_proxy(site) as proxy, socks5_proxy(site) as other:
        for scheme, port in (("http", proxy.port), ("socks5", other.port), ("http", dead_port)):
            listener = await open_listener(Names(), proxy=url(scheme, port, f"me:{secret}"))
            await code(listener, SITE, 443)
            assert secret not in repr(listener.traffic.failures)
    assert "upstream proxy" in caplog.text
    assert secret not in caplog.text
    assert AUTHORIZATION not in caplog.text
    assert secret not in repr(parse_proxy(f"http://me:{secret}@proxy.example:1"))

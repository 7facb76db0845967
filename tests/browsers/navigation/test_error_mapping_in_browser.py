"""Errors of failed visits, from a real socket to the typed error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from browsers import Browsers, BrowserSettings, Mode, Request, errors
from browsers.egress.proxy_server import EgressProxy
from tests.browsers.egress.proxies import URL_CREDENTIALS, http_proxy
from tests.browsers.egress.wire import Handler, Names, hello, reset, served
from tests.site.certificate import server_context

pytestmark = pytest.mark.browser

PRIVATE = "10.20.30.40"


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)


async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    reset(writer)


async def junk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"\x00\x01 not TLS at all\r\n\r\n")
    await writer.drain()


def redirect_to(target: str) -> Handler:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 302 x\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()

    return answer


SITES: dict[str, Handler] = {
    "hang": hang,
    "close": close,
    "reset": break_off,
    "junk": junk,
    "loop": redirect_to("/"),
    "file": redirect_to("file:///etc/passwd"),
    "program": redirect_to("intent://open#Intent;scheme=app;end"),
    "files": redirect_to("FTP://files.example/"),
    "inwards": redirect_to(f"http://{PRIVATE}/secret"),
    "gone": redirect_to("http://nowhere.example/"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def client(dead_port: int) -> AsyncIterator[Browsers]:
    """Open browsers for sites that fail, each in its own way."""
    async with AsyncExitStack() as stack:
        ports = {name: await stack.enter_async_context(served(site)) for name, site in SITES.items()}
        tls = await asyncio.start_server(hello, "127.0.0.1", 0, ssl=server_context(["selfsigned.example"]))
        stack.callback(tls.close)
        ports |= {"selfsigned": tls.sockets[0].getsockname()[1], "refused": dead_port}
        hosts = tuple((f"{name}.example", "127.0.0.1", port) for name, port in ports.items())
        settings = BrowserSettings(test_hosts=hosts)
        names = Names(private_example=[PRIVATE], mixed_example=["8.8.8.8", PRIVATE])
        yield await stack.enter_async_context(Browsers(settings, EgressProxy(settings, names=names)))


@pytest.mark.parametrize("mode", [Mode.PEEK, Mode.RENDER])
@pytest.mark.parametrize(
    ("url", "error", "text"),
    [
        ("http://nowhere.example/", errors.NameNotResolvedError, "no host named nowhere.example"),
        ("https://nowhere.example/", errors.NameNotResolvedError, "no host named nowhere.example"),
        ("http://private.example/", errors.BlockedAddressError, "private.example is not on the public internet"),
        ("https://mixed.example/", errors.BlockedAddressError, "mixed.example is not on the public internet"),
        (f"http://{PRIVATE}/", errors.BlockedAddressError, "is not on the public"),
        ("http://localhost/", errors.BlockedAddressError, "localhost is not on the public internet"),
        ("http://refused.example/", errors.RefusedConnectionError, "refused.example refused the connection"),
        ("https://refused.example/", errors.RefusedConnectionError, "refused.example refused the connection"),
        ("http://close.example/", errors.ConnectionClosedError, "close.example closed the connection"),
        ("https://close.example/", errors.ConnectionClosedError, "close.example closed the connection"),
        ("http://reset.example/", errors.ConnectionClosedError, "reset.example closed the connection"),
        ("https://junk.example/", errors.TlsFailedError, "junk.example does not speak TLS"),
        ("https://selfsigned.example/", errors.TlsFailedError, "not issued by an authority"),
        ("http://loop.example/", errors.TooManyRedirectsError, "loop.example/ redirects more than"),
        ("http://file.example/", errors.BadSchemeError, "file.example leads to an address that is not http"),
        ("http://program.example/", errors.BadSchemeError, "program.example leads to an address that is not http"),
        ("http://files.example/", errors.BadSchemeError, "files.example leads to an address that is not http"),
        ("http://inwards.example/", errors.BlockedAddressError, "inwards.example redirects to a host that is not"),
        ("http://gone.example/", errors.NameNotResolvedError, "nowhere.example, to which gone.example redirects"),
        ("http://*/", errors.NameNotResolvedError, "There is no host named *."),
        ("http://refused.example:6000/", errors.UnsafePortError, "this port of refused.example"),
    ],
)
async def test_each_failure_has_its_own_message(
    client: Browsers, url: str, error: type[errors.BrowsersError], text: str, mode: Mode
) -> None:
    with pytest.raises(errors.BrowsersError) as caught:
        await client.visit(Request(url, mode=mode))
    assert (type(caught.value), text in str(caught.value)) == (error, True), str(caught.value)
    assert PRIVATE not in str(caught.value).replace(url, "")
    assert "ERR_" not in str(caught.value)


async def test_redirect_to_an_unreachable_host_differs_from_an_unreachable_host(client: Browsers) -> None:
    for url, redirected in (("http://gone.example/", True), ("http://nowhere.example/", False)):
        with pytest.raises(errors.NameNotResolvedError) as caught:
            await client.visit(Request(url, mode=Mode.PEEK))
        assert caught.value.redirected is redirected


async def test_silent_site_reaches_the_deadline(client: Browsers) -> None:
    with pytest.raises(errors.DeadlineExceededError, match="did not answer"):
        await client.visit(Request("http://hang.example/", mode=Mode.PEEK, deadline_s=3))


async def test_rejected_proxy_password_is_reported(dead_port: int) -> None:
    async with http_proxy(dead_port) as proxy:
        settings = BrowserSettings(proxy=f"http://me:s3cret@127.0.0.1:{proxy.port}")
        async with Browsers(settings) as client:
            for url in ("http://www.example.com/", "https://www.example.com/"):
                with pytest.raises(errors.UpstreamProxyError, match="it rejected the credentials") as caught:
                    await client.visit(Request(url, mode=Mode.PEEK))
                assert "s3cret" not in str(caught.value)


async def test_pages_are_read_through_a_proxy_with_credentials() -> None:
    async with served(hello) as site, http_proxy(site) as proxy:
        settings = BrowserSettings(proxy=f"http://{URL_CREDENTIALS}@127.0.0.1:{proxy.port}")
        async with Browsers(settings) as client:
            snapshot = await client.visit(Request("http://www.example.com/page", mode=Mode.PEEK))
            assert (snapshot.status, snapshot.body) == (200, b"hello")
            with pytest.raises(errors.BlockedAddressError):
                await client.visit(Request("http://169.254.169.254/", mode=Mode.PEEK))
    assert proxy.requests[0] == "GET http://www.example.com/page"
    assert all("www.example.com" in request_lines for request_lines in proxy.requests)

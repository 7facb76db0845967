"""Test hosts serve the configured names and allow nothing else."""

from __future__ import annotations

import logging

import pytest

from browsers.egress import ip_rules
from browsers.egress.proxy_server import EgressProxy
from browsers.egress.target_policy import TestHosts
from browsers.settings import BrowserSettings
from tests.browsers.egress.conftest import OpenListener
from tests.browsers.egress.wire import NO_HOST, NOT_ALLOWED, SUCCEEDED, code, hello, served, through


async def test_test_host_is_served_from_its_configured_address(open_listener: OpenListener) -> None:
    async with served(hello) as port:
        listener = await open_listener(test_hosts=(("www.example.com", "127.0.0.1", port),))
        async with through(listener, "WWW.example.com.", 443) as conversation:
            await conversation.say(b"GET / HTTP/1.1\r\n\r\n")
            assert (await conversation.hear_all()).endswith(b"hello")


async def test_test_host_allows_neither_its_address_nor_other_names(open_listener: OpenListener) -> None:
    async with served(hello) as port:
        listener = await open_listener(test_hosts=(("www.example.com", "127.0.0.1", port),))
        assert await code(listener, "127.0.0.1", port) == NOT_ALLOWED
        assert await code(listener, "localhost", port) == NOT_ALLOWED
        assert await code(listener, "sub.www.example.com") == NO_HOST
        assert await code(listener, "www.example.com") == SUCCEEDED


def test_made_up_address_is_checked_like_any_other() -> None:
    address = TestHosts([("a.example", "127.0.0.1", 8080)]).addresses["a.example"]
    assert address is not None
    assert ip_rules.find_refusal(address) is None


def test_test_hosts_are_logged_as_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    TestHosts([("a.example", "127.0.0.1", 8080), ("b.example", "127.0.0.1", 8081)])
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith("TEST HOSTS: ")
    assert record.getMessage().endswith("a.example, b.example")


def test_nothing_is_logged_without_test_hosts(caplog: pytest.LogCaptureFixture) -> None:
    TestHosts()
    assert caplog.records == []


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        (("*.example.com", "127.0.0.1", 80), "wildcard"),
        (("127.0.0.1", "127.0.0.1", 80), "is an address"),
        (("0x7f.1", "127.0.0.1", 80), "is an address"),
        (("[::1]", "127.0.0.1", 80), "is an address"),
        (("localhost", "127.0.0.1", 80), "is an address"),
        (("a b", "127.0.0.1", 80), "not a host name"),
        (("a.example", "b.example", 80), "not an IP address"),
        (("a.example", "127.0.0.1", 0), "port 0"),
        (("a.example", "127.0.0.1", 65536), "port 65536"),
    ],
)
def test_error_for_an_invalid_entry_shows_the_format(entry: tuple[str, str, int], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        EgressProxy(BrowserSettings(test_hosts=(entry,)))
    assert "SEARCH_MCP_TEST_HOSTS" in str(caught.value)
    assert "www.example.com=127.0.0.1:8080" in str(caught.value)


def test_repeated_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="twice"):
        TestHosts([("a.example", "127.0.0.1", 1), ("A.example.", "127.0.0.1", 2)])

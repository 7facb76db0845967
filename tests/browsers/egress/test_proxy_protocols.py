"""The first request of a connection over an HTTP proxy is rewritten exactly, or not passed at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsers.egress.proxy_protocols import is_proxy_auth_required, is_upgrade_request, rewrite_request_head

HEAD = (
    b"GET /a?b=c HTTP/1.1\r\nHost: www.example.com\r\nConnection: keep-alive\r\nUser-Agent: x\r\n"
    b"Accept: text/html\r\n\r\n"
)


def test_request_line_is_made_absolute_and_header_order_is_kept() -> None:
    assert rewrite_request_head(HEAD, "www.example.com", "Basic dTpw")[0] == (
        b"GET http://www.example.com/a?b=c HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: x\r\n"
        b"Accept: text/html\r\nConnection: close\r\nProxy-Authorization: Basic dTpw\r\n\r\n"
    )


def test_checked_host_replaces_the_host_header() -> None:
    head = b"GET / HTTP/1.1\r\nHost: 169.254.169.254\r\nhost: b\r\n\r\n"
    assert rewrite_request_head(head, "www.example.com", None)[0] == (
        b"GET http://www.example.com/ HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n"
    )


def test_credentials_of_the_page_for_a_proxy_are_dropped() -> None:
    head = b"GET / HTTP/1.1\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: x\r\nKeep-Alive: 1\r\n\r\n"
    out = rewrite_request_head(head, "a.example", None)[0]
    assert b"roxy" not in out


def test_the_length_of_the_body_is_known() -> None:
    head = b"POST / HTTP/1.1\r\nContent-Length: 17\r\n\r\n"
    assert rewrite_request_head(head, "a.example", None)[1] == 17
    assert rewrite_request_head(HEAD, "a.example", None)[1] == 0


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\r\n\r\n",
        b"GET http://10.0.0.1/ HTTP/1.1\r\n\r\n",
        b"GET  / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.1 \r\n\r\n",
        b"get / HTTP/1.1\r\n\r\n",
        b"GET / x HTTP/1.1\r\n\r\n",
        b"CONNECT a.example:80 HTTP/1.1\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost\r\n\r\n",
        b"GET / HTTP/1.1\r\nA : b\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: b\x00\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 0x10\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length:\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    ],
)
def test_invalid_request_is_rejected(head: bytes) -> None:
    with pytest.raises(ValueError):
        rewrite_request_head(head, "a.example", None)


@given(st.binary(max_size=200))
def test_accepted_head_is_one_request_to_the_checked_host(data: bytes) -> None:
    head = b"GET /" + data.replace(b"\r\n\r\n", b"") + b"\r\n\r\n"
    try:
        out = rewrite_request_head(head, "a.example", None)[0]
    except ValueError:
        return
    assert out.startswith(b"GET http://a.example/")
    assert out.count(b"\r\n\r\n") == 1
    assert out.endswith(b"\r\n\r\n")
    assert out.lower().count(b"\r\nhost:") == 1


def test_web_socket_request_is_an_upgrade() -> None:
    assert is_upgrade_request(b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    assert not is_upgrade_request(b"GET /upgrade: HTTP/1.1\r\nUpgrade-Insecure-Requests: 1\r\n\r\n")


def test_proxy_authentication_error_differs_from_a_page() -> None:
    assert is_proxy_auth_required(b"HTTP/1.1 407 Proxy")
    assert not is_proxy_auth_required(b"HTTP/1.1 200 407")
    assert not is_proxy_auth_required(b"")

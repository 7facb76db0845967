"""Each failure of a main document has an error and a sentence of its own, without an address."""

from __future__ import annotations

import pytest

from browsers import errors
from browsers.egress.ip_rules import FAKE_DNS_REASON, NAT64_REASON
from browsers.egress.traffic_log import ConnectionFailure, FailureKind, TrafficLog
from browsers.navigation.error_mapping import map_net_error

URL = "https://www.example.com/page"
SOCKS = "net::ERR_SOCKS_CONNECTION_FAILED"


def traffic_log(*failures: ConnectionFailure, too_large: bool = False) -> TrafficLog:
    traffic = TrafficLog(1000)
    traffic.too_large = too_large
    for failure in failures:
        traffic.record(failure)
    return traffic


def failed(kind: FailureKind, host: str = "www.example.com", port: int = 443, detail: str = "") -> TrafficLog:
    return traffic_log(ConnectionFailure(kind, host, port, detail))


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        (FailureKind.BLOCKED_ADDRESS, errors.BlockedAddressError, "www.example.com is not on the public internet."),
        (
            FailureKind.UNSAFE_PORT,
            errors.UnsafePortError,
            "Browsers do not speak HTTP on this port of www.example.com.",
        ),
        (FailureKind.NAME_NOT_RESOLVED, errors.NameNotResolvedError, "There is no host named www.example.com."),
        (
            FailureKind.NAME_LOOKUP_TIMEOUT,
            errors.NameLookupTimeoutError,
            "The name server did not say in time where www.example.com is.",
        ),
        (FailureKind.CONNECTION_REFUSED, errors.RefusedConnectionError, "www.example.com refused the connection."),
        (
            FailureKind.HOST_UNREACHABLE,
            errors.HostUnreachableError,
            "There is no way to reach www.example.com from here.",
        ),
        (
            FailureKind.CONNECT_TIMEOUT,
            errors.ConnectTimeoutError,
            "www.example.com did not accept a connection in time.",
        ),
        (
            FailureKind.PROXY_FAILED,
            errors.UpstreamProxyError,
            "This server's upstream proxy did not connect to www.example.com: it gave no reason.",
        ),
        (
            FailureKind.IDLE,
            errors.DeadlineExceededError,
            "www.example.com accepted the connection and then said nothing.",
        ),
        (FailureKind.TOO_LARGE, errors.TooLargeError, "www.example.com sent more than the limit of bytes."),
        (FailureKind.TOO_MANY_CONNECTIONS, errors.UnreachableError, "The page opened too many connections at once."),
        (
            FailureKind.NOT_ALLOWED,
            errors.UnreachableError,
            "This server did not let www.example.com be reached (no visit).",
        ),
        (FailureKind.INTERNAL, errors.UnreachableError, "This server failed on the way to www.example.com."),
    ],
)
def test_proxy_failure_has_its_own_message(kind: FailureKind, error: type[errors.BrowsersError], message: str) -> None:
    explained = map_net_error(SOCKS, URL, URL, failed(kind))
    assert type(explained) is error
    assert str(explained) == message
    assert explained.url == URL


def test_every_failure_kind_has_a_message() -> None:
    for kind in FailureKind:
        assert "SOCKS" not in str(map_net_error(SOCKS, URL, URL, failed(kind)))


def test_detail_of_the_upstream_proxy_is_in_the_message() -> None:
    explained = map_net_error(SOCKS, URL, URL, failed(FailureKind.PROXY_FAILED, detail="it rejected the credentials"))
    assert str(explained).endswith("www.example.com: it rejected the credentials.")
    assert "SEARCH_MCP_PROXY" in explained.next_step


@pytest.mark.parametrize(
    "spelled", ["http://10.1.2.3/", "http://[fd00::2]/", "http://167838211/", "http://0xa010203/", "http://１０.1.2.3/"]
)
def test_refused_address_keeps_the_spelling_of_the_request(spelled: str) -> None:
    explained = map_net_error(SOCKS, spelled, spelled, failed(FailureKind.BLOCKED_ADDRESS, "10.1.2.3", 80))
    assert isinstance(explained, errors.BlockedAddressError)
    assert str(explained) == f"{spelled} is not on the public internet."


@pytest.mark.parametrize("target", ["http://169.254.169.254/meta", "http://hr.corp.internal/"])
def test_message_does_not_name_a_private_redirect_target(target: str) -> None:
    host = target.split("/")[2]
    explained = map_net_error(SOCKS, URL, target, failed(FailureKind.BLOCKED_ADDRESS, host, 80))
    assert isinstance(explained, errors.BlockedAddressError)
    assert str(explained) == "www.example.com redirects to a host that is not on the public internet."


def test_unreported_redirect_is_found_in_the_traffic_log() -> None:
    explained = map_net_error(SOCKS, URL, URL, failed(FailureKind.BLOCKED_ADDRESS, "10.1.2.3", 80))
    assert str(explained) == "www.example.com redirects to a host that is not on the public internet."


def test_a_failed_redirect_names_both_hosts() -> None:
    traffic = failed(FailureKind.NAME_NOT_RESOLVED, "gone.example", 80)
    explained = map_net_error(SOCKS, URL, "http://gone.example/", traffic)
    assert str(explained) == "There is no host named gone.example, to which www.example.com redirects."
    traffic = failed(FailureKind.PROXY_FAILED, "gone.example", 80, "it does not answer")
    explained = map_net_error(SOCKS, URL, "http://gone.example/", traffic)
    assert "gone.example, to which www.example.com redirects: it does not answer." in str(explained)


def test_message_does_not_contain_the_address_of_a_failed_redirect() -> None:
    traffic = failed(FailureKind.CONNECTION_REFUSED, "8.8.8.8", 80)
    explained = map_net_error(SOCKS, URL, "http://8.8.8.8/", traffic)
    assert str(explained) == "The address that www.example.com redirects to refused the connection."


def test_redirect_to_another_scheme_names_the_redirecting_host() -> None:
    explained = map_net_error("net::ERR_UNSAFE_REDIRECT", URL, "file:///etc/passwd", traffic_log())
    assert isinstance(explained, errors.BadSchemeError)
    assert str(explained) == "www.example.com leads to an address that is not http or https."


def test_failure_of_the_last_redirect_takes_precedence() -> None:
    traffic = traffic_log(
        ConnectionFailure(FailureKind.CONNECTION_REFUSED, "cdn.example", 443),
        ConnectionFailure(FailureKind.NAME_NOT_RESOLVED, "gone.example", 443),
        ConnectionFailure(FailureKind.CONNECT_TIMEOUT, "late.example", 443),
    )
    assert isinstance(map_net_error(SOCKS, URL, "https://gone.example/", traffic), errors.NameNotResolvedError)


def test_international_name_is_found_in_its_ascii_form() -> None:
    url = "https://bücher.example/"
    traffic = failed(FailureKind.CONNECTION_REFUSED, "xn--bcher-kva.example")
    assert str(map_net_error(SOCKS, url, url, traffic)) == "xn--bcher-kva.example refused the connection."


def test_fake_dns_error_refers_to_doctor() -> None:
    explained = map_net_error(SOCKS, URL, URL, failed(FailureKind.BLOCKED_ADDRESS, detail=FAKE_DNS_REASON))
    assert isinstance(explained, errors.BlockedAddressError)
    assert "search-mcp doctor" in explained.next_step


def test_nat64_error_names_the_setting() -> None:
    explained = map_net_error(SOCKS, URL, URL, failed(FailureKind.BLOCKED_ADDRESS, detail=NAT64_REASON))
    assert "SEARCH_MCP_ALLOW_NETS=64:ff9b::/96" in explained.next_step


@pytest.mark.parametrize("net_error", ["ERR_CONNECTION_CLOSED", "ERR_EMPTY_RESPONSE", "ERR_ABORTED", "ERR_FAILED"])
def test_closed_connection_at_the_byte_limit_is_too_large(net_error: str) -> None:
    assert isinstance(map_net_error(f"net::{net_error}", URL, URL, traffic_log(too_large=True)), errors.TooLargeError)


def test_closed_connection_after_idle_time_is_a_timeout() -> None:
    explained = map_net_error("net::ERR_EMPTY_RESPONSE", URL, URL, failed(FailureKind.IDLE))
    assert isinstance(explained, errors.DeadlineExceededError)


def test_the_failure_of_another_host_does_not_explain_a_closed_connection() -> None:
    traffic = failed(FailureKind.CONNECTION_REFUSED, "ads.example")
    assert isinstance(map_net_error("net::ERR_CONNECTION_CLOSED", URL, URL, traffic), errors.ConnectionClosedError)


@pytest.mark.parametrize(
    ("net_error", "error"),
    [
        ("ERR_NAME_NOT_RESOLVED", errors.NameNotResolvedError),
        ("ERR_DNS_TIMED_OUT", errors.NameLookupTimeoutError),
        ("ERR_DNS_MALFORMED_RESPONSE", errors.NameNotResolvedError),
        ("ERR_CONNECTION_REFUSED", errors.RefusedConnectionError),
        ("ERR_ADDRESS_UNREACHABLE", errors.HostUnreachableError),
        ("ERR_INTERNET_DISCONNECTED", errors.HostUnreachableError),
        ("ERR_TIMED_OUT", errors.ConnectTimeoutError),
        ("ERR_CONNECTION_TIMED_OUT", errors.ConnectTimeoutError),
        ("ERR_CONNECTION_RESET", errors.ConnectionClosedError),
        ("ERR_CONNECTION_CLOSED", errors.ConnectionClosedError),
        ("ERR_EMPTY_RESPONSE", errors.ConnectionClosedError),
        ("ERR_SOCKET_NOT_CONNECTED", errors.ConnectionClosedError),
        ("ERR_CONTENT_LENGTH_MISMATCH", errors.ConnectionClosedError),
        ("ERR_INCOMPLETE_CHUNKED_ENCODING", errors.ConnectionClosedError),
        ("ERR_SSL_PROTOCOL_ERROR", errors.TlsFailedError),
        ("ERR_SSL_VERSION_OR_CIPHER_MISMATCH", errors.TlsFailedError),
        ("ERR_SSL_UNRECOGNIZED_NAME_ALERT", errors.TlsFailedError),
        ("ERR_CERT_AUTHORITY_INVALID", errors.TlsFailedError),
        ("ERR_CERT_COMMON_NAME_INVALID", errors.TlsFailedError),
        ("ERR_CERT_DATE_INVALID", errors.TlsFailedError),
        ("ERR_CERT_WEAK_KEY", errors.TlsFailedError),
        ("ERR_BAD_SSL_CLIENT_AUTH_CERT", errors.TlsFailedError),
        ("ERR_TOO_MANY_REDIRECTS", errors.TooManyRedirectsError),
        ("ERR_UNSAFE_REDIRECT", errors.BadSchemeError),
        ("ERR_UNKNOWN_URL_SCHEME", errors.BadSchemeError),
        ("ERR_INVALID_URL", errors.BadSchemeError),
        ("ERR_UNSAFE_PORT", errors.UnsafePortError),
        ("ERR_RESPONSE_HEADERS_TOO_BIG", errors.TooLargeError),
        ("ERR_INVALID_HTTP_RESPONSE", errors.UnreachableError),
        ("ERR_CONTENT_DECODING_FAILED", errors.UnreachableError),
        ("ERR_HTTP2_PROTOCOL_ERROR", errors.UnreachableError),
        ("ERR_BLOCKED_BY_RESPONSE", errors.UnreachableError),
        ("ERR_BLOCKED_BY_LOCAL_NETWORK_ACCESS_CHECKS", errors.BlockedAddressError),
        ("ERR_UNEXPECTED_PROXY_AUTH", errors.UnreachableError),
        ("ERR_PROXY_CONNECTION_FAILED", errors.UnreachableError),
        ("ERR_SOMETHING_NEW", errors.UnreachableError),
    ],
)
def test_errors_of_chromium_itself_are_mapped(net_error: str, error: type[errors.BrowsersError]) -> None:
    explained = map_net_error(f"net::{net_error} at {URL}", URL, URL, traffic_log())
    assert type(explained) is error
    assert str(explained).endswith(".")
    assert "{" not in str(explained)


def test_unknown_error_keeps_its_name() -> None:
    explained = map_net_error("net::ERR_SOMETHING_NEW", URL, URL, traffic_log())
    assert str(explained) == "www.example.com could not be loaded (ERR_SOMETHING_NEW)."


@pytest.mark.parametrize("text", ["", "Failed", "net::", "http://[", "net::ERR_"])
def test_any_error_text_is_mapped(text: str) -> None:
    assert str(map_net_error(text, text, text, traffic_log()))

"""Convert Chromium's net errors and the proxy's traffic log into typed errors.

Chromium shows ERR_SOCKS_CONNECTION_FAILED for every refusal of the proxy, and names the first URL of a chain of
redirects. The reason and the host are in the traffic log.
"""

from __future__ import annotations

import ipaddress
import re
import urllib.parse
from dataclasses import dataclass

from browsers import errors
from browsers.egress import Failure, FailureKind, TrafficLog
from browsers.egress.ip_rules import FAKE_DNS_REASON, NAT64_REASON, normalize_host

_NET_ERROR = re.compile(r"ERR_[A-Z0-9_]+")

ErrorType = type[errors.BrowsersError]

# {site} is the failed host, {error} Chromium's name of the error, {detail} the proxy's text.
_PROXY_FAILURES: dict[FailureKind, tuple[ErrorType, str]] = {
    FailureKind.UNSAFE_PORT: (errors.UnsafePortError, "Browsers do not speak HTTP on this port of {site}."),
    FailureKind.NAME_NOT_RESOLVED: (errors.NameNotResolvedError, "There is no host named {site}."),
    FailureKind.NAME_LOOKUP_TIMEOUT: (
        errors.NameLookupTimeoutError,
        "The name server did not say in time where {site} is.",
    ),
    FailureKind.CONNECTION_REFUSED: (errors.RefusedConnectionError, "{site} refused the connection."),
    FailureKind.HOST_UNREACHABLE: (errors.HostUnreachableError, "There is no way to reach {site} from here."),
    FailureKind.CONNECT_TIMEOUT: (errors.ConnectTimeoutError, "{site} did not accept a connection in time."),
    FailureKind.PROXY_FAILED: (
        errors.UpstreamProxyError,
        "This server's upstream proxy did not connect to {site}: {detail}.",
    ),
    FailureKind.IDLE: (errors.DeadlineExceededError, "{site} accepted the connection and then said nothing."),
    FailureKind.TOO_LARGE: (errors.TooLargeError, "{site} sent more than the limit of bytes."),
    FailureKind.TOO_MANY_CONNECTIONS: (errors.UnreachableError, "The page opened too many connections at once."),
    FailureKind.NOT_ALLOWED: (errors.UnreachableError, "This server did not let {site} be reached (no visit)."),
    FailureKind.INTERNAL: (errors.UnreachableError, "This server failed on the way to {site}."),
}

_NO_NAME = (errors.NameNotResolvedError, "There is no host named {site}.")
_NO_ROUTE = (errors.HostUnreachableError, "There is no way to reach {site} from here.")
_TIMED_OUT = (errors.ConnectTimeoutError, "{site} did not answer in time.")
_CLOSED = (errors.ConnectionClosedError, "{site} closed the connection without an answer.")
_CUT_SHORT = (errors.ConnectionClosedError, "{site} closed the connection before its answer was complete.")
_NOT_HTTP = (errors.UnreachableError, "{site} answered with something that is not valid HTTP ({error}).")
_NOT_WEB = (errors.BadSchemeError, "{site} leads to an address that is not http or https.")
_BAD_URL = (errors.BadSchemeError, "This is not a URL that can be visited.")
_FORBIDDEN = (errors.UnreachableError, "The browser does not load this page of {site} ({error}).")
_NO_MEMORY = (errors.UnreachableError, "The browser ran out of memory or handles on {site} ({error}).")
_NO_PROXY = (errors.UnreachableError, "The connection to {site} failed ({error}).")
_PRIVATE = (errors.BlockedAddressError, "{site} leads to an address that is not on the public internet.")

_CHROMIUM_ERRORS: dict[str, tuple[ErrorType, str]] = {
    "ERR_NAME_NOT_RESOLVED": _NO_NAME,
    "ERR_NAME_RESOLUTION_FAILED": _NO_NAME,
    "ERR_ICANN_NAME_COLLISION": _NO_NAME,
    "ERR_DNS_TIMED_OUT": _PROXY_FAILURES[FailureKind.NAME_LOOKUP_TIMEOUT],
    "ERR_CONNECTION_REFUSED": _PROXY_FAILURES[FailureKind.CONNECTION_REFUSED],
    "ERR_ADDRESS_UNREACHABLE": _NO_ROUTE,
    "ERR_ADDRESS_INVALID": _NO_ROUTE,
    "ERR_INTERNET_DISCONNECTED": _NO_ROUTE,
    "ERR_NETWORK_ACCESS_DENIED": _NO_ROUTE,
    "ERR_NETWORK_CHANGED": _NO_ROUTE,
    "ERR_NETWORK_IO_SUSPENDED": _NO_ROUTE,
    "ERR_SOCKS_CONNECTION_HOST_UNREACHABLE": _NO_ROUTE,
    "ERR_CONNECTION_TIMED_OUT": _TIMED_OUT,
    "ERR_TIMED_OUT": _TIMED_OUT,
    "ERR_CONNECTION_ABORTED": _CLOSED,
    "ERR_CONNECTION_CLOSED": _CLOSED,
    "ERR_CONNECTION_RESET": _CLOSED,
    "ERR_EMPTY_RESPONSE": _CLOSED,
    "ERR_SOCKET_NOT_CONNECTED": _CLOSED,
    "ERR_HTTP2_PING_FAILED": _CLOSED,
    "ERR_HTTP2_SERVER_REFUSED_STREAM": _CLOSED,
    "ERR_CONTENT_LENGTH_MISMATCH": _CUT_SHORT,
    "ERR_INCOMPLETE_CHUNKED_ENCODING": _CUT_SHORT,
    "ERR_INCOMPLETE_HTTP2_HEADERS": _CUT_SHORT,
    "ERR_INVALID_CHUNKED_ENCODING": _NOT_HTTP,
    "ERR_INVALID_HTTP_RESPONSE": _NOT_HTTP,
    "ERR_INVALID_RESPONSE": _NOT_HTTP,
    "ERR_INVALID_REDIRECT": _NOT_HTTP,
    "ERR_CONTENT_DECODING_FAILED": _NOT_HTTP,
    "ERR_CONTENT_DECODING_INIT_FAILED": _NOT_HTTP,
    "ERR_ENCODING_DETECTION_FAILED": _NOT_HTTP,
    "ERR_HTTP_1_1_REQUIRED": _NOT_HTTP,
    "ERR_METHOD_NOT_SUPPORTED": _NOT_HTTP,
    "ERR_RESPONSE_HEADERS_TRUNCATED": _NOT_HTTP,
    "ERR_UNEXPECTED_CONTENT_DICTIONARY_HEADER": _NOT_HTTP,
    "ERR_RESPONSE_HEADERS_TOO_BIG": (errors.TooLargeError, "{site} sent more than 256 kB of headers."),
    "ERR_FILE_TOO_BIG": (errors.TooLargeError, "{site} sent more than the browser can take."),
    "ERR_MSG_TOO_BIG": (errors.TooLargeError, "{site} sent more than the browser can take."),
    "ERR_TOO_MANY_REDIRECTS": (errors.TooManyRedirectsError, "{site} redirects in a loop."),
    "ERR_TOO_MANY_RETRIES": _CLOSED,
    "ERR_UNSAFE_REDIRECT": _NOT_WEB,
    "ERR_UNKNOWN_URL_SCHEME": _NOT_WEB,
    "ERR_DISALLOWED_URL_SCHEME": _NOT_WEB,
    "ERR_ACCESS_DENIED": _FORBIDDEN,
    "ERR_FILE_NOT_FOUND": _NOT_WEB,
    "ERR_INVALID_URL": _BAD_URL,
    "ERR_UNSAFE_PORT": _PROXY_FAILURES[FailureKind.UNSAFE_PORT],
    "ERR_INVALID_AUTH_CREDENTIALS": (errors.UnreachableError, "{site} rejected the user name and password."),
    "ERR_UNEXPECTED_PROXY_AUTH": (errors.UnreachableError, "{site} asked for a proxy's password, as no site may."),
    "ERR_PROXY_CONNECTION_FAILED": _NO_PROXY,
    "ERR_SOCKS_CONNECTION_FAILED": _NO_PROXY,
    "ERR_TUNNEL_CONNECTION_FAILED": _NO_PROXY,
    "ERR_NO_SUPPORTED_PROXIES": _NO_PROXY,
    "ERR_INSUFFICIENT_RESOURCES": _NO_MEMORY,
    "ERR_OUT_OF_MEMORY": _NO_MEMORY,
    "ERR_BLOCKED_BY_LOCAL_NETWORK_ACCESS_CHECKS": _PRIVATE,
    "ERR_BLOCKED_BY_PRIVATE_NETWORK_ACCESS_CHECKS": _PRIVATE,
    "ERR_INCONSISTENT_IP_ADDRESS_SPACE": _PRIVATE,
    "ERR_CERT_AUTHORITY_INVALID": (
        errors.TlsFailedError,
        "The certificate of {site} was not issued by an authority that browsers know.",
    ),
    "ERR_CERT_COMMON_NAME_INVALID": (errors.TlsFailedError, "The certificate of {site} is for another host."),
    "ERR_CERT_DATE_INVALID": (errors.TlsFailedError, "The certificate of {site} is out of date."),
    "ERR_CERT_REVOKED": (errors.TlsFailedError, "The certificate of {site} was revoked."),
    "ERR_SSL_PROTOCOL_ERROR": (errors.TlsFailedError, "{site} does not speak TLS properly on this port."),
    "ERR_SSL_VERSION_OR_CIPHER_MISMATCH": (errors.TlsFailedError, "{site} speaks only outdated TLS."),
    "ERR_SSL_CLIENT_AUTH_CERT_NEEDED": (errors.TlsFailedError, "{site} wants a client's certificate."),
    "ERR_BAD_SSL_CLIENT_AUTH_CERT": (errors.TlsFailedError, "{site} wants a client's certificate."),
}

_FAMILIES: tuple[tuple[str, tuple[ErrorType, str]], ...] = (
    ("ERR_CERT", (errors.TlsFailedError, "The certificate of {site} is not valid ({error}).")),
    ("ERR_CT_", (errors.TlsFailedError, "The certificate of {site} is not valid ({error}).")),
    ("ERR_SSL", (errors.TlsFailedError, "The TLS handshake with {site} failed ({error}).")),
    ("ERR_TLS", (errors.TlsFailedError, "The TLS handshake with {site} failed ({error}).")),
    ("ERR_ECH", (errors.TlsFailedError, "The TLS handshake with {site} failed ({error}).")),
    ("ERR_DNS", _NO_NAME),
    ("ERR_BLOCKED", _FORBIDDEN),
    ("ERR_HTTP2", _NOT_HTTP),
    ("ERR_QUIC", _NOT_HTTP),
    ("ERR_RESPONSE_HEADERS", _NOT_HTTP),
    ("ERR_CONNECTION", _CLOSED),
)
SHOWN_CHARS = 200
"""Maximum of characters of the URL in an error message."""

_UNKNOWN = (errors.UnreachableError, "{site} could not be loaded ({error}).")

_REFUSED_BY_PROXY = ("ERR_SOCKS_", "ERR_PROXY_", "ERR_TUNNEL_", "ERR_NO_SUPPORTED_PROXIES")
_MAYBE_CUT_BY_PROXY = frozenset(
    name for name, meaning in _CHROMIUM_ERRORS.items() if meaning in (_CLOSED, _CUT_SHORT, _TIMED_OUT)
) | {"ERR_ABORTED", "ERR_FAILED", "ERR_UNEXPECTED_PROXY_AUTH", "ERR_CONTENT_DECODING_FAILED"}
_BLOCKED_STEPS = {
    FAKE_DNS_REASON: (
        "If this happens with every site, this machine's VPN or tunnel makes up addresses: the operator "
        "should run `search-mcp doctor`, which tells the one setting to change."
    ),
    NAT64_REASON: (
        "If this happens with many sites, this machine's network translates addresses (NAT64): the operator "
        "should set SEARCH_MCP_ALLOW_NETS=64:ff9b::/96."
    ),
}


def map_net_error(net_error: str, url: str, last_url: str, traffic: TrafficLog) -> errors.BrowsersError:
    """Return the error for a main document that did not load.

    `last_url` is the last redirect target, or `url`. The error never contains an address: the caller must not learn
    private addresses.
    """
    named = _NET_ERROR.search(net_error)
    error = named.group() if named else (net_error.strip() or "no reason given")
    first, last = _Place.of(url), _Place.of(last_url or url)
    is_refused = error.startswith(_REFUSED_BY_PROXY)
    if is_refused or error in _MAYBE_CUT_BY_PROXY:
        if traffic.too_large:
            return _build_error(_PROXY_FAILURES[FailureKind.TOO_LARGE], url, first, last, error)
        failure = _failure(traffic, first, last) or (traffic.latest_failure if is_refused else None)
        if failure is not None:
            return _from_proxy_failure(failure, url, first, error)
    return _build_error(_find_meaning(error), url, first, last, error)


@dataclass(frozen=True, slots=True)
class _Place:
    """Host and port of a URL."""

    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> _Place:
        try:
            parts = urllib.parse.urlsplit(url)
            host = normalize_host(_ascii(parts.hostname or ""))
            return cls(host, parts.port or (443 if parts.scheme == "https" else 80))
        except ValueError:
            return cls("", 0)

    @property
    def is_address(self) -> bool:
        """True if the host is an IP address in any spelling."""
        try:
            ipaddress.ip_address(self.host)
        except ValueError:
            return re.fullmatch(r"([0-9]+|0x[0-9a-f]*)\.?", self.host.rpartition(".")[2]) is not None
        return True


def _ascii(host: str) -> str:
    """Return the host in its ASCII form: Chromium sends xn-- names to the proxy."""
    try:
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return host


def _failure(traffic: TrafficLog, first: _Place, last: _Place) -> Failure | None:
    return traffic.failure_for(last.host, last.port) or traffic.failure_for(first.host, first.port)


def _from_proxy_failure(failure: Failure, url: str, first: _Place, error: str) -> errors.BrowsersError:
    failed = _Place(normalize_host(failure.host), failure.port)
    # Chromium percent-encodes some characters of a host and sends it so to the proxy.
    is_first = urllib.parse.unquote(failed.host) == first.host
    if is_first or (failed.is_address and first.is_address):
        failed = first
    if failure.kind is FailureKind.BLOCKED_ADDRESS:
        return _blocked_error(failure, url, first, failed)
    return _build_error(_PROXY_FAILURES[failure.kind], url, first, failed, error, failure.detail)


def _blocked_error(failure: Failure, url: str, first: _Place, failed: _Place) -> errors.BlockedAddressError:
    next_step = _BLOCKED_STEPS.get(failure.detail)
    if failed.host != first.host:
        message = f"{_host_or_site(first)} redirects to a host that is not on the public internet."
    elif failed.is_address:
        # Use the caller's spelling. The address behind it must not be revealed.
        message = f"{url[:SHOWN_CHARS]} is not on the public internet."
    else:
        message = f"{first.host} is not on the public internet."
    return errors.BlockedAddressError(message, url=url, next_step=next_step)


def _build_error(
    meaning: tuple[ErrorType, str], url: str, first: _Place, failed: _Place, error: str, detail: str = ""
) -> errors.BrowsersError:
    kind, sentence = meaning
    message = sentence.format(site=_describe_site(first, failed), error=error, detail=detail or "it gave no reason")
    message = message.replace(",.", ".").replace(",:", ":")
    return kind(message[0].upper() + message[1:] if message.startswith("the ") else message, url=url)


def _describe_site(first: _Place, failed: _Place) -> str:
    if failed.host in (first.host, ""):
        return _host_or_site(first)
    if failed.is_address:
        return f"the address that {_host_or_site(first)} redirects to"
    return f"{failed.host}, to which {_host_or_site(first)} redirects,"


def _host_or_site(place: _Place) -> str:
    return place.host or "the site"


def _find_meaning(error: str) -> tuple[ErrorType, str]:
    if error in _CHROMIUM_ERRORS:
        return _CHROMIUM_ERRORS[error]
    return next((meaning for prefix, meaning in _FAMILIES if error.startswith(prefix)), _UNKNOWN)

"""Convert Chromium's net errors and the proxy's traffic log into typed errors.

Chromium shows ERR_SOCKS_CONNECTION_FAILED for every refusal of the proxy, and names the first URL of a chain of
redirects. The reason and the host are in the traffic log.
"""

import contextlib
import urllib.parse
from dataclasses import dataclass
from typing import Self

from browsers import errors
from browsers.egress.ip_rules import FAKE_DNS_REASON, NAT64_REASON, ends_with_number, normalize_host, parse_address
from browsers.egress.traffic_log import ConnectionFailure, FailureKind, TrafficLog

_Meaning = tuple[type[errors.BrowsersError], str]
"""Error class and template of its sentence."""

# {site} is the failed host, {error} Chromium's name of the error, {detail} the proxy's text.
_PROXY_FAILURES: dict[FailureKind, _Meaning] = {
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
    FailureKind.PROXY_SILENT: (
        errors.NoNetworkError,
        "The upstream proxy of this machine (SEARCH_MCP_PROXY) does not answer, so {site} cannot be reached.",
    ),
    FailureKind.NO_NETWORK: (
        errors.NoNetworkError,
        "This machine has no network: no host name can be resolved, neither that of {site} nor any other.",
    ),
    FailureKind.IDLE: (errors.DeadlineExceededError, "{site} accepted the connection and then said nothing."),
    FailureKind.TOO_LARGE: (errors.TooLargeError, "{site} sent more than the limit of bytes."),
    FailureKind.TOO_MANY_CONNECTIONS: (errors.UnreachableError, "The page opened too many connections at once."),
    FailureKind.THIRD_PARTY: (errors.UnreachableError, "The page went on to {site}, a refused third party."),
    FailureKind.NOT_ALLOWED: (errors.UnreachableError, "This server did not let {site} be reached (no visit)."),
    FailureKind.INTERNAL: (errors.UnreachableError, "This server failed on the way to {site}."),
}


_TIMED_OUT = "{site} did not answer in time."
_CLOSED = "{site} closed the connection without an answer."
_INCOMPLETE = "{site} closed the connection before its answer was complete."

# Sentences with the names of their errors; `*` stands for any end of a name without a sentence of its own.
_SENTENCES: dict[type[errors.BrowsersError], dict[str, str]] = {
    errors.ConnectTimeoutError: {_TIMED_OUT: "ERR_CONNECTION_TIMED_OUT ERR_TIMED_OUT"},
    errors.ConnectionClosedError: {
        _CLOSED: "ERR_CONNECTION* ERR_EMPTY_RESPONSE ERR_SOCKET_NOT_CONNECTED ERR_HTTP2_PING_FAILED "
        "ERR_HTTP2_SERVER_REFUSED_STREAM ERR_TOO_MANY_RETRIES ERR_CONNECTION_ABORTED ERR_CONNECTION_CLOSED "
        "ERR_CONNECTION_RESET",
        _INCOMPLETE: "ERR_CONTENT_LENGTH_MISMATCH ERR_INCOMPLETE_CHUNKED_ENCODING ERR_INCOMPLETE_HTTP2_HEADERS",
    },
    errors.UnreachableError: {
        "{site} answered with something that is not valid HTTP ({error}).": "ERR_INVALID_CHUNKED_ENCODING "
        "ERR_INVALID_HTTP_RESPONSE ERR_INVALID_RESPONSE ERR_INVALID_REDIRECT ERR_CONTENT_DECODING_FAILED "
        "ERR_CONTENT_DECODING_INIT_FAILED ERR_ENCODING_DETECTION_FAILED ERR_HTTP_1_1_REQUIRED ERR_METHOD_NOT_SUPPORTED "
        "ERR_RESPONSE_HEADERS* ERR_UNEXPECTED_CONTENT_DICTIONARY_HEADER ERR_HTTP2* ERR_QUIC*",
        "The browser does not load this page of {site} ({error}).": "ERR_ACCESS_DENIED ERR_BLOCKED*",
        "{site} rejected the user name and password.": "ERR_INVALID_AUTH_CREDENTIALS",
        "{site} asked for a proxy's password, as no site may.": "ERR_UNEXPECTED_PROXY_AUTH",
        "The connection to {site} failed ({error}).": "ERR_PROXY_CONNECTION_FAILED ERR_SOCKS_CONNECTION_FAILED "
        "ERR_TUNNEL_CONNECTION_FAILED ERR_NO_SUPPORTED_PROXIES",
        "The browser ran out of memory or handles on {site} ({error}).": "ERR_INSUFFICIENT_RESOURCES ERR_OUT_OF_MEMORY",
    },
    errors.TooLargeError: {
        "{site} sent more than 256 kB of headers.": "ERR_RESPONSE_HEADERS_TOO_BIG",
        "{site} sent more than the browser can take.": "ERR_FILE_TOO_BIG ERR_MSG_TOO_BIG",
    },
    errors.TooManyRedirectsError: {"{site} redirects in a loop.": "ERR_TOO_MANY_REDIRECTS"},
    errors.BadSchemeError: {
        "{site} leads to an address that is not http or https.": "ERR_UNSAFE_REDIRECT ERR_UNKNOWN_URL_SCHEME "
        "ERR_DISALLOWED_URL_SCHEME ERR_FILE_NOT_FOUND",
        "This is not a URL that can be visited.": "ERR_INVALID_URL",
    },
    errors.BlockedAddressError: {
        "{site} leads to an address that is not on the public internet.": "ERR_INCONSISTENT_IP_ADDRESS_SPACE "
        "ERR_BLOCKED_BY_LOCAL_NETWORK_ACCESS_CHECKS ERR_BLOCKED_BY_PRIVATE_NETWORK_ACCESS_CHECKS"
    },
    errors.TlsFailedError: {
        "The certificate of {site} was not issued by an authority that browsers know. If your network has an authority "
        "of its own, add it (docs/troubleshooting.md).": "ERR_CERT_AUTHORITY_INVALID",
        "The certificate of {site} is for another host.": "ERR_CERT_COMMON_NAME_INVALID",
        "The certificate of {site} is out of date.": "ERR_CERT_DATE_INVALID",
        "The certificate of {site} was revoked.": "ERR_CERT_REVOKED",
        "The certificate of {site} is not valid ({error}).": "ERR_CERT* ERR_CT_*",
        "{site} does not speak TLS properly on this port.": "ERR_SSL_PROTOCOL_ERROR",
        "{site} speaks only outdated TLS.": "ERR_SSL_VERSION_OR_CIPHER_MISMATCH",
        "{site} wants a client's certificate.": "ERR_SSL_CLIENT_AUTH_CERT_NEEDED ERR_BAD_SSL_CLIENT_AUTH_CERT",
        "The TLS handshake with {site} failed ({error}).": "ERR_SSL* ERR_TLS* ERR_ECH*",
    },
}
_LIKE_FAILURES = {
    FailureKind.NAME_NOT_RESOLVED: "ERR_NAME_NOT_RESOLVED ERR_NAME_RESOLUTION_FAILED ERR_ICANN_NAME_COLLISION ERR_DNS*",
    FailureKind.NAME_LOOKUP_TIMEOUT: "ERR_DNS_TIMED_OUT",
    FailureKind.CONNECTION_REFUSED: "ERR_CONNECTION_REFUSED",
    FailureKind.HOST_UNREACHABLE: "ERR_ADDRESS_UNREACHABLE ERR_ADDRESS_INVALID ERR_INTERNET_DISCONNECTED "
    "ERR_NETWORK_ACCESS_DENIED ERR_NETWORK_CHANGED ERR_NETWORK_IO_SUSPENDED ERR_SOCKS_CONNECTION_HOST_UNREACHABLE",
    FailureKind.UNSAFE_PORT: "ERR_UNSAFE_PORT",
}
_CHROMIUM_ERRORS: dict[str, _Meaning] = {
    name: (kind, sentence)
    for kind, sentences in _SENTENCES.items()
    for sentence, names in sentences.items()
    for name in names.split()
} | {name: _PROXY_FAILURES[failure] for failure, names in _LIKE_FAILURES.items() for name in names.split()}

_MAX_URL_CHARS = 200
"""Maximum of characters of the URL in an error message."""

_UNKNOWN = (errors.UnreachableError, "{site} could not be loaded ({error}).")

_PROXY_ERRORS = ("ERR_SOCKS_", "ERR_PROXY_", "ERR_TUNNEL_", "ERR_NO_SUPPORTED_PROXIES")
_MAYBE_PROXY_ERRORS = frozenset(
    name for name, meaning in _CHROMIUM_ERRORS.items() if meaning[1] in (_CLOSED, _INCOMPLETE, _TIMED_OUT)
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

    `last_url` is the last redirect target, or `url`. The error contains no address except one in the caller's own
    URL: the caller must not learn private addresses.
    """
    names = (word for word in net_error.replace(":", " ").split() if word.startswith("ERR_"))
    error = next(names, net_error.strip() or "no reason given")
    first, last = _Origin.of(url), _Origin.of(last_url or url)
    is_refused = error.startswith(_PROXY_ERRORS)
    if is_refused or error in _MAYBE_PROXY_ERRORS:
        if traffic.too_large:
            return _build_error(_PROXY_FAILURES[FailureKind.TOO_LARGE], url, first, last, error)
        failure = traffic.failure_for(last.host, last.port) or traffic.failure_for(first.host, first.port)
        failure = failure or (traffic.latest_failure if is_refused else None)
        if failure is not None:
            return _from_proxy_failure(failure, url, first, error)
    by_prefix = (
        meaning for name, meaning in _CHROMIUM_ERRORS.items() if name[-1] == "*" and error.startswith(name[:-1])
    )
    return _build_error(_CHROMIUM_ERRORS.get(error) or next(by_prefix, _UNKNOWN), url, first, last, error)


@dataclass(frozen=True, slots=True)
class _Origin:
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> Self:
        try:
            parts = urllib.parse.urlsplit(url)
            host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            return cls("", 0)
        with contextlib.suppress(UnicodeError):
            # Chromium sends xn-- names to the proxy.
            host = host if host.isascii() else host.encode("idna").decode("ascii")
        return cls(normalize_host(host), port)

    @property
    def site(self) -> str:
        """Name of the host in messages."""
        return self.host or "the site"

    @property
    def is_address(self) -> bool:
        """True if the host is an IP address in any spelling."""
        try:
            return parse_address(self.host) is not None
        except ValueError:
            return ends_with_number(self.host)


def _from_proxy_failure(failure: ConnectionFailure, url: str, first: _Origin, error: str) -> errors.BrowsersError:
    failed = _Origin(normalize_host(failure.host), failure.port)
    # Chromium percent-encodes some characters of a host and sends it so to the proxy.
    is_first = urllib.parse.unquote(failed.host) == first.host
    if is_first or (failed.is_address and first.is_address):
        failed = first
    if failure.kind is not FailureKind.BLOCKED_ADDRESS:
        return _build_error(_PROXY_FAILURES[failure.kind], url, first, failed, error, failure.detail)
    if failed.host != first.host:
        message = f"{first.site} redirects to a host that is not on the public internet."
    elif failed.is_address:
        # Use the caller's spelling. The address behind it must not be revealed.
        message = f"{url[:_MAX_URL_CHARS]} is not on the public internet."
    else:
        message = f"{first.host} is not on the public internet."
    return errors.BlockedAddressError(message, url=url, next_step=_BLOCKED_STEPS.get(failure.detail))


def _build_error(
    meaning: _Meaning, url: str, first: _Origin, origin: _Origin, error: str, detail: str = ""
) -> errors.BrowsersError:
    kind, sentence = meaning
    message = sentence.format(site=_describe_site(first, origin), error=error, detail=detail or "it gave no reason")
    message = message.replace(",.", ".").replace(",:", ":")
    return kind(message[0].upper() + message[1:] if message.startswith("the ") else message, url=url)


def _describe_site(first: _Origin, origin: _Origin) -> str:
    if origin.host in (first.host, ""):
        return first.site
    if origin.is_address:
        return f"the address that {first.site} redirects to"
    return f"{origin.host}, to which {first.site} redirects,"

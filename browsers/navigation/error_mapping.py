"""Convert Chromium's net errors and the proxy's traffic log into typed errors.

Chromium shows ERR_SOCKS_CONNECTION_FAILED for every refusal of the proxy, and names the first URL of a chain of
redirects. The reason and the host are in the traffic log.
"""

import contextlib
import tomllib
import urllib.parse
from dataclasses import dataclass
from importlib.resources import files
from typing import Self

from browsers import errors
from browsers.egress.ip_rules import ends_with_number, normalize_host, parse_address
from browsers.egress.traffic_log import ConnectionFailure, FailureKind, TrafficLog

_Meaning = tuple[type[errors.BrowsersError], str]
"""Error class and template of its sentence."""

_TABLE = tomllib.loads(files(__package__).joinpath("net_errors.toml").read_text(encoding="utf-8"))
_PROXY_FAILURES: dict[FailureKind, _Meaning] = {
    FailureKind[name]: (getattr(errors, kind), sentence) for name, (kind, sentence) in _TABLE["proxy_failures"].items()
}
_CHROMIUM_ERRORS: dict[str, _Meaning] = {
    name: (getattr(errors, kind), sentence)
    for kind, sentences in _TABLE["sentences"].items()
    for sentence, names in sentences.items()
    for name in names.split()
} | {
    name: _PROXY_FAILURES[FailureKind[failure]]
    for failure, names in _TABLE["like_failures"].items()
    for name in names.split()
}

_MAX_URL_CHARS = 200
"""Maximum of characters of the URL in an error message."""

_UNKNOWN = (errors.UnreachableError, "{site} could not be loaded ({error}).")

_PROXY_ERRORS = ("ERR_SOCKS_", "ERR_PROXY_", "ERR_TUNNEL_", "ERR_NO_SUPPORTED_PROXIES")
_UNANSWERED = (errors.ConnectTimeoutError, errors.ConnectionClosedError)
_MAYBE_PROXY_ERRORS = frozenset(name for name, (kind, _) in _CHROMIUM_ERRORS.items() if kind in _UNANSWERED) | {
    "ERR_ABORTED",
    "ERR_FAILED",
    "ERR_UNEXPECTED_PROXY_AUTH",
    "ERR_CONTENT_DECODING_FAILED",
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
    return errors.BlockedAddressError(message, url=url, next_step=_TABLE["blocked_steps"].get(failure.detail))


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

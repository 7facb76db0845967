"""Value types of network settings: URLs of services, host names, origins, networks and key pins."""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Callable
from urllib.parse import SplitResult, parse_qs, urlsplit

from scraper.values.types import CustomValue

_HOST_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_-]+)*")
_HOST_HEADER = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::[0-9]{1,5})?")
_ORIGIN = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*://{_HOST_HEADER.pattern}/?")
_KEY_PIN = re.compile(r"[A-Za-z0-9+/]{43}=")
_STATE_SCHEMES = frozenset({"redis", "rediss", "valkey", "valkeys"})
_TLS_OPTIONS = {
    "ssl_cert_reqs": "none|optional|required",
    "ssl_check_hostname": "true|false",
    "ssl_ca_certs": ".+",
    "ssl_certfile": ".+",
    "ssl_keyfile": ".+",
}
_STATE_OPTIONS = {
    "rediss": _TLS_OPTIONS,
    "valkeys": _TLS_OPTIONS,
    "unix": {"db": "[0-9]+", "username": ".+", "password": ".+"},
}
"""Query parameters by scheme, with patterns of their values. The client fails to connect with any other."""
_DATABASE_SCHEMES = frozenset({"postgresql", "postgres"})
_PROXY_SCHEMES = frozenset({"http", "socks5", "socks5h"})


def _check_url(url: str, *, is_valid: Callable[[str], bool]) -> str:
    if not is_valid(url):
        raise ValueError
    return url


def _check_pattern(text: str, *, pattern: re.Pattern[str], noun: str) -> str:
    # A value that no header can contain would be ignored silently.
    if not pattern.fullmatch(text):
        raise ValueError(f"{text!r} is no {noun}")
    return text


def _is_proxy(url: str) -> bool:
    parts = urlsplit(url)
    has_address = parts.scheme in _PROXY_SCHEMES and bool(parts.hostname and parts.port)
    return has_address and not parts.path.strip("/") and not parts.query


def _is_state_service(url: str) -> bool:
    parts = urlsplit(url)
    is_numbered = re.fullmatch(r"/?[0-9]*", parts.path) is not None and (parts.port or 1) > 0
    is_remote = parts.scheme in _STATE_SCHEMES and bool(parts.hostname) and is_numbered
    return (is_remote or url.startswith("unix:///")) and _has_known_options(parts)


def _is_database(url: str) -> bool:
    parts = urlsplit(url)
    has_address = parts.scheme in _DATABASE_SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    return has_address and bool(parts.username) and bool(parts.path.strip("/"))


def _is_site(url: str) -> bool:
    parts = urlsplit(url)
    has_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.username
    return has_address and not parts.query and not parts.fragment


def _has_known_options(parts: SplitResult) -> bool:
    """Return True if the client of the shared state accepts all query parameters."""
    options = parse_qs(parts.query, keep_blank_values=True, strict_parsing=True) if parts.query else {}
    known = _STATE_OPTIONS.get(parts.scheme, {})
    return all(
        name in known and re.fullmatch(known[name], value) for name, values in options.items() for value in values
    )


def _parse_network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise ValueError(f"{text!r} is no network; write it as 10.1.0.0/16 or fd12::/16") from None


def _parse_host_mapping(text: str) -> tuple[str, str, int]:
    name, _, target = text.partition("=")
    address, _, port = target.rpartition(":")
    address = address.strip("[]")
    if not _is_host_name(name) or not _is_address(address) or not port.isdigit() or not 0 < int(port) < 65_536:
        raise ValueError(f"{text!r} is no pair; write www.example.com=127.0.0.1:8080, with an exact name")
    return name.lower().rstrip("."), address, int(port)


def _is_host_name(text: str) -> bool:
    return bool(_HOST_NAME.fullmatch(text.rstrip("."))) and not _is_address(text)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


NETWORK = CustomValue("address/bits", _parse_network)
"""A network in CIDR form, parsed to its normal form."""
HOST_MAPPING = CustomValue("name=address:port", _parse_host_mapping)
"""A pair name=address:port, parsed to (name, address, port)."""
HOST_HEADER = CustomValue(
    "name",
    functools.partial(
        _check_pattern, pattern=_HOST_HEADER, noun="host name; write search.example.org or search.example.org:8443"
    ),
)
"""A host name with optional port, as in the Host header."""
ORIGIN = CustomValue(
    "origin",
    functools.partial(
        _check_pattern, pattern=_ORIGIN, noun="origin; write https://app.example.org, with its port where it has one"
    ),
)
"""An origin, as in the Origin header."""
KEY_PIN = CustomValue(
    "base64",
    functools.partial(_check_pattern, pattern=_KEY_PIN, noun="hash"),
    "give a SHA-256 in base64: 43 characters and an equals sign",
)
"""The hash of a public key."""
PROXY_URL = CustomValue(
    "URL",
    functools.partial(_check_url, is_valid=_is_proxy),
    "give http://user:password@host:port or socks5://user:password@host:port",
)
"""The URL of a proxy."""
STATE_URL = CustomValue(
    "URL",
    functools.partial(_check_url, is_valid=_is_state_service),
    "give redis://user:password@host:port/0, rediss:// for TLS, or unix:///path",
)
"""The URL of a Valkey or Redis server."""
DATABASE_URL = CustomValue(
    "URL", functools.partial(_check_url, is_valid=_is_database), "give postgresql://user:password@host:port/database"
)
"""The URL of a PostgreSQL database."""
WEB_ADDRESS = CustomValue(
    "URL",
    lambda text: _check_url(text, is_valid=_is_site).rstrip("/"),
    "give an absolute http(s) URL such as https://search.example.org",
)
"""The URL of a website without query, parsed to the URL without a final slash."""

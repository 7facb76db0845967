"""Value types of texts with a fixed form: URLs, host names, origins, networks, key pins, languages and time zones."""

from __future__ import annotations

import ipaddress
import re
import zoneinfo
from collections.abc import Callable
from urllib.parse import SplitResult, parse_qs, urlsplit

from scraper.values.text import suggest
from scraper.values.types import CustomValue

_HOST_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_-]+)*")
_HOST_HEADER = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::[0-9]{1,5})?")
_ORIGIN = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*://{_HOST_HEADER.pattern}/?")
_KEY_PIN = re.compile(r"[A-Za-z0-9+/]{43}=")
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
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


def _url_value(is_valid: Callable[[str], bool], advice: str) -> CustomValue:
    def check(url: str) -> str:
        if not is_valid(url):
            raise ValueError
        return url

    return CustomValue("URL", check, advice)


def _pattern_value(label: str, pattern: re.Pattern[str], advice: str) -> CustomValue:
    """Return the type of a text that matches a pattern; `{}` in `advice` is the wrong text."""

    def check(text: str) -> str:
        # A value that no header can contain would be ignored silently.
        if not pattern.fullmatch(text):
            raise ValueError(advice.format(repr(text)))
        return text

    return CustomValue(label, check)


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


def _parse_site(url: str) -> str:
    parts = urlsplit(url)
    has_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.username
    if not has_address or parts.query or parts.fragment:
        raise ValueError
    return url.rstrip("/")


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
        raise ValueError(f"{text!r} is not a network; write it as 10.1.0.0/16 or fd12::/16") from None


def _parse_host_mapping(text: str) -> tuple[str, str, int]:
    name, _, target = text.partition("=")
    address, _, port = target.rpartition(":")
    address = address.strip("[]")
    if not _is_host_name(name) or not _is_address(address) or not port.isdigit() or not 0 < int(port) < 65_536:
        raise ValueError(f"{text!r} is not a pair; write www.example.com=127.0.0.1:8080, with an exact name")
    return name.lower().rstrip("."), address, int(port)


def _is_host_name(text: str) -> bool:
    return bool(_HOST_NAME.fullmatch(text.rstrip("."))) and not _is_address(text)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _parse_time_zone(name: str) -> str:
    known = zoneinfo.available_timezones()
    # A machine without the zone files knows no zone at all; the browser has its own list.
    if known and name not in known:
        raise ValueError(f"give a time zone such as Europe/Berlin or UTC{suggest(name, sorted(known))}")
    return name


NETWORK = CustomValue("address/bits", _parse_network)
"""A network in CIDR form, parsed to its normal form."""
HOST_MAPPING = CustomValue("name=address:port", _parse_host_mapping)
"""A pair name=address:port, parsed to (name, address, port)."""
HOST_HEADER = _pattern_value(
    "name", _HOST_HEADER, "{} is not a host name; write search.example.org or search.example.org:8443"
)
"""A host name with optional port, as in the Host header."""
ORIGIN = _pattern_value(
    "origin", _ORIGIN, "{} is not an origin; write https://app.example.org, with its port where it has one"
)
"""An origin, as in the Origin header."""
KEY_PIN = _pattern_value("base64", _KEY_PIN, "give a SHA-256 in base64: 43 characters and an equals sign")
"""The SHA-256 of a public key, in base64."""
PROXY_URL = _url_value(_is_proxy, "give http://user:password@host:port or socks5://user:password@host:port")
"""The URL of a proxy."""
STATE_URL = _url_value(_is_state_service, "give redis://user:password@host:port/0, rediss:// for TLS, or unix:///path")
"""The URL of a Valkey or Redis server."""
DATABASE_URL = _url_value(_is_database, "give postgresql://user:password@host:port/database")
"""The URL of a PostgreSQL database."""
WEB_ADDRESS = CustomValue("URL", _parse_site, "give an absolute http(s) URL such as https://search.example.org")
"""The URL of a website without query, parsed to the URL without a final slash."""
LANGUAGE = _pattern_value("language tag", _LANGUAGE_TAG, "give a language tag such as en-US, de or zh-Hans")
"""A language tag such as en-US, whose form is checked but not its existence."""
TIME_ZONE = CustomValue("time zone", _parse_time_zone)
"""A time zone of the IANA database."""

"""Kinds of settings that name a place on a network, or whom to trust there; a refusal says what is right."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qs, urlsplit

from scraper.settings.values import StringSetting, entries_of

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
"""By scheme: what may stand behind the question mark. Any other would fail each time it is connected."""
_DATABASE_SCHEMES = frozenset({"postgresql", "postgres"})
_PROXY_SCHEMES = frozenset({"http", "socks5", "socks5h"})


@dataclass(frozen=True, slots=True)
class NetworksSetting:
    """Networks in CIDR form, separated by commas."""

    label: str = "address/bits,..."

    def read(self, value: object) -> tuple[str, ...]:
        """The networks, each in its normal form."""
        return tuple(_network(part) for part in entries_of(value))


@dataclass(frozen=True, slots=True)
class HostMapSetting:
    """Pairs name=address:port, separated by commas."""

    label: str = "name=address:port,..."

    def read(self, value: object) -> tuple[tuple[str, str, int], ...]:
        """The triples (name, address, port)."""
        if isinstance(value, tuple) and all(isinstance(entry, tuple) for entry in value):
            return value
        return tuple(_mapping(part) for part in entries_of(value))


@dataclass(frozen=True, slots=True)
class HostNamesSetting:
    """Names as they stand in the header Host, separated by commas."""

    label: str = "name,..."

    def read(self, value: object) -> tuple[str, ...]:
        """The names as given."""
        return _each(_HOST_HEADER, value, "host name; write search.example.org or search.example.org:8443")


@dataclass(frozen=True, slots=True)
class OriginsSetting:
    """Origins as they stand in the header of that name, separated by commas."""

    label: str = "origin,..."

    def read(self, value: object) -> tuple[str, ...]:
        """The origins as given."""
        return _each(_ORIGIN, value, "origin; write https://app.example.org, with its port where it has one")


@dataclass(frozen=True, slots=True)
class KeyPinSetting:
    """A hash of a public key."""

    label: str = "base64"

    def read(self, value: object) -> str:
        """The hash as given."""
        text = StringSetting().read(value)
        if not _KEY_PIN.fullmatch(text):
            raise ValueError("give a SHA-256 in base64: 43 characters and an equals sign")
        return text


@dataclass(frozen=True, slots=True)
class ProxySetting:
    """The URL of a proxy."""

    label: str = "URL"

    def read(self, value: object) -> str:
        """The URL as given."""
        url = StringSetting().read(value)
        if not _passes(url, _is_proxy):
            raise ValueError("give http://user:password@host:port or socks5://user:password@host:port")
        return url


@dataclass(frozen=True, slots=True)
class StateUrlSetting:
    """The URL of a Valkey or Redis."""

    label: str = "URL"

    def read(self, value: object) -> str:
        """The URL as given."""
        url = StringSetting().read(value)
        if not _passes(url, _is_state):
            raise ValueError("give redis://user:password@host:port/0, rediss:// for TLS, or unix:///path")
        return url


def _passes(url: str, test: Callable[[str], bool]) -> bool:
    """Whether a URL is what `test` says; one that cannot be taken apart is nothing."""
    try:
        return test(url)
    except ValueError:
        return False


def _is_proxy(url: str) -> bool:
    parts = urlsplit(url)
    named = parts.scheme in _PROXY_SCHEMES and bool(parts.hostname and parts.port)
    return named and not parts.path.strip("/") and not parts.query


def _is_state(url: str) -> bool:
    parts = urlsplit(url)
    numbered = re.fullmatch(r"/?[0-9]*", parts.path) is not None and (parts.port or 1) > 0
    named = parts.scheme in _STATE_SCHEMES and bool(parts.hostname) and numbered
    return (named or url.startswith("unix:///")) and _options_are_known(parts)


def _is_database(url: str) -> bool:
    parts = urlsplit(url)
    named = parts.scheme in _DATABASE_SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    return named and bool(parts.username) and bool(parts.path.strip("/"))


def _is_site(url: str) -> bool:
    parts = urlsplit(url)
    named = parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.username
    return named and not parts.query and not parts.fragment


def _options_are_known(parts: SplitResult) -> bool:
    """Whether the client of the shared state takes what stands behind a question mark."""
    options = parse_qs(parts.query, keep_blank_values=True, strict_parsing=True) if parts.query else {}
    known = _STATE_OPTIONS.get(parts.scheme, {})
    return all(
        name in known and re.fullmatch(known[name], value)
        for name, values in options.items()
        for value in values
    )


@dataclass(frozen=True, slots=True)
class DatabaseUrlSetting:
    """The URL of a PostgreSQL."""

    label: str = "URL"

    def read(self, value: object) -> str:
        """The URL as given."""
        url = StringSetting().read(value)
        if not _passes(url, _is_database):
            raise ValueError("give postgresql://user:password@host:port/database")
        return url


@dataclass(frozen=True, slots=True)
class WebAddressSetting:
    """The URL of a site, without a question mark."""

    label: str = "URL"

    def read(self, value: object) -> str:
        """The URL without a final slash."""
        url = StringSetting().read(value)
        if not _passes(url, _is_site):
            raise ValueError("give an absolute http(s) URL such as https://search.example.org")
        return url.rstrip("/")


def _each(pattern: re.Pattern[str], value: object, what: str) -> tuple[str, ...]:
    """The entries of a list, all of one form: what never matches would be missed by nobody but its user."""
    entries = entries_of(value)
    for entry in entries:
        if not pattern.fullmatch(entry):
            raise ValueError(f"{entry!r} is no {what}")
    return tuple(entries)


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise ValueError(f"{text!r} is no network; write it as 10.1.0.0/16 or fd12::/16") from None


def _mapping(text: str) -> tuple[str, str, int]:
    name, _, target = text.partition("=")
    address, _, port = target.rpartition(":")
    address = address.strip("[]")
    if (
        not _is_host_name(name)
        or not _is_address(address)
        or not port.isdigit()
        or not 0 < int(port) < 65_536
    ):
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

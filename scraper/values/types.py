"""Types that parse settings, command line options and tool arguments.

Callers are operators and language models. A value is accepted in any form with one clear meaning: a number as text, a
list as JSON, a single item instead of a list. Any other value is rejected with the accepted form.
"""

import abc
import contextlib
import ipaddress
import json
import math
import re
import zoneinfo
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from scraper.values.text import suggest, truncate

_BOOLEANS = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)
_CHOICE_SIMILARITY = 0.5
"""Minimum similarity of an invalid word to the suggested choice."""

_JSON_TYPES = {
    bool: "a boolean",
    dict: "an object",
    float: "a number",
    int: "a number",
    list: "a list",
    str: "a string",
}


class InvalidValueError(ValueError):
    """The value is not accepted by its type."""

    def __init__(self, expected: str, problem: str = "", *, suggestion: str = "", advice: str | None = None) -> None:
        """Build the message for callers, "<name> must be <expected><problem>", and the advice for operators.

        `advice` is a sentence, by default "give" and `expected`. It never repeats the value, which may be a secret.
        `suggestion` is the result of `text.suggest`.
        """
        super().__init__(f"{expected}{problem}{suggestion}")
        self.advice = (advice or f"give {expected}") + suggestion


class ValueType(abc.ABC):
    """One type of value; `parse` raises InvalidValueError for a value that it does not accept."""

    label: str
    """The type in one or two words, for help texts."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema: plain types, without unions and references."""
        return {"type": "string"}

    @abc.abstractmethod
    def parse(self, value: object) -> Any:
        """Parse a text or a JSON value."""


@dataclass(frozen=True)
class StringValue(ValueType):
    """A text that is not blank, unless `allow_blank`."""

    max_chars: int | None = None
    """Characters; None if the caller checks the length itself."""
    allow_blank: bool = False
    label = "text"

    def parse(self, value: object) -> str:
        """Return the text unchanged."""
        if not isinstance(value, str):
            raise InvalidValueError("a string", f", not {_json_type(value)}")
        if not self.allow_blank and not value.strip():
            raise InvalidValueError("given", ": it is blank", advice="it is blank")
        if self.max_chars is not None and len(value) > self.max_chars:
            raise InvalidValueError(f"a string of at most {self.max_chars:,} characters", f", not {len(value):,}")
        return value


class PathValue(ValueType):
    """A path in the file system; `~` is the home folder."""

    label = "path"

    def parse(self, value: object) -> Path:
        """Return the absolute path."""
        path = value if isinstance(value, Path) else Path(StringValue().parse(value))
        try:
            return path.expanduser().absolute()
        except RuntimeError:
            advice = "there is no such home folder; give a path that begins with /"
            raise InvalidValueError("a path that begins with /", advice=advice) from None


@dataclass(frozen=True)
class NumberValue(ValueType):
    """A number within bounds."""

    low: float
    high: float
    label = "number"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "number", "minimum": self.low, "maximum": self.high}

    def parse(self, value: object) -> float:
        """Return the number."""
        number = _parse_number(value)
        if not self.low <= number <= self.high:
            raise InvalidValueError(
                f"a number from {self.low:,g} to {self.high:,g}",
                f", not {_abbreviate(value)}",
                advice=f"give a number from {self.low:g} to {self.high:g}",
            )
        return number


@dataclass(frozen=True)
class IntegerValue(ValueType):
    """A whole number within bounds."""

    low: int
    high: int
    label = "whole number"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def parse(self, value: object) -> int:
        """Return the number."""
        number = _parse_number(value)
        if not self.low <= number <= self.high or number != int(number):
            raise InvalidValueError(
                f"a whole number from {self.low:,} to {self.high:,}",
                f", not {_abbreviate(value)}",
                advice=f"give a whole number from {self.low} to {self.high}",
            )
        return int(number)


class BooleanValue(ValueType):
    """True or false."""

    label = "yes or no"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "boolean"}

    def parse(self, value: object) -> bool:
        """Return the boolean; the words yes, on, 1 and their opposites are accepted as text."""
        word = str(value).strip().lower() if isinstance(value, bool | str) else ""
        if word not in _BOOLEANS:
            raise InvalidValueError("true or false", f", not {_abbreviate(value)}", advice="give yes or no")
        return _BOOLEANS[word]


class ChoiceValue(ValueType):
    """One of a few lower-case words."""

    def __init__(self, words: Sequence[str]) -> None:
        """Accept `words`."""
        self.words = tuple(words)
        self.label = " | ".join(words)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "string", "enum": list(self.words)}

    def parse(self, value: object) -> str:
        """Return the word in lower case."""
        word = value.strip().lower() if isinstance(value, str) else ""
        if word in self.words:
            return word
        raise InvalidValueError(
            f"one of {', '.join(self.words)}",
            f", not {_abbreviate(value)}",
            suggestion=suggest(word, self.words, _CHOICE_SIMILARITY),
        )


@dataclass(frozen=True)
class StringListValue(ValueType):
    """A list of at least one text."""

    max_items: int
    has_names: bool = False
    """True for names, which contain no comma: `a,b` counts as two names."""
    label = "list"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "array", "items": {"type": "string"}, "maxItems": self.max_items}

    def parse(self, value: object) -> tuple[str, ...]:
        """Return the texts; a list as JSON text and a single item are accepted."""
        items = _parse_list(value)
        if self.has_names:
            items = [name for item in items for name in (item.split(",") if isinstance(item, str) else [item])]
        if not items:
            raise InvalidValueError(f"a list of 1 to {self.max_items} strings", "; it is empty")
        if len(items) > self.max_items:
            raise InvalidValueError(
                f"a list of at most {self.max_items} strings", f", not {len(items)}: make several calls"
            )
        for number, item in enumerate(items, 1):
            if not isinstance(item, str):
                raise InvalidValueError("a list of strings", f"; item {number} is {_json_type(item)}")
            if not item.strip():
                raise InvalidValueError("a list of strings", f"; item {number} is blank")
        return tuple(item.strip() if self.has_names else item for item in map(str, items))


@dataclass(frozen=True)
class CustomValue(ValueType):
    """A text that a function parses."""

    label: str
    parse_text: Callable[[str], Any]
    """Parse a text; raise ValueError if it has the wrong format."""
    advice: str | None = None
    """Advice about a text with the wrong format; None to use the message of `parse_text`."""

    def parse(self, value: object) -> Any:
        """Return the parsed text."""
        text = StringValue().parse(value)
        try:
            return self.parse_text(text)
        except ValueError as error:
            raise InvalidValueError(self.label, advice=self.advice or str(error)) from None


@dataclass(frozen=True)
class CommaListValue(ValueType):
    """A list of texts, separated by commas; it may be empty."""

    item: ValueType = StringValue()
    label: str = "a,b,c"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "array", "items": self.item.schema()}

    def parse(self, value: object) -> tuple[Any, ...]:
        """Return the parsed items; blank items are dropped, and items that are not text are parsed already."""
        items: Iterable[object] = value if isinstance(value, list | tuple) else str(value).split(",")
        stripped = (item.strip() if isinstance(item, str) else item for item in items)
        return tuple(self.item.parse(item) if isinstance(item, str) else item for item in stripped if item)


class ObjectValue(ValueType):
    """An object with any names and values."""

    label = "object"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"type": "object"}

    def parse(self, value: object) -> dict[str, Any]:
        """Return the object; JSON text is accepted."""
        if isinstance(value, str) and value.lstrip().startswith("{"):
            try:
                value = json.loads(value)
            except ValueError:
                raise InvalidValueError("an object", "; the text is not valid JSON") from None
        if not isinstance(value, dict):
            raise InvalidValueError("an object")
        return value


def _json_type(value: object) -> str:
    """Return the name of a value's JSON type with its article."""
    return "null" if value is None else _JSON_TYPES.get(type(value), "something else")


def _parse_number(value: object) -> float:
    """Return the number, or NaN, which lies within no bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _parse_list(value: object) -> list[object]:
    """Return a list, a list from JSON text, or a list of the single item."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with contextlib.suppress(ValueError):
            value = json.loads(value)
    return list(value) if isinstance(value, list | tuple) else [value]


def _abbreviate(value: object) -> str:
    if isinstance(value, dict | list):
        return _json_type(value)
    return truncate(json.dumps(value, ensure_ascii=False, default=str))


_HOST_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_-]+)*")
_HOST_HEADER = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::[0-9]{1,5})?")
_ORIGIN = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*://{_HOST_HEADER.pattern}/?")
_KEY_PIN = re.compile(r"[A-Za-z0-9+/]{43}=")
LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
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
    is_numbered = not parts.path.removeprefix("/").strip("0123456789") and (parts.port or 1) > 0
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
    is_host_name = bool(_HOST_NAME.fullmatch(name.rstrip("."))) and not _is_address(name)
    if not is_host_name or not _is_address(address) or not port.isdigit() or not 0 < int(port) < 65_536:
        raise ValueError(f"{text!r} is not a pair; write www.example.com=127.0.0.1:8080, with an exact name")
    return name.lower().rstrip("."), address, int(port)


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
LANGUAGE = _pattern_value("language tag", LANGUAGE_TAG, "give a language tag such as en-US, de or zh-Hans")
"""A language tag such as en-US, whose form is checked but not its existence."""
TIME_ZONE = CustomValue("time zone", _parse_time_zone)
"""A time zone of the IANA database."""

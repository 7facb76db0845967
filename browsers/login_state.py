"""Cookies and local storage of a login, parsed from and written as the storage state of Playwright. No I/O."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

_MAX_STATE_CHARS = 1_000_000
"""Characters of a storage state."""
_MIN_SECRET = 8
_MIN_TOKEN = 16
REDACTED = "(secret)"
COOKIE_FIELDS = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite", "expires")

Cookie = Mapping[str, Any]


class LoginStateError(ValueError):
    """A storage state cannot be used. The message says why."""


def covers_host(hosts: Iterable[str], host: str) -> bool:
    """Return True if a host is one of `hosts` or a subdomain of one."""
    host = host.lower().rstrip(".")
    return any(host == one or host.endswith(f".{one}") for one in hosts)


@dataclass(frozen=True, slots=True)
class LoginState:
    """Cookies and local storage that sign a browser in on some hosts. Values never appear in `repr`."""

    cookies: tuple[Cookie, ...] = field(default=(), repr=False)
    storage: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """Local storage by origin."""

    @classmethod
    def parse(cls, text: str, hosts: tuple[str, ...]) -> Self:
        """Return a storage state of Playwright for hosts. Raises LoginStateError if it is none, or too large."""
        if len(text) > _MAX_STATE_CHARS:
            raise LoginStateError(f"the file has more than {_MAX_STATE_CHARS:,} characters")
        try:
            raw = json.loads(text)
            cookies = [
                {name: cookie[name] for name in COOKIE_FIELDS if name in cookie} for cookie in raw.get("cookies", [])
            ]
            storage = {
                str(entry["origin"]): {str(item["name"]): str(item["value"]) for item in entry["localStorage"]}
                for entry in raw.get("origins", [])
            }
            return cls.select(cookies, storage, hosts)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise LoginStateError("the file is not a storage state as Playwright writes it") from None

    @classmethod
    def select(
        cls, cookies: Iterable[Cookie], storage: Mapping[str, Mapping[str, str]], hosts: tuple[str, ...]
    ) -> Self:
        """Return the cookies and storage of hosts and their subdomains; a wider cookie is narrowed to the host."""
        matching: list[Cookie] = []
        for cookie in cookies:
            domain = str(cookie["domain"]).lower()
            if covers_host(hosts, domain.lstrip(".")):
                matching.append(dict(cookie))
            elif domain.startswith("."):
                matching += [{**cookie, "domain": f".{host}"} for host in hosts if covers_host([domain[1:]], host)]
        return cls(
            tuple(matching),
            {origin: items for origin, items in storage.items() if covers_host(hosts, urlsplit(origin).hostname or "")},
        )

    def dump(self) -> str:
        """Return the storage state as JSON."""
        origins = [
            {"origin": origin, "localStorage": [{"name": name, "value": value} for name, value in items.items()]}
            for origin, items in self.storage.items()
        ]
        return json.dumps({"cookies": [dict(cookie) for cookie in self.cookies], "origins": origins})

    @property
    def is_empty(self) -> bool:
        """True if there are neither cookies nor storage items."""
        return not self.cookies and not any(self.storage.values())

    def session_cookies(self) -> set[tuple[str, str]]:
        """Return name and domain of the HttpOnly cookies, which scripts cannot read. Session cookies are among them."""
        return {identify(cookie) for cookie in self.cookies if cookie.get("httpOnly")}


def make_settable(cookie: Cookie) -> dict[str, Any]:
    """Return a cookie as `Storage.setCookies` takes it: a session cookie has no time of expiry."""
    settable = {name: cookie[name] for name in (*COOKIE_FIELDS, "priority", "partitionKey") if name in cookie}
    if float(settable.get("expires", -1)) <= 0:
        settable.pop("expires", None)
    return settable


def identify(cookie: Cookie) -> tuple[str, str]:
    """Return name and domain of a cookie; the domain is in lower case without a leading dot."""
    return str(cookie["name"]), str(cookie["domain"]).lstrip(".").lower()


def _is_like_token(value: str) -> bool:
    has_letter, has_digit = any(one.isascii() and one.isalpha() for one in value), any(map(str.isdecimal, value))
    return len(value) >= _MIN_TOKEN and has_letter and has_digit and not any(map(str.isspace, value))


@dataclass(frozen=True, slots=True)
class Login:
    """A named login that a session uses, on its hosts only."""

    name: str
    hosts: tuple[str, ...]
    state: LoginState

    def redact(self, text: str) -> str:
        """Return a text without the values of cookies that are hidden from scripts or look like tokens."""
        for cookie in self.state.cookies:
            value = str(cookie["value"])
            if len(value) >= _MIN_SECRET and (cookie.get("httpOnly") or _is_like_token(value)):
                text = text.replace(value, REDACTED)
        return text

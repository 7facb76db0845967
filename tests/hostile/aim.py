"""What a hostile page aims at, and how such a page is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

HOLD_S = 1.2
"""How long a page is kept open: in the control run, all but WebRTC and WebTransport had hit by then."""


@dataclass(frozen=True, slots=True)
class Aim:
    """The canary, and the origin that the page is served from."""

    origin: str
    host: str
    port: int
    udp_port: int

    @property
    def scheme(self) -> str:
        """As the page's own, or the browser would refuse mixed content before the wall is tried."""
        return self.origin.partition(":")[0]

    @property
    def ws_scheme(self) -> str:
        """The same for web sockets."""
        return self.scheme.replace("http", "ws")

    @property
    def authority(self) -> str:
        """Host and port of the canary."""
        return f"{self.host}:{self.port}"

    def url(self, name: str) -> str:
        """At the canary."""
        return f"{self.scheme}://{self.authority}/{name}"

    def detour(self, name: str, hops: int = 1) -> str:
        """At the site, from where so many redirects lead to the canary."""
        return f"{self.origin}/hop{hops}?to={quote(self.url(name))}"


@dataclass(frozen=True, slots=True)
class Vector:
    """One hostile response."""

    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200
    hold_s: float = HOLD_S

    @classmethod
    def redirect(cls, to: str, status: int = 302) -> Vector:
        """A redirect of the page itself."""
        return cls("", {"Location": to}, status)


def markup(body: str, head: str = "", *, headers: Mapping[str, str] | None = None) -> Vector:
    """A page of elements."""
    page = f"<!doctype html><html><head><title>h</title>{head}</head><body>hello {body}</body></html>"
    return Vector(page, headers or {})


def script(code: str, *, hold_s: float = HOLD_S, headers: Mapping[str, str] | None = None) -> Vector:
    """A page with a script."""
    page = f"<!doctype html><title>h</title><body>hello<script>{code}</script>"
    return Vector(page, headers or {}, hold_s=hold_s)

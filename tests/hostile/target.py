"""Target of a hostile page, and helpers to build such a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

HOLD_S = 1.2
"""Seconds that a page stays open. In the control run all but WebRTC and WebTransport had hit by then."""


@dataclass(frozen=True, slots=True)
class Target:
    """The canary, and the origin that serves the page."""

    origin: str
    host: str
    port: int
    udp_port: int

    @property
    def scheme(self) -> str:
        """Scheme of the page, because the browser blocks mixed content before the proxy is tried."""
        return self.origin.partition(":")[0]

    @property
    def ws_scheme(self) -> str:
        """Web socket scheme of the page."""
        return self.scheme.replace("http", "ws")

    @property
    def authority(self) -> str:
        """Host and port of the canary."""
        return f"{self.host}:{self.port}"

    def url(self, name: str) -> str:
        """Return a URL at the canary."""
        return f"{self.scheme}://{self.authority}/{name}"

    def detour(self, name: str, hops: int = 1) -> str:
        """Return a URL at the site that redirects to the canary after this many hops."""
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
        """Return a redirect of the page itself."""
        return cls("", {"Location": to}, status)


def markup(body: str, head: str = "", *, headers: Mapping[str, str] | None = None) -> Vector:
    """Return a page of elements."""
    page = f"<!doctype html><html><head><title>h</title>{head}</head><body>hello {body}</body></html>"
    return Vector(page, headers or {})


def script(code: str, *, hold_s: float = HOLD_S, headers: Mapping[str, str] | None = None) -> Vector:
    """Return a page with a script."""
    page = f"<!doctype html><title>h</title><body>hello<script>{code}</script>"
    return Vector(page, headers or {}, hold_s=hold_s)

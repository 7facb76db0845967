"""What goes into a visit and what comes out: frozen data, no I/O."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_EMPTY: Mapping[str, str] = MappingProxyType({})


class Tier(enum.StrEnum):
    """Which Chromium serves a visit."""

    LIGHT = "light"
    """chromium-headless-shell: a quarter of the cost."""
    FULL = "full"
    """chromium, new headless: what walls let through."""


class Mode(enum.StrEnum):
    """How far a visit goes."""

    AUTO = "auto"
    """Peek, ask `enough`, render when it says no."""
    PEEK = "peek"
    """The response as served; no script runs."""
    RENDER = "render"
    """Always render, when the response is HTML; where its renderer dies twice, the response as served."""


@dataclass(frozen=True, slots=True)
class VisitLimits:
    """Bounds of one visit."""

    body_bytes: int = 16 * 1024 * 1024
    """Decoded bytes of the main response; what is beyond is cut off and the snapshot says `truncated`."""
    wire_bytes: int = 64 * 1024 * 1024
    """Bytes off the network for everything the page loads."""
    render_bytes: int = 8 * 1024 * 1024
    """A larger response is read as served and never rendered: its layout would hold a core for minutes."""
    hops: int = 10
    settle_s: float = 8.0
    """How long a page may keep changing before it is taken as it stands."""


@dataclass(frozen=True, slots=True)
class Request:
    """One URL to visit, by whom, how far, and within which bounds."""

    url: str
    method: str = "GET"
    form: Mapping[str, str] | None = None
    tier: Tier = Tier.LIGHT
    mode: Mode = Mode.AUTO
    principal: str = "local"
    site_profile: str | None = None
    """Cookies and storage kept between visits under this name, by principal; None keeps nothing."""
    batch: str | None = None
    """Visits of this name that follow each other at once: those of one host may share a process, and nothing
    that a page leaves."""
    language: str = "en-US"
    wait: str | None = None
    """A CSS selector that must match before the page counts as settled."""
    json_responses: bool = False
    """Keep the JSON that the page fetches while it renders."""
    headers: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    """Extra request headers of the main document, e.g. If-None-Match."""
    deadline_s: float = 30.0
    limits: VisitLimits = field(default_factory=VisitLimits)


@dataclass(frozen=True, slots=True)
class RedirectHop:
    """One redirect on the way to the final document."""

    url: str
    status: int
    location: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A visible child frame of a rendered page.

    `mark` is the value of the `data-x-frame` attribute of its `<iframe>` in the HTML of its parent.
    """

    mark: str
    url: str
    html: str


@dataclass(frozen=True, slots=True)
class JsonResponse:
    """JSON that the page itself fetched while rendering."""

    url: str
    status: int
    text: str


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds spent by stage."""

    queued_s: float = 0.0
    response_s: float = 0.0
    judged_s: float = 0.0
    settled_s: float = 0.0
    captured_s: float = 0.0
    total_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that Chromium saw of one URL.

    `body` is the main response as served (content decoding undone, charset not); empty where the page was
    rendered without a peek. `html` is the body as text, or, when `rendered`, the settled DOM: shadow roots
    stand in it as `<template shadowrootmode>`, what a person cannot see carries the attribute
    `data-x-hidden`, and visible frames are in `frames`, their place marked by `data-x-frame`. For a response
    that is not text `html` is empty. Header names are in lower case.
    """

    url: str
    requested_url: str
    status: int
    headers: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    media_type: str = ""
    body: bytes = b""
    html: str = ""
    frames: tuple[Frame, ...] = ()
    rendered: bool = False
    hops: tuple[RedirectHop, ...] = ()
    timing: Timing = field(default_factory=Timing)
    truncated: bool = False
    complete: bool = True
    """False: the page was still coming or changing at its limit, and was taken as it stood."""
    json_responses: tuple[JsonResponse, ...] = ()
    tier: Tier = Tier.LIGHT

    @property
    def is_html(self) -> bool:
        """Whether the response is a page, rather than a document or data."""
        return self.media_type in {"text/html", "application/xhtml+xml"}

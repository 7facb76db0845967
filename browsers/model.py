"""Request and result of a visit as immutable data, and functions for credentials and domains in URLs. No I/O."""

import enum
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from browsers.request_signing import RequestSigner

_EMPTY: Mapping[str, str] = MappingProxyType({})
# Browsers treat backslashes as slashes, in any number. The last @ before the path ends the user information.
_USERINFO = re.compile(r"\A(\s*https?:[\\/]*)[^\\/?#]*@", re.IGNORECASE)


class Tier(enum.StrEnum):
    """Browser build that serves a visit."""

    LIGHT = "light"
    """chromium-headless-shell. Costs a quarter of the full browser."""
    FULL = "full"
    """chromium in new headless mode. Sites that block the headless shell accept it."""


class Mode(enum.StrEnum):
    """Choice between reading the response of a page and rendering it."""

    AUTO = "auto"
    """Read the response; render it unless the `enough` argument of `visit` returns True, or it is truncated."""
    PEEK = "peek"
    """Read the response only. No script runs."""
    RENDER = "render"
    """Render HTML within `VisitLimits.render_bytes` that asks for no password; unrendered after two crashes."""


class ThirdParties(enum.StrEnum):
    """Third parties that a rendered page may load."""

    ALL = "all"
    NO_TRACKERS = "no_trackers"
    """All except advertising, analytics and tag managers."""
    CONTENT_ONLY = "content_only"
    """All except trackers, social widgets, marketing, chat and consent dialogs."""


class ScreenshotKind(enum.StrEnum):
    """Part of a page to picture, or file format to save it in."""

    WINDOW = "window"
    FULL = "full"
    """The whole page: an overview, then parts of one window each."""
    PDF = "pdf"
    MHTML = "mhtml"


@dataclass(frozen=True, slots=True)
class ScreenshotRequest:
    """Picture to take of a rendered page."""

    kind: ScreenshotKind = ScreenshotKind.WINDOW
    target: str | None = None
    """CSS selector or text of the element in the picture; None for the page."""
    image_type: str = "webp"
    """`webp`, `png` or `jpeg`."""
    is_single: bool = False
    """True for one picture in full size, of any number of bytes."""
    keeps_page: bool = False
    """True to neither scroll nor resize the page, possible only for the window, or for an element in it."""


@dataclass(frozen=True, slots=True)
class Screenshot:
    """One picture or file of a page; sizes are in pixels of the picture, 0 for files."""

    data: bytes = field(repr=False)
    media_type: str
    width: int = 0
    height: int = 0
    scale: float = 1.0
    """Pixels of the picture for one CSS pixel."""
    cut_off: int = 0
    """CSS pixels at the end of the page that are beyond the limit."""


@dataclass(frozen=True, slots=True)
class VisitLimits:
    """Limits of one visit."""

    body_bytes: int = 16 * 1024 * 1024
    """Decoded bytes of the main response. The rest is cut off and the snapshot is `truncated`."""
    wire_bytes: int = 64 * 1024 * 1024
    """Network bytes of everything that the page loads, in each direction."""
    render_bytes: int = 8 * 1024 * 1024
    """Bytes. A larger response is never rendered: its layout would use a core for minutes."""
    hops: int = 10
    """Maximum of redirects."""
    readiness_s: float = 8.0
    """Seconds until a page that keeps changing is captured as it is."""


@dataclass(frozen=True, slots=True)
class Request:
    """One URL to visit, with caller, mode and limits."""

    url: str
    method: str = "GET"
    form: Mapping[str, str] | None = None
    tier: Tier = Tier.LIGHT
    mode: Mode = Mode.AUTO
    principal: str = "local"
    site_profile: str | None = None
    """Name of a profile whose cookies and storage are kept between visits, for each principal. None keeps neither."""
    is_bulk: bool = False
    """True if interactive visits go first."""
    batch: str | None = None
    """Name of a batch of consecutive visits. Visits to one host may share a process, but never page data."""
    language: str = "en-US"
    wait: str | None = None
    """CSS selector that must match before the page counts as ready."""
    json_responses: bool = False
    """True to return the JSON that the page fetches while it renders."""
    refuses_consent: bool = False
    """True to refuse consent banners and then wait for the content. A picture always refuses them."""
    picture: ScreenshotRequest | None = None
    """Picture to take when the page is ready. Only the full tier loads the images of a page."""
    third_parties: ThirdParties = ThirdParties.CONTENT_ONLY
    headers: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    """Additional request headers of the main document, such as If-None-Match."""
    signer: RequestSigner | None = field(default=None, repr=False)
    """Identity that signs the requests of the main document; set by `Browsers`."""
    deadline_s: float = 30.0
    limits: VisitLimits = field(default_factory=VisitLimits)


@dataclass(frozen=True, slots=True)
class RedirectHop:
    """One redirect before the final document."""

    url: str
    status: int
    location: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A visible child frame. `mark` is the `data-x-frame` attribute of its `<iframe>` in its parent's HTML."""

    mark: str
    url: str
    html: str


@dataclass(frozen=True, slots=True)
class JsonResponse:
    """JSON that the page fetched while it rendered."""

    url: str
    status: int
    text: str


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from the start of the visit to the end of each stage; 0 for a stage that did not occur."""

    queued_s: float = 0.0
    """Wait for a slot, a browser and a tab."""
    response_s: float = 0.0
    """Until the headers of the first response that is not a redirect."""
    judged_s: float = 0.0
    """Until the decision that the response must be rendered."""
    settled_s: float = 0.0
    """Until the page was ready, with its lazy content."""
    pictured_s: float = 0.0
    captured_s: float = 0.0
    total_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Result of a visit.

    `body` is the main response without content encoding. It is empty if the page was rendered without a peek. `html`
    is the body as text, or the final DOM if `rendered`: shadow roots are `<template shadowrootmode>` elements,
    invisible content has the attribute `data-x-hidden`, and visible frames are in `frames`, with their position marked
    by `data-x-frame`. For a response that is not text, `html` is empty. Header names are in lower case.
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
    """True if the body or the page was cut off at a limit of bytes."""
    complete: bool = True
    """False if the page was still loading or changing at its limit."""
    exceeded_limit: str = ""
    """Resource of which the page used too much during the render, such as memory. The page is then unrendered."""
    json_responses: tuple[JsonResponse, ...] = ()
    pictures: tuple[Screenshot, ...] = ()
    """Pictures that were requested; empty if the page was not rendered."""
    consent: tuple[str, ...] = ()
    """Actions on consent banners, one sentence each."""
    refused_hosts: int = 0
    """Number of hosts of third parties that the page was not allowed to load."""
    tier: Tier = Tier.LIGHT

    @property
    def is_html(self) -> bool:
        """Return True if the response is an HTML page."""
        return self.media_type in {"text/html", "application/xhtml+xml"}


def strip_credentials(url: str) -> str:
    """Return the URL without user name and password."""
    return _USERINFO.sub(r"\1", url) if "@" in url else url


def has_credentials(url: str) -> bool:
    """Return True if the URL contains a user name or password."""
    return "@" in url and _USERINFO.match(url) is not None


_SECOND_LEVEL = frozenset("ac co com edu gob gov go gv ltd mil ne net nhs nom or org plc sch".split())
"""Second-level labels of country domains that do not name a site: co.uk, com.au, or.jp."""

_SHARED_HOSTS = frozenset(
    "blogspot.com appspot.com azurewebsites.net fly.dev firebaseapp.com github.io gitlab.io herokuapp.com "
    "netlify.app onrender.com pages.dev readthedocs.io substack.com tumblr.com vercel.app web.app "
    "wixsite.com wordpress.com workers.dev".split()
)
"""Domains whose subdomains are separate sites (the common part of the public suffix list)."""


@functools.lru_cache(maxsize=1_000)
def registrable_domain(host: str) -> str:
    """Return the registrable domain of a host in lower case by part of the public suffix list; addresses unchanged."""
    labels = host.split(".")
    if ":" in host or labels[-1].isdecimal():
        return host
    shared = ".".join(labels[-2:]) in _SHARED_HOSTS
    by_country = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    return ".".join(labels[-3:] if shared or by_country else labels[-2:])

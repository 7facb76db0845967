"""What an engine is asked, and what its page came to: frozen data, no I/O."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from browsers.model import Request, Snapshot


class EngineOutcome(enum.StrEnum):
    """What a page of an engine is; a page that is not understood is an error, never `none`."""

    OK = "ok"
    NONE = "none"
    """The engine says that it found nothing."""
    WALL = "wall"
    """A captcha, a proof of work, a consent dialog, a limit; `detail` names it."""
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is asked of an engine, before it is put in that engine's own words."""

    text: str
    page: int = 1
    freshness: str | None = None
    """`day`, `week`, `month` or `year`."""
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    category: str | None = None
    """`news`, `pdf`, `github`, `paper`, `forum` or `blog`."""
    language: str = "en-US"
    safe_search: str = "moderate"
    """`off`, `moderate` or `strict`."""


@dataclass(frozen=True, slots=True)
class EngineResult:
    """One row of an engine's page; `rank` counts from 1 over organic rows."""

    rank: int
    title: str
    url: str
    """The page itself: wrappers are taken off where they can be."""
    snippet: str = ""
    date: datetime | None = None
    """Aware; relative dates are counted from the moment of the answer."""
    source: str | None = None
    """The publisher, where the engine names one."""
    source_url: str | None = None


@dataclass(frozen=True, slots=True)
class EngineResponse:
    """One page of one engine, read."""

    outcome: EngineOutcome
    results: tuple[EngineResult, ...] = ()
    next: Request | None = None
    """How the engine itself would be asked for more; None where the page offers none."""
    detail: str = ""
    """For walls and errors: the named reason.

    Walls: `captcha`, `consent`, `rate_limited`, `refused`. Errors: `not_rendered` (the page's scripts have
    not run), `layout_changed` (a page that nobody understands), `unreadable` (no text), `http_NNN`.
    """
    wall: str = ""
    """Which wall it is, for people: `anubis`, `altcha`, `turnstile`."""
    clears_itself: bool = False
    """A browser that waits is let through: the page computes something and loads anew."""
    loosened: bool = False
    """The engine found nothing for the query as it stands, and shows rows for a looser one."""
    layout_changed: bool = False
    """The engine's own reader and the reader by shape disagree: its markup has probably moved."""


@dataclass(frozen=True, slots=True)
class HomePageForm:
    """A page whose form holds what a request needs, such as a code made for this visitor."""

    page: Callable[[SearchQuery, datetime], Request]
    ask: Callable[[Snapshot, SearchQuery, datetime], Request | None]
    """The form, filled in; None where the page does not hold it."""


@dataclass(frozen=True, slots=True)
class Engine:
    """One search engine: how it is asked, how its pages are read, how gently it is treated."""

    name: str
    family: str
    """Whose index it shows: engines of one family are not independent votes."""
    ask: Callable[[SearchQuery, datetime], Request]
    parse: Callable[[Snapshot, datetime], EngineResponse]
    """Reads a page; takes the moment of the answer for relative dates."""
    spacing_s: float
    """Least time between two requests."""
    about: str = ""
    """For people: what it is good for, one line."""
    ready: str | None = None
    """A CSS selector of a result page: what to wait for while a wall clears itself."""
    fallbacks: tuple[Callable[[SearchQuery, datetime], Request], ...] = field(default=())
    """Other ways to ask, tried in turn when the first is walled."""
    entrance: HomePageForm | None = None
    """The way through its home page, where asking plainly led nowhere."""

"""What the services expect of short-lived state, whether one process keeps it or many servers share it.

Nothing here lasts: all of it may be forgotten at the price of a page fetched twice, or of a site asked too
soon. No method raises or hangs for want of the service behind it; what happens then: docs/shared-state.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Limit:
    """How often something may be done by each of its keys: `burst` at once, refilled steadily."""

    name: str
    """What is bounded: `calls`, `searches`."""
    burst: int
    per_second: float


class RateLimits(Protocol):
    """Counts by key; over all servers the bound is held once."""

    async def take(self, limit: Limit, key: str) -> float:
        """Count one; 0 when it may be done, else the seconds until it may be, and nothing was counted."""


@dataclass(frozen=True, slots=True)
class ThrottleTerms:
    """How somebody is to be asked."""

    at_once: int = 0
    """Requests under way; 0 is no bound."""
    gap_s: float = 0.0
    """Between the starts of two requests."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A request that may be made now; given back when it is over."""

    key: str
    token: str


@dataclass(frozen=True, slots=True)
class RetryLater:
    """Not now."""

    seconds: float
    """After which to ask again; infinite: when a lease was given back."""
    known: bool = True
    """Whether the turn cannot come sooner; else somebody may give back a lease at any time."""
    resting: bool = False
    """They asked to be left alone."""


class Leases(Protocol):
    """Who may ask whom now. Keys are hosts, and engines as `engine:NAME`."""

    async def take(self, key: str, terms: ThrottleTerms) -> Lease | RetryLater:
        """A lease under these terms; it ends by itself soon after its server."""

    def give_back(self, lease: Lease) -> None:
        """The request is over; returns at once."""

    async def rest(self, key: str, seconds: float) -> None:
        """Let nobody ask for so long; a rest that is longer already stays."""


@dataclass(frozen=True, slots=True)
class Cooldown:
    """How an engine treated us of late, from one egress address."""

    reason: str
    """What made it rest: `captcha`, `rate_limited`, ..."""
    step: int = 0
    """How often it was made to rest in a row; each time is longer."""
    faults: int = 0
    """Faults in a row that may be the network's, and do not make it rest one by one."""
    until: float = 0.0
    """Seconds of the epoch: not asked before."""


class Cooldowns(Protocol):
    """How engines stand: part of `Searches`, or shared."""

    async def rest(self, engine: str, egress: str) -> Cooldown | None:
        """How an engine stands; None when nothing is held against it."""

    def set_rest(self, engine: str, egress: str, rest: Cooldown | None) -> None:
        """Note how an engine stands; returns at once."""


@dataclass(frozen=True, slots=True)
class WorkClaim:
    """This server does the work; it says so until it has landed or given up."""

    key: str
    token: str


@dataclass(frozen=True, slots=True)
class ClaimedElsewhere:
    """Another server does the work now."""


@dataclass(frozen=True, slots=True)
class WorkCompleted:
    """What the work came to, on another server."""

    value: bytes


class WorkClaims(Protocol):
    """One piece of work is done by one server at a time; the others wait for what it comes to."""

    async def begin(self, key: str, *, waited: bool) -> WorkClaim | ClaimedElsewhere | WorkCompleted:
        """Claim the work, unless another server does it or has just done it.

        `waited`: what has landed may be taken, because its work was under way when it was asked for or
        because it need not be that fresh; without it finished work is done anew.
        """

    def land(self, claim: WorkClaim, value: bytes) -> None:
        """Tell what the work came to; returns at once."""

    def give_up(self, claim: WorkClaim) -> None:
        """Let another server do it; returns at once."""


class SharedBlobs(Protocol):
    """Small files that every server needs and one has fetched."""

    async def get(self, key: str) -> bytes | None:
        """What is kept under a key."""

    def put(self, key: str, value: bytes, keep_s: float) -> None:
        """Keep a text for so long; returns at once."""


@dataclass(frozen=True, slots=True)
class SharedStateStatus:
    """How the shared state stands."""

    configured: bool = False
    problem: str | None = None
    """Why it is away, in one sentence without secrets; None while it is there."""
    note: str | None = None
    """What is wrong although it works: it is slow, or may drop what it is told."""
    slow: bool = False
    servers: int = 1
    """Servers last seen alive, this one among them."""
    command_s: float = math.nan
    """Usual length of a command."""

    @property
    def away(self) -> bool:
        """Whether this server is on its own although it should not be."""
        return self.configured and self.problem is not None


class SharedState(Protocol):
    """All of it, opened by `open_shared`."""

    @property
    def alone(self) -> bool:
        """Whether there is no other server: then nothing here waits for a service."""

    @property
    def limits(self) -> RateLimits: ...

    @property
    def leases(self) -> Leases: ...

    @property
    def claims(self) -> WorkClaims | None:
        """None: there is no other server."""

    @property
    def texts(self) -> SharedBlobs | None:
        """None: there is no other server."""

    def rests(self, own: Cooldowns) -> Cooldowns:
        """How engines stand; `own` is what this server would keep by itself."""

    def status(self) -> SharedStateStatus:
        """For `/ready`, `doctor` and metrics; asks nobody."""

    async def close(self) -> None:
        """Take leave of the other servers."""

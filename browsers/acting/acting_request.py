"""Requests to run steps in a session of a caller, and their results. Plain data."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from browsers.acting.request_guard import ActingMode, AskUser
from browsers.acting.step_parser import Step
from browsers.acting.step_runner import StepOutcome
from browsers.login_state import Login

UrlPermission = Callable[[str], AbstractAsyncContextManager[tuple[str, ...]]]
"""Return a context manager in which a URL may be requested.

It yields warnings, and raises a BrowsersError if the URL is refused.
"""


@dataclass(frozen=True, slots=True)
class ActingRequest:
    """Steps of one call, with the session, the caller and the permission to load URLs."""

    steps: tuple[Step, ...]
    session_id: str | None
    principal: str
    mode: ActingMode
    permission: UrlPermission
    language: str = "en-US"
    deadline_s: float = 55.0
    login: Login | None = None
    """Login of a new session."""
    follows_redirects: bool = False
    """True if pages may be redirected to other hosts."""
    ask: AskUser | None = None
    """Question to the person before the first write on a site; None if the client cannot ask."""


@dataclass(frozen=True, slots=True)
class ActingResult:
    """Outcomes of the steps of one call."""

    session_id: str
    """Empty if the session has ended."""
    is_new: bool
    outcomes: tuple[StepOutcome, ...]

"""A page's clock in our hands: what its timers would bring after a wait is brought at once.

Chromium gives virtual time, but no way back from it: a clock let run on freely afterwards runs through hours
within milliseconds, and sessions end, carousels turn. So from the first skip the page's time stands still but
for what is granted, and as long as we go on watching it is granted the time that really passes.
"""

from __future__ import annotations

import asyncio
import time

from browsers.cdp.session import CommandFailedError, Event, Session

MAX_TASKS_A_MOMENT = 1000
"""Time moves on after so many tasks, even when a page always finds one more to do at once."""


class VirtualTime:
    """The clock of one tab."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._granted_at: float | None = None

    @property
    def taken(self) -> bool:
        """Whether the page's time is ours, and stands still."""
        return self._granted_at is not None

    async def skip(self, seconds: float, limit_s: float, *, waits_for_requests: bool = False) -> None:
        """Run the timers of the next `seconds`; ends when they have run, at the latest after `limit_s`.

        `waits_for_requests`: time stands still while anything is being loaded, a picture too.
        """
        expired: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        policy = "pauseIfNetworkFetchesPending" if waits_for_requests else "advance"
        granted = self._session.start("Emulation.setVirtualTimePolicy", **_budget(policy, seconds))

        def on_expired(_: Event) -> None:
            # An event before the answer is of an earlier grant.
            if granted.done() and not expired.done():
                expired.set_result(None)

        self._session.on("Emulation.virtualTimeBudgetExpired", on_expired)
        try:
            async with asyncio.timeout(limit_s):
                await granted
                await expired
        except (TimeoutError, CommandFailedError):
            pass
        finally:
            self._granted_at = time.monotonic()

    def keep_up(self) -> None:
        """Grant a page whose time was taken what has really passed since."""
        if self._granted_at is None:
            return
        now = time.monotonic()
        self._session.post("Emulation.setVirtualTimePolicy", **_budget("advance", now - self._granted_at))
        self._granted_at = now


def _budget(policy: str, seconds: float) -> Event:
    return {
        "policy": policy,
        "budget": max(1, round(seconds * 1000)),
        "maxVirtualTimeTaskStarvationCount": MAX_TASKS_A_MOMENT,
    }

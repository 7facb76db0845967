"""Asks for instant answers: one visit without rendering, one at a time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from browsers import errors as door_errors
from scraper import errors
from scraper.deadline import Deadline
from scraper.engines import instant_answer
from scraper.model import InstantAnswer
from scraper.reading.visiting.browser_protocol import BrowserClient
from scraper.reading.visiting.error_mapping import translated
from scraper.search import query_parsing as checks
from scraper.search.engine_throttle import EngineThrottle
from scraper.settings import Settings

DEADLINE_S = 10.0
SPACING_S = 0.5
_LANE = "instant_answer"
_TRY_SEARCH = "Use `search` instead."


class InstantAnswers:
    """Asks DuckDuckGo's API."""

    def __init__(
        self, browsers: BrowserClient, settings: Settings, spacing: EngineThrottle | None = None
    ) -> None:
        """`spacing`: that of all servers, where there are others."""
        self._browsers = browsers
        self._language = settings.language
        self._spacing = spacing or EngineThrottle()

    async def answer(
        self, text: str, *, principal: str = "local", deadline_s: float = DEADLINE_S
    ) -> InstantAnswer:
        """What the API knows of a query; may be empty.

        Raises:
            ScraperError: the query is none, or the API did not answer.
        """
        query = checks.text(text)
        deadline = Deadline.within(min(deadline_s, DEADLINE_S))
        try:
            async with asyncio.timeout(deadline.left_s()), self._spacing.turn(_LANE, SPACING_S):
                await self._spacing.pause(_LANE)
                return await self._asked(query, principal, deadline)
        except TimeoutError:
            raise errors.FetchTimeoutError(
                "DuckDuckGo's instant answers did not come in time.", target=query, next_step=_TRY_SEARCH
            ) from None

    async def _asked(self, query: str, principal: str, deadline: Deadline) -> InstantAnswer:
        asked = instant_answer.ask(query, self._language)
        request = replace(asked, principal=principal, deadline_s=max(0.1, deadline.left_s()))
        try:
            snapshot = await self._browsers.visit(request)
        except door_errors.BrowsersError as error:
            raise translated(error, request.url) from error
        finally:
            self._spacing.asked(_LANE, SPACING_S)
        found = instant_answer.parse(snapshot.html or snapshot.body.decode("utf-8", "replace"))
        if found is not None and snapshot.status < 400:
            return found
        # Under load the API answers 202 and nothing: that is a refusal, not "nothing known".
        if snapshot.status in {200, 202, 429}:
            raise errors.BlockedBySiteError(
                "DuckDuckGo's instant answers are refused for now (rate_limited).",
                reason="rate_limited",
                target=query,
                next_step=f"Try again in some minutes. {_TRY_SEARCH}",
            )
        raise errors.HttpStatusError(
            f"DuckDuckGo's instant answers failed with status {snapshot.status}.",
            status=snapshot.status,
            target=query,
            next_step=_TRY_SEARCH,
        )

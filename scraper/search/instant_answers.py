"""Request instant answers from DuckDuckGo's API, one at a time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from browsers import Browsers
from browsers import errors as browser_errors
from scraper import errors
from scraper.call_context import Deadline
from scraper.engines import duckduckgo_instant_answer
from scraper.engines.model import InstantAnswer
from scraper.reading.visit_outcome import map_browser_error
from scraper.search.argument_validation import parse_query
from scraper.search.engine_throttle import EngineThrottle
from scraper.settings import Settings

_DEADLINE_S = 10.0
"""Seconds. Longest time for one answer."""
_SPACING_S = 0.5
"""Seconds between two requests."""
_LANE = "instant_answer"
"""Name of the request queue in the throttle."""
_NEXT_STEP = "Use `search` instead."


class InstantAnswerClient:
    """Client of DuckDuckGo's API of instant answers."""

    def __init__(self, browsers: Browsers, settings: Settings, throttle: EngineThrottle | None = None) -> None:
        """Create the client; `throttle` is the one of all servers if there are others."""
        self._browsers = browsers
        self._language = settings.language
        self._throttle = throttle or EngineThrottle()

    async def answer(self, text: str, *, principal: str = "local", deadline_s: float = _DEADLINE_S) -> InstantAnswer:
        """Return the instant answer to a query, which may be empty.

        Raises:
            InvalidArgumentError: The query is not valid.
            ScraperError: The API did not answer.
        """
        query = parse_query(text)
        deadline = Deadline.within(min(deadline_s, _DEADLINE_S))
        try:
            async with asyncio.timeout(deadline.left_s()), self._throttle.turn(_LANE, _SPACING_S):
                await self._throttle.pause(_LANE)
                return await self._request(query, principal, deadline)
        except TimeoutError:
            raise errors.FetchTimeoutError(
                "DuckDuckGo's instant answers did not come in time.", target=query, next_step=_NEXT_STEP
            ) from None

    async def _request(self, query: str, principal: str, deadline: Deadline) -> InstantAnswer:
        page = duckduckgo_instant_answer.build_request(query, self._language)
        request = replace(page, principal=principal, deadline_s=max(0.1, deadline.left_s()))
        try:
            snapshot = await self._browsers.visit(request)
        except browser_errors.BrowsersError as error:
            raise map_browser_error(error, request.url) from error
        finally:
            self._throttle.note_request(_LANE, _SPACING_S)
        answer = duckduckgo_instant_answer.parse(snapshot.html or snapshot.body.decode("utf-8", "replace"))
        if answer is not None and snapshot.status < 400:
            return answer
        # Under load the API sends status 202 without a body. That is a refusal, not an empty answer.
        if snapshot.status in {200, 202, 429}:
            raise errors.BlockedBySiteError(
                "DuckDuckGo's instant answers are refused for now (rate_limited).",
                reason="rate_limited",
                target=query,
                next_step=f"Try again in some minutes. {_NEXT_STEP}",
            )
        raise errors.HttpStatusError(
            f"DuckDuckGo's instant answers failed with status {snapshot.status}.",
            status=snapshot.status,
            target=query,
            next_step=_NEXT_STEP,
        )

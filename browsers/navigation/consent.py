"""Refuse consent banners with clicks, and hide those that cannot be refused. Consent is never given."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from browsers.cdp.session import CommandFailedError, Session
from browsers.scripts import CONSENT

MAX_FRAMES = 9
"""Frames in which a banner is looked for, the main frame included."""
MAX_STEPS = 4
"""Maximum of buttons clicked in one banner: settings, categories, save."""
MAX_PRESSES = 2
"""Maximum of clicks on one button, which may move before the first click."""
LIMIT_S = 6.0
"""Seconds for all banners of a page."""
_WORLD = "consent"
_HIDDEN = "A consent banner was hidden, because it cannot be refused."
_COMMAND_LIMIT_S = 2.0
_PAUSE_S = 0.05
_MOVING_S = 0.6
_GONE_S = 0.8
"""Seconds in which a banner must disappear after a click."""


async def refuse_consent(session: Session) -> tuple[str, ...]:
    """Refuse the consent banners of a page and its frames; return one sentence for each banner.

    A refusal is clicked if there is one; otherwise the settings are saved without categories, or the banner is closed.
    A banner that has no such button, or stays, is hidden together with its backdrop. Failed commands and the time limit
    end the search early and are not raised.
    """
    done: list[str] = []
    with contextlib.suppress(TimeoutError, CommandFailedError):
        async with asyncio.timeout(LIMIT_S):
            async for frame_id, x, y in _iter_frames(session):
                # The frame navigates, or the page loads again with the answer.
                with contextlib.suppress(CommandFailedError):
                    banner = await _BannerScript.install(session, frame_id)
                    async for step in _press_buttons(session, banner, x, y):
                        done.append(step)  # noqa: PERF401  # a failure must not lose the steps before it
    if done:
        # Also at the limit: a banner that was pressed may have left the page locked.
        with contextlib.suppress(TimeoutError, CommandFailedError):
            await asyncio.sleep(_PAUSE_S)
            tree = await session.send("Page.getFrameTree", limit_s=_COMMAND_LIMIT_S)
            banner = await _BannerScript.install(session, tree["frameTree"]["frame"]["id"])
            await banner.call("release()")
    return tuple(done)


async def _iter_frames(session: Session) -> AsyncIterator[tuple[str, float, float]]:
    """Yield the id of each frame of this process, and the position of its corner in the window."""
    tree = (await session.send("Page.getFrameTree", limit_s=_COMMAND_LIMIT_S))["frameTree"]
    yield tree["frame"]["id"], 0.0, 0.0
    for child in tree.get("childFrames", [])[: MAX_FRAMES - 1]:
        frame_id = child["frame"]["id"]
        try:
            owner = await session.send("DOM.getFrameOwner", frameId=frame_id, limit_s=_COMMAND_LIMIT_S)
            box = await session.send("DOM.getBoxModel", backendNodeId=owner["backendNodeId"], limit_s=_COMMAND_LIMIT_S)
        except CommandFailedError:
            continue  # The frame has gone, or is not visible.
        yield frame_id, box["model"]["content"][0], box["model"]["content"][1]


async def _press_buttons(session: Session, banner: _BannerScript, x: float, y: float) -> AsyncIterator[str]:
    has_opened_settings = False
    for _ in range(MAX_STEPS):
        plan = await _find_still_button(banner, has_opened_settings)
        if plan is None:
            return
        if plan["way"] == "hide":
            await banner.call("hide()")
            yield _HIDDEN
            continue
        if plan["way"] == "settings":
            await _click(session, x + plan["x"], y + plan["y"])
            has_opened_settings = True
            # The settings may come with an animation.
            await asyncio.sleep(_PAUSE_S + _MOVING_S)
            continue
        try:
            if not await _press_until_gone(session, banner, plan, x, y):
                await banner.call("hide()")
        except TimeoutError:
            # The page does not react to the mouse.
            await banner.call("hide()")
            yield _HIDDEN
            return
        yield f'A consent banner was refused ("{plan["label"]}").'


async def _press_until_gone(session: Session, banner: _BannerScript, plan: dict[str, Any], x: float, y: float) -> bool:
    """Press a button, and again if it has moved meanwhile; return True if the banner has gone."""
    for _ in range(MAX_PRESSES):
        await _click(session, x + plan["x"], y + plan["y"])
        try:
            for _ in range(round(_GONE_S / _PAUSE_S)):
                await asyncio.sleep(_PAUSE_S)
                if await banner.call("isGone()"):
                    return True
            if plan["way"] != "refuse":
                return False
            again = await banner.call("plan(false)")
        except CommandFailedError:
            return True  # The page loads again with the answer.
        if not isinstance(again, dict) or again == plan or again["way"] != plan["way"]:
            return False
        plan = again
    return False


async def _find_still_button(banner: _BannerScript, has_opened_settings: bool) -> dict[str, Any] | None:
    """Return the next step, once its button no longer moves: banners slide into the window."""
    expression = f"plan({'true' if has_opened_settings else 'false'})"
    plan = await banner.call(expression)
    if plan is None:
        return None
    for _ in range(round(_MOVING_S / _PAUSE_S)):
        await asyncio.sleep(_PAUSE_S)
        before, plan = plan, await banner.call(expression)
        if plan == before:
            break
    return plan if isinstance(plan, dict) else None


async def _click(session: Session, x: float, y: float) -> None:
    """Send the mouse events of a click on a point of the window."""
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        await session.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, limit_s=_COMMAND_LIMIT_S, **button)


class _BannerScript:
    """Run the script for banners in the isolated world of one frame."""

    def __init__(self, session: Session, object_id: str) -> None:
        self._session = session
        self._object_id = object_id

    @classmethod
    async def install(cls, session: Session, frame_id: str) -> _BannerScript:
        world = await session.send(
            "Page.createIsolatedWorld", frameId=frame_id, worldName=_WORLD, limit_s=_COMMAND_LIMIT_S
        )
        made = await session.send(
            "Runtime.evaluate", expression=CONSENT, contextId=world["executionContextId"], limit_s=_COMMAND_LIMIT_S
        )
        return cls(session, made["result"].get("objectId", ""))

    async def call(self, expression: str) -> Any:
        """Return the value of a call of the script, or None if it failed."""
        answer = await self._session.send(
            "Runtime.callFunctionOn",
            objectId=self._object_id,
            functionDeclaration=f"function() {{ return this.{expression}; }}",
            returnByValue=True,
            limit_s=_COMMAND_LIMIT_S,
        )
        return None if "exceptionDetails" in answer else answer["result"].get("value")

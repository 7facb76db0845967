"""Refuse consent banners with clicks, and hide those that cannot be refused. Consent is never given."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Collection, Mapping
from typing import Any, Self

from browsers.cdp.session import CommandFailedError, Event, Session
from browsers.errors import BrowsersError
from browsers.scripts import CONSENT
from browsers.text_quoting import clean_text, quote, truncate

log = logging.getLogger(__name__)

_MAX_FRAMES = 9
"""Frames in which a banner is looked for, the main frame included."""
_MAX_FRAME_DEPTH = 3
_MAX_STEPS = 5
"""Maximum of buttons clicked in one banner: settings, categories, save."""
_MAX_PRESSES = 2
"""Maximum of clicks on one button, which may move before the first click."""
LIMIT_S = 8.0
"""Seconds for all banners of a page."""
_WORLD = "consent"
_UNLOADED = "A box over the page was hidden: its frame of another host was not loaded."
_HIDDEN = "A consent banner was hidden, because it cannot be refused."
_COMMAND_LIMIT_S = 4.0
"""Seconds for one command. A frame with a new process answered after 3.7 s at load 17."""
_MAX_EXCEPTION = 300
"""Characters of an exception of the script in the log."""
_MAX_CLOSED_ROOTS = 3
"""Levels of closed shadow roots in which a banner is looked for."""
_PAUSE_S = 0.05
_MOVING_S = 0.6
_GONE_S = 0.8
"""Seconds in which a banner must disappear after a click."""


async def refuse_consent(
    session: Session, others: Mapping[str, Session] | None = None, unloaded: Collection[str] = ()
) -> tuple[str, ...]:
    """Refuse the consent banners of a page and its frames; return one sentence for each banner.

    A refusal is clicked if there is one; otherwise the settings are saved without categories, or the banner is closed.
    A banner that has no such button, or stays, is hidden together with its backdrop. Failed commands and the time limit
    end the search early and are not raised. `others` are the sessions of frames with a process of their own, by frame
    id. `unloaded` are the ids of frames whose documents were refused: if one covers the page, it is hidden, because a
    banner of another host cannot be answered there.
    """
    done: list[str] = []
    with contextlib.suppress(TimeoutError, CommandFailedError):
        async with asyncio.timeout(LIMIT_S):
            tree = (await session.send("Page.getFrameTree", limit_s=_COMMAND_LIMIT_S))["frameTree"]
            main = _BannerFrame(session, tree["frame"]["id"])
            async for frame in _iter_frames(main, tree, others or {}):
                # The frame navigates or does not answer, or the page loads again with the answer.
                with contextlib.suppress(CommandFailedError, TimeoutError):
                    async for step in _press_buttons(session, frame):
                        done.append(step)  # noqa: PERF401  # a failure must not lose the steps before it
            for frame_id in unloaded:
                with contextlib.suppress(CommandFailedError, TimeoutError):
                    if await main.hide_unloaded(frame_id):
                        done.append(_UNLOADED)
    if done:
        # Also at the limit: a banner that was pressed may have left the page locked.
        with contextlib.suppress(TimeoutError, CommandFailedError):
            await asyncio.sleep(_PAUSE_S)
            tree = await session.send("Page.getFrameTree", limit_s=_COMMAND_LIMIT_S)
            await _BannerFrame(session, tree["frameTree"]["frame"]["id"]).call("release()")
    return tuple(done)


class _BannerFrame:
    def __init__(self, session: Session, frame_id: str, parent: Self | None = None, owner_id: int = 0) -> None:
        """Use the session of the frame's process. `owner_id` is the node of the frame element in the parent."""
        self.session = session
        self.frame_id = frame_id
        self.parent = parent
        self.floats = False
        """True if the frame is a box over the page."""
        self._owner_id = owner_id
        self._object_id = ""
        self._context_id = 0

    async def call(self, expression: str, *arguments: str) -> Any:
        """Return the value of a call of the script, or None if it threw an exception, which is logged.

        `arguments` are object ids, which the expression calls `arguments`. A new document of the frame gets the script.
        Raises CommandFailedError if the frame no longer exists.
        """
        if self._object_id:
            with contextlib.suppress(CommandFailedError):
                return await self._call(expression, *arguments)
        world = await self.send("Page.createIsolatedWorld", frameId=self.frame_id, worldName=_WORLD)
        self._context_id = world["executionContextId"]
        made = await self.send("Runtime.evaluate", expression=CONSENT, contextId=self._context_id)
        _log_exception("the script", made)
        self._object_id = made["result"].get("objectId", "")
        return await self._call(expression, *arguments)

    async def find_offset(self) -> tuple[float, float]:
        """Return the frame's corner in the window. Raises CommandFailedError if it is not visible, or has gone."""
        if self.parent is None:
            return 0.0, 0.0
        box = await self.parent.send("DOM.getBoxModel", backendNodeId=self._owner_id)
        x, y = await self.parent.find_process_offset()
        return x + box["model"]["content"][0], y + box["model"]["content"][1]

    async def find_process_offset(self) -> tuple[float, float]:
        """Return the position of the frame to which positions of its process are relative."""
        frame = self
        while frame.parent is not None and frame.parent.session is frame.session:
            frame = frame.parent
        return await frame.find_offset()

    async def find_floats(self) -> None:
        assert self.parent is not None
        owner = await self.parent._resolve(self._owner_id)
        self.floats = self.parent.floats or bool(await self.parent.call("isFloatingFrame(arguments[0])", owner))

    async def hide_banner(self) -> None:
        """Hide the banner of the latest plan; a frame that is a banner is hidden with the box around it."""
        if self.parent is not None and self.floats:
            await self.parent.call("hideFrame(arguments[0])", await self.parent._resolve(self._owner_id))
            if self.parent.floats:
                await self.parent.hide_banner()
        else:
            await self.call("hide()")

    async def hide_unloaded(self, frame_id: str) -> bool:
        """Hide a frame that was not loaded, with its box, if it covers the page. Raises CommandFailedError."""
        owner = await self.send("DOM.getFrameOwner", frameId=frame_id)
        return bool(await self.call("hideUnloaded(arguments[0])", await self._resolve(owner["backendNodeId"])))

    async def open_closed_roots(self) -> bool:
        """Give the script the closed shadow roots in which a banner may be; return True if there is one."""
        hosts = await self._call_function("return this.hosts();", returnByValue=False)
        _log_exception("hosts()", hosts)
        if "objectId" not in hosts["result"]:
            return False
        listed = await self.send("Runtime.getProperties", objectId=hosts["result"]["objectId"], ownProperties=True)
        elements = [one["value"]["objectId"] for one in listed["result"] if "objectId" in one.get("value", {})]
        is_found = False
        for element in elements:
            node = (await self.send("DOM.describeNode", objectId=element))["node"]
            for root in node.get("shadowRoots", []):
                if root.get("shadowRootType") == "closed":
                    opened = await self._resolve(root["backendNodeId"])
                    await self.call("addClosedRoot(arguments[0])", opened)
                    is_found = True
        return is_found

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        try:
            return await self.session.send(method, limit_s=_COMMAND_LIMIT_S, **params)
        except BrowsersError as error:
            raise CommandFailedError(str(error)) from error

    async def _call(self, expression: str, *arguments: str) -> Any:
        answer = await self._call_function(f"return this.{expression};", *arguments, returnByValue=True)
        return None if _log_exception(expression, answer) else answer["result"].get("value")

    async def _call_function(self, body: str, *arguments: str, **params: Any) -> dict[str, Any]:
        params["functionDeclaration"] = f"function() {{ {body} }}"
        params["arguments"] = [{"objectId": argument} for argument in arguments]
        return await self.send("Runtime.callFunctionOn", objectId=self._object_id, **params)

    async def _resolve(self, node_id: int) -> str:
        await self.call("isGone()")  # the script may not be there yet
        made = await self.send("DOM.resolveNode", backendNodeId=node_id, executionContextId=self._context_id)
        return str(made["object"]["objectId"])


def _log_exception(expression: str, answer: Event) -> bool:
    """Return True if a part of the script threw an exception, and log it: a banner may have been missed."""
    if (details := answer.get("exceptionDetails")) is None:
        return False
    text = str(details.get("exception", {}).get("description") or details.get("text", ""))
    log.error("consent.js failed in %s: %s", expression, truncate(clean_text(text), _MAX_EXCEPTION))
    return True


async def _iter_frames(main: _BannerFrame, tree: Event, others: Mapping[str, Session]) -> AsyncIterator[_BannerFrame]:
    yield main
    known = {tree["frame"]["id"]}
    inner = [(main, node["frame"]["id"], node, 1) for node in tree.get("childFrames", [])]
    inner += [(main, frame_id, None, 1) for frame_id in others]
    while inner and len(known) < _MAX_FRAMES:
        parent, frame_id, node, depth = inner.pop(0)
        if frame_id in known:
            continue
        try:
            owner = await parent.send("DOM.getFrameOwner", frameId=frame_id)
            frame = _BannerFrame(others.get(frame_id, parent.session), frame_id, parent, owner["backendNodeId"])
            await frame.find_offset()
            await frame.find_floats()
            if node is None or frame_id in others:
                node = (await frame.send("Page.getFrameTree"))["frameTree"]
        except (CommandFailedError, TimeoutError):
            continue  # The frame has gone, is not visible, is busy, or is in a frame of another process.
        known.add(frame_id)
        if depth < _MAX_FRAME_DEPTH:
            inner += [(frame, one["frame"]["id"], one, depth + 1) for one in node.get("childFrames", [])]
            inner += [(frame, other, None, depth + 1) for other in others if frame.session is not main.session]
        yield frame


async def _press_buttons(session: Session, frame: _BannerFrame) -> AsyncIterator[str]:
    has_opened_settings = False
    for _ in range(_MAX_STEPS):
        plan = await _find_still_button(frame, has_opened_settings)
        if plan is None:
            return
        if plan["way"] == "hide":
            await frame.hide_banner()
            yield _HIDDEN
            if frame.floats:
                return
            continue
        if plan["way"] == "settings":
            await _press(session, frame, plan)
            has_opened_settings = True
            # The settings may come with an animation.
            await asyncio.sleep(_PAUSE_S + _MOVING_S)
            continue
        try:
            if not await _press_until_gone(session, frame, plan):
                await frame.hide_banner()
        except TimeoutError:
            # The page does not react to the mouse.
            await frame.hide_banner()
            yield _HIDDEN
            return
        done = "closed" if plan["way"] == "close" else "refused"
        yield f"A consent banner was {done} ({quote(clean_text(plan['label']))})."


async def _press_until_gone(session: Session, frame: _BannerFrame, plan: dict[str, Any]) -> bool:
    for _ in range(_MAX_PRESSES):
        await _press(session, frame, plan)
        try:
            for _ in range(round(_GONE_S / _PAUSE_S)):
                await asyncio.sleep(_PAUSE_S)
                if await frame.call("isGone()"):
                    return True
            if plan["way"] != "refuse":
                return False
            again = await _plan(frame, has_opened_settings=False)
        except CommandFailedError:
            return True  # The page loads again with the answer, or the frame has gone.
        if not isinstance(again, dict) or again == plan or again["way"] != plan["way"]:
            return False
        plan = again
    return False


async def _find_still_button(frame: _BannerFrame, has_opened_settings: bool) -> dict[str, Any] | None:
    """Return the next step, once its button no longer moves: banners slide into the window."""
    plan = await _plan(frame, has_opened_settings)
    for _ in range(_MAX_CLOSED_ROOTS):
        if plan is not None or not await frame.open_closed_roots():
            break
        plan = await _plan(frame, has_opened_settings)
    if plan is None:
        return None
    for _ in range(round(_MOVING_S / _PAUSE_S)):
        await asyncio.sleep(_PAUSE_S)
        before, plan = plan, await _plan(frame, has_opened_settings)
        if plan == before:
            break
    return plan if isinstance(plan, dict) else None


async def _plan(frame: _BannerFrame, has_opened_settings: bool) -> Any:
    return await frame.call(f"plan({json.dumps(has_opened_settings)}, {json.dumps(frame.floats)})")


async def _press(session: Session, frame: _BannerFrame, plan: dict[str, Any]) -> None:
    """Click the button of a plan with the mouse; by script if something covers it."""
    if plan["isCovered"]:
        await frame.call("press()")
        return
    x, y = await frame.find_offset()
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        place = {"x": x + plan["x"], "y": y + plan["y"]}
        await session.send("Input.dispatchMouseEvent", limit_s=_COMMAND_LIMIT_S, type=kind, **place, **button)

"""Click an element once it is visible, stable, enabled and not covered; type into a field or select options at once."""

import asyncio
import base64
import contextlib
import mimetypes
import time
from dataclasses import dataclass, field, replace
from typing import Any

from browsers.acting import frame_processes
from browsers.acting.frame_processes import ElementActionError, ElementGoneError, FrameProcess, FrameProcesses
from browsers.acting.input import InputDevices
from browsers.cdp.session import CommandFailedError, Event
from browsers.scripts import ELEMENT_FUNCTIONS
from browsers.text_quoting import clean_text, quote, truncate

_ACTIONABLE_S = 2.0
"""Seconds to wait until an element can be clicked."""
_OPENS_WINDOW = "opens a window"
_LIMIT_S = 3.0
_PAUSE_S = 0.05
_SPOTS = ((0.5, 0.5), (0.5, 0.5), (0.15, 0.5), (0.85, 0.5), (0.5, 0.15), (0.5, 0.85))
"""Points of an element, as shares of its width and height, that are tried in this order while it is covered."""
_CHANGING = "something that changes"
_MAX_COVER = 60


class ElementCoveredError(ElementActionError):
    """Something covers the element."""


@dataclass(eq=False)
class PageElement:
    """An element, identified by its backend node id and its renderer process."""

    processes: FrameProcesses
    process: FrameProcess
    devices: InputDevices
    window: tuple[int, int]
    node_id: int
    frame_id: str
    label: str
    """How error messages call the element."""
    place: tuple[float | None, float | None] = (None, None)
    """Left and top in the document if the element is known not to move; None if it may be moving."""
    drawn_by: int = 0
    """Node id of the label that is clicked instead of a hidden element; 0 for others."""
    _object_id: str = field(default="", init=False)
    _opens_window: bool = field(default=False, init=False)
    _clicked_at: tuple[float, float] | None = field(default=None, init=False)
    _inside: tuple[float, float] = field(default=(0.0, 0.0), init=False)
    """Place of the last point, from the corner of the first box of the element."""

    async def call(self, function: str, *arguments: Any) -> Any:
        """Call an `ELEMENT_FUNCTIONS` on the element. Raises ElementGoneError, or ElementActionError if it threw."""
        values = [{"value": argument} for argument in arguments]
        return await self.process.call(await self._resolve(), function, values)

    async def click(self, *, count: int = 1, button: str = "left") -> bool:
        """Click; return True for a link to a new window. Raises ElementActionError if it fails within two seconds."""
        if self.drawn_by:
            return await self.with_node(self.drawn_by).click(count=count, button=button)
        point = await self.wait_actionable()
        if point is not None:
            self._clicked_at = point
            await self.devices.click(*point, count=count, button=button)
        return self._opens_window

    async def covers_click(self) -> bool:
        """Return True if the element is still where it was clicked, without a scroll."""
        if self._clicked_at is None:
            return True
        dx, dy = await self.processes.offset(self.process)
        x, y = self._clicked_at[0] - dx, self._clicked_at[1] - dy
        quads = await self._quads()
        return any(min(quad[::2]) <= x <= max(quad[::2]) and min(quad[1::2]) <= y <= max(quad[1::2]) for quad in quads)

    async def hover(self) -> None:
        """Move the mouse over the element."""
        await self.devices.move(*await self.find_point())

    async def wait_actionable(self) -> tuple[float, float] | None:
        """Wait until the element can be clicked, and return the point to click.

        Return None if the element was clicked here already: an input without a box is clicked by script through its
        label. Raises ElementGoneError if it is no longer in the document, ElementCoveredError if something covers it
        for `_ACTIONABLE_S`, and ElementActionError if it stays disabled, moving or invisible for as long.
        """
        end, tries = time.monotonic() + _ACTIONABLE_S, 0
        failure = ElementActionError(self.label)
        while True:
            try:
                point = await self.find_point(_SPOTS[tries % len(_SPOTS)])
            except ElementGoneError:
                raise
            except ElementActionError as error:
                if await self.call("clickByScript"):
                    return None
                failure = error
            else:
                state, cover = await asyncio.gather(self.call("describeState", *self.place), self._find_cover(point))
                if state == "gone":
                    raise ElementGoneError(f"{self.label} is gone")
                self._opens_window = state == _OPENS_WINDOW
                is_ready = not state or self._opens_window
                if is_ready and not cover:
                    return point
                if not is_ready:
                    why = "is disabled" if state == "disabled" else "keeps moving"
                    failure = ElementActionError(f"{self.label} {why}")
                else:
                    failure = ElementCoveredError(f"{self.label} is covered by {cover}")
                    if tries % 2 == 0:
                        # Away from headers that stay at the edge of the window.
                        await self.call("scrollToCenter")
            tries += 1
            if time.monotonic() > end:
                raise failure
            await asyncio.sleep(_PAUSE_S)

    async def find_point(self, spot: tuple[float, float] = (0.5, 0.5)) -> tuple[float, float]:
        """Scroll into view; return the point at shares of the largest visible part. Raises ElementActionError."""
        session = self.process.session
        try:
            await session.send("DOM.scrollIntoViewIfNeeded", backendNodeId=self.node_id, limit_s=_LIMIT_S)
        except CommandFailedError as error:
            if any(reason in str(error) for reason in ("No node", "not find node", "detached")):
                raise ElementGoneError(f"{self.label} is gone") from None
        quads = await self._quads() or await self._find_area()
        dx, dy = await self.processes.offset(self.process)
        best: tuple[float, float, float] | None = None
        for quad in quads:
            xs, ys = [x + dx for x in quad[0::2]], [y + dy for y in quad[1::2]]
            left, right = max(0.0, min(xs)), min(float(self.window[0]), max(xs))
            top, bottom = max(0.0, min(ys)), min(float(self.window[1]), max(ys))
            area = max(0.0, right - left) * max(0.0, bottom - top)
            if area > 0 and (best is None or area > best[0]):
                best = (area, left + (right - left) * spot[0], top + (bottom - top) * spot[1])
        if best is None:
            raise ElementActionError(f"{self.label} has no place on the screen")
        self._inside = (best[1] - dx - min(quads[0][0::2]), best[2] - dy - min(quads[0][1::2]))
        return best[1], best[2]

    async def _quads(self) -> list[list[float]]:
        with contextlib.suppress(CommandFailedError):
            options: Event = {"backendNodeId": self.node_id, "limit_s": _LIMIT_S}
            return list((await self.process.session.send("DOM.getContentQuads", **options))["quads"])
        return []

    async def _find_area(self) -> list[list[float]]:
        """Scroll to an area of an image map and return a quad around a point in it; no quad for other elements."""
        self.process.has_objects = True
        session, element = self.process.session, await self._resolve()
        call: Event = {
            "functionDeclaration": ELEMENT_FUNCTIONS["imageOfArea"],
            "objectGroup": frame_processes.OBJECT_GROUP,
        }
        found = await session.send("Runtime.callFunctionOn", limit_s=_LIMIT_S, objectId=element, **call)
        if (image := found["result"].get("objectId")) is None:
            return []
        arguments = [{"objectId": image}]
        place = await self.process.call(element, "placeInImage", arguments)
        await session.send("DOM.scrollIntoViewIfNeeded", objectId=image, rect=place["rect"], limit_s=_LIMIT_S)
        # Only points in the window can be checked.
        place = await self.process.call(element, "placeInImage", arguments)
        quads = (await session.send("DOM.getContentQuads", objectId=image, limit_s=_LIMIT_S))["quads"]
        if not quads:
            return []
        x, y = quads[0][0] + place["x"], quads[0][1] + place["y"]
        return [[x - 0.5, y - 0.5, x + 0.5, y - 0.5, x + 0.5, y + 0.5, x - 0.5, y + 0.5]]

    async def type(self, text: str, *, slowly: bool = False) -> str | None:
        """Replace the text of a field; with `slowly`, send a key event for each character.

        A field that does not hold the text then gets it once more by keys. Return what the field made of the text if
        that still differs, else None. Raises ElementActionError if the element is disabled, read-only or takes no such
        text.
        """
        focused = await self.call("focusField", text)
        if focused == "set":
            return None
        if focused == "gone":
            raise ElementGoneError(f"{self.label} is gone")
        if focused == "keys":
            await self.devices.type_keys(text)
            return None
        if not isinstance(focused, dict):
            raise ElementActionError(f"{self.label} is {focused}")
        text = str(focused["text"])
        if slowly or not text:
            await self._type_keys(text)
        else:
            await self.devices.insert(text)
            # Some pages listen to keys only.
            await self.devices.press("Shift")
        found = await self._read(text)
        if (
            isinstance(found, dict)
            and found["retype"]
            and not slowly
            and isinstance(await self.call("focusField", text), dict)
        ):
            await self._type_keys(text, is_row=found["boxes"])
            found = await self._read(text)
        return str(found["value"]) if isinstance(found, dict) else None

    async def _read(self, text: str) -> Any:
        try:
            return await self.call("readField", text)
        except ElementGoneError:
            return None

    async def _type_keys(self, text: str, *, is_row: bool = False) -> None:
        """Replace the selected text by keys; with `is_row`, go on in the next box of the row when one is full."""
        if not is_row:
            await self.devices.press("Backspace")
        for letter in text:
            await self.devices.type_keys(letter)
            if is_row:
                await self.call("advanceBox")

    async def give_file(self, name: str, data: bytes) -> bool:
        """Give a file to a file field; return False if there is none. Raises ElementActionError if it takes no file."""
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        refusal = await self.call("giveFile", name, kind, base64.b64encode(data).decode())
        if refusal and refusal != "none":
            raise ElementActionError(f"{self.label} {refusal}")
        return not refusal

    async def select(self, options: tuple[str, ...]) -> bool:
        """Select options by text or value; return False for no list. Raises ElementActionError, with existing ones."""
        refusal = await self.call("selectOptions", *options)
        if refusal == "custom":
            return False
        if isinstance(refusal, dict):
            names = ", ".join(quote(truncate(clean_text(str(name)), 40)) for name in refusal["options"])
            more = f" and {refusal['count'] - len(refusal['options'])} more" if refusal["count"] > 30 else ""
            raise ElementActionError(f"{self.label} has no such option; there are {names}{more}")
        if refusal:
            raise (ElementGoneError if refusal == "is gone" else ElementActionError)(f"{self.label} {refusal}")
        return True

    def with_node(self, node_id: int) -> "PageElement":
        """Return another element of the same frame, which messages call as this one."""
        return replace(self, node_id=node_id, place=(None, None), drawn_by=0)

    async def _resolve(self) -> str:
        if not self._object_id:
            self._object_id = await self.process.resolve(self.node_id, self.frame_id, self.label)
        return self._object_id

    async def _find_cover(self, point: tuple[float, float]) -> str:
        """Return what covers the element at a point, or an empty text; parent processes are checked first."""
        process = self.process
        chain = [(process, self.node_id, self.frame_id)]
        while process.parent is not None:
            owner = await self.processes.owner(process)
            if owner is None:
                return ""
            process = process.parent
            chain.append((process, owner, process.frame_id))
        for inner, node, frame in reversed(chain):
            dx, dy = await self.processes.offset(inner)
            if cover := await self._find_cover_in(inner, node, frame, point[0] - dx, point[1] - dy):
                return cover
        return ""

    async def _find_cover_in(self, process: FrameProcess, node_id: int, frame_id: str, x: float, y: float) -> str:
        try:
            place: Event = {"expression": "[scrollX, scrollY]", "returnByValue": True}
            scrolled = await process.send_in_world("Runtime.evaluate", process.frame_id, "contextId", **place)
        except CommandFailedError:
            return _CHANGING
        left, top = scrolled["result"]["value"]
        try:
            # This command alone takes coordinates of the document.
            at = {"x": round(x + left), "y": round(y + top)}
            hit = await process.session.send("DOM.getNodeForLocation", includeUserAgentShadowDOM=False, **at)
        except CommandFailedError:
            return ""
        if hit["backendNodeId"] == node_id:
            return ""
        here = await process.resolve(node_id, frame_id, self.label)
        try:
            other = await process.resolve(hit["backendNodeId"], frame_id, "the cover")
        except ElementGoneError:
            return _CHANGING
        inside = [{"value": value} for value in self._inside]
        cover = await process.call(here, "describeCover", [{"objectId": other}, *inside])
        if not cover:
            return ""
        tag, _, words = (truncate(part, _MAX_COVER) for part in clean_text(str(cover)).partition(" "))
        return f"{quote(tag)} {quote(words)}" if words else quote(tag)

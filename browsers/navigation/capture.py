"""Capture a rendered page: its DOM with shadow roots and visible frames, marks on invisible content, and pictures.

Unless `is_single`, pictures fit the limits of models: more than 1,568 pixels on the longer side or 1.15 megapixels
would be scaled down by them. A whole page is therefore cut into parts of one window each at full size, with a small
overview of all.
"""

import asyncio
import base64
import contextlib
import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from browsers import errors
from browsers.cdp.session import CommandFailedError, Event, Session
from browsers.errors import PageCrashedError
from browsers.model import Frame, Screenshot, ScreenshotKind, ScreenshotRequest, strip_credentials
from browsers.navigation.readiness import ISOLATED_WORLD, ReadinessWaiter
from browsers.scripts import MARK_HIDDEN, call_page

_MAX_ELEMENTS = 150_000
"""Maximum of elements. A page that grows endlessly would not fit into a message."""
_MAX_FRAMES = 20
_FRAME_DEPTH = 3
_FRAME_LIMIT_S = 2.0
_MARKING = f"({MARK_HIDDEN})({_MAX_ELEMENTS})"
"""Script that returns the marked document."""
_CLOSED = '<template shadowrootmode="closed"'
_FAILED = "unreachableUrl"
"""Key of a frame in which Chromium shows an error page."""
_MAX_CLOSED = 2_000
"""Maximum of sibling groups that are checked in closed shadow roots."""

_MARK_IF_VISIBLE = """function(mark) {
  const box = this.getBoundingClientRect();
  if (box.width < 2 || box.height < 2) return false;
  if (box.right + scrollX <= 0 || box.bottom + scrollY <= 0) return false;
  if (!this.checkVisibility({visibilityProperty: true, opacityProperty: true})) return false;
  this.setAttribute('data-x-frame', mark);
  return true;
}"""


@dataclass(frozen=True, slots=True)
class CapturedDom:
    """DOM of a captured page and its frames."""

    loader_id: str
    """Identifies the captured document."""
    url: str
    html: str
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class _ChildFrame:
    session: Session
    parent_id: str
    node: Event
    mark: str


async def capture_dom(
    session: Session, readiness: ReadinessWaiter, others: dict[str, Session], *, limit_s: float
) -> CapturedDom:
    """Capture the main frame and every visible frame below it.

    `others` are the sessions of frames with a process of their own, by frame id. Raises TimeoutError if the page's
    renderer does not answer, even after its script was ended, CommandFailedError if the page navigated away, and
    PageCrashedError if the page's renderer crashed.
    """
    answer, document = await asyncio.gather(
        session.send("Page.getFrameTree", limit_s=limit_s), _mark(session, readiness, limit_s)
    )
    tree = answer["frameTree"]
    # Frames are marked in their parent before the parent is read.
    frames = await _capture_frames(session, tree, others, "", _FRAME_DEPTH)
    html = await _outer_html(session, tree["frame"]["id"], document, limit_s)
    return CapturedDom(tree["frame"]["loaderId"], _frame_url(tree["frame"]), html, frames)


async def _mark(session: Session, readiness: ReadinessWaiter, limit_s: float) -> str:
    try:
        return await readiness.evaluate_object(_MARKING, limit_s=limit_s)
    except TimeoutError:
        session.post("Runtime.terminateExecution")
        return await readiness.evaluate_object(_MARKING, limit_s=min(limit_s, readiness.answer_s))


async def _capture_frames(
    session: Session, tree: Event, others: dict[str, Session], prefix: str, depth: int
) -> tuple[Frame, ...]:
    nodes = tree.get("childFrames", [])
    # A frame that failed to load, such as one of a refused third party, contains an error page of the browser.
    children = [child for child in nodes if _FAILED not in child["frame"]][:_MAX_FRAMES]
    own_ids = {child["frame"]["id"] for child in nodes}
    remote = [{"frame": {"id": i, "url": ""}} for i in others if i not in own_ids] if not prefix else []
    if depth == 0 or not (children or remote):
        return ()
    captured_frames = [
        _ChildFrame(others.get(node["frame"]["id"], session), tree["frame"]["id"], node, f"{prefix}{number}")
        for number, node in enumerate(children + remote)
    ]
    read = await asyncio.gather(*(_capture_frame(session, child, others, depth) for child in captured_frames))
    return tuple(frame for group in read for frame in group)


async def _capture_frame(
    owner: Session, child: _ChildFrame, others: dict[str, Session], depth: int
) -> tuple[Frame, ...]:
    try:
        async with asyncio.timeout(_FRAME_LIMIT_S):
            if not await _mark_if_visible(owner, child):
                return ()
            node = child.node
            if child.session is not owner:
                node = (await child.session.send("Page.getFrameTree"))["frameTree"]
                if _FAILED in node["frame"]:
                    return ()
            inner = await _capture_frames(child.session, node, {}, child.mark + ".", depth - 1)
            frame_id = node["frame"]["id"]
            world = await child.session.send("Page.createIsolatedWorld", frameId=frame_id, worldName=ISOLATED_WORLD)
            context = world["executionContextId"]
            marked = await child.session.send("Runtime.evaluate", expression=_MARKING, contextId=context)
            html = await _outer_html(child.session, frame_id, marked["result"]["objectId"], _FRAME_LIMIT_S)
    except (CommandFailedError, TimeoutError, PageCrashedError):
        return ()
    return (Frame(child.mark, _frame_url(node["frame"]), html), *inner)


async def _mark_if_visible(owner: Session, child: _ChildFrame) -> bool:
    """Mark the frame and return True if it is visible. Its page could fake answers outside our isolated world."""
    element, world = await asyncio.gather(
        owner.start("DOM.getFrameOwner", frameId=child.node["frame"]["id"]),
        owner.start("Page.createIsolatedWorld", frameId=child.parent_id, worldName=ISOLATED_WORLD),
    )
    node_id, context = element["backendNodeId"], world["executionContextId"]
    resolved = await owner.send("DOM.resolveNode", backendNodeId=node_id, executionContextId=context)
    call: Event = {"functionDeclaration": _MARK_IF_VISIBLE, "arguments": [{"value": child.mark}], "returnByValue": True}
    answer = await owner.send("Runtime.callFunctionOn", objectId=resolved["object"]["objectId"], **call)
    return bool(answer["result"].get("value"))


async def _outer_html(session: Session, frame_id: str, object_id: str, limit_s: float) -> str:
    outer = await session.send("DOM.getOuterHTML", objectId=object_id, includeShadowDOM=True, limit_s=limit_s)
    if _CLOSED in outer["outerHTML"]:
        with contextlib.suppress(CommandFailedError, TimeoutError):
            async with asyncio.timeout(limit_s):
                await _mark_closed_roots(session, frame_id)
        outer = await session.send("DOM.getOuterHTML", objectId=object_id, includeShadowDOM=True, limit_s=limit_s)
    return str(outer["outerHTML"])


async def _mark_closed_roots(session: Session, frame_id: str) -> None:
    """Mark invisible content in closed shadow roots, which only the browser can access."""
    snapshot, world = await asyncio.gather(
        # As a list: a tree of nodes may be too deep for the JSON parser.
        session.start("DOMSnapshot.captureSnapshot", computedStyles=[]),
        session.start("Page.createIsolatedWorld", frameId=frame_id, worldName=ISOLATED_WORLD),
    )
    context = world["executionContextId"]
    # One node of each group of siblings in closed roots. The roots themselves are not in the list.
    strings, found = snapshot["strings"], []
    for document in snapshot["documents"]:
        if strings[document["frameId"]] != frame_id:
            continue
        nodes = document["nodes"]
        types = nodes["shadowRootType"]
        inside = [at for at, kind in zip(types["index"], types["value"], strict=True) if strings[kind] == "closed"]
        one_each = {nodes["parentIndex"][at]: at for at in inside}
        found += [nodes["backendNodeId"][at] for at in one_each.values()]
    hidden = found[:_MAX_CLOSED]
    asked = (session.start("DOM.resolveNode", backendNodeId=node, executionContextId=context) for node in hidden)
    roots = [{"objectId": node["object"]["objectId"]} for node in await asyncio.gather(*asked)]
    call: Event = {"functionDeclaration": MARK_HIDDEN, "arguments": [{"value": _MAX_ELEMENTS}, *roots]}
    await session.start("Runtime.callFunctionOn", executionContextId=context, **call)


def _frame_url(frame: Event) -> str:
    return strip_credentials(str(frame.get(_FAILED) or frame["url"]) + str(frame.get("urlFragment", "")))


WINDOW_WIDTH, WINDOW_HEIGHT = 1_280, 900
_PART_HEIGHT = 898
"""CSS pixels of a part of the whole page: the most that fits into `MAX_PIXELS` without scaling."""
MAX_EDGE = 1_568
"""Maximum pixels of the longer side of a picture."""
MAX_PIXELS = 1_150_000
MAX_BYTES = 600_000
"""Bytes of a picture. A larger one, no PNG or single one, is taken again with lower quality; the last may be larger."""
MAX_PAGE_HEIGHT = 16_000
"""Maximum height in CSS pixels of the pictured part of a page. Chromium paints no larger surface."""
_QUALITIES = (75, 50, 25)
"""Quality (1 to 100) of successive attempts in WebP and JPEG."""
_CAPTURE_LIMIT_S = 10.0
_REVEAL_LIMIT_S = 9.0
_SCRIPT_LIMIT_S = 3.0


class _Clip(NamedTuple):
    x: float
    y: float
    width: float
    height: float

    @property
    def scale(self) -> float:
        """Largest scale up to 1 at which the picture is within the limits."""
        area = max(1.0, self.width * self.height)
        return min(1.0, MAX_EDGE / max(self.width, self.height, 1.0), math.sqrt(MAX_PIXELS / area))


def window_metrics(height: int = WINDOW_HEIGHT) -> Event:
    """Return the parameters of `Emulation.setDeviceMetricsOverride` for pictures."""
    return {"width": WINDOW_WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}


async def take_screenshots(
    session: Session, readiness: ReadinessWaiter, request: ScreenshotRequest
) -> tuple[Screenshot, ...]:
    """Return the pictures of a page that is ready.

    For a whole page, the first picture is the overview, followed by one for each part. With `is_single`, it is one
    picture in full size. Raises TargetNotFoundError if no element matches the target, TimeoutError if the page does not
    answer, and CommandFailedError if the page no longer exists.
    """
    if request.target is not None:
        return (await _take_element(session, readiness, request),)
    if request.kind in (ScreenshotKind.PDF, ScreenshotKind.MHTML):
        return (await _take_file(session, request.kind),)
    if request.kind is ScreenshotKind.WINDOW:
        size = await _measure(readiness)
        clip = _Clip(size["left"], size["top"], WINDOW_WIDTH, WINDOW_HEIGHT)
        return (await _capture(session, clip, request, beyond_window=False),)
    size = await _measure(readiness)
    if size["inner"]:
        height = min(MAX_PAGE_HEIGHT, math.ceil(size["inner"]))
        await session.send("Emulation.setDeviceMetricsOverride", **window_metrics(height))
        await readiness.evaluate(call_page("waitForFrames"), limit_s=_SCRIPT_LIMIT_S, await_promise=True)
    await readiness.evaluate(call_page("reveal"), limit_s=_REVEAL_LIMIT_S, await_promise=True)
    size = await _measure(readiness)
    height = min(MAX_PAGE_HEIGHT, math.ceil(size["height"]))
    # Parts of equal height: no part is a sliver.
    part_height = math.ceil(height / math.ceil(height / _PART_HEIGHT))
    parts = [_Clip(0, top, WINDOW_WIDTH, min(part_height, height - top)) for top in range(0, height, part_height)]
    clips = (_Clip(0, 0, WINDOW_WIDTH, height), *(() if request.is_single else parts))
    pictures = [await _capture(session, clip, request, beyond_window=True) for clip in clips]
    return (replace(pictures[0], cut_off=max(0, math.ceil(size["height"]) - height)), *pictures[1:])


async def _take_element(session: Session, readiness: ReadinessWaiter, request: ScreenshotRequest) -> Screenshot:
    find = call_page("findPlace", request.target, not request.keeps_page)
    box = await readiness.evaluate(find, limit_s=_SCRIPT_LIMIT_S)
    if not isinstance(box, dict) or box["width"] < 1 or box["height"] < 1:
        raise errors.TargetNotFoundError(f"No visible element of the page matches {request.target!r}.")
    if request.keeps_page:
        window = await _measure(readiness)
        left, top = max(box["x"], window["left"]), max(box["y"], window["top"])
        right = min(box["x"] + box["width"], window["left"] + WINDOW_WIDTH)
        clip = _Clip(left, top, right - left, min(box["y"] + box["height"], window["top"] + WINDOW_HEIGHT) - top)
        if clip.width < 1 or clip.height < 1:
            raise errors.TargetNotFoundError(f"{request.target!r} is not in the window now: scroll to it first.")
        return await _capture(session, clip, request, beyond_window=False)
    await readiness.evaluate(call_page("waitForFrames"), limit_s=_SCRIPT_LIMIT_S, await_promise=True)
    # The page may have moved while it scrolled.
    again = await readiness.evaluate(find, limit_s=_SCRIPT_LIMIT_S)
    box = again if isinstance(again, dict) else box
    clip = _Clip(max(0.0, box["x"]), max(0.0, box["y"]), box["width"], min(float(MAX_PAGE_HEIGHT), box["height"]))
    return await _capture(session, clip, request, beyond_window=True)


async def _take_file(session: Session, kind: ScreenshotKind) -> Screenshot:
    if kind is ScreenshotKind.PDF:
        answer = await session.send("Page.printToPDF", printBackground=True, limit_s=_CAPTURE_LIMIT_S)
        return Screenshot(base64.b64decode(answer["data"]), "application/pdf")
    answer = await session.send("Page.captureSnapshot", format="mhtml", limit_s=_CAPTURE_LIMIT_S)
    return Screenshot(str(answer["data"]).encode("utf-8", "surrogatepass"), "multipart/related")


async def _capture(session: Session, clip: _Clip, request: ScreenshotRequest, *, beyond_window: bool) -> Screenshot:
    scale = 1.0 if request.is_single else clip.scale
    data = b""
    for quality in _QUALITIES:
        options: dict[str, Any] = {} if request.image_type == "png" else {"quality": quality}
        answer = await session.send(
            "Page.captureScreenshot",
            format=request.image_type,
            clip=clip._asdict() | {"scale": scale},
            captureBeyondViewport=beyond_window,
            limit_s=_CAPTURE_LIMIT_S,
            **options,
        )
        data = base64.b64decode(answer["data"])
        if len(data) <= MAX_BYTES or not options or request.is_single:
            break
    return Screenshot(data, f"image/{request.image_type}", round(clip.width * scale), round(clip.height * scale), scale)


async def _measure(readiness: ReadinessWaiter) -> dict[str, float]:
    size = await readiness.evaluate(call_page("measurePage"), limit_s=_SCRIPT_LIMIT_S)
    return size if isinstance(size, dict) else {"height": WINDOW_HEIGHT, "inner": 0, "top": 0, "left": 0}

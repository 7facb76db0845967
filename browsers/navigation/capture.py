"""Capture a rendered page: its DOM with shadow roots and visible frames, and marks on invisible content."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass

from browsers.cdp.session import CommandFailedError, Event, Session
from browsers.errors import PageCrashedError
from browsers.model import Frame, strip_credentials
from browsers.navigation.readiness import ISOLATED_WORLD, ReadinessWaiter
from browsers.scripts import MARK_HIDDEN

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
        return await readiness.evaluate_object(_MARKING, limit_s=limit_s)


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
    inside = _find_in_closed_roots(snapshot, frame_id)[:_MAX_CLOSED]
    asked = (session.start("DOM.resolveNode", backendNodeId=one, executionContextId=context) for one in inside)
    roots = [{"objectId": node["object"]["objectId"]} for node in await asyncio.gather(*asked)]
    call: Event = {"functionDeclaration": MARK_HIDDEN, "arguments": [{"value": _MAX_ELEMENTS}, *roots]}
    await session.start("Runtime.callFunctionOn", executionContextId=context, **call)


def _find_in_closed_roots(snapshot: Event, frame_id: str) -> list[int]:
    """Return one node of each group of siblings in closed roots. The roots themselves are not in the list."""
    strings, found = snapshot["strings"], []
    for document in snapshot["documents"]:
        if strings[document["frameId"]] != frame_id:
            continue
        nodes = document["nodes"]
        types = nodes["shadowRootType"]
        inside = [at for at, kind in zip(types["index"], types["value"], strict=True) if strings[kind] == "closed"]
        one_each = {nodes["parentIndex"][at]: at for at in inside}
        found += [nodes["backendNodeId"][at] for at in one_each.values()]
    return found


def _frame_url(frame: Event) -> str:
    return strip_credentials(str(frame.get(_FAILED) or frame["url"]) + str(frame.get("urlFragment", "")))

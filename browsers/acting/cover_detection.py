"""Find what covers an element at a point of the window."""

from __future__ import annotations

from browsers.acting.element_objects import ElementGoneError, call_function, resolve_node
from browsers.acting.element_scripts import DESCRIBE_COVER
from browsers.acting.frame_processes import FrameProcess, FrameProcesses
from browsers.cdp.session import CommandFailedError
from browsers.text_quoting import clean_text, quote, truncate

_CHANGING = "something that changes"
_MAX_COVER = 60


async def find_cover(
    processes: FrameProcesses,
    process: FrameProcess,
    node_id: int,
    frame_id: str,
    point: tuple[float, float],
    *,
    label: str,
) -> str:
    """Return a description of the element that covers a node at a point of the window, or an empty text.

    The parent processes of a frame are checked first.

    Raises:
        ElementGoneError: The node no longer exists. Its message says so of `label`.
    """
    chain: list[tuple[FrameProcess, int, str]] = [(process, node_id, frame_id)]
    while process.parent is not None:
        owner = await processes.owner(process)
        if owner is None:
            return ""
        process = process.parent
        chain.append((process, owner, process.frame_id))
    for inner, node, frame in reversed(chain):
        dx, dy = await processes.offset(inner)
        if cover := await _find_cover_in(inner, node, frame, point[0] - dx, point[1] - dy, label):
            return cover
    return ""


async def _find_cover_in(process: FrameProcess, node_id: int, frame_id: str, x: float, y: float, label: str) -> str:
    try:
        scrolled = await process.send_in_world(
            "Runtime.evaluate", process.frame_id, "contextId", expression="[scrollX, scrollY]", returnByValue=True
        )
    except CommandFailedError:
        return _CHANGING
    left, top = scrolled["result"]["value"]
    try:
        # This command alone takes coordinates of the document.
        hit = await process.session.send(
            "DOM.getNodeForLocation", x=round(x + left), y=round(y + top), includeUserAgentShadowDOM=False
        )
    except CommandFailedError:
        return ""
    if hit["backendNodeId"] == node_id:
        return ""
    here = await resolve_node(process, node_id, frame_id, label)
    try:
        other = await resolve_node(process, hit["backendNodeId"], frame_id, "the cover")
    except ElementGoneError:
        return _CHANGING
    cover = await call_function(process, here, DESCRIBE_COVER, [{"objectId": other}])
    if not cover:
        return ""
    tag, _, words = (truncate(part, _MAX_COVER) for part in clean_text(str(cover)).partition(" "))
    return f"{quote(tag)} {quote(words)}" if words else quote(tag)

"""Resolve nodes to objects, and call functions of `browsers/scripts/elements.js` with them."""

from __future__ import annotations

from typing import Any

from browsers.acting.frame_processes import OBJECT_GROUP, FrameProcess
from browsers.cdp.session import CommandFailedError
from browsers.errors import PageCrashedError
from browsers.scripts import ELEMENT_FUNCTIONS

_LIMIT_S = 3.0


class ElementActionError(Exception):
    """An action on an element failed. The message for the agent says why."""


class ElementGoneError(ElementActionError):
    """The element is no longer in the document."""


class ElementCoveredError(ElementActionError):
    """Something covers the element."""


async def resolve_node(process: FrameProcess, node_id: int, frame_id: str, label: str) -> str:
    """Return the id of an object for a node of a frame, in the isolated world of the frame.

    Raises:
        ElementGoneError: The node no longer exists. Its message says so of `label`.
    """
    try:
        answer = await process.send_in_world(
            "DOM.resolveNode", frame_id, "executionContextId", backendNodeId=node_id, objectGroup=OBJECT_GROUP
        )
    except (CommandFailedError, PageCrashedError):
        raise ElementGoneError(f"{label} is gone") from None
    return str(answer["object"]["objectId"])


async def call_function(process: FrameProcess, object_id: str, function: str, arguments: list[dict[str, Any]]) -> Any:
    """Call a function of `ELEMENT_FUNCTIONS` with an object as `this`, and return its result.

    Raises:
        ElementActionError: The function threw an exception.
    """
    process.has_objects = True
    answer = await process.session.send(
        "Runtime.callFunctionOn",
        objectId=object_id,
        functionDeclaration=ELEMENT_FUNCTIONS[function],
        arguments=arguments,
        returnByValue=True,
        awaitPromise=True,
        limit_s=_LIMIT_S,
    )
    if "exceptionDetails" in answer:
        raise ElementActionError("the page's element cannot be used in this way")
    return answer["result"].get("value")

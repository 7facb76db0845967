"""Track the renderer processes of a page: cross-site frames run in processes of their own."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from browsers.cdp.session import CommandFailedError, Event, Session
from browsers.errors import PageCrashedError
from browsers.scripts import ELEMENT_FUNCTIONS

_MAX_FRAME_PROCESSES = 50
"""Processes of cross-site frames of one page; further frames run, but are not in outlines."""
OBJECT_GROUP = "acting"
"""Group of the objects through which scripts get elements. They are released after each step."""
_WORLD = "acting"
_LIMIT_S = 3.0


class ElementActionError(Exception):
    """An action on an element failed. The message for the agent says why."""


class ElementGoneError(ElementActionError):
    """The element is no longer in the document."""


@dataclass(eq=False)
class FrameProcess:
    """One renderer process: that of the main frame, or of a cross-site frame."""

    session: Session
    frame_id: str
    """Topmost frame in this process."""
    prefix: str = ""
    """Prefix of the references in this process; empty for the main frame."""
    parent: "FrameProcess | None" = None
    worlds: dict[str, int] = field(default_factory=dict)
    has_objects: bool = False

    def forget_world(self, frame_id: str) -> None:
        """Drop the world of a frame that has another document: its number may be that of another world now."""
        self.worlds.pop(frame_id, None)

    async def resolve(self, node_id: int, frame_id: str, label: str) -> str:
        """Return an object id for a node in its frame's isolated world. Raises ElementGoneError about `label`."""
        try:
            answer = await self.send_in_world(
                "DOM.resolveNode", frame_id, "executionContextId", backendNodeId=node_id, objectGroup=OBJECT_GROUP
            )
        except (CommandFailedError, PageCrashedError):
            raise ElementGoneError(f"{label} is gone") from None
        return str(answer["object"]["objectId"])

    async def call(self, object_id: str, function: str, arguments: list[Event]) -> Any:
        """Call one of `ELEMENT_FUNCTIONS` with an object as `this`. Raises ElementActionError if it threw."""
        self.has_objects = True
        call: Event = {"functionDeclaration": ELEMENT_FUNCTIONS[function], "arguments": arguments}
        by_value = {"returnByValue": True, "awaitPromise": True}
        answer = await self.session.send(
            "Runtime.callFunctionOn", objectId=object_id, limit_s=_LIMIT_S, **call, **by_value
        )
        if "exceptionDetails" in answer:
            raise ElementActionError("the page's element cannot be used in this way")
        return answer["result"].get("value")

    async def send_in_world(self, method: str, frame_id: str, key: str, **params: object) -> Event:
        """Send a command that takes the execution context of the isolated world of a frame as its parameter `key`."""
        if (known := self.worlds.get(frame_id)) is not None:
            try:
                return await self.session.send(method, limit_s=_LIMIT_S, **params | {key: known})
            except CommandFailedError:
                self.worlds.pop(frame_id, None)
        new_world: Event = {"frameId": frame_id, "worldName": _WORLD}
        made = await self.session.send("Page.createIsolatedWorld", limit_s=_LIMIT_S, **new_world)
        self.worlds[frame_id] = int(made["executionContextId"])
        return await self.session.send(method, limit_s=_LIMIT_S, **params | {key: self.worlds[frame_id]})


@dataclass(eq=False)
class FrameProcesses:
    """Renderer processes of one page. Each is attached before its first script runs."""

    main: FrameProcess
    flat: bool
    """True if the sessions of children are flat sessions of the connection."""
    on_frame: Callable[[Session], None]
    on_worker: Callable[[Session], None]
    """Both prepare a session before its first script runs."""
    _others: dict[str, FrameProcess] = field(default_factory=dict)
    _prefixes: dict[str, str] = field(default_factory=dict)
    """Prefixes by frame id: a frame has the same prefix after it moves to another process."""

    def attach(self, process: FrameProcess | None = None) -> None:
        """Attach to all frames and workers that a process starts later; the default is the main process."""
        process = process or self.main
        process.session.on("Target.attachedToTarget", lambda event: self._on_attached(process, event))
        process.session.on("Target.detachedFromTarget", self._on_detached)
        self._attach_below(process.session)

    def all(self) -> list[FrameProcess]:
        """Return the processes that run: the main frame's first, each frame after the frame that contains it."""
        return [self.main, *(process for process in self._others.values() if process.session.is_alive)]

    def by_prefix(self, prefix: str) -> FrameProcess | None:
        """Return the process whose references have this prefix, or None if it has ended."""
        return next((process for process in self.all() if process.prefix == prefix), None)

    def release_objects(self) -> None:
        """Let the elements go that scripts used: they keep removed nodes alive."""
        for process in self.all():
            if process.has_objects:
                process.has_objects = False
                process.session.post("Runtime.releaseObjectGroup", objectGroup=OBJECT_GROUP)

    async def owner(self, process: FrameProcess) -> int | None:
        """Return the node id of the frame element in the parent process, or None if there is none."""
        if process.parent is None:
            return None
        try:
            found = await process.parent.session.send("DOM.getFrameOwner", frameId=process.frame_id, limit_s=2)
        except (CommandFailedError, PageCrashedError):
            return None
        return int(found["backendNodeId"])

    async def offset(self, process: FrameProcess) -> tuple[float, float]:
        """Return the x and y offset of a process's frame from the window of the page, in CSS pixels."""
        x = y = 0.0
        while process.parent is not None:
            node_id = await self.owner(process)
            if node_id is None:
                break
            box = await process.parent.session.send("DOM.getBoxModel", backendNodeId=node_id, limit_s=2)
            x, y = x + box["model"]["content"][0], y + box["model"]["content"][1]
            process = process.parent
        return x, y

    def _on_detached(self, event: Event) -> None:
        self._others.pop(event.get("sessionId", ""), None)

    def _on_attached(self, parent: FrameProcess, event: Event) -> None:
        info = event["targetInfo"]
        session = parent.session.child(event["sessionId"])
        if info["type"] == "worker":
            self._prepare_worker(session)
            return
        if len(self._others) >= _MAX_FRAME_PROCESSES:
            session.post("Runtime.runIfWaitingForDebugger")
            return
        frame_id = info["targetId"]
        prefix = self._prefixes.setdefault(frame_id, f"f{len(self._prefixes) + 1}")
        process = FrameProcess(session, frame_id, prefix, parent)
        self._others[event["sessionId"]] = process
        session.on("Page.frameNavigated", lambda event: process.forget_world(event["frame"]["id"]))
        self.on_frame(session)
        self.attach(process)
        session.post("Runtime.runIfWaitingForDebugger")

    def _attach_below(self, session: Session) -> None:
        # Chromium pauses workers also if the filter leaves them out.
        kinds = [{"type": "iframe"}, {"type": "worker"}]
        pauses = {"autoAttach": True, "waitForDebuggerOnStart": True}
        session.post("Target.setAutoAttach", flatten=self.flat, filter=kinds, **pauses)

    def _prepare_worker(self, session: Session) -> None:
        session.on("Target.attachedToTarget", lambda event: self._prepare_worker(session.child(event["sessionId"])))
        self._attach_below(session)
        self.on_worker(session)
        session.post("Runtime.runIfWaitingForDebugger")

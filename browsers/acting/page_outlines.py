"""Take outlines of the page of a session, find the elements of their references, redact secrets, and write HTML."""

import asyncio
import time
from collections.abc import Iterable
from html import escape

from browsers.acting.dom_snapshot import STYLES, PageNode, ProcessSnapshot, iter_subtree
from browsers.acting.elements import PageElement
from browsers.acting.frame_processes import ElementGoneError, FrameProcess, FrameProcesses
from browsers.acting.input import InputDevices
from browsers.acting.outline import MIN_SECRET, Outline, OutlineLine, build_outline
from browsers.cdp.session import CommandFailedError, Event
from browsers.errors import PageCrashedError
from browsers.login_state import REDACTED
from browsers.model import Frame, Snapshot
from browsers.navigation.capture import WINDOW_HEIGHT, WINDOW_WIDTH
from browsers.text_quoting import clean_text, quote

SNAPSHOT_LIMIT_S = 15.0
RECENT_S = 0.1
"""Seconds for which an outline is used to find the target of the next step."""
_STILL_S = 0.05
"""Seconds between two outlines with an element in one place, after which it counts as still: three frames."""

WINDOW_SIZE = (WINDOW_WIDTH, WINDOW_HEIGHT)


class PageOutlines:
    """Outlines of one page: the latest one, the lines of the current document, and the secret fields."""

    def __init__(self, processes: FrameProcesses, devices: InputDevices) -> None:
        """Take outlines of all `processes` of a page; elements use its `devices`."""
        self.latest: Outline | None = None
        """Latest outline, perhaps of an earlier document."""
        self._processes = processes
        self._devices = devices
        self._known: dict[str, OutlineLine] = {}
        """Line of every reference that an outline of the current document contained."""
        self._looked_at = self._finished_at = 0.0
        self._secrets: frozenset[str] = frozenset()
        """References of fields for passwords, cards and codes in the current document."""
        self._secret_values: frozenset[str] = frozenset()

    @property
    def is_recent(self) -> bool:
        """True if the latest outline was finished moments ago."""
        return self.latest is not None and time.monotonic() - self._finished_at < RECENT_S

    @property
    def url(self) -> str:
        """URL of the document in the latest outline."""
        return self.latest.facts.url if self.latest is not None else ""

    async def take(self) -> Outline:
        """Take snapshots of all processes of the page and return its current outline.

        Raises CommandFailedError if Chromium refused the snapshot of the main process, PageCrashedError if the main
        process has ended, and TimeoutError if a process did not answer within `SNAPSHOT_LIMIT_S`.
        """
        processes = self._processes.all()
        main = await self._capture(processes[0])
        assert main is not None
        captured = [ProcessSnapshot(main)]
        for process in processes[1:]:
            raw, owner = await asyncio.gather(self._capture(process), self._processes.owner(process))
            if raw is not None and owner is not None and process.parent is not None:
                captured.append(ProcessSnapshot(raw, process.prefix, f"{process.parent.prefix}e{owner}"))
        looked_at = time.monotonic()
        outline = await asyncio.to_thread(build_outline, captured, WINDOW_SIZE, self._secrets, self._secret_values)
        self._secrets, self._secret_values = outline.secrets, outline.secret_values
        self._looked_at = looked_at
        for piece in outline.pieces:
            before = self._known.get(piece.ref)
            piece.since = before.since if before is not None and before.box == piece.box else looked_at
            self._known[piece.ref] = piece
        self.latest = outline
        self._finished_at = time.monotonic()
        return outline

    def begin_document(self) -> None:
        """Discard the references of the document before."""
        self._known.clear()
        self._secrets = frozenset()

    def find_line(self, ref: str) -> OutlineLine | None:
        """Return the line of a reference, or None if no outline of this document contained it."""
        return self._known.get(ref)

    def element(self, ref: str, label: str = "") -> PageElement:
        """Return the element of a reference, `label` in errors. Raises ElementGoneError if it is unknown or gone."""
        prefix, _, node_id = ref.rpartition("e")
        process = self._processes.by_prefix(prefix)
        line = self._known.get(ref)
        if process is None or line is None:
            raise ElementGoneError(f"{label or ref} is gone")
        place = line.box[:2] if line.box and self._looked_at - line.since >= _STILL_S else (None, None)
        page = self._processes, process, self._devices, WINDOW_SIZE
        return PageElement(*page, int(node_id), line.frame_id, label or ref, place, line.drawn_by)

    def is_secret(self, ref: str) -> bool:
        """Return True for a field whose value is never shown in an outline, such as a password."""
        return ref in self._secrets

    def hide(self, values: Iterable[str]) -> None:
        """Redact values that a step gives to the page as passwords, cards or codes."""
        self._secret_values |= {value for value in values if len(value) >= MIN_SECRET}

    def secret_names(self) -> frozenset[str]:
        """Return the names of the fields for passwords, cards and codes in the latest outline."""
        nodes = iter_subtree(self.latest.root) if self.latest is not None else ()
        return frozenset(node.attributes.get("name", "") for node in nodes if node.ref in self._secrets)

    def secret_elements(self) -> list[PageElement]:
        """Return the fields for passwords, cards and codes in the current document."""
        return [self.element(ref) for ref in sorted(self._secrets) if ref in self._known]

    def redact(self, text: str) -> str:
        """Return a text or HTML without the values of fields for passwords, cards and codes."""
        for value in self._secret_values:
            for form in (value, quote(clean_text(value))[1:-1], escape(value), escape(value, quote=False)):
                text = text.replace(form, REDACTED)
        return text

    async def _capture(self, process: FrameProcess) -> Event | None:
        try:
            parts: Event = {"computedStyles": list(STYLES), "includePaintOrder": False, "includeDOMRects": False}
            return await process.session.send("DOMSnapshot.captureSnapshot", limit_s=SNAPSHOT_LIMIT_S, **parts)
        except (CommandFailedError, PageCrashedError):
            if process is self._processes.main:
                raise
            return None


_MAX_FRAMES = 20

_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_NOT_WRITTEN = frozenset({"style", "noscript", "template"})
_WITHOUT_BOX = frozenset("head title meta link base script option optgroup br wbr".split())
_FRAMES = frozenset({"iframe", "frame"})
_JSON = "json"


def serialize_page(outline: Outline, status: int) -> Snapshot:
    """Return the page of an outline as HTML: hidden elements are marked, frames are separate."""
    writer = _PageWriter(outline)
    html = writer.write(outline.root)
    frames: list[Frame] = []
    # Frames are found while their parents are written.
    while writer.found_frames and len(frames) < _MAX_FRAMES:
        mark, node = writer.found_frames.pop(0)
        frames.append(Frame(mark, node.frame_url, writer.write(node.children[0])))
    url = outline.facts.url
    return Snapshot(url, url, status, media_type="text/html", html=html, frames=tuple(frames), rendered=True)


class _PageWriter:
    def __init__(self, outline: Outline) -> None:
        self.found_frames: list[tuple[str, PageNode]] = []
        self._secrets = outline.secrets
        # The ids (`id()`) of nodes with a visible descendant.
        with_visible: set[int] = set()
        for node in reversed(list(iter_subtree(outline.root))):
            is_displayed = node.tag != "#other" and node.is_visible
            if (is_displayed or id(node) in with_visible) and node.parent is not None:
                with_visible.add(id(node.parent))
        self._with_visible = with_visible
        self._marks = 0

    def write(self, root: PageNode) -> str:
        """Return the HTML of a document node."""
        out = ["<!DOCTYPE html>"]
        # A closing tag, or a node and whether all of its text is written.
        stack: list[str | tuple[PageNode, bool]] = [(child, False) for child in reversed(root.children)]
        while stack:
            entry = stack.pop()
            if isinstance(entry, str):
                out.append(entry)
                continue
            node, is_raw = entry
            if node.tag == "#text":
                if is_raw or node.is_visible or not node.text.strip():
                    out.append(escape(node.text, quote=False))
            elif node.tag == "#other":
                if node.shadow_root in ("open", "closed"):
                    out.append(f'<template shadowrootmode="{node.shadow_root}">')
                    stack.append("</template>")
                    stack.extend((child, is_raw) for child in reversed(node.children))
            elif node.tag not in _NOT_WRITTEN:
                self._write_element(node, is_raw, out, stack)
        return "".join(out)

    def _write_element(
        self, node: PageNode, is_raw: bool, out: list[str], stack: list[str | tuple[PageNode, bool]]
    ) -> None:
        tag = node.tag
        is_shown = is_raw or node.is_visible or id(node) in self._with_visible
        is_hidden = not is_shown and tag not in _WITHOUT_BOX
        mark = ' data-x-hidden=""' if is_hidden else ""
        if tag in _FRAMES and node.children and not is_hidden:
            self._marks += 1
            mark = f' data-x-frame="{self._marks}"'
            self.found_frames.append((str(self._marks), node))
        out.append(f"<{tag}{self._attributes(node)}{mark}>")
        if tag in _VOID:
            return
        stack.append(f"</{tag}>")
        if tag == "script":
            if _JSON in node.attributes.get("type", ""):
                # Not escaped, because the parser does not read references here.
                out.extend(child.text.replace("</", "<\\/") for child in node.children)
            return
        if tag in _FRAMES or tag == "textarea":
            return
        is_closed = tag == "details" and "open" not in node.attributes
        is_raw = is_raw or is_hidden or is_closed or tag in ("head", "title", "math")
        stack.extend((child, is_raw) for child in reversed(node.children))

    def _attributes(self, node: PageNode) -> str:
        left_out = {"srcdoc", "value"} if node.ref in self._secrets else {"srcdoc"}
        return "".join(
            f' {name}="{escape(value)}"'
            for name, value in node.attributes.items()
            if name not in left_out and not name.startswith("data-x-")
        )

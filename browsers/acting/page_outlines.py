"""Take outlines of the page of a session, find the elements of their references, and redact secret fields."""

from __future__ import annotations

import asyncio
import time
from html import escape

from browsers.acting.dom_snapshot import STYLES, ProcessSnapshot
from browsers.acting.elements import PageElement
from browsers.acting.frame_processes import ElementGoneError, FrameProcess, FrameProcesses
from browsers.acting.input import InputDevices
from browsers.acting.outline import DRAWN_BY_LABEL, Outline, OutlineLine, build_outline
from browsers.cdp.session import CommandFailedError, Event
from browsers.errors import PageCrashedError
from browsers.login_state import REDACTED
from browsers.navigation.screenshot import WINDOW_HEIGHT, WINDOW_WIDTH
from browsers.text_quoting import clean_text, quote

SNAPSHOT_LIMIT_S = 15.0
"""Seconds for the DOM snapshot of one process."""
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
        """Values of such fields of all documents."""

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
        for line in outline.lines:
            for piece in line.pieces or (line,):
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
        """Return the element of a reference; error messages call it `label`.

        Raises ElementGoneError if no outline of this document contained it, or the process of its frame has ended.
        """
        prefix, _, node_id = ref.rpartition("e")
        process = self._processes.by_prefix(prefix)
        line = self._known.get(ref)
        if process is None or line is None:
            raise ElementGoneError(f"{label or ref} is gone")
        return PageElement(
            self._processes,
            process,
            self._devices,
            WINDOW_SIZE,
            node_id=int(node_id),
            frame_id=line.frame_id,
            label=label or ref,
            may_be_drawn=line.role in DRAWN_BY_LABEL,
            place=line.box[:2] if line.box is not None and self._looked_at - line.since >= _STILL_S else None,
        )

    def is_secret(self, ref: str) -> bool:
        """Return True for a field whose value is never shown in an outline, such as a password."""
        return ref in self._secrets

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
            return await process.session.send(
                "DOMSnapshot.captureSnapshot",
                computedStyles=list(STYLES),
                includePaintOrder=False,
                includeDOMRects=False,
                limit_s=SNAPSHOT_LIMIT_S,
            )
        except (CommandFailedError, PageCrashedError):
            if process is self._processes.main:
                raise
            return None

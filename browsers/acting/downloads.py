"""Take the files that the page of a session downloads, within limits, and report them."""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from browsers.cdp.session import Event, Session
from browsers.navigation.tab import Tab
from browsers.text_quoting import clean_text, quote, truncate

_MAX_FILES = 3
"""Files of one step. Further ones are refused."""
_MAX_BYTES = 10_000_000
"""Bytes of one file."""
_WAIT_S = 3.0
"""Seconds for which a step waits for the ends of its downloads."""
_MAX_NAME = 80
_RUNNING = "inProgress"


@dataclass(frozen=True, slots=True)
class DownloadedFile:
    """A file that a page downloaded."""

    data: bytes = field(repr=False)
    media_type: str


class Downloads:
    """Downloads of one tab. Chromium writes them to a folder of their own, from which each is taken and deleted."""

    def __init__(self, tab: Tab, notice: Callable[[str], None]) -> None:
        """Report by `notice`. Call `accept` first; `watch` handles the events of the page and its frames."""
        self._tab = tab
        self._notice = notice
        self._folder = Path()
        self._names: dict[str, str] = {}
        """Quoted names of the files of this step, by their ids, which are their names in the folder."""
        self._states: dict[str, str] = {}
        self._changed = asyncio.Event()

    @contextlib.asynccontextmanager
    async def accept(self, parent: Path) -> AsyncIterator[None]:
        """Accept downloads to a new folder in `parent` during the block. Raises CommandFailedError or TimeoutError."""
        self._folder = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=parent))
        behavior: Event = {"behavior": "allowAndName", "downloadPath": str(self._folder)}
        try:
            context_id = self._tab.context_id
            await self._tab.connection.browser.send(
                "Browser.setDownloadBehavior", browserContextId=context_id, **behavior
            )
            yield
        finally:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    def watch(self, session: Session) -> None:
        """Handle the downloads of one session: that of the page, or of a frame in another process."""
        session.on("Page.downloadWillBegin", self._on_begin)
        session.on("Page.downloadProgress", self._on_progress)

    def begin_step(self) -> None:
        """Forget the downloads of the last step, and cancel those that still run."""
        for identifier in self._running():
            self._cancel(identifier)
        self._names.clear()
        self._states.clear()
        self._changed.clear()

    async def has_begun(self, limit_s: float) -> bool:
        """Return True if a download begins in this step within `limit_s`."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), limit_s)
        return bool(self._names)

    async def take(self) -> tuple[DownloadedFile, ...]:
        """Wait for the downloads of this step, and return and report those that are complete."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_WAIT_S):
                while self._running():
                    self._changed.clear()
                    await self._changed.wait()
        files = []
        for identifier, name in self._names.items():
            if self._states[identifier] == "completed":
                path = self._folder / Path(identifier).name
                data = await asyncio.to_thread(path.read_bytes)
                await asyncio.to_thread(path.unlink)
                kind = mimetypes.guess_type(name[1:-1])[0] or "application/octet-stream"
                files.append(DownloadedFile(data, kind))
                self._notice(f"download {name} ({len(data):,} bytes)")
            elif self._states[identifier] == _RUNNING:
                self._notice(f"a download of {name} did not end within {_WAIT_S:.0f} s")
        return tuple(files)

    def _running(self) -> list[str]:
        return [identifier for identifier, state in self._states.items() if state == _RUNNING]

    def _on_begin(self, event: Event) -> None:
        identifier = str(event["guid"])
        if identifier in self._names:
            return
        name = quote(truncate(clean_text(str(event.get("suggestedFilename", ""))), _MAX_NAME))
        if len(self._names) < _MAX_FILES:
            self._names[identifier], self._states[identifier] = name, _RUNNING
            self._changed.set()
        else:
            self._cancel(identifier)
            self._notice(f"refused: a download of {name}, after {_MAX_FILES} of this step")

    def _on_progress(self, event: Event) -> None:
        identifier = event["guid"]
        if self._states.get(identifier) != _RUNNING:
            return
        self._states[identifier] = event["state"]
        if max(event["receivedBytes"], event["totalBytes"]) > _MAX_BYTES:
            self._cancel(identifier)
            self._states[identifier] = "canceled"
            self._notice(f"refused: a download of {self._names[identifier]}, over {_MAX_BYTES:,} bytes")
        self._changed.set()

    def _cancel(self, identifier: str) -> None:
        self._tab.connection.browser.post(
            "Browser.cancelDownload", guid=identifier, browserContextId=self._tab.context_id
        )

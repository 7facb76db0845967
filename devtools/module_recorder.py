"""Record the modules whose functions run during a call, in the server's process and in its workers.

This module imports no part of the product, so that a worker process can import it without loading the server.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeVar, TypeVarTuple

__all__ = ["ModuleRecorder", "record_call"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class ModuleRecorder:
    """Record the modules below a root folder whose functions start or resume."""

    def __init__(self, root: Path, packages: tuple[str, ...]) -> None:
        """Record modules of `packages` below `root`."""
        self._folders = tuple(f"{root / package}/" for package in packages)
        self._main_thread = threading.get_ident()
        self._main_files: set[str] = set()
        self._thread_files: set[str] = set()
        self._root = root
        self.is_recording = False

    def watch_new_threads(self) -> None:
        """Observe every thread that starts from now on. Call this before the services open."""
        threading.setprofile(self._notice)

    def close(self) -> None:
        """Stop observing new threads."""
        threading.setprofile(None)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Delete earlier records, then record while the block runs."""
        self._main_files.clear()
        self._thread_files.clear()
        sys.setprofile(self._notice)
        self.is_recording = True
        try:
            yield
        finally:
            self.is_recording = False
            sys.setprofile(None)

    @property
    def on_this_thread(self) -> frozenset[str]:
        """Return the modules that ran on the thread that created the recorder."""
        return frozenset(map(self._module_of, self._main_files))

    @property
    def on_other_threads(self) -> frozenset[str]:
        """Return the modules that ran only on other threads."""
        return frozenset(map(self._module_of, self._thread_files)) - self.on_this_thread

    def _notice(self, frame: FrameType, event: str, _argument: object) -> None:
        if not self.is_recording or event != "call":
            return
        code = frame.f_code
        if code.co_name == "<module>" or not code.co_filename.startswith(self._folders):
            return
        is_main = threading.get_ident() == self._main_thread
        (self._main_files if is_main else self._thread_files).add(code.co_filename)

    def _module_of(self, file: str) -> str:
        name = Path(file).relative_to(self._root).with_suffix("").as_posix().replace("/", ".")
        return name.removesuffix(".__init__")


def record_call(
    root: Path, packages: tuple[str, ...], function: Callable[[*Ts], T], *args: *Ts
) -> tuple[T, frozenset[str]]:
    """Return what `function(*args)` returns, and the modules that it ran through."""
    recorder = ModuleRecorder(root, packages)
    with recorder.recording():
        result = function(*args)
    return result, recorder.on_this_thread

"""Count the modules that one call of the tool `fetch` passes through.

python -m devtools.fetch_path [--json FILE]

A module counts if one of its functions starts or resumes on the thread of the event loop during the call.
The call enters at the tool layer, like a call from MCP or the command line. The services are warm: pages of
the same kind were fetched before. Only modules that every measured call passes through count, so background
work between calls does not.

Not counted, but listed: modules that run only on other threads of the server's process.
Not measured: worker processes, Chromium, and the import of modules.

Measured in November 2026: 58 modules for a plain page, 74 for a rendered page. Calls of `app.fetcher.fetch`,
without the tool layer, passed through 55 and 66.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from scraper.services import Services
from scraper.settings import Settings
from scraper.tools import registry
from scraper.tools.model import Tool, ToolCall
from tests.site.running import Site, running_site

PACKAGES = ("browsers", "scraper")
PAGES = {"plain": ("/static/{}", "http"), "rendered": ("/spa/{}", "browser")}
"""Path on the test site of each kind of page, and the method that the answer must name."""
WARM_CALLS = 3
"""Calls before the first measured one. The first call opens files and connects to a host."""
MEASURED_CALLS = 5
"""Calls whose common modules count. In 8 of 16 calls a tab for the next call was prepared: 2 more modules."""
PAUSE_S = 0.5
"""Seconds between calls, in which the browser prepares the next tab."""

_ROOT = Path(__file__).resolve().parents[1]

Fetch = Callable[[str], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class FetchPath:
    """Modules of one kind of fetch."""

    counted: frozenset[str]
    """Modules that run on the thread of the event loop."""
    on_threads: frozenset[str]
    """Modules that run only on other threads."""


class ModuleRecorder:
    """Record the modules below a root folder whose functions start or resume."""

    def __init__(self, root: Path, packages: tuple[str, ...]) -> None:
        """Record modules of `packages` below `root`."""
        self._folders = {f"{root / package}/": package for package in packages}
        self._main_thread = threading.get_ident()
        self._is_recording = False
        self._main_files: set[str] = set()
        self._thread_files: set[str] = set()
        self._root = root

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
        self._is_recording = True
        try:
            yield
        finally:
            self._is_recording = False
            sys.setprofile(None)

    @property
    def path(self) -> FetchPath:
        """Return the recorded modules by thread."""
        counted = frozenset(map(self._module_of, self._main_files))
        return FetchPath(counted, frozenset(map(self._module_of, self._thread_files)) - counted)

    def _notice(self, frame: FrameType, event: str, _argument: object) -> None:
        if not self._is_recording or event != "call":
            return
        code = frame.f_code
        if code.co_name == "<module>" or not code.co_filename.startswith(tuple(self._folders)):
            return
        is_main = threading.get_ident() == self._main_thread
        (self._main_files if is_main else self._thread_files).add(code.co_filename)

    def _module_of(self, file: str) -> str:
        name = Path(file).relative_to(self._root).with_suffix("").as_posix().replace("/", ".")
        return name.removesuffix(".__init__")


async def measure_paths(site: Site, data_dir: Path) -> dict[str, FetchPath]:
    """Fetch pages of each kind from the test site and return the modules of each kind."""
    settings = Settings(test_hosts=site.test_hosts, data_dir=data_dir)
    (tool,) = (tool for tool in registry.tools(settings) if tool.name == "fetch")
    recorder = ModuleRecorder(_ROOT, PACKAGES)
    recorder.watch_new_threads()
    try:
        async with Services.open(settings) as app:
            fetch = functools.partial(_fetch, tool, app)
            return {kind: await _measure(kind, fetch, site, recorder) for kind in PAGES}
    finally:
        recorder.close()


async def _fetch(tool: Tool, app: Services, url: str) -> str:
    answer = await tool.run(app, {"url": url}, ToolCall())
    if answer.is_error:
        raise AssertionError(answer.text)
    return answer.text


async def _measure(kind: str, fetch: Fetch, site: Site, recorder: ModuleRecorder) -> FetchPath:
    path, method = PAGES[kind]
    found: list[FetchPath] = []
    for number in range(WARM_CALLS + MEASURED_CALLS):
        await asyncio.sleep(PAUSE_S)
        with recorder.recording():
            text = await fetch(site.url(path.format(number)))
        if f"Method: {method}" not in text:
            raise AssertionError(f"{kind} page was not read by the method {method}:\n{text[:500]}")
        found.append(recorder.path)
    measured = found[WARM_CALLS:]
    return FetchPath(
        frozenset.intersection(*(path.counted for path in measured)),
        frozenset.intersection(*(path.on_threads for path in measured)),
    )


def _print_table(paths: dict[str, FetchPath]) -> None:
    modules = sorted(frozenset().union(*(path.counted | path.on_threads for path in paths.values())))
    width = max(map(len, modules))
    print(f"{'module':{width}}  {'  '.join(f'{kind:>8}' for kind in paths)}")
    for module in modules:
        print(f"{module:{width}}  {'  '.join(f'{_cell(path, module):>8}' for path in paths.values())}")
    print(f"{'modules':{width}}  {'  '.join(f'{len(path.counted):>8}' for path in paths.values())}")
    print('"thread": runs only on another thread; not in the sum.')


def _cell(path: FetchPath, module: str) -> str:
    if module in path.counted:
        return "x"
    return "thread" if module in path.on_threads else ""


def main() -> None:
    """Measure, print the table, and write the sums if a file is named."""
    parser = argparse.ArgumentParser(
        prog="python -m devtools.fetch_path",
        description="Count the modules that one call of the tool `fetch` passes through.",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for the two sums")
    options = parser.parse_args()
    with running_site() as site, tempfile.TemporaryDirectory(prefix="fetch-path-") as folder:
        paths = asyncio.run(measure_paths(site, Path(folder)))
    _print_table(paths)
    if options.json:
        sums = {kind: len(path.counted) for kind, path in paths.items()}
        options.json.write_text(json.dumps(sums) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

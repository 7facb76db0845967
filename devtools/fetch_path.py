"""Count the modules that one call of the tool `fetch` passes through.

python -m devtools.fetch_path [--json FILE]

A module of the server counts if one of its functions starts or resumes on the thread of the event loop during the
call. A module of the worker counts if one of its functions starts or resumes in the function that the worker runs for
the call, and if it does not count for the server. The code that receives calls there does not count.
The call enters at the tool layer, like a call from MCP or the command line. The services are warm: pages of the same
kind were fetched before. Only modules that every measured call passes through count, so background work between calls
does not.

Not counted, but listed: modules that run only on other threads of the server's process.
Not measured: single-use processes, Chromium, and the import of modules.

Measured in November 2026: 42 modules of the server and 44 of the worker for a plain page, 58 and 44 for a rendered
page. Five more modules run in both processes and count for the server.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import math
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar, TypeVarTuple
from unittest import mock

from devtools.code_figures import PACKAGES, ROOT
from devtools.module_recorder import ModuleRecorder, record_call
from scraper import services
from scraper.settings import Settings
from scraper.tools import registry
from scraper.tools.model import Tool, ToolCall
from scraper.workers.pool import WorkerPool
from tests.site.running import Site, running_site

PAGES = {"plain": ("/static/{}", "http"), "rendered": ("/spa/{}", "browser")}
"""Path on the test site of each kind of page, and the method that the answer must name."""
WARM_CALLS = 3
"""Calls before the first measured one. The first call opens files and connects to a host."""
MEASURED_CALLS = 5
"""Calls whose common modules count. In 8 of 16 calls a tab for the next call was prepared: 2 more modules."""
PAUSE_S = 0.5
"""Seconds between calls, in which the browser prepares the next tab."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
Fetch = Callable[[str], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class FetchPath:
    """Modules of one kind of fetch."""

    counted: frozenset[str]
    """Modules that run on the thread of the event loop."""
    on_threads: frozenset[str]
    """Modules that run only on other threads of the server."""
    in_worker: frozenset[str]
    """Modules that run in a worker process."""

    @property
    def only_in_worker(self) -> frozenset[str]:
        """Return the modules that run in a worker process and not on the thread of the event loop."""
        return self.in_worker - self.counted


class _RecordingPool(WorkerPool):
    """Workers that report the modules of each call."""

    modules: ClassVar[set[str]] = set()
    """Modules of all calls since the last `clear`."""

    async def run(
        self, function: Callable[[*Ts], T], *args: *Ts, limit_s: float = 5.0, deadline_s: float = math.inf
    ) -> T:
        """Run a call like the pool of the product, and note its modules."""
        call = (ROOT, PACKAGES, function, *args)
        result, modules = await super().run(record_call, *call, limit_s=limit_s, deadline_s=deadline_s)
        self.modules.update(modules)
        return result


async def measure_paths(site: Site, data_dir: Path) -> dict[str, FetchPath]:
    """Fetch pages of each kind from the test site and return the modules of each kind."""
    settings = Settings(test_hosts=site.test_hosts, data_dir=data_dir)
    (tool,) = (tool for tool in registry.tools(settings) if tool.name == "fetch")
    recorder = ModuleRecorder(ROOT, PACKAGES)
    recorder.watch_new_threads()
    try:
        with mock.patch.object(services, "WorkerPool", _RecordingPool):
            async with services.Services.open(settings) as app:
                fetch = functools.partial(_fetch, tool, app)
                return {kind: await _measure(kind, fetch, site, recorder) for kind in PAGES}
    finally:
        recorder.close()


async def _fetch(tool: Tool, app: services.Services, url: str) -> str:
    answer = await tool.run(app, {"url": url}, ToolCall())
    if answer.is_error:
        raise AssertionError(answer.text)
    return answer.text


async def _measure(kind: str, fetch: Fetch, site: Site, recorder: ModuleRecorder) -> FetchPath:
    path, method = PAGES[kind]
    found: list[tuple[frozenset[str], ...]] = []
    for number in range(WARM_CALLS + MEASURED_CALLS):
        await asyncio.sleep(PAUSE_S)
        _RecordingPool.modules.clear()
        with recorder.recording():
            text = await fetch(site.url(path.format(number)))
        if f"Method: {method}" not in text:
            raise AssertionError(f"{kind} page was not read by the method {method}:\n{text[:500]}")
        found.append((recorder.on_this_thread, recorder.on_other_threads, frozenset(_RecordingPool.modules)))
    return FetchPath(*(frozenset.intersection(*modules) for modules in zip(*found[WARM_CALLS:], strict=True)))


def _print_table(paths: dict[str, FetchPath]) -> None:
    modules = frozenset().union(*(path.counted | path.on_threads | path.in_worker for path in paths.values()))
    rows = {module: [_cell(path, module) for path in paths.values()] for module in sorted(modules)}
    rows["modules of the server"] = [str(len(path.counted)) for path in paths.values()]
    rows["more modules of the worker"] = [str(len(path.only_in_worker)) for path in paths.values()]
    width = max(map(len, rows))
    for name, cells in {"module": list(paths), **rows}.items():
        print(f"{name:{width}}  {'  '.join(f'{cell:>13}' for cell in cells)}")
    print('"thread": runs only on another thread of the server; not in the sums.')


def _cell(path: FetchPath, module: str) -> str:
    places = {"server": path.counted, "thread": path.on_threads, "worker": path.in_worker}
    return " ".join(place for place, modules in places.items() if module in modules)


def main() -> None:
    """Measure, print the table, and write the sums if a file is named."""
    parser = argparse.ArgumentParser(
        prog="python -m devtools.fetch_path",
        description="Count the modules that one call of the tool `fetch` passes through.",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for the four sums")
    options = parser.parse_args()
    with running_site() as site, tempfile.TemporaryDirectory(prefix="fetch-path-") as folder:
        paths = asyncio.run(measure_paths(site, Path(folder)))
    _print_table(paths)
    if options.json:
        sums = {kind: len(path.counted) for kind, path in paths.items()}
        sums |= {f"{kind}_worker": len(path.only_in_worker) for kind, path in paths.items()}
        options.json.write_text(json.dumps(sums) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

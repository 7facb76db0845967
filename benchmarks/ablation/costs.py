"""Measure the mean milliseconds of CPU of each stage of the reader, of products and of recipes.

The reader is measured on pages of wcxb, the stages of facts on the pages of the archives of products and recipes.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any
from unittest import mock

from benchmarks.common.command_line import Figures, Options, print_table, run
from benchmarks.common.single_thread import restart_single_threaded
from benchmarks.structured.pages import saved_pages
from benchmarks.training.pages import samples
from benchmarks.training.table import snapshot_of
from browsers.model import Snapshot
from scraper.extract import reader
from scraper.facts import product, recipe, structured
from scraper.stages import Stage

_STEP, _QUICK_STEP = 4, 24
"""Every fourth page is read; with `--quick`, every 24th."""

_TABLES = {
    "reader": ((reader, "STAGES"),),
    "products": ((product, "OFFER_STAGES"), (product, "DETAIL_STAGES")),
    "recipes": ((recipe, "LIST_STAGES"), (recipe, "DETAIL_STAGES")),
}
"""Tables of stages by the kind of their pages."""


async def measure(options: Options) -> Figures:
    """Read the pages of each kind with timed stages."""
    if options.corpora is None:
        raise FileNotFoundError("The pages are missing: use --corpora DIR.")
    step = _QUICK_STEP if options.quick else _STEP
    pages = itertools.islice(samples(options.corpora, "wcxb"), 0, None, step)
    figures = _stage_costs("reader", map(snapshot_of, pages), reader.read)
    for kind in ("products", "recipes"):
        saved = (page.snapshot() for page in saved_pages(options.corpora, kind, step))
        figures |= _stage_costs(kind, saved, structured.extract)
    return figures


def _stage_costs(kind: str, snapshots: Iterable[Snapshot], read: Callable[[Snapshot], object]) -> Figures:
    """Return the mean milliseconds of each stage in a page of this kind."""
    seconds: defaultdict[str, float] = defaultdict(float)
    read_pages = 0
    with ExitStack() as timed:
        for module, name in _TABLES[kind]:
            timed.enter_context(timed_stages(module, name, seconds))
        for number, snapshot in enumerate(snapshots):
            read(snapshot)
            read_pages = number
            if not number:  # the first page loads modules and the model
                seconds.clear()
    figures: Figures = {f"{kind}.{name}.cpu_ms": 1e3 * value / max(read_pages, 1) for name, value in seconds.items()}
    print_table(f"{kind}: mean milliseconds of CPU on {read_pages} pages", ("stage", "ms"), figures.items())
    return figures


@contextmanager
def timed_stages(module: ModuleType, name: str, seconds: defaultdict[str, float]) -> Iterator[None]:
    """Add the CPU seconds of each stage of a table to `seconds` while the block runs."""

    def timed(stage: Stage[Any]) -> Stage[Any]:
        @functools.wraps(stage.run)
        def work(draft: Any) -> Any:
            started = time.process_time()
            try:
                return stage.run(draft)
            finally:
                seconds[stage.name] += time.process_time() - started

        return Stage(work, stage.cpu_ms, stage.figure)

    with mock.patch.object(module, name, tuple(map(timed, getattr(module, name)))):
        yield


if __name__ == "__main__":
    restart_single_threaded("benchmarks.ablation.costs")
    run(__doc__ or "", measure)

"""Run a pipeline of named stages, each of which returns a draft with one further part."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

_Draft = TypeVar("_Draft")


@dataclass(frozen=True, slots=True)
class Stage(Generic[_Draft]):
    """A step of a pipeline. The docstring of its function states its purpose."""

    run: Callable[[_Draft], _Draft]
    cpu_ms: float
    """Mean milliseconds of CPU for a page, from `python -m benchmarks.ablation.costs`."""
    figure: str
    """Figure of the benchmarks that the stage improves."""

    @property
    def name(self) -> str:
        """Return the name of the function."""
        return self.run.__name__


def run_stages(stages: Iterable[Stage[_Draft]], draft: _Draft, *, without: Collection[str] = ()) -> _Draft:
    """Return the draft after the stages in their order; leave out those named in `without`."""
    for stage in stages:
        if stage.name not in without:
            draft = stage.run(draft)
    return draft

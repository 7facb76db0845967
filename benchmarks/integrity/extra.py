"""Run a file that registers further relations and facts, and names further small cases and a seed.

Such a file imports `integrity.relations`, `integrity.facts` and the other modules of this package by these names.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import integrity
from benchmarks.integrity import (
    case,
    dom,
    fact_kinds,
    facts,
    invariants,
    output,
    pages,
    relations,
    same,
    seeded,
    visible,
)
from benchmarks.integrity.dom import Element
from benchmarks.integrity.measuring import Plan

_SEED = re.compile(r"\bseeds?\b\W{1,4}(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Extra:
    """What a file adds."""

    relations: Sequence[relations.Relation]
    facts: Sequence[tuple[str, facts.Check]]
    cases: Sequence[seeded.SmallCase]
    seed: int | None


def load(path: Path) -> list[Extra]:
    """Run a file, or all Python files of a folder.

    Raises:
        FileNotFoundError: There is no such file.
    """
    files = sorted(path.glob("*.py")) if path.is_dir() else [path]
    if not all(file.is_file() for file in files) or not files:
        raise FileNotFoundError(f"{path} does not exist, or it is a folder without Python files.")
    _publish()
    return [_load(file) for file in files]


def applied(plan: Plan, extras: Sequence[Extra]) -> Plan:
    """Return a plan with what files add instead of our own, and with their seeds."""
    changes: dict[str, Any] = {
        name: [one for extra in extras for one in getattr(extra, name)] for name in ("relations", "facts")
    }
    cases = [case for extra in extras for case in extra.cases]
    for extra in extras:
        if extra.seed is not None:
            changes.setdefault("invariant_seed", extra.seed)
            if extra.relations:
                changes.setdefault("relation_seed", extra.seed)
            if extra.facts:
                changes.setdefault("fact_seed", extra.seed)
    return replace(plan, **changes, cases=cases or plan.cases)


def _load(file: Path) -> Extra:
    """Run a file and return what it registered, which does not stay in the registries."""
    before = len(relations.REGISTRY), len(facts.REGISTRY)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    added = relations.REGISTRY[before[0] :], facts.REGISTRY[before[1] :]
    del relations.REGISTRY[before[0] :], facts.REGISTRY[before[1] :]
    seed = _SEED.search(file.read_text(encoding="utf-8"))
    cases = [seeded.SmallCase(*one) for one in getattr(module, "CASES", ())]
    return Extra(*added, cases, int(seed[1]) if seed else None)


def _publish() -> None:
    """Make this package importable as `integrity`, with the helpers that such files use."""
    modules = (case, dom, facts, invariants, output, pages, relations, seeded, visible)
    sys.modules["integrity"] = integrity
    sys.modules |= {f"integrity.{module.__name__.rpartition('.')[2]}": module for module in modules}
    helpers: dict[ModuleType, dict[str, object]] = {
        relations: {
            "_at": _at,
            "_cell": lambda subject, rng: relations.fill("{value}", subject, rng),
            "_many": lambda number, make: "".join(make() for _ in range(number)),
            "_path": _path,
            "add_wrapper": same.add_wrapper,
            "wrap_words": same.wrap_words,
            "written_paragraphs": attrgetter("paragraphs"),
        },
        facts: {"_news": facts.news, "_page": facts.listing_page, "_person": facts.person, "higher": fact_kinds.higher},
    }
    for module, names in helpers.items():
        vars(module).update(names)


def _path(element: Element) -> list[int]:
    """Return the positions that lead from the root to an element."""
    return [one.index for one in [*element.lineage()][-2::-1]]


def _at(root: Element, path: Sequence[int]) -> Element:
    """Return the element to which positions lead."""
    for step in path:
        child = root.children[step]
        assert isinstance(child, Element)
        root = child
    return root

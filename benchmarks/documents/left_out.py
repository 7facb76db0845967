"""Estimate the scores on documents that no rule of the PDF reader was chosen with.

For each set of files, every rule is decided again without this set: a rule that does not raise the mean score of the
other sets is switched off. Then the set is scored. So a rule that helps one set alone does not count for it.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

from benchmarks.common.command_line import Figures, print_table
from benchmarks.documents import corpus as sets
from benchmarks.documents.score import fact_holds, scores, table_score, xml_relations
from scraper.documents.model import ParseRequest
from scraper.documents.pdf import (
    blocks,
    lattice_tables,
    liteparse_loader,
    reader,
    reading_order,
    stream_tables,
    table_cells,
)

_PROCESSES = 2
_LEFT_OUT = ("docling", "icdar", "facts")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, and what stands in its place while it is switched off."""

    name: str
    module: ModuleType
    attribute: str
    off: Any


RULES = (
    Rule("independent columns", reading_order, "_are_independent_columns", lambda _: False),
    Rule("names of rows", reading_order, "_are_names_of_rows", lambda *_: False),
    Rule("short lines in halves", reading_order, "_find_halves", lambda _rows, start, end, *_: (start, end, [])),
    Rule("narrow gaps", stream_tables, "_NARROW_GAP", table_cells.WIDE_GAP),
    Rule("headers above a frame", table_cells, "_find_headers_above", lambda *_: ([], 0)),
    Rule("lines that columns share", lattice_tables, "_common_lines", lambda _: None),
    Rule("lines between words", lattice_tables, "_split_at_lines", lambda _lattice, run, _crossed: [run]),
    Rule("bold headings", blocks, "_MAX_BOLD_CHARS", 0),
)
"""The rules of columns, tables and headings that can be switched off alone."""

_Scores = dict[str, float]
_Values = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class GoldTask:
    """A file of a set, with its gold text or facts."""

    set_name: str
    file: Path
    gold: Path | None = None
    facts: tuple[tuple[tuple[str, Any], ...], ...] = ()

    def score(self, text: str) -> _Values:
        """Return the scores of the file by figure, one for each fact."""
        if self.set_name == "icdar" and self.gold is not None:
            return {"icdar": [table_score(xml_relations(self.gold), text)]}
        if self.gold is None:
            return {"facts": [float(fact_holds(dict(fact), text)) for fact in self.facts]}
        found = scores(self.gold.read_text("utf-8"), text)
        values = {f"{self.set_name}_{name}": getattr(found, name) for name in ("order", "tables", "headings")}
        return {name: [value] for name, value in values.items() if value is not None}


def measure_left_out(corpus: Path, produced: Sequence[sets.Gold]) -> Figures:
    """Return `left_out.*`, the scores with rules that were decided without the set.

    Args:
        corpus: Folder of the documents.
        produced: Further files with their gold text, as another set.
    """
    tasks = [*gold_tasks(corpus), *(GoldTask("random", one.file, one.gold) for one in produced)]
    names = [rule.name for rule in RULES]
    with ProcessPoolExecutor(_PROCESSES, mp_context=get_context("spawn")) as processes:
        variants = [(), *((name,) for name in names)]
        every, *without = _means_of(processes.map(partial(_score_variants, variants), tasks, chunksize=4), variants)
        figures: Figures = {}
        rows = []
        for left_out in _LEFT_OUT:
            dropped = tuple(
                name for name, scored in zip(names, without, strict=True) if _gain(every, scored, left_out) <= 0
            )
            own = [task for task in tasks if task.set_name == left_out]
            (found,) = _means_of(processes.map(partial(_score_variants, [dropped]), own), [dropped])
            figures |= {f"left_out.{name}": value for name, value in found.items()}
            rows.append((left_out, ", ".join(dropped)))
    print_table("Rules that the other sets do not need", ("set left out", "rules switched off"), rows)
    return figures


def gold_tasks(corpus: Path) -> Iterator[GoldTask]:
    """Yield the PDF files of all sets with their gold."""
    for name, folder in (("made", "pdf-made"), ("docling", "pdf-docling")):
        yield from (GoldTask(name, pair.file, pair.gold) for pair in sets.with_gold(corpus / folder))
    for pair in sets.icdar(corpus / "pdf-tables-icdar2013"):
        if xml_relations(pair.gold):
            yield GoldTask("icdar", pair.file, pair.gold)
    facts: dict[Path, list[tuple[tuple[str, Any], ...]]] = defaultdict(list)
    for file, fact in sets.facts_in(corpus / "pdf-facts"):
        facts[file].append(tuple(fact.items()))
    yield from (GoldTask("facts", file, facts=tuple(each)) for file, each in facts.items())


def _score_variants(variants: Sequence[tuple[str, ...]], task: GoldTask) -> list[_Values]:
    """Return the scores of a file for each variant, which is the rules that are switched off."""
    data = task.file.read_bytes()
    rules = {rule.name: rule for rule in RULES}
    found = []
    with mock.patch.object(liteparse_loader, "load", cache(liteparse_loader.load)):
        for off in variants:
            with ExitStack() as patches:
                for name in off:
                    rule = rules[name]
                    patches.enter_context(mock.patch.object(rule.module, rule.attribute, rule.off))
                found.append(task.score(read_pdf(data, task.file.name)))
    return found


def read_pdf(data: bytes, name: str) -> str:
    """Return the Markdown of a PDF file in this process; empty if it cannot be read."""
    try:
        return reader.read(data, ParseRequest(name=name)).markdown
    except Exception:  # A file that cannot be read scores 0, as in the other sets.
        return ""


def _means_of(found: Iterator[list[_Values]], variants: Sequence[object]) -> list[_Scores]:
    """Return the mean of each figure over all files, by variant."""
    values: list[_Values] = [defaultdict(list) for _ in variants]
    for of_file in found:
        for collected, figures in zip(values, of_file, strict=True):
            for name, each in figures.items():
                collected[name] += each
    return [{name: statistics.mean(each) for name, each in collected.items()} for collected in values]


def _gain(with_rule: Mapping[str, float], without: Mapping[str, float], left_out: str) -> float:
    """Return how much a rule raises the mean score of the other sets."""
    by_set: dict[str, list[float]] = defaultdict(list)
    for name, value in with_rule.items():
        by_set[name.split("_")[0]].append(value - without[name])
    return statistics.mean(statistics.mean(gains) for name, gains in by_set.items() if name != left_out)

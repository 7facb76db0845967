"""Measure whether what stands together on a page stands together in the answer. No gold texts are needed.

    python -m benchmarks.integrity --corpora DIR [--extra FILE] [--quick] [--peers] [--failures FILE] --json FILE

- Invariants: what must hold between a saved page and the answer, whatever the reader chose as content.
- Relations: pages are changed, and the effect on the answer is known.
- Facts: prices, fields, records, authors and dates of made pages with known values.
- Seeded faults: whether the harness reports faults that are put into answers on purpose.

Faults after which an answer reads well but says something else count in `silent.*`. Pages and changes are drawn from
seeds. `--extra` runs the relations, facts and small cases of a file, or of the files in a folder, instead of ours, with
the seed that the file names. With `--peers`, other readers read the same pages.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.common.command_line import Figures, Options, print_table, run
from benchmarks.common.single_thread import restart_single_threaded
from benchmarks.integrity import extra, fact_kinds, facts, inserted, measuring, relations, same, seeded
from benchmarks.integrity.measuring import Failure, Plan
from benchmarks.integrity.peers import PEERS, peer_readers
from benchmarks.integrity.product import open_reader

_REGISTERED = (same, inserted, fact_kinds)
"""Modules that register relations and facts when they are imported."""
_QUICK_CHANGED, _QUICK_FAULTY = 6, 7
"""Changed pages, and answers into which faults are put, with `--quick`."""
_OURS = "search-mcp"
_FIGURES = (
    "relation.broken_share",
    "relation.same.broken_share",
    "relation.whole.broken_share",
    "relation.absent.broken_share",
    "silent.relation.broken_share",
    "invariant.pages_share",
    "silent.invariant.per_1000_pages",
    "silent.fact.wrong_share",
    "fact.missing_share",
    "seeded.case.recall",
    "seeded.fault.recall",
    "seeded.relation.recall",
)
_TOTALS = {*_FIGURES, "invariant.violations", "silent.invariant.violations"}


async def measure(options: Options) -> Figures:
    """Measure our reader, and the peers on the same pages.

    Raises:
        FileNotFoundError: A corpus or the file of `--extra` is missing.
    """
    return await asyncio.to_thread(_measure, options)


def _measure(options: Options) -> Figures:
    plan = _plan(options)
    read = open_reader()
    results = [measuring.measure_cases(plan), measuring.measure_facts(plan), measuring.measure_invariants(plan, read)]
    results += [measuring.measure_relations(plan, read), measuring.measure_faults(plan, read)]
    figures = {name: value for result in results for name, value in result.figures.items()}
    failures = [failure for result in results for failure in result.failures]
    columns = {_OURS: figures}
    if options.peers:
        columns |= _peer_figures(replace(plan, faulty_changes=0))
    rows = [(name, *(found.get(name) for found in columns.values())) for name in _FIGURES]
    print_table(f"Integrity, {len(plan.relations)} relations", ("", *columns), rows)
    _print_parts(columns)
    if options.more.failures is not None:
        _write(options.more.failures, failures)
    return figures | {f"peers.{p}.{name}": value for p in PEERS for name, value in columns.get(p, {}).items()}


def _plan(options: Options) -> Plan:
    if options.corpora is None:
        raise FileNotFoundError("Name the folder of the corpora: --corpora DIR.")
    plan = Plan(options.corpora, relations.REGISTRY, facts.REGISTRY, list(seeded.small_cases()))
    if options.more.extra is not None:
        plan = extra.applied(plan, extra.load(options.more.extra))
    if options.quick:
        plan = replace(plan, changed_pages=_QUICK_CHANGED, faulty_pages=_QUICK_FAULTY, faulty_changes=0)
    given = {key: vars(options.more)[key] for key in ("pages", "changed_pages", "rounds") if vars(options.more)[key]}
    if (seed := options.more.seed) is not None:
        given |= {"invariant_seed": seed, "relation_seed": seed, "fact_seed": seed}
    return replace(plan, **given)


def _peer_figures(plan: Plan) -> dict[str, Figures]:
    figures = {}
    with ExitStack() as stack:
        for peer, read in stack.enter_context(peer_readers()).items():
            found = measuring.measure_invariants(plan, read, PEERS[peer]).figures
            figures[peer] = found | measuring.measure_relations(plan, read, PEERS[peer]).figures
    return figures


def _print_parts(columns: Mapping[str, Figures]) -> None:
    """Print the relations and invariants that are broken, and the kinds of made pages that are not read right."""
    ours = columns[_OURS]
    for title, ending in (("Broken relations", ".broken_share"), ("Violations", ".violations")):
        names = [name for name, value in ours.items() if name.endswith(ending) and name not in _TOTALS and value]
        rows = [(name, *(found.get(name) for found in columns.values())) for name in names]
        print_table(title, ("", *columns), rows)
    kinds = [name.removesuffix(".right") for name in ours if name.startswith("fact.") and name.endswith(".right")]
    outcomes = ("right", "missing", "wrong")
    facts_read = [(kind, *(ours[f"{kind}.{outcome}"] for outcome in outcomes)) for kind in kinds]
    print_table("Made pages", ("", *outcomes), [row for row in facts_read if any(row[2:])])


def _write(path: Path, failures: Sequence[Failure]) -> None:
    """Write one line of JSON for each failure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(asdict(failure), ensure_ascii=False) for failure in failures)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="replace")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--extra", type=Path, metavar="FILE", help="file or folder with relations and facts to run instead"
    )
    parser.add_argument("--failures", type=Path, metavar="FILE", help="write the single violations, one a line")
    parser.add_argument("--seed", type=int, help="other pages and changes")
    parser.add_argument("--pages", type=int, help="saved pages whose answers are checked")
    parser.add_argument("--changed-pages", type=int, help="saved pages that are changed")
    parser.add_argument("--rounds", type=int, help="made pages of each kind")


if __name__ == "__main__":
    restart_single_threaded("benchmarks.integrity")
    run(__doc__ or "", measure, optional_peers=True, add_arguments=_add_arguments)

"""Switch each rule of the product off, and print the change of every figure.

    python -m benchmarks.ablation [--rules A,B] [--suites A,B] --corpora DIR [--cases DIR] --json FILE

The rules stand in `rules.toml`: a function, and what it does while it is switched off. A first pass reads all inputs
and records on which of them each rule has an effect; only those are read again without it, at most `--limit` of a
suite. So the figures are those of all inputs, but for sampling. Inputs are split into two halves by domain: a rule that
was drawn from pages of one half must prove its worth on the other. Negative changes mean that the rule helps.

The JSON has `RULE.FIGURE`, `RULE.a.FIGURE` and `RULE.b.FIGURE` (the halves), `RULE.inputs` (with an effect),
`RULE.changed` (of those read again, with another answer) and `RULE.cases` (with another verdict).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.ablation.case_items import case_items, integrity_items
from benchmarks.ablation.document_items import document_items
from benchmarks.ablation.fact_items import fact_items
from benchmarks.ablation.items import Answer, Counts, Item, add, figures
from benchmarks.ablation.page_items import faithful_items, markdown_items, reader_items
from benchmarks.ablation.predictions import remembered_predictions
from benchmarks.ablation.site_items import site_items
from benchmarks.ablation.switches import Rule, Tracer, load_rules, switched_off
from benchmarks.common.command_line import Figures, Options, print_table, run
from benchmarks.common.single_thread import restart_single_threaded

_SUITES: Mapping[str, Callable[[Path], Iterator[Item]]] = {
    "facts": fact_items,
    "markdown": markdown_items,
    "faithful": faithful_items,
    "integrity": integrity_items,
    "documents": document_items,
    "site": site_items,
    "reader": reader_items,
}
_LIMIT = 250
"""Inputs of a suite that are read again for a rule. The standard error of a change is then at most .001."""
_MIN_CHANGE = 0.0005
"""Changes below this are not printed."""
_QUICK_STEP = 12
_SEED = 46


@dataclass(slots=True)
class _Baseline:
    """Answers to all inputs with all rules, and the rules with an effect on each."""

    items: list[Item]
    answers: list[Answer]
    effective: list[frozenset[str]]


async def measure(options: Options) -> Figures:
    """Measure all rules.

    Raises:
        FileNotFoundError: A corpus is missing.
    """
    return await asyncio.to_thread(_measure, options)


def _measure(options: Options) -> Figures:
    if options.corpora is None:
        raise FileNotFoundError("The pages are missing: use --corpora DIR.")
    more = options.more
    rules = load_rules(more.rules.split(",") if more.rules else ())
    items = list(_items(options.corpora, more.cases, more.suites.split(",") if more.suites else ()))
    items = items[::_QUICK_STEP] if options.quick else items
    found: Figures = {}
    with remembered_predictions():
        baseline = _read_all(items, rules)
        totals = _totals(baseline)
        rows = []
        for rule in rules:
            started = time.process_time()
            change = _without(rule, baseline, totals, more.limit)
            found |= {f"{rule.name}.{name}": value for name, value in change.items()}
            rows.append(_row(rule, change))
            print(*rows[-1], f"{time.process_time() - started:.0f} s", sep=" | ", flush=True)
    print_table("Change of figures without a rule", ("rule", "inputs", "changed", "cases", "largest changes"), rows)
    return found | {f"all.{name}": value for name, value in figures(totals[None]).items()}


def _items(corpora: Path, cases: Path | None, suites: Sequence[str]) -> Iterator[Item]:
    if cases is not None and (not suites or "cases" in suites):
        yield from case_items(cases)
    for name, items in _SUITES.items():
        if not suites or name in suites:
            yield from items(corpora)


def _read_all(items: list[Item], rules: Sequence[Rule]) -> _Baseline:
    """Read all inputs while the rules are traced."""
    baseline = _Baseline(items, [], [])
    tracer = Tracer(rules)
    with tracer.tracing():
        for item in items:
            tracer.effective = set()
            baseline.answers.append(_read(item))
            baseline.effective.append(frozenset(tracer.effective))
    return baseline


def _read(item: Item) -> Answer:
    try:
        return item.read()
    except Exception as error:  # a rule that others need: its inputs count as lost
        print(f"{item.suite}/{item.key}: {error!r}"[:200], file=sys.stderr)
        return Answer({}, digest=-1)


_Totals = Mapping[int | None, Counts]
"""Sums over both halves, and over each."""


def _totals(baseline: _Baseline) -> _Totals:
    pairs = list(zip(baseline.items, baseline.answers, strict=True))
    return {half: add((a.counts, 1.0) for i, a in pairs if half in (None, i.half)) for half in (None, 0, 1)}


def _without(rule: Rule, baseline: _Baseline, totals: _Totals, limit: int) -> Figures:
    """Return the change of each figure without a rule."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, effective in enumerate(baseline.effective):
        if rule.name in effective:
            places[baseline.items[place].suite].append(place)
    changes: dict[int | None, list[tuple[Counts, float]]] = {None: [], 0: [], 1: []}
    changed = cases = 0
    with switched_off([rule]):
        for suite, listed in places.items():
            chosen = random.Random(f"{_SEED} {suite}").sample(listed, min(limit, len(listed)))
            for place in chosen:
                item, before = baseline.items[place], baseline.answers[place]
                after = _read(item)
                changed += after.digest != before.digest
                cases += suite == "cases" and after.failures != before.failures
                weight = len(listed) / len(chosen)
                for half in (None, item.half):
                    changes[half] += [(after.counts, weight), (before.counts, -weight)]
    result: Figures = {"inputs": sum(map(len, places.values())), "changed": changed, "cases": cases}
    for half, prefix in ((None, ""), (0, "a."), (1, "b.")):
        before_all = figures(totals[half])
        after_all = figures(add([(totals[half], 1.0), *changes[half]]))
        for name, value in before_all.items():
            change = after_all.get(name, 0.0) - value
            if abs(change) >= _MIN_CHANGE:
                result[f"{prefix}{name}"] = round(change, 4)
    return result


def _row(rule: Rule, change: Figures) -> tuple[object, ...]:
    counts = ("inputs", "changed", "cases")
    largest = sorted((item for item in change.items() if item[0] not in counts), key=lambda item: -abs(item[1]))
    shown = ", ".join(f"{name} {value:+.4f}" for name, value in _both_halves(largest))
    return (rule.name.removeprefix("scraper."), *(int(change[name]) for name in counts), shown)


def _both_halves(changes: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return the six largest changes over all inputs, else those of a half."""
    listed = list(changes)
    whole = [pair for pair in listed if not pair[0].startswith(("a.", "b."))]
    return (whole or listed)[:6]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rules", metavar="NAMES", help="only rules whose names contain one of these parts")
    parser.add_argument("--suites", metavar="NAMES", help=f"only these of: cases, {', '.join(_SUITES)}")
    parser.add_argument("--cases", type=Path, metavar="DIR", help="folder with AREA/NAME/case.json")
    parser.add_argument("--limit", type=int, default=_LIMIT, help="inputs of a suite that are read again for a rule")


if __name__ == "__main__":
    restart_single_threaded("benchmarks.ablation")
    run(__doc__ or "", measure, add_arguments=_add_arguments)

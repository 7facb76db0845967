"""Items of the small cases and of the integrity benchmark."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import cast

from benchmarks.ablation.items import Answer, Item, digest
from benchmarks.ablation.switches import Memo
from benchmarks.cases import facts, text_cases
from benchmarks.cases.loading import load_cases
from benchmarks.cases.model import Case, CaseResult
from benchmarks.cases.product import Product
from benchmarks.common.command_line import Figures
from benchmarks.integrity import fact_kinds, inserted, measuring, relations, same
from benchmarks.integrity import facts as integrity_facts
from benchmarks.integrity.measuring import Plan
from benchmarks.integrity.product import Answer as IntegrityAnswer
from benchmarks.integrity.product import Reader, open_reader
from scraper.documents.dispatcher import dispatch
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.reading.documents.parser import DocumentParser

_RUNNERS = {"pages": text_cases.run, "documents": text_cases.run, "facts": facts.run}
"""Areas whose answers come from the packages of the rules."""
_PAGES, _CHANGED_PAGES, _ROUNDS = 60, 3, 12
"""Checked pages, changed pages, and made pages of each kind: about half of `benchmarks.integrity --quick`."""
_REGISTERED = (same, inserted, fact_kinds)
"""Modules that register relations and facts when they are imported."""
_WHOLE = ("relation.broken_share", "silent.relation.broken_share", "invariant.pages_share")


class _InProcessParser:
    """Reads documents in this process, where rules are switched off."""

    async def parse(self, data: bytes, request: ParseRequest, *, limit_s: float, source: str) -> ParsedDocument:
        return dispatch(data, request)


def case_items(cases: Path) -> Iterator[Item]:
    """Yield the cases of pages, documents and facts that need no browser."""
    product = Product(cast(DocumentParser, _InProcessParser()))
    for case in load_cases(cases):
        if case.area in _RUNNERS and not case.data.get("needs_browser"):

            def read(case: Case = case) -> Answer:
                result = asyncio.run(_RUNNERS[case.area](case, product))
                return _answer(result)

            yield Item("cases", f"{case.area}/{case.name}", case.name, read)


def _answer(result: CaseResult) -> Answer:
    area, judgments = result.case.area, result.judgments
    if result.not_run or not judgments:
        return Answer({})
    counts = {
        f"cases.{area}.held": (float(sum(one.holds for one in judgments)), float(len(judgments))),
        f"cases.{area}.right": (float(result.is_right), 1.0),
        f"cases.{area}.silent": (float(sum(one.is_silent for one in judgments)), float(len(judgments))),
    }
    failures = frozenset(f"{number}" for number, one in enumerate(judgments) if not one.holds)
    return Answer(counts, digest(sorted(failures)), failures)


def integrity_items(corpora: Path) -> Iterator[Item]:
    """Yield the made pages, the checked pages and the changed pages of the integrity benchmark."""
    plan = Plan(
        corpora,
        relations.REGISTRY,
        integrity_facts.REGISTRY,
        (),
        pages=_PAGES,
        changed_pages=_CHANGED_PAGES,
        rounds=_ROUNDS,
        faulty_changes=0,
    )
    for name, check in plan.facts:
        for number in range(_ROUNDS):

            def read(name: str = name, check: integrity_facts.Check = check, number: int = number) -> Answer:
                outcome, detail = check(Random(f"{plan.fact_seed}-{name}-{number}"))
                values = {f"fact.{kind}": (float(outcome == kind), 1.0) for kind in ("right", "wrong", "missing")}
                return Answer({f"integrity.{key}": value for key, value in values.items()}, digest(outcome, detail))

            yield Item("integrity", f"fact/{name}/{number}", f"{name}/{number}", read)
    own, memo = open_reader(), Memo[IntegrityAnswer]()

    def read_page(html: str, url: str, domain: str) -> IntegrityAnswer:
        return memo.get(hash((html, url)), lambda: own(html, url, domain))

    for work in (_invariants, _relations):

        def measure(work: Callable[[Plan, Reader], Figures] = work) -> Answer:
            found = work(plan, read_page)
            return Answer({f"integrity.{key}": (found[key], 1.0) for key in _WHOLE if key in found}, digest(found))

        yield Item("integrity", work.__name__, work.__name__, measure)


def _invariants(plan: Plan, read: Reader) -> Figures:
    return measuring.measure_invariants(plan, read).figures


def _relations(plan: Plan, read: Reader) -> Figures:
    return measuring.measure_relations(plan, read).figures

"""Read pages, changed pages and made pages, and judge the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.common.command_line import Figures
from benchmarks.integrity import dom, facts, invariants, relations, report, seeded
from benchmarks.integrity.case import Case, Violation
from benchmarks.integrity.output import read_markdown
from benchmarks.integrity.pages import SavedPage, draw
from benchmarks.integrity.product import Answer, Reader
from benchmarks.integrity.relations import Relation, Subject
from benchmarks.integrity.visible import Page, read_page

_INVARIANT_CORPORA = {
    "wcxb": 154,
    "extra-pages": 50,
    "pages-lang": 60,
    "markdown": 40,
    "markdown-hard": 50,
    "recipes": 40,
    "products": 30,
}
"""Corpora, in the proportions in which pages are drawn."""
_RELATION_CORPORA = {"wcxb": 140, "extra-pages": 40, "pages-lang": 40, "markdown": 30}
_MAX_CHANGED = 600_000
"""Bytes of a page that is changed."""
_MIN_PARAGRAPHS = 5
"""Paragraphs of a page that is changed which the reader must write."""
_MIN_ANSWER = 600
"""Characters of an answer into which faults are put."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, on how many pages, and with which seeds."""

    corpora: Path
    relations: Sequence[Relation]
    facts: Sequence[tuple[str, facts.Check]]
    cases: Sequence[seeded.SmallCase]
    invariant_seed: int = 7
    relation_seed: int = 11
    fact_seed: int = 5
    pages: int = 100
    changed_pages: int = 24
    rounds: int = 12
    """Made pages of each kind."""
    faulty_pages: int = 60
    """Pages into whose answers faults are put."""
    faulty_changes: int = 8
    """Pages into whose changed outputs faults are put."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A violation with its page, for the list of failures."""

    kind: str
    name: str
    page: str
    detail: str
    context: str = ""


@dataclass
class Result:
    """Figures and failures."""

    figures: Figures = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def add(self, kind: str, page: str, violations: Sequence[Violation], prefix: str = "") -> None:
        """Add the violations of a page to the failures."""
        self.failures += [Failure(kind, f"{prefix}{one.name}", page, one.detail, one.context) for one in violations]


def _drawn_pages(plan: Plan, count: int) -> list[SavedPage]:
    """Draw pages of all corpora.

    Raises:
        FileNotFoundError: A corpus is missing.
    """
    total = sum(_INVARIANT_CORPORA.values())
    counts = {corpus: max(1, round(number * count / total)) for corpus, number in _INVARIANT_CORPORA.items()}
    return draw(plan.corpora, counts, plan.invariant_seed)


def measure_invariants(plan: Plan, read: Reader, without: tuple[str, ...] = ()) -> Result:
    """Check the answers for saved pages, but not the invariants whose names begin with one of `without`."""
    result, by_page = Result(), []
    examined: Counter[str] = Counter()
    for page in _drawn_pages(plan, plan.pages):
        html = page.html
        case = _case(read_page(dom.parse(html)), read(html, page.url, page.domain), page.url)
        found = [one for one in invariants.check(case) if not one.name.startswith(without)]
        by_page.append(found)
        examined.update({name: count for name, count in case.examined.items() if not name.startswith(without)})
        result.add("invariant", page.name, found)
    result.figures = report.invariant_figures(by_page, examined)
    return result


def _case(page: Page, answer: Answer, url: str) -> Case:
    return Case(page, read_markdown(answer.markdown), url, answer.title, answer.has_posts)


def _subjects(plan: Plan, read: Reader) -> Iterator[tuple[SavedPage, Subject]]:
    """Yield pages of which the reader writes enough paragraphs."""
    pages = [page for page in draw(plan.corpora, _RELATION_CORPORA, plan.relation_seed) if page.size <= _MAX_CHANGED]
    Random(plan.relation_seed).shuffle(pages)
    count = 0
    for page in pages:
        source = dom.serialize(dom.parse(page.html))
        root = dom.parse(source)
        subject = Subject(source, page.url, root, _case(read_page(root), read(source, page.url, page.domain), page.url))
        if len(subject.paragraphs) >= _MIN_PARAGRAPHS:
            yield page, subject
            count += 1
        if count == plan.changed_pages:
            break


def measure_relations(plan: Plan, read: Reader, without: tuple[str, ...] = ()) -> Result:
    """Change pages and judge the outputs, without some invariants; put faults into the outputs of the first pages."""
    result = Result()
    trials: list[report.Trial] = []
    faults: list[tuple[str, bool]] = []
    for number, (page, subject) in enumerate(_subjects(plan, read)):
        for relation in plan.relations:
            change = relations.change_page(relation, subject, page.name, plan.relation_seed)
            if change is None:
                continue
            after = read_markdown(read(change.source, change.url or page.url, page.domain).markdown)
            found = relations.judge(relation, subject, change, after)
            trial = report.Trial(relation, [one for one in found if not one.name.startswith(without)])
            trials.append(trial)
            result.add("relation", page.name, trial.violations, f"{trial.name}.")
            if number < plan.faulty_changes:
                seeds = seeded.relation_faults(relation, subject, change, after)
                faults += [(trial.name, is_reported) for _, is_reported in seeds]
    result.figures = report.relation_figures(trials)
    if faults:
        result.figures |= report.fault_figures("seeded.relation", faults)
        can_fail = {name for name, is_reported in faults if is_reported}
        can_fail |= {trial.name for trial in trials if trial.violations}
        result.figures["seeded.relation.that_cannot_fail"] = len({trial.name for trial in trials} - can_fail)
    return result


def measure_facts(plan: Plan) -> Result:
    """Judge what the product reads on made pages."""
    result = Result()
    outcomes: dict[str, list[str]] = {}
    for name, check in plan.facts:
        for number in range(plan.rounds):
            outcome, detail = check(Random(f"{plan.fact_seed}-{name}-{number}"))
            outcomes.setdefault(name, []).append(outcome)
            if outcome in ("wrong", "missing"):
                result.add("fact", f"made/{number}", [Violation(outcome, detail)], f"{name}.")
    result.figures = report.fact_figures(outcomes)
    return result


def measure_cases(plan: Plan) -> Result:
    """Judge the right and the wrong outputs of small pages."""
    result = Result()
    for case in plan.cases:
        loud, quiet = seeded.violated(case.html, case.wrong), seeded.violated(case.html, case.right)
        result.figures[f"seeded.case.{case.name}.reported"] = float(case.name in loud)
        result.figures[f"seeded.case.{case.name}.false_alarms"] = len(quiet)
        missed = [] if case.name in loud else [Violation("missed", case.wrong)]
        result.add("seeded.case", case.name, [*missed, *(Violation("false alarm", name) for name in sorted(quiet))])
    reported = [value for name, value in result.figures.items() if name.endswith(".reported")]
    result.figures["seeded.case.recall"] = report.share(sum(reported), len(reported))
    result.figures["seeded.case.false_alarms"] = (
        sum(result.figures.values()) - sum(reported) - result.figures["seeded.case.recall"]
    )
    return result


def measure_faults(plan: Plan, read: Reader) -> Result:
    """Put faults into the answers for saved pages."""
    result = Result()
    faults: list[tuple[str, bool]] = []
    for page in _drawn_pages(plan, plan.faulty_pages):
        html = page.html
        answer = read(html, page.url, page.domain)
        if len(answer.markdown) >= _MIN_ANSWER and not answer.has_posts:
            case = _case(read_page(dom.parse(html)), answer, page.url)
            found = list(seeded.answer_faults(case, page.name, plan.invariant_seed))
            faults += found
            result.add(
                "seeded.fault", page.name, [Violation("missed", name) for name, is_reported in found if not is_reported]
            )
    result.figures = report.fault_figures("seeded.fault", faults)
    return result

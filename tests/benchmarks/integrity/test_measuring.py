"""Figures of a reader on a few pages."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from benchmarks.integrity import facts, measuring, same
from benchmarks.integrity.measuring import Plan
from benchmarks.integrity.product import Answer
from benchmarks.integrity.relations import REGISTRY
from tests.benchmarks.integrity.page import PAGE, write_everything

CORPORA = ("wcxb", "extra-pages", "pages-lang", "markdown", "markdown-hard", "recipes", "products")
BUTTON = [one for one in REGISTRY if one.name == "words-in-button" and same]


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    for corpus in CORPORA:
        (tmp_path / corpus / "html").mkdir(parents=True)
        (tmp_path / corpus / "html" / "one.html").write_text(PAGE, encoding="utf-8")
        row = {"id": "one", "html": "html/one.html", "url": f"https://{corpus}.example/one"}
        (tmp_path / corpus / "index.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return tmp_path


def faithful(html: str, url: str, domain: str) -> Answer:
    return Answer(write_everything(html), "Locks open again")


def forgetful(html: str, url: str, domain: str) -> Answer:
    """Lose a paragraph."""
    kept = [line for line in write_everything(html).split("\n") if not line.startswith("The keeper measured")]
    return Answer("\n".join(kept), "Locks open again")


def test_a_faithful_reader_breaks_no_invariant(corpora: Path) -> None:
    figures = measuring.measure_invariants(Plan(corpora, [], [], []), faithful).figures
    assert figures["invariant.pages_share"] == 0
    assert figures["invariant.amid.p.examined"] == 4 * len(CORPORA)


def test_a_lost_paragraph_is_counted_and_listed(corpora: Path) -> None:
    result = measuring.measure_invariants(Plan(corpora, [], [], []), forgetful)
    assert result.figures["invariant.amid.p.pages"] == len(CORPORA)
    assert result.figures["invariant.pages_share"] == 1
    assert "wcxb/one" in {failure.page for failure in result.failures}


def test_invariants_that_cannot_be_asked_of_a_peer_do_not_count(corpora: Path) -> None:
    figures = measuring.measure_invariants(Plan(corpora, [], [], []), forgetful, ("amid",)).figures
    assert "invariant.amid.p.violations" not in figures


def test_broken_relations_are_counted_and_silent_ones_apart(corpora: Path) -> None:
    def read(html: str, url: str, domain: str) -> Answer:
        start, button, rest = html.partition("<button")
        return Answer(write_everything(start + rest.partition("</button>")[2] if button else html))

    result = measuring.measure_relations(Plan(corpora, BUTTON, [], [], changed_pages=2), read)
    assert result.figures["relation.same.words-in-button.tried"] == 2
    assert result.figures["relation.same.broken_share"] == 1
    assert result.figures["silent.relation.broken_share"] == 1
    assert {failure.name for failure in result.failures} == {"same.words-in-button.lost"}


def test_faults_in_the_outputs_of_changed_pages_are_reported(corpora: Path) -> None:
    figures = measuring.measure_relations(Plan(corpora, BUTTON, [], [], changed_pages=1), faithful).figures
    assert figures["relation.broken_share"] == 0
    assert figures["seeded.relation.recall"] == 1
    assert figures["seeded.relation.that_cannot_fail"] == 0


def test_faults_in_answers_are_reported(corpora: Path) -> None:
    figures = measuring.measure_faults(Plan(corpora, [], [], [], faulty_pages=1), faithful).figures
    assert (
        figures["seeded.fault.paragraph-lost.reported"] == figures["seeded.fault.paragraph-lost.tried"] == len(CORPORA)
    )
    assert figures["seeded.fault.recall"] == 1


def test_outcomes_of_made_pages_are_counted_by_kind_and_group() -> None:
    def guess(rng: Random) -> facts.Outcome:
        return rng.choice(("right", "wrong")), ""

    plan = Plan(Path(), [], [("price.some", guess), ("about.none", lambda rng: ("missing", "author"))], [], rounds=8)
    figures = measuring.measure_facts(plan).figures
    assert figures["fact.about.missing_share"] == 1
    assert figures["fact.missing_share"] == 0.5
    assert figures["fact.price.some.wrong"] + figures["fact.price.some.right"] == 8
    assert figures["silent.fact.wrong_share"] == figures["fact.price.some.wrong"] / 16


def test_a_value_where_none_may_be_is_wrong_and_no_value_is_missing() -> None:
    assert facts.judge_values({"a": "1"}, {"a": None})[0] == "wrong"
    assert facts.judge_values({"a": ""}, {"a": None})[0] == "right"
    assert facts.judge_values({"a": None, "b": "2"}, {"a": "1", "b": "2"})[0] == "missing"
    assert facts.judge_values({"a": "2"}, {"a": "1"})[0] == "wrong"

"""Files with further relations, facts, small cases and a seed."""

from pathlib import Path

import pytest

from benchmarks.integrity import extra, facts, measuring, relations

FILE = '''
"""Further kinds. Seed 31."""

from __future__ import annotations

import random

from integrity import dom, facts, relations, visible
from integrity.facts import Outcome, Shop, _page, judge_records, make_listing, as_rows, table_of
from integrity.relations import NEAR, Change, Subject, _at, _path, inserting, relation, sentence, written_paragraphs

inserting("three-lines", "whole", lambda s, r: f"<p>{sentence(s, r, 9)}</p>")


@relation("first-paragraph-twice", "same", NEAR)
def _(subject: Subject, rng: random.Random) -> Change | None:
    root = subject.copy()
    paragraph = _at(root, _path(written_paragraphs(subject)[0]))
    assert paragraph.parent is not None
    paragraph.parent.insert(paragraph.index, dom.Element("hr"))
    return Change(dom.serialize(root))


@facts.fact("records.one-table")
def _(rng: random.Random) -> Outcome:
    return judge_records(_page(table_of(as_rows(make_listing(rng)), facts.HEADS[:4])), 8)


@facts.price_relation("same-page")
def _(shop: Shop, rng: random.Random) -> Shop:
    return shop


CASES = (("sentence.inner", "<p>a</p>", "a", "b"),)
'''


def test_a_file_adds_relations_facts_cases_and_a_seed(tmp_path: Path) -> None:
    file = tmp_path / "further.py"
    file.write_text(FILE, encoding="utf-8")
    before = len(relations.REGISTRY), len(facts.REGISTRY)
    (found,) = extra.load(file)
    assert [one.name for one in found.relations] == ["three-lines", "first-paragraph-twice"]
    assert [name for name, _ in found.facts] == ["records.one-table", "price.same-page"]
    assert found.cases[0].name == "sentence.inner"
    assert found.seed == 31
    assert (len(relations.REGISTRY), len(facts.REGISTRY)) == before


def test_a_folder_adds_all_its_files_and_their_seeds(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FILE, encoding="utf-8")
    (tmp_path / "b.py").write_text(
        "from integrity import facts\nfacts.fact('x.y')(lambda rng: ('right', ''))\n", encoding="utf-8"
    )
    plan = extra.applied(measuring.Plan(tmp_path, [], [], []), extra.load(tmp_path))
    assert [name for name, _ in plan.facts] == ["records.one-table", "price.same-page", "x.y"]
    assert (plan.relation_seed, plan.fact_seed) == (31, 31)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        extra.load(tmp_path / "none.py")

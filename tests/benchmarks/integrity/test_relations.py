"""Relations hold for a reader that writes everything, and are broken by readers with known faults."""

import re
from random import Random

import pytest

from benchmarks.integrity import inserted, relations, same
from benchmarks.integrity.relations import Relation
from tests.benchmarks.integrity.page import Reading, output_of, subject_of, write_everything

REGISTERED = (same, inserted)
BY_NAME = {relation.name: relation for relation in relations.REGISTRY}
SAME = [relation for relation in relations.REGISTRY if relation.kind == "same"]
UNWRITTEN = {"lettered-list", "struck-text", "definition-list", "definition-list-of-values"}
"""What the converter of these tests does not write as Markdown."""
WHOLE = [one for one in relations.REGISTRY if one.kind == "whole" and one.name not in UNWRITTEN]


def broken(relation: Relation, read: Reading) -> list[str]:
    subject = subject_of(read)
    change = relations.change_page(relation, subject, "set/page", 1)
    assert change is not None
    return [violation.name for violation in relations.judge(relation, subject, change, output_of(read, change.source))]


@pytest.mark.parametrize("relation", SAME, ids=[relation.name for relation in SAME])
def test_a_change_without_meaning_leaves_the_words_of_a_faithful_reader(relation: Relation) -> None:
    subject = subject_of(write_everything)
    change = relations.change_page(relation, subject, "set/page", 1)
    if change is not None:  # this page has no letters that can be decomposed, and no classes
        assert relations.judge(relation, subject, change, output_of(write_everything, change.source)) == []
    else:
        assert relation.name in ("decomposed-characters", "hashed-class-names")


@pytest.mark.parametrize("relation", WHOLE, ids=[relation.name for relation in WHOLE])
def test_what_is_inserted_is_whole_in_the_output_of_a_faithful_reader(relation: Relation) -> None:
    assert broken(relation, write_everything) == []


@pytest.mark.parametrize(
    ("name", "pattern", "outcome"),
    [
        ("words-in-button", r"<button.*?</button>", "lost"),
        ("section", r"<h3>.*?</h3>", "torn"),
        ("short-paragraph", r"<p>(\w+ ){4}\w+\.</p>", "lost"),
        ("figure-with-caption", r"<img[^>]*>", "image"),
        ("formula", r"</?su[bp]>", "mark.raised.number"),
        ("lettered-list", r" type=\"a\"", "mark.marker"),
        ("same-sentence-in-two-sections", r"</h3><p>.*?</p>", "differs"),
    ],
)
def test_a_reader_that_loses_something_breaks_the_relation(name: str, pattern: str, outcome: str) -> None:
    assert outcome in broken(BY_NAME[name], lambda html: write_everything(re.sub(pattern, "", html)))


def test_a_reader_that_writes_noise_breaks_the_relation() -> None:
    assert broken(BY_NAME["share-bar"], write_everything) == ["leaked"]


def test_a_reader_that_leaves_out_noise_holds_the_relation() -> None:
    def read(html: str) -> str:
        return write_everything(re.sub(r'<div class="share-buttons">.*?</div>', "", html))

    assert broken(BY_NAME["share-bar"], read) == []


def test_the_rest_of_the_page_must_stay() -> None:
    def read(html: str) -> str:
        return write_everything(html.partition("<aside")[0] if "sidebar" in html else html).replace(
            "Forty boats waited in the basin", ""
        )

    assert broken(BY_NAME["sidebar"], read) == []
    assert "rest" in broken(
        BY_NAME["short-paragraph"],
        lambda html: write_everything(
            re.sub(r"<p>In autumn.*?</p>", "", html, flags=re.S) if html.count("<p>") > 6 else html
        ),
    )


def test_the_same_seed_gives_the_same_change() -> None:
    subject = subject_of(write_everything)
    one, other = (relations.change_page(BY_NAME["table"], subject, "set/page", 1) for _ in range(2))
    assert one is not None and other is not None
    assert one.source == other.source
    assert relations.change_page(BY_NAME["table"], subject, "set/page", 2) != one


def test_a_page_with_few_paragraphs_has_no_place_for_an_insertion() -> None:
    subject = subject_of(write_everything, "<body><p>Only one paragraph of a few words.</p></body>")
    assert relations.pick_gap(subject, Random(1)) is None

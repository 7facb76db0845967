"""Run all checks on a page beside its output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.integrity import flow, marks, pairs
from benchmarks.integrity.case import Case, Violation

Check = Callable[[Case], Iterator[Violation]]

MARK_CHECKS: tuple[Check, ...] = (
    pairs.check_tables,
    flow.check_words,
    marks.check_struck,
    marks.check_raised,
    marks.check_markers,
    marks.check_links,
    marks.check_markup,
    marks.check_code,
)
"""Checks whose violations also count for what a relation inserts."""

CHECKS: tuple[Check, ...] = (
    *MARK_CHECKS,
    pairs.check_pairs,
    pairs.check_figures,
    pairs.check_items,
    pairs.check_headings,
    pairs.check_notes,
    flow.check_sentences,
    flow.check_siblings,
    flow.check_order,
    flow.check_repetition,
)

INVARIANTS = {
    name: examined
    for examined, names in {
        "sentence": "sentence.inner sentence.edge",
        "pair.term": "pair.term.first pair.term.second",
        "pair.label": "pair.label.first pair.label.second",
        "pair.rows": "pair.rows pair.cells",
        "pair.column": "pair.column",
        "pair.caption": "pair.caption.first pair.caption.second",
        "pair.figure": "pair.figure.image pair.figure.image-undescribed pair.figure.caption",
        "pair.item": "pair.item",
        "pair.intro": "pair.intro.first pair.intro.second",
        "pair.heading": "pair.heading.empty pair.heading.lost",
        "pair.note": "pair.note.note pair.note.mark",
        "order": "order",
        "repeat": "repeat",
        "words": "words.joined words.number",
        "mark.struck": "mark.struck",
        "mark.raised": "mark.raised.number mark.raised.word",
        "mark.marker": "mark.marker",
        "link": "link.text link.target",
        "markup": "markup.open",
        "code": "code.lines code.indent",
        **{f"amid.{tag}": f"amid.{tag}" for tag in "figure p div li ul ol dl table pre blockquote".split()},
    }.items()
    for name in names.split()
}
"""Each invariant, with the name under which its examined places are counted."""


def check(case: Case, checks: Sequence[Check] = CHECKS) -> list[Violation]:
    """Return the violations of an output."""
    return [violation for one in checks for violation in one(case)]

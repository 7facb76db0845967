"""Put faults into outputs on purpose, and count those that the checks report.

The outputs are those of small pages, where the right output is known too, of real pages, and of changed pages.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random

from benchmarks.integrity import dom, invariants, relations
from benchmarks.integrity.case import Case
from benchmarks.integrity.output import Block, Output, read_markdown
from benchmarks.integrity.relations import Change, Relation, Subject
from benchmarks.integrity.visible import HEADINGS, Page, read_page, squash

_TITLE = "On the river"
_FIRST = "The ferry needs ten minutes from the market to the north bank when the water is low."
_LAST = "Bicycles travel free of charge on Sundays and on all days outside the season of the fairs."


@dataclass(frozen=True, slots=True)
class SmallCase:
    """A small page with the output that is right, and with one that breaks an invariant."""

    name: str
    html: str
    right: str
    wrong: str


def small_cases() -> Iterator[SmallCase]:
    """Yield the cases of `small_cases.toml`."""
    source = Path(__file__).with_name("small_cases.toml").read_text(encoding="utf-8")
    for page in tomllib.loads(source)["page"]:
        for name, fault in page["faults"].items():
            old, new = (fault or page["right"], "") if isinstance(fault, str) else fault
            yield SmallCase(name, page["html"], page["right"], page["right"].replace(old, new))


def violated(html: str, markdown: str) -> set[str]:
    """Return the invariants that an output of a small page breaks."""
    body = f"<main><h1>{_TITLE}</h1><p>{_FIRST}</p>{html}<p>{_LAST}</p></main>"
    page = read_page(dom.parse(f"<!DOCTYPE html><html><body>{body}</body></html>"))
    inner, _, behind = markdown.partition("\n\n\0\n\n")
    text = f"# {_TITLE}\n\n{_FIRST}\n\n{inner}\n\n{_LAST}\n\n{behind}"
    case = Case(page, read_markdown(text), "https://e.example/page", _TITLE)
    return {violation.name for violation in invariants.check(case)}


# Answers for real pages

Blocks = list[Block]
Fault = Callable[[Blocks, Random], Blocks | None]
"""Changes the blocks of an answer; None if there is no place for the fault."""
Places = Callable[[Blocks], Sequence[int]]


def _is_text(block: Block) -> bool:
    return block.kind == "p" and not block.marker and len(block.tokens) >= 12


def _is_heading(block: Block) -> bool:
    return block.kind in HEADINGS[1:4]


def _where(fits: Callable[[Block], object], *, inner: bool = False) -> Places:
    """Return a function that finds blocks, with `inner` only those between two others."""

    def find(blocks: Blocks) -> Sequence[int]:
        found = {at for at, block in enumerate(blocks) if fits(block)}
        return sorted(at for at in found if not inner or {at - 1, at + 1} <= found)

    return find


def _at(places: Places, change: Callable[[Blocks, int, Random], Blocks]) -> Fault:
    """Return the fault that changes the blocks at one of the places."""

    def fault(blocks: Blocks, rng: Random) -> Blocks | None:
        found = places(blocks)
        return change(list(blocks), rng.choice(found), rng) if found else None

    return fault


def _lose(blocks: Blocks, at: int, rng: Random) -> Blocks:
    return [*blocks[:at], *blocks[at + 1 :]]


def _lose_words(blocks: Blocks, at: int, rng: Random) -> Blocks:
    words = blocks[at].text.split(" ")
    start = rng.randrange(4, max(5, len(words) - 6))
    blocks[at] = replace(blocks[at], text=" ".join(words[:start] + words[start + 2 :]))
    return blocks


def _lose_row(blocks: Blocks, at: int, rng: Random) -> Blocks:
    first = at
    while (cell := blocks[at].cell) and at + 1 < len(blocks) and (other := blocks[at + 1].cell) and cell[0] == other[0]:
        at += 1
    return blocks[:first] + blocks[at + 1 :]


def _swap_cells(blocks: Blocks, at: int, rng: Random) -> Blocks:
    one, other = blocks[at : at + 2]
    blocks[at : at + 2] = [replace(other, cell=one.cell), replace(one, cell=other.cell)]
    return blocks


def _lose_behind(blocks: Blocks, at: int, rng: Random) -> Blocks:
    """Lose all between a heading and the next one, or the list behind an introduction."""
    ends = (_is_heading) if _is_heading(blocks[at]) else (lambda block: not block.marker)
    end = next((number for number in range(at + 1, len(blocks)) if ends(blocks[number])), len(blocks))
    return blocks[: at + 1] + blocks[end:]


def _swap_with_another(blocks: Blocks, at: int, rng: Random) -> Blocks:
    other = rng.choice([place for place in _where(_is_text)(blocks) if place != at] or [at])
    blocks[at], blocks[other] = blocks[other], blocks[at]
    return blocks


def _flatten(blocks: Blocks, at: int, rng: Random) -> Blocks:
    lines = blocks[at].text.split("\n")
    blocks[at] = replace(blocks[at], text="\n".join(line.lstrip() for line in lines))
    return blocks


def _bend_link(blocks: Blocks, at: int, rng: Random) -> Blocks:
    (text, address), *others = blocks[at].links
    blocks[at] = replace(blocks[at], links=[(text, f"{address.rstrip('/')}/x"), *others])
    return blocks


def _sections(blocks: Blocks) -> Sequence[int]:
    heads = _where(_is_heading)(blocks)
    return [one for one, other in pairwise(heads) if sum(len(block.tokens) for block in blocks[one + 1 : other]) >= 25]


def _before(fits: Callable[[Block], object], follows: Callable[[Block], object]) -> Places:
    """Return a function that finds blocks that another kind of block follows."""
    return lambda blocks: [at for at in _where(fits)(blocks[:-1]) if follows(blocks[at + 1])]


FAULTS: Mapping[str, Fault] = {
    "words-lost": _at(_where(lambda block: _is_text(block) and not block.links), _lose_words),
    "paragraph-lost": _at(_where(_is_text, inner=True), _lose),
    "paragraph-twice": _at(_where(_is_text), lambda blocks, at, rng: [*blocks, blocks[at]]),
    "paragraphs-swapped": _at(_where(_is_text, inner=True), _swap_with_another),
    "item-lost": _at(_where(lambda block: block.marker and len(block.tokens) >= 6, inner=True), _lose),
    "heading-lost": _at(_before(_is_heading, _is_text), _lose),
    "section-lost": _at(_sections, _lose_behind),
    "row-lost": _at(_where(lambda block: block.cell and block.cell[0] > 1 and block.cell[1] == 0), _lose_row),
    "cells-swapped": _at(_before(lambda block: block.kind == "td", lambda block: block.kind == "td"), _swap_cells),
    "term-lost": _at(_where(lambda block: block.kind == "dt"), _lose),
    "list-lost": _at(
        _before(lambda block: len(block.tokens) >= 3 and block.text.rstrip().endswith(":"), lambda block: block.marker),
        _lose_behind,
    ),
    "code-flat": _at(_where(lambda block: block.kind == "code" and block.text.count("\n  ") >= 2), _flatten),
    "address-wrong": _at(_where(lambda block: len(block.links) and len(block.links[0][0]) > 2), _bend_link),
}


def answer_faults(case: Case, name: str, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield each fault that was put into the answer for a page, and True if it was reported."""
    before = _signature(case)
    for fault, make in FAULTS.items():
        changed = make(case.output.blocks, Random(f"{seed}-{fault}-{name}"))
        if changed is not None:
            after = _signature(Case(case.page, Output(changed), case.url, case.title, case.has_posts))
            yield fault, bool(after - before)


def _signature(case: Case) -> Counter[tuple[str, str]]:
    return Counter((violation.name, violation.detail) for violation in invariants.check(case))


# Outputs of changed pages


def relation_faults(relation: Relation, subject: Subject, change: Change, after: Output) -> Iterator[tuple[str, bool]]:
    """Yield each fault that was put into the output of a changed page, and True if it was reported.

    A fault is skipped if the reader had not written what it takes away, or if the relation is already broken and the
    fault adds nothing.
    """
    before = {violation.name for violation in relations.judge(relation, subject, change, after)}
    for fault, output in _wrong_outputs(relation, change, after):
        is_same = output.tokens == after.tokens and output.image_names == after.image_names
        if is_same and "mark" not in fault:
            continue
        reported = {violation.name for violation in relations.judge(relation, subject, change, output)} - before
        if reported or not before:
            yield fault, bool(reported)


def _wrong_outputs(relation: Relation, change: Change, after: Output) -> Iterator[tuple[str, Output]]:
    if relation.least < 1.0:
        yield "rest-lost", _without_longest(after, 2.5 * (1 - relation.least))
    if relation.kind == "same":
        if relation.least == 1.0:
            yield "word-lost", _without_a_word(after)
    elif change.texts:
        yield "copy-lost", _without(after, change.texts[0])
        yield "all-lost", _without(after, change.texts[0], change.times)
    elif change.root is not None:
        yield from _wrong_insertions(relation.kind, change, read_page(change.root), after)


def _wrong_insertions(kind: str, change: Change, page: Page, after: Output) -> Iterator[tuple[str, Output]]:
    units = [unit for one in change.inserted for unit in page.within.get(one, []) if len(unit.squashed) >= 8]
    if kind == "absent":
        yield "noise-written", Output([*after.blocks, *(Block("p", unit.text) for unit in units)])
        return
    needed = [unit for unit in units if not unit.is_optional]
    if needed:
        yield "last-part-lost", _without(after, needed[-1].needed_squashed)
        yield "first-part-lost", _without(after, needed[0].needed_squashed)
    if any(one.has("img") for one in change.inserted):
        yield "image-lost", Output([replace(block, images=[]) for block in after.blocks])
    if any(piece.flags & {"struck", "sup", "sub"} for unit in needed for piece in unit.pieces):
        yield "marks-lost", Output([replace(block, struck=[], raised=[]) for block in after.blocks])
    if any(one.get("type") for one in change.inserted):
        yield "markers-lost", Output([replace(block, marker=block.marker and "1.") for block in after.blocks])


def _without(output: Output, text: str, times: int = 1) -> Output:
    """Return an output without the first blocks that hold a text."""
    holders = [block for block in output.blocks if squash(text) in squash(block.text)][:times]
    return Output([block for block in output.blocks if not any(block is one for one in holders)])


def _without_a_word(output: Output) -> Output:
    """Return an output without a word in the middle of the longest block."""
    longest = max(output.blocks, key=lambda block: len(block.tokens))
    words = longest.text.split(" ")
    del words[len(words) // 2]
    return Output([replace(one, text=" ".join(words)) if one is longest else one for one in output.blocks])


def _without_longest(output: Output, share: float) -> Output:
    """Return an output without its longest blocks, until it lacks a share of the words."""
    gone: list[Block] = []
    for block in sorted(output.blocks, key=lambda block: -len(block.tokens)):
        if sum(len(one.tokens) for one in gone) > share * len(output.tokens):
            break
        gone.append(block)
    return Output([block for block in output.blocks if not any(block is one for one in gone)])

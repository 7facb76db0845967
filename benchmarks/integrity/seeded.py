"""Put faults into outputs on purpose, and count those that the checks report.

The outputs are those of small pages, where the right output is known too, of real pages, and of changed pages.
"""

from __future__ import annotations

import re
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
from benchmarks.integrity.visible import Page, read_page, squash

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
    """Yield the cases of `small_cases.toml`: pages, each with faults as `[old text, new text]`."""
    source = Path(__file__).with_name("small_cases.toml").read_text(encoding="utf-8")
    for page in tomllib.loads(source)["page"]:
        for name, (old, new) in page["faults"].items():
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

Blocks = list[str]
Fault = Callable[[Blocks, Random], Blocks | None]
"""Changes the blocks of an answer; None if there is no place for the fault."""

_HEADING = re.compile(r"#{2,4} ")
_NO_PARAGRAPH = re.compile(r"#|\||>|-|`|:|\[|!|    |\d+\.")
_LINK = re.compile(r"(?<!!)(\[[^\]\[]{3,}\]\(https?://[^/)\s]+)([^)\s]*)\)")
_TERM = re.compile(r"[^\n:#|>-][^\n]*\n:   ")


def split_blocks(text: str) -> Blocks:
    """Split an answer at blank lines that are not in code."""
    blocks: Blocks = []
    for number, part in enumerate(re.split(r"(?ms)(^```.*?^```$)", text)):
        blocks += [part] if number % 2 else [block for block in part.strip("\n").split("\n\n") if block]
    return blocks


def _is_paragraph(block: str) -> bool:
    return len(block.split()) >= 12 and "\n" not in block and not _NO_PARAGRAPH.match(block)


def _is_table(block: str) -> bool:
    return block.startswith("|") and block.count("\n") >= 4


def _edit(blocks: Blocks, places: Sequence[int], rng: Random, change: Callable[[str], str]) -> Blocks | None:
    """Change one of the blocks; an empty text removes it."""
    if not places:
        return None
    at = rng.choice(places)
    changed = change(blocks[at])
    return [*blocks[:at], *([changed] if changed else []), *blocks[at + 1 :]]


def _where(blocks: Blocks, fits: Callable[[str], object]) -> list[int]:
    return [at for at, block in enumerate(blocks) if fits(block)]


def _words_lost(blocks: Blocks, rng: Random) -> Blocks | None:
    def change(block: str) -> str:
        words = block.split(" ")
        start = rng.randrange(4, len(words) - 6)
        return " ".join(words[:start] + words[start + 2 :])

    return _edit(blocks, _where(blocks, lambda b: _is_paragraph(b) and "[" not in b and "*" not in b), rng, change)


def _paragraph_lost(blocks: Blocks, rng: Random) -> Blocks | None:
    plain = set(_where(blocks, _is_paragraph))
    return _edit(blocks, [at for at in sorted(plain) if {at - 1, at + 1} <= plain], rng, lambda block: "")


def _item_lost(blocks: Blocks, rng: Random) -> Blocks | None:
    def inner(block: str) -> list[int]:
        lines = block.split("\n")
        long = {at for at, line in enumerate(lines) if line.startswith("- ") and len(line.split()) >= 7}
        return [at for at in sorted(long) if {at - 1, at + 1} <= long and "](" not in lines[at]]

    def change(block: str) -> str:
        lines, at = block.split("\n"), rng.choice(inner(block))
        return "\n".join(lines[:at] + lines[at + 1 :])

    return _edit(blocks, _where(blocks, inner), rng, change)


def _heading_lost(blocks: Blocks, rng: Random) -> Blocks | None:
    plain = set(_where(blocks, _is_paragraph))
    return _edit(blocks, [at for at in _where(blocks, _HEADING.match) if at + 1 in plain], rng, lambda block: "")


def _section_lost(blocks: Blocks, rng: Random) -> Blocks | None:
    heads = _where(blocks, _HEADING.match)
    spans = [(a, b) for a, b in pairwise(heads) if len(" ".join(blocks[a + 1 : b]).split()) >= 25]
    if not spans:
        return None
    start, end = rng.choice(spans)
    return [*blocks[: start + 1], *blocks[end:]]


def _row_lost(blocks: Blocks, rng: Random) -> Blocks | None:
    def change(block: str) -> str:
        rows = block.split("\n")
        del rows[rng.randrange(2, len(rows))]
        return "\n".join(rows)

    return _edit(blocks, _where(blocks, _is_table), rng, change)


def _cells_swapped(blocks: Blocks, rng: Random) -> Blocks | None:
    def change(block: str) -> str:
        rows = block.split("\n")
        at = rng.randrange(2, len(rows))
        one, other, *rest = rows[at].strip("|").split(" | ")
        rows[at] = f"| {' | '.join([other.strip(), one.strip(), *rest])} |"
        return "\n".join(rows)

    return _edit(blocks, _where(blocks, lambda b: _is_table(b) and " | " in b.split("\n")[0]), rng, change)


def _term_lost(blocks: Blocks, rng: Random) -> Blocks | None:
    return _edit(blocks, _where(blocks, _TERM.match), rng, lambda block: block.partition("\n")[2])


def _list_lost(blocks: Blocks, rng: Random) -> Blocks | None:
    introductions = _where(blocks, lambda block: block.rstrip().endswith(":") and len(block.split()) >= 3)
    lists = [at + 1 for at in introductions if "".join(blocks[at + 1 : at + 2]).startswith(("- ", "1. "))]
    return _edit(blocks, lists, rng, lambda block: "")


def _paragraph_twice(blocks: Blocks, rng: Random) -> Blocks | None:
    places = _where(blocks, _is_paragraph)
    return [*blocks, blocks[rng.choice(places)]] if len(places) >= 3 else None


def _paragraphs_swapped(blocks: Blocks, rng: Random) -> Blocks | None:
    places = _where(blocks, lambda block: _is_paragraph(block) and len(block) > 80)
    if len(places) < 4:
        return None
    one, other = rng.sample(places, 2)
    changed = list(blocks)
    changed[one], changed[other] = changed[other], changed[one]
    return changed


def _code_flat(blocks: Blocks, rng: Random) -> Blocks | None:
    places = _where(blocks, lambda b: b.startswith("```") and b.endswith("```") and b.count("\n  ") >= 2)
    return _edit(blocks, places, rng, lambda block: "\n".join(line.lstrip() for line in block.split("\n")))


def _address_wrong(blocks: Blocks, rng: Random) -> Blocks | None:
    places = _where(blocks, lambda block: _LINK.search(block) and not block.startswith("`"))
    return _edit(blocks, places, rng, lambda block: _LINK.sub(r"\1/x\2)", block, count=1))


FAULTS: Mapping[str, Fault] = {
    "words-lost": _words_lost,
    "paragraph-lost": _paragraph_lost,
    "item-lost": _item_lost,
    "heading-lost": _heading_lost,
    "section-lost": _section_lost,
    "row-lost": _row_lost,
    "cells-swapped": _cells_swapped,
    "term-lost": _term_lost,
    "list-lost": _list_lost,
    "paragraph-twice": _paragraph_twice,
    "paragraphs-swapped": _paragraphs_swapped,
    "code-flat": _code_flat,
    "address-wrong": _address_wrong,
}


def answer_faults(case: Case, markdown: str, name: str, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield each fault that was put into the answer for a page, and True if it was reported."""
    blocks = split_blocks(markdown)
    before = _signature(case)
    for fault, make in FAULTS.items():
        changed = make(blocks, Random(f"{seed}-{fault}-{name}"))
        if changed is not None:
            text = "\n\n".join(changed)
            after = _signature(Case(case.page, read_markdown(text), case.url, case.title, case.has_posts))
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
        yield "noise-written", Output([*after.blocks, *(Block("paragraph", unit.text) for unit in units)])
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

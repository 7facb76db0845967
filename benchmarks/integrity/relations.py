"""Change a page in a way whose effect on the output is known, and judge the output of the changed page.

- `same`: the change has no meaning for a person, so the words stay the same, exactly or nearly.
- `whole`: something is inserted between two paragraphs that the reader writes. All of it is written, in its place.
- `absent`: noise is inserted. None of it is written.

Under `whole` and `absent`, the rest of the output stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from benchmarks.integrity import dom, invariants
from benchmarks.integrity.case import Case, Violation
from benchmarks.integrity.dom import Element
from benchmarks.integrity.output import Output
from benchmarks.integrity.visible import Page, Unit, read_page, squash

NEAR = 0.98
"""Similarity of the words of two outputs where a change may have a small effect."""

_MIN_WORDS = 12
"""Tokens of a paragraph between which something can be inserted."""
_MIN_PARAGRAPHS = 4
_MIN_LEAK = 8
"""Letters and digits of a text that is no chance match."""
_OWN_CHECKS = ("mark.", "code.", "markup.", "pair.column", "words.joined", "link.target")
"""Invariants that count for what a relation inserts."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_SLOT = re.compile(r"\{(\w+)(?: (\d+))?\}")
_SYLLABLES = (
    "ba cil dro fam gil hob jul kem lid mor nas pof ral sev tob ulm vik wod yem zan hul pek rif sut dag".split()
)


@dataclass
class Change:
    """A changed page."""

    source: str
    inserted: Sequence[Element] = ()
    """Elements whose text must be written, or must not."""
    root: Element | None = None
    """Tree of the changed page, with the inserted elements."""
    texts: Sequence[str] = ()
    """Texts that must be written exactly `times` times."""
    times: int = 1
    url: str = ""
    """New URL of the page, if it changes."""


@dataclass(eq=False)
class Subject:
    """A page as it was, with its output."""

    source: str
    url: str
    root: Element
    case: Case

    @property
    def page(self) -> Page:
        """The units of the page."""
        return self.case.page

    def copy(self) -> Element:
        """Return a copy of the page to change."""
        return self.root.copy()

    def copies(self) -> tuple[Element, list[Element]]:
        """Return a copy of the page, and the written paragraphs in it."""
        root = self.copy()
        twins = dict(zip(self.root.iter(), root.iter(), strict=True))
        return root, [twins[paragraph] for paragraph in self.paragraphs]

    @cached_property
    def paragraphs(self) -> list[Element]:
        """Paragraphs of running text that the reader wrote whole, of the parent that has most of them."""
        groups: dict[Element, list[Element]] = {}
        for unit in self.page.units:
            block, found = unit.block, self.case.found[unit.number]
            if block.tag != "p" or block.parent is None or found.status != "whole" or not found.in_order:
                continue
            if len(unit.tokens) >= _MIN_WORDS and unit.link_share < 0.3 and self.case.units_in(block) == [unit]:
                groups.setdefault(block.parent, []).append(block)
        return max(groups.values(), key=len, default=[])


Maker = Callable[[Subject, Random], Change | None]
"""Changes a page; returns None if the page has no place for the change."""


@dataclass(frozen=True)
class Relation:
    """A named change with what must hold."""

    name: str
    kind: str
    make: Maker
    least: float = 1.0
    """Least similarity of the words, or of the rest of the page."""


REGISTRY: list[Relation] = []


def relation(name: str, kind: str, least: float = 1.0) -> Callable[[Maker], Maker]:
    """Register a relation."""

    def add(make: Maker) -> Maker:
        REGISTRY.append(Relation(name, kind, make, least))
        return make

    return add


def change_page(relation: Relation, subject: Subject, page: str, seed: int) -> Change | None:
    """Return the changed page, which only depends on the seed, the relation and the name of the page."""
    return relation.make(subject, Random(f"{seed}-{relation.name}-{page.replace('/', '-', 1)}"))


# New texts


def nonce(rng: Random) -> str:
    """Return a word that is on no page."""
    return "".join(rng.choice(_SYLLABLES) for _ in range(4)) + rng.choice(("x", "q", "zk", "vv"))


def sentence(subject: Subject, rng: Random, words: int = 14) -> str:
    """Return words of the page in another order, with new words at the start, in the middle and at the end."""
    pool = [word.lower() for one in subject.paragraphs[:12] for word in _WORD.findall(one.text())]
    drawn = [rng.choice(pool or ["word"]) for _ in range(max(1, words - 3))]
    middle = len(drawn) // 2
    return f"{' '.join([nonce(rng).capitalize(), *drawn[:middle], nonce(rng), *drawn[middle:], nonce(rng)])}."


def phrase(subject: Subject, rng: Random, words: int = 3) -> str:
    """Return a few words that begin with a new one."""
    return " ".join([nonce(rng).capitalize(), *sentence(subject, rng, words + 3).lower().rstrip(".").split()[1:words]])


def fill(template: str, subject: Subject, rng: Random) -> str:
    """Fill the slots of a piece of HTML, such as `{nonce}`, `{phrase 3}` or `{sentence 9}`."""
    makers: dict[str, Callable[[int], str]] = {
        "nonce": lambda _: nonce(rng),
        "phrase": lambda words: phrase(subject, rng, words),
        "sentence": lambda words: sentence(subject, rng, words),
        "clause": lambda words: sentence(subject, rng, words)[:-1],
        "value": lambda _: f"{nonce(rng)} {rng.randrange(100, 9_999)}",
        "number": lambda _: str(rng.randrange(10, 99)),
    }
    return _SLOT.sub(lambda slot: makers[slot[1]](int(slot[2] or 0)), template)


# Insertion


def pick_gap(subject: Subject, rng: Random) -> tuple[Element, Element] | None:
    """Return a copy of the page, and in it a written paragraph that another one follows."""
    root, paragraphs = subject.copies()
    places = [one for one, behind in _next_elements(paragraphs) if any(behind is other for other in paragraphs)]
    return (root, rng.choice(places)) if len(paragraphs) >= _MIN_PARAGRAPHS and places else None


def _next_elements(elements: Sequence[Element]) -> Iterator[tuple[Element, Element | None]]:
    for element in elements:
        behind = element.parent.children[element.index + 1 :] if element.parent is not None else []
        yield element, next((node for node in behind if isinstance(node, Element)), None)


def insert_behind(subject: Subject, rng: Random, source: str) -> Change | None:
    """Insert a piece of HTML between two written paragraphs."""
    place = pick_gap(subject, rng)
    if place is None:
        return None
    root, paragraph = place
    assert paragraph.parent is not None
    return insert(root, paragraph.parent, paragraph.index + 1, source)


def insert(root: Element, parent: Element, at: int, source: str) -> Change:
    """Insert a piece of HTML as a child at a position."""
    nodes = dom.parse_fragment(source)
    parent.insert(at, *nodes)
    return Change(dom.serialize(root), [node for node in nodes if isinstance(node, Element)], root)


def inserting(name: str, kind: str, snippet: Callable[[Subject, Random], str]) -> None:
    """Register a relation that inserts a piece of HTML between two written paragraphs."""
    relation(name, kind, NEAR)(lambda subject, rng: insert_behind(subject, rng, snippet(subject, rng)))


# Judgment


def judge(relation: Relation, subject: Subject, change: Change, after: Output) -> list[Violation]:
    """Return what is broken in the output of a changed page."""
    before = subject.case.output
    if relation.kind == "same":
        return _judge_same(relation.least, before, after)
    if change.texts:
        counts = [(text, after.squashed.count(squash(text))) for text in change.texts]
        return [Violation("differs", text[:160], f"{count} times") for text, count in counts if count != change.times]
    assert change.root is not None
    case = Case(read_page(change.root), after, change.url or subject.url, subject.case.title, subject.case.has_posts)
    inside = [unit for element in change.inserted for unit in case.units_in(element)]
    if relation.kind == "whole":
        found = [*_judge_whole(case, change, inside), *_judge_marks(case, inside)]
    else:
        found = _judge_absent(case, inside)
    return [*found, *_judge_rest(relation.least, before, after, inside)]


def _judge_absent(case: Case, inside: Sequence[Unit]) -> list[Violation]:
    leaked = [unit for unit in inside if len(unit.squashed) >= _MIN_LEAK]
    leaked = [unit for unit in leaked if case.found[unit.number].status in ("whole", "partial")]
    return [Violation("leaked", unit.text.strip()[:160]) for unit in leaked[:1]]


def _judge_rest(least: float, before: Output, after: Output, inside: Sequence[Unit]) -> Iterator[Violation]:
    """Yield a violation if the output without the inserted words differs too much."""
    lost, new = _difference(before, after)
    own = {token for unit in inside for token in unit.tokens}
    strange = sum(count for token, count in new.items() if token not in own)
    alike = 1 - (lost.total() + strange) / max(1, 2 * len(before.tokens))
    if alike < least:
        yield Violation("rest", _words_of(lost, new), f"similarity {alike:.3f}")


def _difference(before: Output, after: Output) -> tuple[Counter[str], Counter[str]]:
    """Return the words that are lost and those that are new."""
    old, new = Counter(before.tokens), Counter(after.tokens)
    return old - new, new - old


def _words_of(lost: Counter[str], new: Counter[str]) -> str:
    return f"lost: {' '.join(list(lost.elements())[:15])} / new: {' '.join(list(new.elements())[:15])}"


def _judge_same(least: float, before: Output, after: Output) -> list[Violation]:
    if before.squashed == after.squashed:
        return []
    lost, new = _difference(before, after)
    alike = 1 - (lost.total() + new.total()) / max(1, len(before.tokens) + len(after.tokens))
    if least < 1.0 and alike >= least:
        return []
    letters = Counter(before.squashed) - Counter(after.squashed)
    return [Violation("lost" if letters else "more", _words_of(lost, new), f"similarity {alike:.3f}")]


def _judge_whole(case: Case, change: Change, inside: Sequence[Unit]) -> Iterator[Violation]:
    needed = [unit for unit in inside if not unit.is_optional]
    missing = [unit.text.strip() for unit in needed if case.state([unit]) != "present"]
    images = [image for element in change.inserted for image in element.iter("img") if not case.is_written(image)]
    if missing:
        what = "lost" if len(missing) == len(needed) else "torn"
        yield Violation(what, " | ".join(missing)[:300], f"{len(missing)} of {len(needed)} parts")
    elif images:
        yield Violation("image", images[0].get("alt"))
    elif not any(unit.kind in ("caption", "figcaption") for unit in needed):
        for unit in needed:
            block = case.block_of(unit)
            is_note = block is not None and block.in_footnote  # Markdown may put footnotes at the end
            if len(unit.squashed) >= 14 and not case.found[unit.number].in_order and not is_note:
                yield Violation("moved", unit.text.strip()[:120])
                break


def _judge_marks(case: Case, inside: Sequence[Unit]) -> Iterator[Violation]:
    """Yield violations of the invariants in what was inserted."""
    own = [unit.squashed[:30] for unit in inside if len(unit.squashed) >= _MIN_LEAK]
    for violation in invariants.check(case, invariants.MARK_CHECKS):
        told = squash(f"{violation.detail} {violation.context}")
        if violation.name.startswith(_OWN_CHECKS) and any(text in told for text in own):
            yield violation

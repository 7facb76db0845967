"""Check that the text of a page is written without gaps, in its order, as often as on the page, and nothing else."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.integrity.alignment import Found, Gap
from benchmarks.integrity.case import Case, Violation, joined
from benchmarks.integrity.dom import Element, Text
from benchmarks.integrity.visible import HEADINGS, Unit, squash
from benchmarks.integrity.words import APART_CLASSES, CONTROLS, TEASERS

_SENTENCES = frozenset("p li td th dt dd figcaption caption summary blockquote legend pre".split()) | {*HEADINGS}
"""Blocks whose text is a sentence. In others, elements may stand beside each other, as in a row of links."""
_AMID = frozenset("p ul ol dl table pre blockquote li math".split())
_FRAMES = ("nav", "aside", "footer", "header", "form")
_NOTE_MARK = re.compile(r"\d{1,3}|[a-z]{1,2}|[ivx]{1,5}|note \d{1,3}|citation needed")
_MIN_COVERED, _MIN_EDGE_COVERED = 0.3, 0.5
"""Shares of a unit from which a gap in it counts, and a gap at its start or end."""
_LONG_POST = 25
"""Tokens. Shorter units of a discussion may be heads of posts, which the reader writes in its own form."""
_OWN_SHARE = 0.65
"""Share of the words of a block that must be those of the unit; else the block is another text."""
_MAX_RUN = 3
"""Parts between two written ones, of which none is written."""
_MIN_ORDER = 40
"""Letters and digits of a unit whose place counts."""


def check_sentences(case: Case) -> Iterator[Violation]:
    """Check that no unit is written with a part of its needed text missing."""
    for one in case.found:
        unit = one.unit
        if unit.is_optional or unit.kind == "pre" or len(unit.tokens) < 4 or one.status not in ("whole", "partial"):
            continue
        case.examined["sentence"] += 1
        if one.status == "partial" and _is_own_text(case, one):
            for gap in one.gaps:
                is_clear = gap.is_inner or (one.covered >= _MIN_EDGE_COVERED and not _continues(case, one, gap))
                if is_clear and _is_fault(case, one, gap):
                    name = "sentence.inner" if gap.is_inner else "sentence.edge"
                    yield Violation(name, " ".join(unit.tokens[gap.first : gap.last]), unit.text.strip()[:400])


def _is_own_text(case: Case, one: Found) -> bool:
    """Return False if the words that were found belong to another text with many of the same words."""
    if one.covered < _MIN_COVERED or one.unit.is_misread or any(gap.put for gap in one.gaps):
        return False
    if case.has_posts and len(one.unit.tokens) < _LONG_POST:
        return False
    first, last = one.tokens
    blocks = dict.fromkeys(case.output.owners[first : last + 1])
    if last - first + 1 < _OWN_SHARE * sum(len(case.output.blocks[number].tokens) for number in blocks):
        return False
    half = (one.end - one.start) / 2
    return not any(
        other is not one and other.status == "whole" and min(other.end, one.end) - max(other.start, one.start) > half
        for other in case.found
    )


def _continues(case: Case, one: Found, gap: Gap) -> bool:
    """Return True if the output goes on with other words beyond the unit: it is another text."""
    at, beside = (one.tokens[0] - 1, one.tokens[0]) if gap.first == 0 else (one.tokens[1] + 1, one.tokens[1])
    owners = case.output.owners
    return 0 <= at < len(owners) and owners[at] == owners[beside] and case.output.blocks[owners[at]].kind != "table"


def _is_fault(case: Case, one: Found, gap: Gap) -> bool:
    """Return False if there is a reason to leave out the missing words."""
    unit = one.unit
    needed = [at for at in range(gap.first, gap.last) if unit.needed[at]]
    flags = [unit.flags(at) for at in needed]
    text = " ".join(unit.tokens[at] for at in needed)
    if not needed or (_NOTE_MARK.fullmatch(text) and all(mine & {"sup", "link"} for mine in flags)):
        return False
    if any(text == squash(block.marker) for block in case.output.blocks):
        return False
    if not gap.is_inner and (_is_control(text, flags) or _is_marker(unit, text, leads=gap.first == 0)):
        return False
    return unit.block.tag in _SENTENCES or not _stands_alone(unit, gap)


def _is_control(text: str, flags: Sequence[frozenset[str]]) -> bool:
    """Return True for the words of a button, or of a link that acts like one."""
    if CONTROLS.fullmatch(text) or all("button" in mine for mine in flags):
        return True
    return len(flags) == 1 and bool(flags[0] & {"button", "link"})


def _is_marker(unit: Unit, text: str, *, leads: bool) -> bool:
    """Return True for a number or bullet at the start of a unit, or a few letters at its end."""
    if leads and text.isdigit():
        return len(text) <= 3 and unit.kind == "li"
    return len(text.replace(" ", "")) <= (3 if leads and " " not in text else 2)


def _stands_alone(unit: Unit, gap: Gap) -> bool:
    """Return True if the missing text is an element of its own beside others."""
    return all(_is_border(unit, at) for at in (gap.first, gap.last) if 0 < at < len(unit.tokens))


def _is_border(unit: Unit, token: int) -> bool:
    """Return True if a line break is before a token, or if the element around both sides has no text of its own."""
    left, right = unit.span(token - 1)[1], unit.span(token)[0]
    if any(piece.node is None for piece in unit.pieces[left + 1 : right]):
        return True
    around = set(map(id, unit.pieces[right].lineage))
    common = next(element for element in unit.pieces[left].lineage if id(element) in around)
    return not any(isinstance(child, Text) and child.data.strip() for child in common.children)


def check_siblings(case: Case) -> Iterator[Violation]:
    """Check that a paragraph, item or other block between two written siblings is written."""
    for parent in dict.fromkeys(e.parent for e in case.page.within if e.parent and (e.tag in _AMID or e.tag == "div")):
        if parent.tag in ("tr", "table", "tbody") or any(element.tag in _FRAMES for element in parent.lineage()):
            continue
        parts = [one for one in parent.elements if not all(unit.is_optional for unit in case.units_in(one))]
        states = [case.state(case.units_in(one)) for one in parts]
        for before, at, behind in _between_written(states):
            if not _belongs(case, parts, before, at, behind):
                continue
            part = _only_child(parts[at])
            case.examined[f"amid.{part.tag}"] += 1
            text = joined(case.units_in(parts[at]))
            if states[at] == "absent" and not TEASERS.match(text) and not _is_apart(part):
                around = joined(case.units_in(parts[before]))[-100:], joined(case.units_in(parts[behind]))[:100]
                yield Violation(f"amid.{part.tag}", text, " ### ".join(around))


def _between_written(states: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the positions of parts that are present or absent between two near ones that are present."""
    written = [at for at, state in enumerate(states) if state not in ("absent", "unknown")]
    for at, state in enumerate(states):
        low, high = bisect_left(written, at), bisect_right(written, at)
        if low and high < len(written) and state in ("absent", "present"):
            before, behind = written[low - 1], written[high]
            if states[before] == states[behind] == "present" and behind - before <= _MAX_RUN + 1:
                yield before, at, behind


def _belongs(case: Case, parts: Sequence[Element], first: int, at: int, last: int) -> bool:
    """Return True if a part looks like a part of the text around it."""
    part, before, behind = parts[at], parts[first], parts[last]
    tag = _only_child(part).tag
    if tag == "div":
        beside = (parts[at - 1], parts[at + 1])
        if not any(part.tag == one.tag and part.classes == one.classes != [] for one in beside):
            return False
    elif tag not in _AMID:
        return False
    if tag == "p" and "p" not in (_only_child(before).tag, _only_child(behind).tag):
        return False
    units = case.units_in(part)
    words = _size(units)
    is_text = words >= 5 and sum(unit.link_share * len(unit.tokens) for unit in units) <= 0.5 * words
    return is_text and min(_size(case.units_in(before)), _size(case.units_in(behind))) >= 6


def _only_child(element: Element) -> Element:
    """Return what a wrapper of one element holds."""
    while element.tag in ("div", "section", "span"):
        inner = [
            one for one in element.children if isinstance(one, Element) or (isinstance(one, Text) and one.data.strip())
        ]
        if len(inner) != 1 or not isinstance(inner[0], Element):
            break
        element = inner[0]
    return element


def _is_apart(element: Element) -> bool:
    around = [element] if element.parent is None else [element, element.parent]
    return any(APART_CLASSES.search(f"{one.get('class')} {one.get('id')}") for one in around)


def _size(units: Sequence[Unit]) -> int:
    return sum(len(unit.tokens) for unit in units if not unit.is_optional)


def check_order(case: Case) -> Iterator[Violation]:
    """Check that units are written in the order of the page."""
    times = Counter(unit.squashed for unit in case.page.units)
    for one in case.found if not case.has_posts else ():
        unit = one.unit
        if one.status != "whole" or len(unit.squashed) < _MIN_ORDER or unit.kind in ("caption", "figcaption"):
            continue
        case.examined["order"] += 1
        if (
            one.in_order
            or unit.is_optional
            or times[unit.squashed] > 1
            or case.output.squashed.count(unit.squashed) > 1
        ):
            continue
        block = case.block_of(unit)
        is_in_other = any(unit.squashed in f.unit.squashed and f is not one and f.status == "whole" for f in case.found)
        if block is not None and not block.in_footnote and not is_in_other:
            yield Violation("order", unit.text.strip()[:200], block.text[:200])


def check_repetition(case: Case) -> Iterator[Violation]:
    """Check that no text is written more often than it is on the page."""
    pages = ["\0".join(unit.squashed for unit in case.page.units), "".join(unit.squashed for unit in case.page.units)]
    texts = {"".join(block.tokens): block for block in case.output.blocks if len(block.tokens) >= 8}
    for text, block in texts.items():
        if len(text) >= 30:
            case.examined["repeat"] += 1
            there, written = max(page.count(text) for page in pages), case.output.squashed.count(text)
            if 0 < there < written:
                yield Violation("repeat", block.text[:200], f"{written} times, on the page {there}")


def check_words(case: Case) -> Iterator[Violation]:
    """Check that each word and number of the output is one of the page."""
    known = case.page.vocabulary
    for block in case.output.blocks if not case.has_posts else ():
        if block.kind in ("math", "html") or block.raised:
            continue
        case.examined["words"] += 1
        for word in block.tokens:
            if word in known or len(word) < 3 or "http" in block.text:
                continue
            is_joined = any(word[:at] in known and word[at:] in known for at in range(2, len(word) - 1))
            if is_joined and word in case.page.everything:
                yield Violation("words.joined", word, block.text[:200])
            elif word.isdigit() and word not in case.page.everything:
                yield Violation("words.number", word, block.text[:200])

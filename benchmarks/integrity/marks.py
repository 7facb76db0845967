"""Check that marks keep their meaning: struck and raised text, markers of items, links, Markdown itself, code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from benchmarks.integrity.case import Case, Violation, absolute
from benchmarks.integrity.dom import Child, Element, Text
from benchmarks.integrity.visible import Piece, Unit, squash
from benchmarks.integrity.words import NUMBER_CLASSES, RAISED_ENDINGS

_STRAY = re.compile(r"\*\*|~~|\]\(|```|^#{1,6} |^\|.*\|$|^:   ", re.MULTILINE)
"""Marks of Markdown that a parser leaves in the text if they do not close."""
_ROMAN = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_LOST_LINES = 0.2
"""Share of the lines of code from which lost ends or indentation are a fault."""


def _written_units(case: Case) -> Iterator[Unit]:
    return (f.unit for f in case.found if f.status in ("whole", "partial") and not f.unit.is_optional)


def check_struck(case: Case) -> Iterator[Violation]:
    """Check that text that the page strikes out is struck out in the output, or not written."""
    struck = [squash(text) for block in case.output.blocks for text in block.struck]
    for unit in _written_units(case):
        parts = [piece.text for piece in unit.pieces if "struck" in piece.flags and not piece.is_optional]
        parts = [text for text in parts if squash(text)]
        case.examined["mark.struck"] += bool(parts)
        block = case.block_of(unit)
        for text in parts:
            if (
                block is not None
                and squash(text) in squash(block.text)
                and not any(squash(text) in one for one in struck)
            ):
                yield Violation("mark.struck", text.strip()[:100], unit.text.strip()[:200])
                break


def check_raised(case: Case) -> Iterator[Violation]:
    """Check that raised and lowered text does not become a part of the number or word beside it."""
    for unit in _written_units(case):
        block = case.block_of(unit)
        for at in range(1, len(unit.pieces)):
            piece, before = unit.pieces[at], unit.pieces[at - 1].text
            behind = unit.pieces[at + 1].text if at + 1 < len(unit.pieces) else ""
            text = piece.text.strip()
            if block is None or not _can_merge(piece, before, behind):
                continue
            case.examined["mark.raised"] += 1
            plain = before[-6:].lstrip() + piece.text.rstrip()
            if plain in block.text and not any(text in raised for raised in block.raised):
                is_number = (before[-1].isdigit() and text[0].isdigit()) or (
                    text[-1].isdigit() and behind[:1].isdigit()
                )
                yield Violation(f"mark.raised.{'number' if is_number else 'word'}", plain, unit.text.strip()[:200])


def _can_merge(piece: Piece, before: str, behind: str) -> bool:
    """Return True if a raised piece would read as a part of what is before it. Notes and ordinals may."""
    text = piece.text.strip()
    if piece.is_optional or not piece.flags & {"sup", "sub"} or not 0 < len(text) <= 20 or not squash(text):
        return False
    if not before[-1:].isalnum() or piece.text[0].isspace() or text[0] in ".," or text.lower() in RAISED_ENDINGS:
        return False
    if text[0].isdigit() and before[-1].isalpha() and not behind[:1].isdigit():
        return False  # CO2, m2: the usual plain form
    return not any(element.tag == "a" for element in piece.lineage[:5])


def check_markers(case: Case) -> Iterator[Violation]:
    """Check that items have the numbers or letters that the page shows."""
    for listing in case.page.root.iter("ol"):
        items = [one for one in listing.elements if one.tag == "li"]
        markers = _expected_markers(listing, items)
        is_plain = all(marker == str(number) for number, marker in enumerate(markers, 1))
        for item, marker in zip(items, markers, strict=True) if len(items) > 1 and not is_plain else ():
            units = case.units_in(item)
            block = case.block_of(units[0]) if units and len(units[0].squashed) >= 8 else None
            if block is None or case.found[units[0].number].status != "whole":
                continue
            case.examined["mark.marker"] += 1
            if squash(block.marker) != marker.casefold() and not squash(block.text.strip().split(" ")[0]).startswith(
                marker.casefold()
            ):
                yield Violation("mark.marker", f"{marker} is {block.marker or 'unmarked'}", units[0].text.strip()[:120])
                break


def _expected_markers(listing: Element, items: Sequence[Element]) -> list[str]:
    step = -1 if "reversed" in listing.attrs else 1
    number = _integer(listing.get("start"), len(items) if step < 0 else 1)
    markers = []
    for item in items:
        number = _integer(item.get("value"), number)
        markers.append(_marker(number, listing.get("type")))
        number += step
    return markers


def _integer(text: str, default: int) -> int:
    try:
        return int(text)
    except ValueError:
        return default


def _marker(number: int, kind: str) -> str:
    if number < 1 or kind not in ("a", "A", "i", "I") or number > 100 or (kind in "aA" and number > 26):
        return str(number)
    text = chr(96 + number)
    if kind in "iI":
        text = ""
        for value, letters in _ROMAN:
            text += letters * (number // value)
            number %= value
    return text if kind.islower() else text.upper()


def check_links(case: Case) -> Iterator[Violation]:
    """Check that a link leads where a browser would go from the same text."""
    base = next((absolute(one.get("href"), case.url) for one in case.page.root.iter("base") if one.get("href")), "")
    base = base if base.startswith("http") else case.url
    targets: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    for element in case.page.root.iter("a", "area"):
        if "href" in element.attrs:
            name, target = squash(element.text()), _plain(absolute(element.get("href").strip(), base))
            targets.setdefault(name, set()).add(target)
            names.setdefault(target, set()).add(name)
    for block in case.output.blocks:
        for text, address in block.links:
            name, target = squash(text), _plain(absolute(address))
            if not name or not address.startswith("http") or targets.get(name) == {""}:
                continue
            case.examined["link"] += 1
            if name not in targets or target in targets[name]:
                continue
            if target not in names:
                yield Violation("link.target", text[:80], f"{address} for {sorted(targets[name])[:2]}")
            elif not any(name in other for other in names[target]):
                yield Violation("link.text", text[:80], f"{address} for {sorted(targets[name])[:2]}")


def _plain(address: str) -> str:
    """Return an address without differences of escaping that lead to the same place."""
    return unquote(address).rstrip("/").replace(" ", "+")


def check_markup(case: Case) -> Iterator[Violation]:
    """Check that every construct of the Markdown closes: after parsing, no marks are in the text."""
    texts = [text.data for text in case.page.root.texts()]
    source = " ".join(texts) + "".join("".join(texts).split())
    for block in case.output.blocks:
        if block.kind in ("code", "math", "html"):
            continue
        case.examined["markup"] += 1
        for found in _STRAY.finditer(block.text):
            mark = "|" if found[0].startswith("|") else found[0].strip()
            if mark not in source:
                yield Violation("markup.open", found[0][:40], block.text[:200])
                break


def check_code(case: Case) -> Iterator[Violation]:
    """Check that lines of code keep their ends and their indentation."""
    blocks = [_dedent(block.text.split("\n")) for block in case.output.blocks if block.kind == "code"]
    plain = {" ".join(line.split()) for lines in blocks for line in lines}
    for pre in case.page.root.iter("pre"):
        lines = _dedent(_source_lines(pre))
        if (
            len(lines) < 2
            or case.state(case.units_in(pre)) != "present"
            or any(e.tag == "table" for e in pre.ancestors())
        ):
            continue
        case.examined["code"] += 1
        if any(len(block) > len(lines) and squash("".join(block)) == squash("".join(lines)) for block in blocks):
            continue  # lines that only a style sheet makes
        merged = [line for line in lines if len(squash(line)) >= 6 and " ".join(line.split()) not in plain]
        if len(merged) >= 2 and len(merged) > _LOST_LINES * len(lines):
            yield Violation("code.lines", merged[0][:120], "\n".join(lines[:6])[:300])
        elif (flat := _flattened(lines, blocks)) is not None:
            yield Violation("code.indent", flat[:120], "\n".join(lines[:6])[:300])


def _flattened(lines: Sequence[str], blocks: Sequence[Sequence[str]]) -> str | None:
    """Return an indented line that is in no block, if too many are."""
    indented = [line for line in lines if line.startswith(" ") and len(squash(line)) >= 3]
    lost = min(([line for line in indented if line not in block] for block in blocks), key=len, default=indented)
    return lost[0] if len(lost) > _LOST_LINES * len(indented) else None


def _dedent(lines: Sequence[str]) -> list[str]:
    """Return the lines that are not blank, with spaces for tabs and without the indentation that all have."""
    plain = [line.expandtabs(4).rstrip() for line in lines if line.strip()]
    least = min((len(line) - len(line.lstrip()) for line in plain), default=0)
    return [line[least:] for line in plain]


def _source_lines(pre: Element) -> list[str]:
    """Return the lines of code that a person sees, without their numbers."""
    pieces: list[str] = []
    stack: list[Child] = [pre]
    while stack:
        node = stack.pop()
        if isinstance(node, Text):
            pieces.append(node.data)
        elif isinstance(node, Element) and node.tag not in ("button", "style", "script"):
            if (NUMBER_CLASSES.search(node.get("class")) and node is not pre) or node.get("aria-hidden") == "true":
                continue
            if node.tag in ("br", "div", "p", "li", "tr") and (
                node.tag == "br" or not "".join(pieces[-1:]).endswith("\n")
            ):
                pieces.append("\n")
            stack.extend(reversed(node.children))
    return "".join(pieces).split("\n")

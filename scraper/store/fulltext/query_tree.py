"""A query, understood: what must stand where, whichever index is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scraper.store.fulltext.tokenization import askable

COLUMNS = frozenset({"title", "text"})


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A word or phrase to be found, as it was written; `prefix` when it may go on."""

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class PhraseSequence:
    """Words that follow one another; `first` when nothing may stand before them."""

    units: tuple[QueryTerm, ...]
    first: bool = False


@dataclass(frozen=True, slots=True)
class Near:
    """Words and phrases with no more than `distance` others between them."""

    units: tuple[QueryTerm, ...]
    distance: int


@dataclass(frozen=True, slots=True)
class AllOf:
    """Each of these."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of these."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """The one, where the other is not."""

    wanted: Node
    unwanted: Node


@dataclass(frozen=True, slots=True)
class InColumns:
    """Looked for in the named columns alone."""

    columns: frozenset[str]
    inner: Node


Node = PhraseSequence | Near | AllOf | AnyOf | Without | InColumns


def joined(kind: type[AllOf] | type[AnyOf], parts: list[Node | None]) -> Node | None:
    """The parts that say anything."""
    said = tuple(part for part in parts if part is not None)
    if len(said) < 2:
        return said[0] if said else None
    return kind(said)


def rows(node: Node | None) -> Iterator[PhraseSequence]:
    """Every word or phrase in its order, what is excluded too."""
    match node:
        case PhraseSequence():
            yield PhraseSequence(node.units)
        case Near():
            yield from (PhraseSequence((unit,)) for unit in node.units)
        case AllOf() | AnyOf():
            for part in node.parts:
                yield from rows(part)
        case Without():
            yield from rows(node.wanted)
            yield from rows(node.unwanted)
        case InColumns():
            yield from rows(node.inner)


def expression(node: Node | None) -> str:
    """The query for FTS5's MATCH; empty when there is nothing to look for."""
    match node:
        case None:
            return ""
        case PhraseSequence():
            return f"{'^ ' if node.first else ''}{' + '.join(quoted(unit) for unit in node.units)}"
        case Near():
            return f"NEAR({' '.join(quoted(unit) for unit in node.units)}, {node.distance})"
        case AllOf():
            return f"({' AND '.join(expression(part) for part in node.parts)})"
        case AnyOf():
            return f"({' OR '.join(expression(part) for part in node.parts)})"
        case Without():
            return f"({expression(node.wanted)} NOT {expression(node.unwanted)})"
        case InColumns():
            # FTS5 has no way to name no column, but to leave out each.
            names = f"{{{' '.join(sorted(node.columns or COLUMNS))}}}"
            return f"{'' if node.columns else '- '}{names} : ({expression(node.inner)})"


def quoted(unit: QueryTerm) -> str:
    """A word or phrase as FTS5 takes it whatever it holds."""
    text, single = askable(unit.text.replace('"', " "))
    return f'"{text}"{" *" if unit.prefix or single else ""}'

"""A query, understood: what must stand where, whichever index is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scraper.store.fulltext.words import askable

__all__ = [
    "COLUMNS",
    "AllOf",
    "AnyOf",
    "Near",
    "Node",
    "Row",
    "Unit",
    "Within",
    "Without",
    "expression",
    "joined",
    "quoted",
    "rows",
]

COLUMNS = frozenset({"title", "text"})


@dataclass(frozen=True, slots=True)
class Unit:
    """A word or phrase to be found, as it was written; `prefix` when it may go on."""

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Words that follow one another; `first` when nothing may stand before them."""

    units: tuple[Unit, ...]
    first: bool = False


@dataclass(frozen=True, slots=True)
class Near:
    """Words and phrases with no more than `distance` others between them."""

    units: tuple[Unit, ...]
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
class Within:
    """Looked for in the named columns alone."""

    columns: frozenset[str]
    inner: Node


Node = Row | Near | AllOf | AnyOf | Without | Within


def joined(kind: type[AllOf] | type[AnyOf], parts: list[Node | None]) -> Node | None:
    """The parts that say anything."""
    said = tuple(part for part in parts if part is not None)
    if len(said) < 2:
        return said[0] if said else None
    return kind(said)


def rows(node: Node | None) -> Iterator[Row]:
    """Every word or phrase in its order, what is excluded too."""
    match node:
        case Row():
            yield Row(node.units)
        case Near():
            yield from (Row((unit,)) for unit in node.units)
        case AllOf() | AnyOf():
            for part in node.parts:
                yield from rows(part)
        case Without():
            yield from rows(node.wanted)
            yield from rows(node.unwanted)
        case Within():
            yield from rows(node.inner)


def expression(node: Node | None) -> str:
    """The query for FTS5's MATCH; empty when there is nothing to look for."""
    match node:
        case None:
            return ""
        case Row():
            return f"{'^ ' if node.first else ''}{' + '.join(quoted(unit) for unit in node.units)}"
        case Near():
            return f"NEAR({' '.join(quoted(unit) for unit in node.units)}, {node.distance})"
        case AllOf():
            return f"({' AND '.join(expression(part) for part in node.parts)})"
        case AnyOf():
            return f"({' OR '.join(expression(part) for part in node.parts)})"
        case Without():
            return f"({expression(node.wanted)} NOT {expression(node.unwanted)})"
        case Within():
            # FTS5 has no way to name no column, but to leave out each.
            names = f"{{{' '.join(sorted(node.columns or COLUMNS))}}}"
            return f"{'' if node.columns else '- '}{names} : ({expression(node.inner)})"


def quoted(unit: Unit) -> str:
    """A word or phrase as FTS5 takes it whatever it holds."""
    text, single = askable(unit.text.replace('"', " "))
    return f'"{text}"{" *" if unit.prefix or single else ""}'

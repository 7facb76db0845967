"""Syntax tree of a full-text query, independent of the index, and its form as an FTS5 expression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scraper.store.fulltext.tokenization import to_query_text

COLUMN_NAMES = frozenset({"title", "text"})


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A word or phrase as written; with `prefix`, longer words match too."""

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class PhraseSequence:
    """Terms that follow one another; with `first`, at the start of the column."""

    terms: tuple[QueryTerm, ...]
    first: bool = False


@dataclass(frozen=True, slots=True)
class Near:
    """Terms with at most `distance` words between them."""

    terms: tuple[QueryTerm, ...]
    distance: int


@dataclass(frozen=True, slots=True)
class AllOf:
    """All parts match."""

    parts: tuple[QueryNode, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part matches."""

    parts: tuple[QueryNode, ...]


@dataclass(frozen=True, slots=True)
class Excluding:
    """`included` matches and `excluded` does not."""

    included: QueryNode
    excluded: QueryNode


@dataclass(frozen=True, slots=True)
class InColumns:
    """The inner query matches in one of these columns."""

    columns: frozenset[str]
    inner: QueryNode


QueryNode = PhraseSequence | Near | AllOf | AnyOf | Excluding | InColumns


def join_nodes(kind: type[AllOf] | type[AnyOf], parts: list[QueryNode | None]) -> QueryNode | None:
    """Return a node of the parts that are not None, the only such part, or None."""
    present = tuple(part for part in parts if part is not None)
    if len(present) < 2:
        return present[0] if present else None
    return kind(present)


def iter_phrases(node: QueryNode | None, *, with_excluded: bool = True) -> Iterator[PhraseSequence]:
    """Iterate over every word or phrase in order; without `with_excluded`, skip those that must not occur."""
    match node:
        case PhraseSequence():
            yield PhraseSequence(node.terms)
        case Near():
            yield from (PhraseSequence((term,)) for term in node.terms)
        case AllOf() | AnyOf():
            for part in node.parts:
                yield from iter_phrases(part, with_excluded=with_excluded)
        case Excluding():
            yield from iter_phrases(node.included, with_excluded=with_excluded)
            if with_excluded:
                yield from iter_phrases(node.excluded)
        case InColumns():
            yield from iter_phrases(node.inner, with_excluded=with_excluded)


def make_expression(node: QueryNode | None) -> str:
    """Return the query as an expression for FTS5's MATCH; empty if it has no words."""
    match node:
        case None:
            return ""
        case PhraseSequence():
            return f"{'^ ' if node.first else ''}{' + '.join(_quote_term(term) for term in node.terms)}"
        case Near():
            return f"NEAR({' '.join(_quote_term(term) for term in node.terms)}, {node.distance})"
        case AllOf():
            return f"({' AND '.join(make_expression(part) for part in node.parts)})"
        case AnyOf():
            return f"({' OR '.join(make_expression(part) for part in node.parts)})"
        case Excluding():
            return f"({make_expression(node.included)} NOT {make_expression(node.excluded)})"
        case InColumns():
            # FTS5 cannot name an empty set of columns; excluding every column has the same effect.
            names = f"{{{' '.join(sorted(node.columns or COLUMN_NAMES))}}}"
            return f"{'' if node.columns else '- '}{names} : ({make_expression(node.inner)})"


def _quote_term(term: QueryTerm) -> str:
    """Return a term in quotes, so that FTS5 accepts it whatever it contains."""
    text, is_prefix = to_query_text(term.text.replace('"', " "))
    return f'"{text}"{" *" if term.prefix or is_prefix else ""}'

"""What named indexes take and give, and what can be wrong with it: frozen data, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from scraper.store.indexes.query import IndexQuery
from scraper.store.indexes.tokenizer import Tokenizer

DEFAULT_INDEX = "default"
"""Is always there, in memory."""
BACKENDS = ("memory", "sqlite")


class IndexFaultError(Exception):
    """What cannot be done, in the words that the caller gets."""


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """A document as it was given."""

    doc_id: str
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentAdded:
    """What adding a document came to."""

    replaced: bool
    token_count: int


@dataclass(frozen=True, slots=True)
class IndexHit:
    """One document that matches."""

    doc_id: str
    score: float
    highlights: tuple[str, ...]
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class IndexHits:
    """The best documents for a query, and how many matched."""

    hits: tuple[IndexHit, ...]
    total: int
    query: IndexQuery


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What a list of indexes shows of one."""

    name: str
    backend: str
    documents: int


class NamedIndexes(Protocol):
    """Named indexes, each principal's own. Raises IndexFault with the sentence for the caller."""

    async def create(
        self, name: str, *, principal: str, backend: str = "memory", tokenizer: Tokenizer | None = None
    ) -> None:
        """Make an index that is not there yet."""

    async def add(self, name: str, document: IndexDocument, *, principal: str) -> DocumentAdded:
        """Index a document in place of an older one of that id; returns once it is kept."""

    async def search(self, name: str, query: str, *, principal: str, limit: int) -> IndexHits:
        """The best documents for a query."""

    async def document(self, name: str, doc_id: str, *, principal: str) -> IndexDocument | None:
        """One document as it was given."""

    async def documents(self, name: str, *, principal: str, limit: int, after: int = 0) -> list[str]:
        """Ids in the order in which they came, from number `after` on."""

    async def names(self, *, principal: str) -> list[IndexFacts]:
        """The indexes there are, by name."""

    async def close(self) -> None:
        """Let go of what is open."""

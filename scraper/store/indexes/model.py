"""Data types of named indexes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scraper.store.indexes.query import IndexQuery

DEFAULT_INDEX = "default"
"""Index in memory that always exists."""
INDEX_BACKENDS = ("memory", "sqlite")


class IndexFaultError(Exception):
    """An operation is not possible; the message is meant for the caller."""


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """A document as the caller added it."""

    doc_id: str
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentAdded:
    """Result of adding a document."""

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
    """Best documents for a query, and the number of all that match."""

    hits: tuple[IndexHit, ...]
    total: int
    query: IndexQuery


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """Name, backend and size of an index."""

    name: str
    backend: str
    documents: int

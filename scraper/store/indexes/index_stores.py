"""Keep the documents of named indexes in memory, or in a persistent store behind one protocol."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from scraper.store.indexes.model import IndexDocument
from scraper.store.indexes.query import Tokenizer

_COMPRESSION = 1
"""Level of zlib, the fastest."""


UNAVAILABLE_MESSAGE = (
    "Named indexes are not available: their file or database cannot be used now; the log has the reason. "
    "Use an index with the backend memory."
)


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """A persistent index."""

    number: int
    name: str
    tokenizer: Tokenizer
    created_at: float
    """Seconds of the epoch."""


class IndexStore(Protocol):
    """Persistent indexes. Methods raise IndexFaultError if the store is unavailable."""

    def create(self, principal: str, name: str, tokenizer: Tokenizer) -> StoredIndex | None:
        """Create an index; return None if it exists."""

    def find(self, principal: str, name: str | None = None) -> list[StoredIndex]:
        """Return all persistent indexes of one principal, or the one with this name."""

    def put_document(self, index: int, document: IndexDocument) -> int:
        """Store a document in place of an older one with its id; return its new number."""

    def get_document(self, index: int, doc_id: str) -> IndexDocument | None:
        """Return the document with this id, or None."""

    def list_documents(self, index: int, after: int) -> Iterator[tuple[int, IndexDocument]]:
        """Iterate over the documents with numbers above `after`, in order."""

    def close(self) -> None:
        """Close files and connections."""


class MemoryDocuments:
    """Documents of an index in memory, compressed."""

    def __init__(self) -> None:
        """Start without documents."""
        self._documents: dict[str, bytes] = {}

    def put(self, document: IndexDocument) -> None:
        """Store a document in place of an older one with its id."""
        # JSON contains no null character.
        text = f"{json.dumps(dict(document.metadata))}\0{document.content}"
        self._documents[document.doc_id] = zlib.compress(text.encode(), _COMPRESSION)

    def get(self, doc_id: str) -> IndexDocument | None:
        """Return the document with this id, or None."""
        data = self._documents.get(doc_id)
        if data is None:
            return None
        metadata, _, content = zlib.decompress(data).decode().partition("\0")
        return IndexDocument(doc_id, content, json.loads(metadata))

    def read_new(self) -> Iterator[IndexDocument]:
        """Return nothing, since only this process can add documents."""
        return iter(())


class PersistentDocuments:
    """Documents of one persistent index, which other servers may change."""

    def __init__(self, store: IndexStore, index: int) -> None:
        """Use the index with this number."""
        self._store = store
        self._index = index
        self._last = 0
        """Number of the newest document that was read."""
        self._written_here: set[int] = set()
        """Numbers of documents added by this process since then."""

    def put(self, document: IndexDocument) -> None:
        """Store a document in place of an older one with its id; it is committed on return."""
        self._written_here.add(self._store.put_document(self._index, document))

    def get(self, doc_id: str) -> IndexDocument | None:
        """Return the document with this id, or None."""
        return self._store.get_document(self._index, doc_id)

    def read_new(self) -> Iterator[IndexDocument]:
        """Yield documents that other servers have added since the last call; the first call also yields older ones."""
        for number, document in self._store.list_documents(self._index, self._last):
            self._last = number
            if number not in self._written_here:
                yield document
        self._written_here.clear()

"""Keep the documents of named indexes in memory, in a SQLite file, or in another database.

The statements are the same in SQLite and PostgreSQL, except the one that writes a document.
"""

from __future__ import annotations

import json
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scraper.store.indexes.model import IndexDocument, IndexFaultError, Tokenizer
from scraper.store.serialization import make_storable
from scraper.store.sqlite.database import Database, DatabaseSchema, DatabaseUnavailableError

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


_CREATE = """
    INSERT INTO indexes (principal, name, lowercase, min_length, created_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (principal, name) DO NOTHING RETURNING id
"""
_FIND = """
    SELECT id, name, lowercase, min_length, created_at FROM indexes
    WHERE principal = $1 AND (CAST($2 AS text) IS NULL OR name = CAST($2 AS text))
"""
_GET_DOCUMENT = "SELECT content, metadata FROM documents WHERE index_id = $1 AND doc_id = $2"
_LIST_DOCUMENTS = """
    SELECT number, doc_id, content, metadata FROM documents WHERE index_id = $1 AND number > $2 ORDER BY number
"""


class IndexStore(ABC):
    """Persistent indexes in the tables `indexes` and `documents` of a database.

    Methods raise IndexFaultError if the database is unavailable.
    """

    _put: str
    """Statement that stores a document in place of an older one with its id, and returns its new number.

    Other servers recognize a new document by its new number.
    """

    def create(self, principal: str, name: str, tokenizer: Tokenizer) -> StoredIndex | None:
        """Create an index; return None if it exists."""
        now = time.time()
        values = (make_storable(principal), name, tokenizer.lowercase, tokenizer.min_length, now)
        made = self._fetch(_CREATE, values, writes=True)
        return StoredIndex(int(made[0][0]), name, tokenizer, now) if made else None

    def find(self, principal: str, name: str | None = None) -> list[StoredIndex]:
        """Return all persistent indexes of one principal by name, or the one with this name."""
        rows = self._fetch(_FIND, (make_storable(principal), name))
        found = [
            StoredIndex(number, one, Tokenizer(bool(lower), least), made) for number, one, lower, least, made in rows
        ]
        return sorted(found, key=lambda one: one.name)

    def put_document(self, index: int, document: IndexDocument) -> int:
        """Store a document in place of an older one with its id; return its new number."""
        metadata = json.dumps(dict(document.metadata))
        values = (index, self._encode(document.doc_id), self._encode(document.content), metadata)
        ((number,),) = self._fetch(self._put, values, writes=True)
        return int(number)

    def get_document(self, index: int, doc_id: str) -> IndexDocument | None:
        """Return the document with this id, or None."""
        rows = self._fetch(_GET_DOCUMENT, (index, self._encode(doc_id)))
        return _load(doc_id, *rows[0]) if rows else None

    def list_documents(self, index: int, after: int) -> Iterator[tuple[int, IndexDocument]]:
        """Iterate over the documents with numbers above `after`, in order."""
        rows = self._fetch(_LIST_DOCUMENTS, (index, after), is_long=True)
        return ((number, _load(*values)) for number, *values in rows)

    @abstractmethod
    def close(self) -> None:
        """Close files and connections."""

    @abstractmethod
    def _encode(self, text: str) -> str | bytes:
        """Return the value of a column for the id or the content of a document."""

    @abstractmethod
    def _fetch(
        self, statement: str, values: tuple[Any, ...], *, writes: bool = False, is_long: bool = False
    ) -> list[Any]:
        """Return the rows of a statement; `is_long` allows the time to read all documents of an index."""


def _load(doc_id: str | bytes, content: str | bytes, metadata: str) -> IndexDocument:
    name, text = (one if isinstance(one, str) else one.decode() for one in (doc_id, content))
    return IndexDocument(name, text, json.loads(metadata))


FILE_NAME = "indexes.sqlite"
_SCHEMA = DatabaseSchema(
    application_id=0x53_4D_43_49,
    version=1,
    create="""
        CREATE TABLE indexes (
            id INTEGER PRIMARY KEY,
            principal TEXT NOT NULL,
            name TEXT NOT NULL,
            lowercase INTEGER NOT NULL,
            min_length INTEGER NOT NULL,
            created_at REAL NOT NULL,
            UNIQUE (principal, name)
        ) STRICT;
        CREATE TABLE documents (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            index_id INTEGER NOT NULL REFERENCES indexes (id),
            doc_id TEXT NOT NULL,
            content TEXT NOT NULL,
            metadata TEXT NOT NULL,
            UNIQUE (index_id, doc_id)
        ) STRICT;
        CREATE INDEX documents_by_number ON documents (index_id, number);
    """,
    drop="DROP TABLE IF EXISTS documents; DROP TABLE IF EXISTS indexes",
)


class SqliteIndexStore(IndexStore):
    """Persistent indexes in the file `indexes.sqlite`, which several servers may share."""

    _put = """
        INSERT OR REPLACE INTO documents (index_id, doc_id, content, metadata) VALUES (?, ?, ?, ?) RETURNING number
    """

    def __init__(self, folder: Path) -> None:
        """Create the store; the file in `folder` is opened by the first operation."""
        self._database = Database(folder / FILE_NAME, _SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _encode(self, text: str) -> str:
        return text.encode(errors="replace").decode()

    def _fetch(
        self, statement: str, values: tuple[Any, ...], *, writes: bool = False, is_long: bool = False
    ) -> list[Any]:
        try:
            return self._database.run(lambda connection: list(connection.execute(statement, values)), writes=writes)
        except DatabaseUnavailableError:
            # The log has the path and the reason, which callers do not need to know.
            raise IndexFaultError(UNAVAILABLE_MESSAGE) from None


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

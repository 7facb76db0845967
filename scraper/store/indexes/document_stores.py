"""Stores for the documents of named indexes: in memory, or in a SQLite file."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import apsw

from scraper.store.indexes.model import IndexDocument, IndexFaultError, Tokenizer
from scraper.store.sqlite.database import Database, DatabaseSchema, DatabaseUnavailableError

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


class DocumentStore(Protocol):
    """Documents of one index."""

    def put(self, document: IndexDocument) -> None:
        """Store a document in place of an older one with its id."""

    def get(self, doc_id: str) -> IndexDocument | None:
        """Return the document with this id, or None."""

    def read_new(self) -> Iterator[IndexDocument]:
        """Return documents that others have added since the last call."""


class IndexStore(Protocol):
    """Persistent indexes. Methods raise IndexFaultError if the store is unavailable."""

    def create(self, principal: str, name: str, tokenizer: Tokenizer) -> StoredIndex | None:
        """Create an index; return None if it exists."""

    def find(self, principal: str, name: str | None = None) -> list[StoredIndex]:
        """Return all persistent indexes of one principal, or the one with this name."""

    def open_documents(self, number: int) -> DocumentStore:
        """Return the documents of an index."""

    def close(self) -> None:
        """Close files and connections."""


class MemoryDocumentStore:
    """Documents in memory."""

    def __init__(self) -> None:
        """Create an empty store."""
        self._documents: dict[str, IndexDocument] = {}

    def put(self, document: IndexDocument) -> None:
        """Store a document in place of an older one with its id."""
        self._documents[document.doc_id] = document

    def get(self, doc_id: str) -> IndexDocument | None:
        """Return the document with this id, or None."""
        return self._documents.get(doc_id)

    def read_new(self) -> Iterator[IndexDocument]:
        """Return nothing, since only this process can add documents."""
        return iter(())


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """A persistent index."""

    number: int
    name: str
    tokenizer: Tokenizer
    created_at: float


class SqliteIndexStore:
    """The `IndexStore` protocol over `indexes.sqlite`, which several servers may share."""

    def __init__(self, folder: Path) -> None:
        """Create the store; the file in `folder` is opened by the first operation."""
        self._database = Database(folder / FILE_NAME, _SCHEMA)

    def create(self, principal: str, name: str, tokenizer: Tokenizer) -> StoredIndex | None:
        """Create an index; return None if it exists."""
        statement = """
            INSERT INTO indexes (principal, name, lowercase, min_length, created_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (principal, name) DO NOTHING RETURNING id
        """
        now = time.time()
        row = (principal, name, int(tokenizer.lowercase), tokenizer.min_length, now)
        made = self.rows(statement, row, writes=True)
        return StoredIndex(int(made[0][0]), name, tokenizer, now) if made else None

    def find(self, principal: str, name: str | None = None) -> list[StoredIndex]:
        """Return all persistent indexes of one principal, or the one with this name."""
        statement = """
            SELECT id, name, lowercase, min_length, created_at FROM indexes
            WHERE principal = ? AND (? IS NULL OR name = ?) ORDER BY name
        """
        rows = self.rows(statement, (principal, name, name))
        return [
            StoredIndex(number, found, Tokenizer(bool(lower), least), made)
            for number, found, lower, least, made in rows
        ]

    def rows(self, statement: str, values: tuple[Any, ...], *, writes: bool = False) -> list[tuple[Any, ...]]:
        """Execute a statement and return its rows.

        Raises:
            IndexFaultError: The file is unavailable.
        """
        try:
            return self._database.run(functools.partial(_rows, statement, values), writes=writes)
        except DatabaseUnavailableError:
            problem = self._database.problem or f"{self._database.path} cannot be used"
            raise IndexFaultError(f"Kept indexes are not available: {problem}") from None

    def open_documents(self, number: int) -> DocumentStore:
        """Return the documents of an index."""
        return SqliteDocumentStore(self, number)

    def close(self) -> None:
        """Close the file."""
        self._database.close()


class SqliteDocumentStore:
    """Documents of one persistent index."""

    def __init__(self, file: SqliteIndexStore, number: int) -> None:
        """Create the store for the index with this number."""
        self._file = file
        self._number = number
        self._last = 0
        """Number of the newest document that was read."""
        self._written_here: set[int] = set()
        """Numbers of documents added by this process since then."""

    def put(self, document: IndexDocument) -> None:
        """Store a document in place of an older one with its id; it is in the file on return."""
        # Replaced rather than updated: other servers recognize a new document by its new number.
        (made,) = self._file.rows(
            "INSERT OR REPLACE INTO documents (index_id, doc_id, content, metadata) VALUES (?, ?, ?, ?) "
            "RETURNING number",
            (self._number, document.doc_id, document.content, json.dumps(dict(document.metadata))),
            writes=True,
        )
        self._written_here.add(int(made[0]))

    def get(self, doc_id: str) -> IndexDocument | None:
        """Return the document with this id, or None."""
        rows = self._file.rows(
            "SELECT doc_id, content, metadata FROM documents WHERE index_id = ? AND doc_id = ?", (self._number, doc_id)
        )
        return _document(rows[0]) if rows else None

    def read_new(self) -> Iterator[IndexDocument]:
        """Iterate over documents that other servers have added since the last call."""
        rows = self._file.rows(
            "SELECT number, doc_id, content, metadata FROM documents WHERE index_id = ? AND number > ? ORDER BY number",
            (self._number, self._last),
        )
        for number, *row in rows:
            self._last = number
            if number not in self._written_here:
                yield _document(row)
        self._written_here.clear()


def _document(row: tuple[Any, ...] | list[Any]) -> IndexDocument:
    doc_id, content, metadata = row
    return IndexDocument(doc_id, content, json.loads(metadata))


def _rows(statement: str, values: tuple[Any, ...], connection: apsw.Connection) -> list[tuple[Any, ...]]:
    return list(connection.execute(statement, values))

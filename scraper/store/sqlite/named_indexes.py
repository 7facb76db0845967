"""Store named indexes in one SQLite file."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scraper.store.indexes.index_stores import UNAVAILABLE_MESSAGE, StoredIndex
from scraper.store.indexes.model import IndexDocument, IndexFaultError
from scraper.store.indexes.query import Tokenizer
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


class SqliteIndexStore:
    """Implement `IndexStore` with the file `indexes.sqlite`, which several servers may share."""

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
        made = self._run(statement, row, writes=True)
        return StoredIndex(int(made[0][0]), name, tokenizer, now) if made else None

    def find(self, principal: str, name: str | None = None) -> list[StoredIndex]:
        """Return all persistent indexes of one principal, or the one with this name."""
        statement = """
            SELECT id, name, lowercase, min_length, created_at FROM indexes
            WHERE principal = ? AND (? IS NULL OR name = ?) ORDER BY name
        """
        rows = self._run(statement, (principal, name, name))
        return [
            StoredIndex(number, found, Tokenizer(bool(lower), least), made)
            for number, found, lower, least, made in rows
        ]

    def put_document(self, index: int, document: IndexDocument) -> int:
        """Store a document in place of an older one with its id; return its new number."""
        # Replaced rather than updated: other servers recognize a new document by its new number.
        (made,) = self._run(
            "INSERT OR REPLACE INTO documents (index_id, doc_id, content, metadata) VALUES (?, ?, ?, ?) "
            "RETURNING number",
            (index, document.doc_id, document.content, json.dumps(dict(document.metadata))),
            writes=True,
        )
        return int(made[0])

    def get_document(self, index: int, doc_id: str) -> IndexDocument | None:
        """Return the document with this id, or None."""
        statement = "SELECT content, metadata FROM documents WHERE index_id = ? AND doc_id = ?"
        rows = self._run(statement, (index, doc_id))
        return IndexDocument(doc_id, rows[0][0], json.loads(rows[0][1])) if rows else None

    def list_documents(self, index: int, after: int) -> Iterator[tuple[int, IndexDocument]]:
        """Iterate over the documents with numbers above `after`, in order."""
        rows = self._run(
            "SELECT number, doc_id, content, metadata FROM documents WHERE index_id = ? AND number > ? ORDER BY number",
            (index, after),
        )
        return ((number, IndexDocument(doc_id, text, json.loads(metadata))) for number, doc_id, text, metadata in rows)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _run(self, statement: str, values: tuple[Any, ...], *, writes: bool = False) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; raise IndexFaultError if the file is unavailable."""
        try:
            return self._database.run(lambda connection: list(connection.execute(statement, values)), writes=writes)
        except DatabaseUnavailableError:
            # The log has the path and the reason, which callers do not need to know.
            raise IndexFaultError(UNAVAILABLE_MESSAGE) from None

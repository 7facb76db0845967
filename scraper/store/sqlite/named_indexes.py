"""Store named indexes in one SQLite file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scraper.store.indexes.index_stores import UNAVAILABLE_MESSAGE, IndexStore
from scraper.store.indexes.model import IndexDocument, IndexFaultError
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


_PUT_DOCUMENT = """
    INSERT OR REPLACE INTO documents (index_id, doc_id, content, metadata) VALUES (?, ?, ?, ?) RETURNING number
"""
"""Replaced rather than updated: other servers recognize a new document by its new number."""


class SqliteIndexStore(IndexStore):
    """Persistent indexes in the file `indexes.sqlite`, which several servers may share."""

    def __init__(self, folder: Path) -> None:
        """Create the store; the file in `folder` is opened by the first operation."""
        self._database = Database(folder / FILE_NAME, _SCHEMA)

    def put_document(self, index: int, document: IndexDocument) -> int:
        """Store a document in place of an older one with its id; return its new number."""
        values = (index, document.doc_id, document.content, json.dumps(dict(document.metadata)))
        ((number,),) = self._fetch(_PUT_DOCUMENT, values, writes=True)
        return int(number)

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

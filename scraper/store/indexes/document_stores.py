"""Where the documents of one index are: in memory, or in a file that outlives the process."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import apsw

from scraper.store.indexes.model import IndexDocument, IndexFaultError
from scraper.store.indexes.tokenizer import Tokenizer
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
    """The documents of one index."""

    def put(self, document: IndexDocument) -> None:
        """Keep a document in place of an older one of that id."""

    def get(self, doc_id: str) -> IndexDocument | None:
        """A document by its id."""

    def news(self) -> Iterator[IndexDocument]:
        """What others have put since this was last asked."""


class StoredIndexes(Protocol):
    """Where indexes are kept that outlive the process. Raises IndexFault when it cannot serve."""

    def create(self, principal: str, name: str, tokenizer: Tokenizer) -> StoredIndex | None:
        """Make an index; None when it is there already."""

    def find(self, principal: str, name: str | None = None) -> list[StoredIndex]:
        """One principal's kept indexes, or the one of that name."""

    def shelf(self, number: int) -> DocumentStore:
        """The documents of an index."""

    def close(self) -> None:
        """Let go of what is open."""


class MemoryDocumentStore:
    """Documents that end with the process."""

    def __init__(self) -> None:
        self._documents: dict[str, IndexDocument] = {}

    def put(self, document: IndexDocument) -> None:
        """Keep a document in place of an older one of that id."""
        self._documents[document.doc_id] = document

    def get(self, doc_id: str) -> IndexDocument | None:
        """A document by its id."""
        return self._documents.get(doc_id)

    def news(self) -> Iterator[IndexDocument]:
        """Nothing: nobody else can put anything here."""
        return iter(())


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """An index that the file knows."""

    number: int
    name: str
    tokenizer: Tokenizer
    created_at: float


class IndexFile:
    """All kept indexes, in one file that several servers may share."""

    def __init__(self, folder: Path) -> None:
        self._database = Database(folder / FILE_NAME, _SCHEMA)

    def create(self, principal: str, name: str, tokenizer: Tokenizer) -> StoredIndex | None:
        """Make an index; None when it is there already."""
        statement = """
            INSERT INTO indexes (principal, name, lowercase, min_length, created_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (principal, name) DO NOTHING RETURNING id
        """
        now = time.time()
        row = (principal, name, int(tokenizer.lowercase), tokenizer.min_length, now)
        made = self.rows(statement, row, writes=True)
        return StoredIndex(int(made[0][0]), name, tokenizer, now) if made else None

    def find(self, principal: str, name: str | None = None) -> list[StoredIndex]:
        """One principal's kept indexes, or the one of that name."""
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
        """The rows of a statement.

        Raises:
            IndexFault: the file cannot serve it.
        """
        try:
            return self._database.run(functools.partial(_rows, statement, values), writes=writes)
        except DatabaseUnavailableError:
            problem = self._database.problem or f"{self._database.path} cannot be used"
            raise IndexFaultError(f"Kept indexes are not available: {problem}") from None

    def shelf(self, number: int) -> DocumentStore:
        """The documents of an index."""
        return FileDocumentStore(self, number)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


class FileDocumentStore:
    """The documents of one kept index."""

    def __init__(self, file: IndexFile, number: int) -> None:
        self._file = file
        self._number = number
        self._last = 0
        """The newest document that was seen."""
        self._own: set[int] = set()
        """Documents put here since then."""

    def put(self, document: IndexDocument) -> None:
        """Keep a document in place of an older one of that id; it is in the file when this returns."""
        # Replaced rather than updated, so that it gets a new number and other servers see that it is new.
        (made,) = self._file.rows(
            "INSERT OR REPLACE INTO documents (index_id, doc_id, content, metadata) VALUES (?, ?, ?, ?) "
            "RETURNING number",
            (self._number, document.doc_id, document.content, json.dumps(dict(document.metadata))),
            writes=True,
        )
        self._own.add(int(made[0]))

    def get(self, doc_id: str) -> IndexDocument | None:
        """A document by its id."""
        rows = self._file.rows(
            "SELECT doc_id, content, metadata FROM documents WHERE index_id = ? AND doc_id = ?",
            (self._number, doc_id),
        )
        return _document(rows[0]) if rows else None

    def news(self) -> Iterator[IndexDocument]:
        """What was put since this was last asked, by whatever server."""
        rows = self._file.rows(
            "SELECT number, doc_id, content, metadata FROM documents WHERE index_id = ? AND number > ? "
            "ORDER BY number",
            (self._number, self._last),
        )
        for number, *row in rows:
            self._last = number
            if number not in self._own:
                yield _document(row)
        self._own.clear()


def _document(row: tuple[Any, ...] | list[Any]) -> IndexDocument:
    doc_id, content, metadata = row
    return IndexDocument(doc_id, content, json.loads(metadata))


def _rows(statement: str, values: tuple[Any, ...], connection: apsw.Connection) -> list[tuple[Any, ...]]:
    return list(connection.execute(statement, values))

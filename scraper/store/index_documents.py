"""Keep the documents of named indexes in memory, in a SQLite file, or in another database.

The statements are the same in all, except the one that writes a document.
"""

import json
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from scraper.store.index_model import IndexDocument, IndexFaultError, Tokenizer
from scraper.store.protocols import DatabaseUnavailableError
from scraper.store.serialization import make_storable
from scraper.store.sqlite.database import Database, DatabaseSchema
from scraper.values.text import read_file, read_statements

UNAVAILABLE_MESSAGE = (
    "Named indexes are not available: their file or database cannot be used now; the log has the reason. "
    "Use an index with the backend memory."
)


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """An index in a store."""

    number: int
    name: str
    tokenizer: Tokenizer
    created_at: float
    """Seconds of the epoch."""


_SQL = read_statements(__package__, "index_statements.sql")


class IndexStore(ABC):
    """Indexes in the tables `indexes` and `documents` of a database.

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
        made = self._fetch(_SQL["create"], values, writes=True)
        return StoredIndex(int(made[0][0]), name, tokenizer, now) if made else None

    def find(self, principal: str, name: str | None = None) -> list[StoredIndex]:
        """Return all indexes of one principal, or the one with this name."""
        rows = self._fetch(_SQL["find"], (make_storable(principal), name))
        return [
            StoredIndex(number, one, Tokenizer(bool(lower), least), made) for number, one, lower, least, made in rows
        ]

    def put_document(self, index: int, document: IndexDocument) -> int:
        """Store a document in place of an older one with its id; return its new number."""
        texts = (self._encode(document.doc_id), self._encode_content(document.content))
        values = (index, *texts, json.dumps(dict(document.metadata)))
        ((number,),) = self._fetch(self._put, values, writes=True)
        return int(number)

    def get_document(self, index: int, doc_id: str) -> IndexDocument | None:
        """Return the document with this id, or None."""
        rows = self._fetch(_SQL["get_document"], (index, self._encode(doc_id)))
        return self._load(doc_id, *rows[0]) if rows else None

    def list_documents(self, index: int, after: int) -> Iterator[tuple[int, IndexDocument]]:
        """Iterate over the documents with numbers above `after`, in order."""
        rows = self._fetch(_SQL["list_documents"], (index, after), is_long=True)
        return ((number, self._load(*values)) for number, *values in rows)

    @abstractmethod
    def close(self) -> None:
        """Close files and connections."""

    @abstractmethod
    def _encode(self, text: str) -> str | bytes:
        """Return the value of a column for a text."""

    def _encode_content(self, text: str) -> str | bytes:
        return self._encode(text)

    def _decode_content(self, data: str | bytes) -> str:
        return data if isinstance(data, str) else data.decode()

    def _load(self, doc_id: str | bytes, content: str | bytes, metadata: str) -> IndexDocument:
        name = doc_id if isinstance(doc_id, str) else doc_id.decode()
        return IndexDocument(name, self._decode_content(content), json.loads(metadata))

    @abstractmethod
    def _fetch(
        self, statement: str, values: tuple[Any, ...], *, writes: bool = False, is_long: bool = False
    ) -> list[Any]:
        """Return the rows of a statement; `is_long` allows the time to read all documents of an index."""


FILE_NAME = "indexes.sqlite"
_SCHEMA = DatabaseSchema(
    application_id=0x53_4D_43_49,
    version=1,
    create=read_file(__package__, "indexes.sql"),
    drop="DROP TABLE IF EXISTS documents; DROP TABLE IF EXISTS indexes",
)


class SqliteIndexStore(IndexStore):
    """Persistent indexes in the file `indexes.sqlite`, which several servers may share."""

    _put = _SQL["put"]

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


class MemoryIndexStore(SqliteIndexStore):
    """Indexes in the memory of this process, with compressed texts."""

    def __init__(self) -> None:
        """Create a database in memory."""
        self._connection = apsw.Connection(":memory:")
        self._connection.execute(_SCHEMA.create.replace("content TEXT", "content BLOB"))

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _encode_content(self, text: str) -> bytes:
        return zlib.compress(text.encode(), 1)

    def _decode_content(self, data: str | bytes) -> str:
        return zlib.decompress(data).decode() if isinstance(data, bytes) else data

    def _fetch(
        self, statement: str, values: tuple[Any, ...], *, writes: bool = False, is_long: bool = False
    ) -> list[Any]:
        return list(self._connection.execute(statement, values))

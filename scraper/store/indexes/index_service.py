"""Every index of every principal: made, filled and searched in one thread, within limits."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from scraper.store.indexes.document_stores import (
    DocumentStore,
    IndexFile,
    MemoryDocumentStore,
    StoredIndex,
    StoredIndexes,
)
from scraper.store.indexes.highlights import highlights
from scraper.store.indexes.inverted_index import InvertedIndex
from scraper.store.indexes.model import (
    BACKENDS,
    DEFAULT_INDEX,
    DocumentAdded,
    IndexDocument,
    IndexFacts,
    IndexFaultError,
    IndexHit,
    IndexHits,
)
from scraper.store.indexes.query import parse
from scraper.store.indexes.tokenizer import Tokenizer

T = TypeVar("T")

log = logging.getLogger(__name__)

INDEXES_LIMIT = 100
"""Of one principal."""
DOCUMENTS_LIMIT = 100_000
"""Of one index."""
CONTENT_CHARS = 1_000_000
METADATA_BYTES = 65_536
ID_CHARS = 512
TOTAL_CHARS = 500_000_000
"""Of everything that is held in memory; a document takes about three times its text."""
CLOSE_LIMIT_S = 5.0

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(slots=True)
class _Index:
    """One index that is loaded."""

    backend: str
    tokenizer: Tokenizer
    shelf: DocumentStore
    kept: StoredIndex | None = None
    """What the file says of it; None for an index in memory."""
    words: InvertedIndex = field(default_factory=InvertedIndex)
    sizes: dict[str, int] = field(default_factory=dict)
    """Characters by document, in the order in which they came."""


class IndexService:
    """The `Indexes` protocol, in memory and over `indexes.sqlite` in a folder or what else keeps them."""

    def __init__(self, kept: Path | StoredIndexes) -> None:
        self._file = IndexFile(kept) if isinstance(kept, Path) else kept
        self._loaded: dict[tuple[str, str], _Index] = {}
        self._chars = 0
        # One thread: numpy and SQLite are quick, and what is put is found by the next search.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="indexes")

    async def create(
        self, name: str, *, principal: str, backend: str = "memory", tokenizer: Tokenizer | None = None
    ) -> None:
        """Make an index that is not there yet.

        Raises:
            IndexFault: the name is taken or not allowed, the backend is unknown, or there are too many.
        """
        await self._do(lambda: self._create(name, principal, backend, tokenizer or Tokenizer()))

    async def add(self, name: str, document: IndexDocument, *, principal: str) -> DocumentAdded:
        """Index a document in place of an older one of that id; returns once it is kept.

        Raises:
            IndexFault: there is no such index, or the document is not fit for it.
        """
        return await self._do(lambda: self._add(name, document, principal))

    async def search(self, name: str, query: str, *, principal: str, limit: int) -> IndexHits:
        """The best documents for a query.

        Raises:
            IndexFault: there is no such index.
        """
        return await self._do(lambda: self._search(name, query, principal, limit))

    async def document(self, name: str, doc_id: str, *, principal: str) -> IndexDocument | None:
        """One document as it was given."""
        return await self._do(lambda: self._index(name, principal).shelf.get(doc_id))

    async def documents(self, name: str, *, principal: str, limit: int, after: int = 0) -> list[str]:
        """Ids in the order in which they came, from number `after` on."""
        return await self._do(lambda: list(self._index(name, principal).sizes)[after : after + limit])

    async def names(self, *, principal: str) -> list[IndexFacts]:
        """The indexes there are, by name."""
        return await self._do(lambda: self._names(principal))

    async def close(self) -> None:
        """Let go of the file."""
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await asyncio.wrap_future(self._thread.submit(self._file.close))
        except TimeoutError:
            log.warning("the indexes did not close within %s s", CLOSE_LIMIT_S)
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._thread.submit(work))

    def _create(self, name: str, principal: str, backend: str, tokenizer: Tokenizer) -> None:
        if not _NAME.fullmatch(name):
            raise IndexFaultError(
                f"Invalid index name: {name[:80]} (letters, digits, - and _, at most 64 characters)"
            )
        if backend not in BACKENDS:
            raise IndexFaultError(f"Unknown backend: {backend[:80]}")
        known = {facts.name for facts in self._names(principal)}
        if name in known:
            raise IndexFaultError(f"Index already exists: {name}")
        if len(known) >= INDEXES_LIMIT:
            raise IndexFaultError(f"Too many indexes: {INDEXES_LIMIT} is the limit")
        if backend == "memory":
            self._loaded[principal, name] = _Index(backend, tokenizer, MemoryDocumentStore())
            return
        kept = self._file.create(principal, name, tokenizer)
        if kept is None:
            raise IndexFaultError(f"Index already exists: {name}")
        self._loaded[principal, name] = self._of(kept)

    def _add(self, name: str, document: IndexDocument, principal: str) -> DocumentAdded:
        index = self._index(name, principal)
        # Half a surrogate pair is no text that could be kept.
        document = replace(document, doc_id=_whole(document.doc_id), content=_whole(document.content))
        self._check(name, index, document)
        replaced = document.doc_id in index.words
        if replaced and _same(index.shelf.get(document.doc_id), document):
            return DocumentAdded(True, len(index.tokenizer.tokens(document.content)))
        index.shelf.put(document)
        return DocumentAdded(replaced, self._take(index, document))

    def _search(self, name: str, text: str, principal: str, limit: int) -> IndexHits:
        index = self._index(name, principal)
        query = parse(text, index.tokenizer)
        ranked = index.words.search(query, limit)
        hits = []
        for doc_id, score in ranked.hits:
            document = index.shelf.get(doc_id)
            if document is not None:
                pieces = tuple(highlights(document.content, query, index.tokenizer))
                hits.append(IndexHit(doc_id, score, pieces, document.metadata))
        return IndexHits(tuple(hits), ranked.total, query)

    def _names(self, principal: str) -> list[IndexFacts]:
        facts = {
            name: IndexFacts(name, index.backend, len(index.words))
            for (owner, name), index in self._loaded.items()
            if owner == principal
        }
        facts.setdefault(DEFAULT_INDEX, IndexFacts(DEFAULT_INDEX, "memory", 0))
        for name in self._kept_names(principal):
            index = self._index(name, principal)
            facts[name] = IndexFacts(name, index.backend, len(index.words))
        return sorted(facts.values(), key=lambda fact: fact.name)

    def _kept_names(self, principal: str) -> list[str]:
        try:
            return [kept.name for kept in self._file.find(principal)]
        except IndexFaultError:
            return []  # without its file there are those in memory

    def _index(self, name: str, principal: str) -> _Index:
        """The index of that name, with what other servers have put into it."""
        index = self._loaded.get((principal, name))
        if index is None or index.kept is not None:
            index = self._still_kept(name, principal, index)
        for document in index.shelf.news():
            self._take(index, document)
        return index

    def _still_kept(self, name: str, principal: str, known: _Index | None) -> _Index:
        """The index as the file has it now: that may have been deleted, or begun anew, in the meantime."""
        if known is None and name == DEFAULT_INDEX:
            return self._loaded.setdefault(
                (principal, name), _Index("memory", Tokenizer(), MemoryDocumentStore())
            )
        found = self._file.find(principal, name) if _NAME.fullmatch(name) else []
        if known is not None and found == [known.kept]:
            return known
        if known is not None:
            self._chars -= sum(known.sizes.values())
            del self._loaded[principal, name]
        if not found:
            raise IndexFaultError(f"Index not found: {name[:80]}")
        self._loaded[principal, name] = index = self._of(found[0])
        return index

    def _of(self, kept: StoredIndex) -> _Index:
        return _Index("sqlite", kept.tokenizer, self._file.shelf(kept.number), kept)

    def _take(self, index: _Index, document: IndexDocument) -> int:
        """Make a document findable; its number of words."""
        tokens = index.tokenizer.tokens(document.content)
        index.words.add(document.doc_id, tokens)
        self._chars += len(document.content) - index.sizes.get(document.doc_id, 0)
        index.sizes[document.doc_id] = len(document.content)
        return len(tokens)

    def _check(self, name: str, index: _Index, document: IndexDocument) -> None:
        if not document.content.strip():
            raise IndexFaultError("Content must be a non-empty string")
        if not document.doc_id.strip() or len(document.doc_id) > ID_CHARS:
            raise IndexFaultError(f"Document ID must be a non-empty string of at most {ID_CHARS} characters")
        if len(document.content) > CONTENT_CHARS:
            raise IndexFaultError(
                f"Content is too large: {len(document.content):,} of {CONTENT_CHARS:,} characters"
            )
        size = len(_written(document.metadata).encode())
        if size > METADATA_BYTES:
            raise IndexFaultError(f"Metadata is too large: {size:,} of {METADATA_BYTES:,} bytes")
        if document.doc_id not in index.words and len(index.words) >= DOCUMENTS_LIMIT:
            raise IndexFaultError(f"Index is full: {name} ({DOCUMENTS_LIMIT:,} documents)")
        if self._chars + len(document.content) > TOTAL_CHARS:
            raise IndexFaultError(f"Indexes are full: {TOTAL_CHARS:,} characters in all")


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _same(known: IndexDocument | None, given: IndexDocument) -> bool:
    """Whether nothing has changed; to Python 1, 1.0 and true are equal, to whoever gave them they are not."""
    if known is None or known.content != given.content:
        return False
    return _written(known.metadata) == _written(given.metadata)


def _written(metadata: Mapping[str, Any]) -> str:
    """Metadata as JSON.

    Raises:
        IndexFault: they are more than JSON can say, and no answer could carry them.
    """
    try:
        text = json.dumps(dict(metadata), allow_nan=False, ensure_ascii=False)
        text.encode()
    except RecursionError:
        raise IndexFaultError("Metadata is nested too deeply") from None
    except (ValueError, TypeError):
        raise IndexFaultError("Metadata must be a JSON object of numbers, texts, lists and objects") from None
    return text

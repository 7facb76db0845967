"""Create, fill and search named indexes within limits, in one thread."""

import asyncio
import json
import logging
import string
from collections import Counter, deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from scraper.store import index_model
from scraper.store.index_documents import IndexStore, MemoryIndexStore, SqliteIndexStore, StoredIndex
from scraper.store.index_model import DocumentAdded, IndexDocument, IndexFaultError, IndexHits, IndexSummary, Tokenizer
from scraper.store.snippets import widen_to_words

if TYPE_CHECKING:
    from scraper.store.inverted_index import InvertedIndex

T = TypeVar("T")

log = logging.getLogger(__name__)

INDEXES_LIMIT = 100
DOCUMENTS_LIMIT = 100_000
CONTENT_CHARS = 1_000_000
_METADATA_BYTES = 65_536
ID_CHARS = 512
CALLER_BYTES = 400_000_000
"""Bytes of all documents of one principal, about 100 million characters of text."""
TOTAL_BYTES = 2_000_000_000
_DOCUMENT_BYTES = 380
"""Bytes of memory that each document takes beside its text. Measured with 90,000 documents of one letter: 288, and 78
for the hash of its content."""
_WORD_BYTES = 12
"""Bytes counted for each word. Its place takes 4 in a temporary file, and each different word of a segment 12 more."""
_CLOSE_LIMIT_S = 5.0

_NAME_CHARS = 64
_NAME_CHARACTERS = frozenset(string.ascii_letters + string.digits + "_-")


@dataclass(slots=True)
class _Index:
    store: IndexStore
    stored: StoredIndex
    words: "InvertedIndex"
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes by document id, in the order of adding."""
    digests: dict[str, int] = field(default_factory=dict)
    """Hash of the content by document id."""
    last: int = 0
    """Number of the newest document that was read from the store, which other servers may change."""
    written_here: set[int] = field(default_factory=set)
    """Numbers of documents added by this process since then."""

    def get_document(self, doc_id: str) -> IndexDocument | None:
        """Return the document with this id, or None."""
        return self.store.get_document(self.stored.number, doc_id)


class IndexService:
    """Manage the named indexes of all principals, in memory and in a persistent store.

    Methods raise IndexFaultError if the index does not exist, or the arguments are invalid or exceed a limit.
    """

    def __init__(self, store: Path | IndexStore) -> None:
        """Open the service; `store` is the folder of `indexes.sqlite`, or another store for persistent indexes."""
        self._file = SqliteIndexStore(store) if isinstance(store, Path) else store
        self._memory = MemoryIndexStore()
        self._loaded: dict[tuple[str, str], _Index] = {}
        self._bytes: Counter[str] = Counter()
        """Bytes of documents by principal."""
        self._counted: set[str] = set()
        """Principals whose persistent indexes are all loaded, so that they count."""
        # One thread is enough, since numpy and SQLite are fast; the next search finds an added document.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="indexes")

    async def create(
        self, name: str, *, principal: str, backend: str = "memory", tokenizer: Tokenizer | None = None
    ) -> None:
        """Create an index of one principal; `backend` is one of `INDEX_BACKENDS`."""
        await self._run(lambda: self._create(name, principal, backend, tokenizer or Tokenizer()))

    async def add(self, name: str, document: IndexDocument, *, principal: str) -> DocumentAdded:
        """Index a document in place of an older one with its id; it is stored on return."""
        return await self._run(lambda: self._add(name, document, principal))

    async def search(self, name: str, query: str, *, principal: str, limit: int, start: int = 0) -> IndexHits:
        """Return the best documents for a query, after the first `start`."""
        return await self._run(lambda: self._search(name, query, principal, start, limit))

    async def document(self, name: str, doc_id: str, *, principal: str) -> IndexDocument | None:
        """Return one document as it was added, or None."""
        return await self._run(lambda: self._index(name, principal).get_document(doc_id))

    async def find_equal(self, name: str, doc_id: str, content: str, *, principal: str) -> str:
        """Return the id of the first document with this content; "" without one, or if `doc_id` is in the index."""
        return await self._run(lambda: self._find_equal(name, doc_id, content, principal))

    async def list_documents(self, name: str, *, principal: str, limit: int, after: int = 0) -> list[str]:
        """Return ids in the order of adding, from position `after` on."""
        return await self._run(lambda: list(self._index(name, principal).sizes)[after : after + limit])

    async def names(self, *, principal: str, needs_store: bool = False) -> list[IndexSummary]:
        """Return the indexes of one principal by name.

        Raises:
            IndexFaultError: The store cannot be used, and `needs_store` is True; else its indexes are left out.
        """
        return await self._run(lambda: self._list_names(principal, needs_store=needs_store))

    async def close(self) -> None:
        """Close the index store."""
        try:
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                await self._run(self._memory.close)
                await self._run(self._file.close)
        except TimeoutError:
            log.warning("the indexes did not close within %s s", _CLOSE_LIMIT_S)
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._thread.submit(work))

    def _create(self, name: str, principal: str, backend: str, tokenizer: Tokenizer) -> None:
        if not _is_name(name):
            raise IndexFaultError(f"Invalid index name: {name[:80]} (letters, digits, - and _, at most 64 characters)")
        if backend not in index_model.INDEX_BACKENDS:
            raise IndexFaultError(f"Unknown backend: {backend[:80]}")
        known = {summary.name for summary in self._list_names(principal)}
        if name in known:
            raise IndexFaultError(f"Index already exists: {name}")
        if len(known) >= INDEXES_LIMIT:
            raise IndexFaultError(f"Too many indexes: {INDEXES_LIMIT} is the limit")
        if (self._memory if backend == "memory" else self._file).create(principal, name, tokenizer) is None:
            raise IndexFaultError(f"Index already exists: {name}")

    def _add(self, name: str, document: IndexDocument, principal: str) -> DocumentAdded:
        index = self._index(name, principal)
        # Half a surrogate pair cannot be stored.
        document = replace(
            document, doc_id=_replace_surrogates(document.doc_id), content=_replace_surrogates(document.content)
        )
        if not document.content.strip():
            raise IndexFaultError("Content must be a non-empty string")
        if not document.doc_id.strip() or len(document.doc_id) > ID_CHARS:
            raise IndexFaultError(f"Document ID must be a non-empty string of at most {ID_CHARS} characters")
        if len(document.content) > CONTENT_CHARS:
            raise IndexFaultError(f"Content is too large: {len(document.content):,} of {CONTENT_CHARS:,} characters")
        size = len(_dump_metadata(document.metadata).encode())
        if size > _METADATA_BYTES:
            raise IndexFaultError(f"Metadata is too large: {size:,} of {_METADATA_BYTES:,} bytes")
        tokens = index.stored.tokenizer.index_tokens(document.content)
        self._check_room(name, index, document.doc_id, _count_bytes(document, tokens), principal)
        replaced = document.doc_id in index.words
        known = index.get_document(document.doc_id) if replaced else None
        # Metadata 1, 1.0 and true differ as JSON, unlike in Python.
        if (
            known is not None
            and known.content == document.content
            and _dump_metadata(known.metadata) == _dump_metadata(document.metadata)
        ):
            return DocumentAdded(True, len(tokens))
        index.written_here.add(index.store.put_document(index.stored.number, document))
        self._add_to_words(index, document, tokens, principal)
        return DocumentAdded(replaced, len(tokens))

    def _find_equal(self, name: str, doc_id: str, content: str, principal: str) -> str:
        index = self._index(name, principal)
        if doc_id in index.digests:
            return ""
        digest = hash(content)
        # A scan of 100,000 documents takes some milliseconds.
        for other_id in [one for one, known in index.digests.items() if known == digest]:
            other = index.get_document(other_id)
            if other is not None and other.content == content:
                return other_id
        return ""

    def _search(self, name: str, text: str, principal: str, start: int, limit: int) -> IndexHits:
        index = self._index(name, principal)
        query = index_model.parse_query(text, index.stored.tokenizer)
        ranked, total = index.words.search(query, start + limit)
        hits = []
        for doc_id, score in ranked[start:]:
            document = index.get_document(doc_id)
            if document is not None:
                pieces = tuple(_find_highlights(document.content, query, index.stored.tokenizer))
                hits.append(index_model.IndexHit(doc_id, score, pieces, document.metadata))
        return IndexHits(tuple(hits), total, query)

    def _list_names(self, principal: str, *, needs_store: bool = False) -> list[IndexSummary]:
        names = {one.name for one in self._memory.find(principal)}
        try:
            names.update(one.name for one in self._file.find(principal))
        except IndexFaultError:
            if needs_store:
                raise
        summaries = {index_model.DEFAULT_INDEX: IndexSummary(index_model.DEFAULT_INDEX, "memory", 0)}
        for name in names:
            index = self._index(name, principal)
            backend = "memory" if index.store is self._memory else "sqlite"
            summaries[name] = IndexSummary(name, backend, len(index.words))
        return sorted(summaries.values(), key=lambda one: one.name)

    def _index(self, name: str, principal: str) -> _Index:
        """Return an index in its stored state, since the store may have been deleted or recreated."""
        if name == index_model.DEFAULT_INDEX:
            self._memory.create(principal, name, Tokenizer())
        store: IndexStore = self._memory
        found = store.find(principal, name) if _is_name(name) else []
        if not found and _is_name(name):
            store = self._file
            found = store.find(principal, name)
        index = self._loaded.get((principal, name))
        if index is None or found != [index.stored]:
            if index is not None:
                self._bytes[principal] -= sum(index.sizes.values())
                del self._loaded[principal, name]
            if not found:
                raise IndexFaultError(f"Index not found: {name[:80]}")
            # Imported late: it loads numpy, .1 s of CPU that most commands do not need.
            from scraper.store.inverted_index import InvertedIndex

            index = self._loaded[principal, name] = _Index(store, found[0], InvertedIndex())
        for number, document in store.list_documents(index.stored.number, index.last):
            index.last = number
            if number not in index.written_here:
                self._add_to_words(index, document, index.stored.tokenizer.index_tokens(document.content), principal)
        index.written_here.clear()
        return index

    def _add_to_words(self, index: _Index, document: IndexDocument, tokens: list[str], principal: str) -> None:
        index.words.add(document.doc_id, tokens)
        size = _count_bytes(document, tokens)
        self._bytes[principal] += size - index.sizes.get(document.doc_id, 0)
        index.sizes[document.doc_id] = size
        index.digests[document.doc_id] = hash(document.content)

    def _check_room(self, name: str, index: _Index, doc_id: str, size: int, principal: str) -> None:
        if doc_id not in index.words and len(index.words) >= DOCUMENTS_LIMIT:
            raise IndexFaultError(f"Index is full: {name} ({DOCUMENTS_LIMIT:,} documents)")
        if principal not in self._counted:
            self._list_names(principal)
            self._counted.add(principal)
        more = size - index.sizes.get(doc_id, 0)
        if self._bytes[principal] + more > CALLER_BYTES:
            raise IndexFaultError(f"Your indexes are full: {CALLER_BYTES:,} bytes is the limit of one caller")
        if self._bytes.total() + more > TOTAL_BYTES:
            raise IndexFaultError(f"Indexes are full: {TOTAL_BYTES:,} bytes is the limit of all callers together")


def _is_name(name: str) -> bool:
    return 0 < len(name) <= _NAME_CHARS and _NAME_CHARACTERS.issuperset(name)


def _count_bytes(document: IndexDocument, tokens: list[str]) -> int:
    """Return the bytes of memory and temporary files that a document takes at most, except words in memory."""
    text = f"{document.doc_id}{document.content}{_dump_metadata(document.metadata)}"
    return _DOCUMENT_BYTES + len(text.encode()) + _WORD_BYTES * len(tokens)


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _dump_metadata(metadata: Mapping[str, Any]) -> str:
    """Return metadata as JSON; raise IndexFaultError for values that JSON cannot represent."""
    try:
        text = json.dumps(dict(metadata), allow_nan=False, ensure_ascii=False)
        text.encode()
    except RecursionError:
        raise IndexFaultError("Metadata is nested too deeply") from None
    except (ValueError, TypeError):
        raise IndexFaultError("Metadata must be a JSON object of numbers, texts, lists and objects") from None
    return text


_HIGHLIGHTS = 3
_HIGHLIGHT_CHARS = 300
"""Characters of a passage: a paragraph of two or three sentences is whole."""


def _find_highlights(text: str, query: index_model.IndexQuery, tokenizer: Tokenizer) -> list[str]:
    """Return at most three passages with query words or phrases in order: paragraphs, or 300 characters of them."""
    terms = {*query.terms, *query.must}
    recent: deque[tuple[str, int]] = deque(maxlen=max(map(len, query.phrases), default=1))
    pieces: list[str] = []
    covered = -1
    for token, start, end in tokenizer.iter_tokens(text):
        recent.append((token, start))
        words = tuple(word for word, _ in recent)
        phrase = next((one for one in query.phrases if words[-len(one) :] == one), (token,))
        low = recent[-len(phrase)][1]
        if (token not in terms and len(phrase) == 1) or low < covered:
            continue
        first, last = text.rfind("\n\n", 0, low), text.find("\n\n", end)
        bounds = (max(covered, first + 2 if first >= 0 else 0), last if last >= 0 else len(text))
        low, high = widen_to_words(text, low, end, length=_HIGHLIGHT_CHARS, bounds=bounds, before=2)
        piece = " ".join(text[low:high].split())
        pieces.append(f"{'...' if low > bounds[0] else ''}{piece}{'...' if high < bounds[1] else ''}")
        covered = high
        if len(pieces) == _HIGHLIGHTS:
            break
    return pieces

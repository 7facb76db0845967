"""Full-text search of stored pages, limited to the pages that the principal may see."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import tempfile
import threading
import zlib
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scraper.model import PageHits
from scraper.store import base_page_store
from scraper.store.protocols import CacheScope, NullPageStore, PageEntry, PageStore
from scraper.store.query import CacheQuery, QueryTerm
from scraper.store.serialization import serialize_result
from scraper.store.sqlite import page_queries, pages
from scraper.store.sqlite.page_queries import register_ranking_function
from scraper.store.sqlite.pages import FILE_NAME, SqlitePageStore
from tests.scraper.store.conftest import entry, opened, text_of

NONE: frozenset[str] = frozenset()


async def found(pages: PageStore, query: str, *, principal: str = "local", limit: int = 10) -> list[str]:
    answer = await pages.search(query, principal=principal, allowed=NONE, limit=limit)
    assert answer.usable
    return [hit.url for hit in answer.hits]


async def test_a_page_is_found_by_its_words_as_soon_as_it_was_put(pages: PageStore) -> None:
    pages.put(entry("https://example.org/mill", text="wind and mill"))
    pages.put(entry("https://example.org/sea", text="salt and sea"))
    assert await found(pages, "mill") == ["https://example.org/mill"]
    assert await found(pages, "mill sea") == []


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("Le café où l'élève déjeune, cœur", "cafe CAFÉ eleve élève coeur CŒUR"),
        ("Straße und Größe", "strasse STRASSE straße grosse größe"),
        ("Ο λόγος του ανθρώπου", "λογος ΛΟΓΟΣ λόγος ανθρωπου"),
        ("Ёлка зелёная, мой чай", "елка ёлка зеленая чай"),
        ("zażółć gęślą jaźń, smørrebrød", "zazolc zażółć smorrebrod"),
        ("İstanbul ılık, Tiếng Việt", "istanbul İSTANBUL ilik tieng việt"),
        ("كِتَابٌ جديد", "كتاب كِتَابٌ"),
        ("שָׁלוֹם עולם", "שלום שָׁלוֹם"),
        ("e\u0301migre\u0301 ﬁle Ｗｉｄｅ", "émigré emigre file wide"),
        ("हिन्दी भाषा की किताब", "हिन्दी किताब"),
        ("北京大学的机器学习课程", "机器 学习 机器学习 北 程"),
        ("東京タワー ｶﾀｶﾅ", "東京 タワー カタ"),
        ("서울은 대한민국의 수도입니다", "서울 수도 대한민국"),
        ("ภาษาไทยเป็นภาษาที่สวยงาม", "ภาษา ไทย สวย"),
        ("`asyncio.gather` and C++ or C#, node.js", "asyncio.gather gather C++ c# node.js"),
    ],
)
async def test_words_are_found_and_marked_in_every_script_with_accents_and_without(
    sqlite_pages: SqlitePageStore, text: str, queries: str
) -> None:
    before = "Nothing of it here.\n\n" * 20
    sqlite_pages.put(entry(text=before + text))
    sqlite_pages.put(entry("https://example.org/other", text="мои words: cafes, C, node"))
    for query in queries.split():
        answer = await sqlite_pages.search(query, principal="local", allowed=NONE, limit=5)
        assert [hit.url for hit in answer.hits] == ["https://example.org/"], query
        assert "[" in answer.hits[0].snippet and answer.hits[0].start == len(before), query


async def test_a_replaced_page_is_found_only_by_its_new_words(pages: PageStore) -> None:
    pages.put(entry(text="old words"))
    await pages.flush()
    pages.put(entry(text="new words"))
    assert await found(pages, "old") == []
    assert await found(pages, "new") == ["https://example.org/"]


async def test_an_inconsistent_index_finds_other_pages_and_recovers(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages:
        for name in ("gone", "wordless", "whole"):
            pages.put(entry(f"https://example.org/{name}", text=f"common {name}"))
    with contextlib.closing(apsw.Connection(str(tmp_path / FILE_NAME))) as file:
        register_ranking_function(file)
        wordless = "SELECT id FROM pages WHERE url = 'https://example.org/wordless'"
        file.execute(f"DELETE FROM words WHERE rowid = ({wordless})")
        file.execute("DELETE FROM pages WHERE url = 'https://example.org/gone'")
    async with opened(tmp_path) as pages:
        assert await found(pages, "common") == ["https://example.org/whole"]
        assert await found(pages, "gone") == []
        for name in ("wordless", "gone"):
            pages.put(entry(f"https://example.org/{name}", text=f"common {name}"))
        assert len(await found(pages, "common")) == 3
        assert await found(pages, "gone") == ["https://example.org/gone"]


async def test_a_page_read_in_two_ways_is_one_hit(pages: PageStore) -> None:
    for method in ("http", "browser"):
        pages.put(entry(text="twice", method=method))
    assert await found(pages, "twice") == ["https://example.org/"]


async def test_pages_of_other_principals_are_not_found(pages: PageStore) -> None:
    for number in range(60):
        pages.put(entry(f"https://example.org/{number}", text="secret", scope=CacheScope(principal="other")))
    pages.put(entry("https://example.org/mine", text="secret among many other words"))
    assert await found(pages, "secret", limit=1) == ["https://example.org/mine"]
    assert len(await found(pages, "secret", principal="other", limit=50)) == 50
    assert await found(pages, "secret", principal="nobody") == []


async def test_a_page_is_found_among_many_pages_of_other_principals(
    sqlite_pages: SqlitePageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_queries, "RANKED_LIMIT", 20)
    sqlite_pages.put(entry("https://example.org/mine", text="common"))
    for number in range(50):
        sqlite_pages.put(entry(f"https://example.org/{number}", text="common", scope=CacheScope(principal="other")))
    for number in range(50):
        sqlite_pages.put(entry(f"https://example.org/x{number}", text="common", allowances=frozenset({"10.0.0.0/8"})))
    assert await found(sqlite_pages, "common") == ["https://example.org/mine"]
    listed = await sqlite_pages.list_recent(principal="local", allowed=NONE, limit=10)
    assert [facts.url for facts in listed] == ["https://example.org/mine"]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.integers(0, 8)), max_size=40), st.integers(1, 7)
)
def test_lists_are_paged_through_without_gap_or_overlap(puts: list[tuple[str, str, int]], size: int) -> None:
    asyncio.run(_paged(puts, size))


async def _paged(puts: list[tuple[str, str, int]], size: int) -> None:
    kept: dict[tuple[str, str], str] = {}
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder)) as pages:
            for principal, allowance, number in puts:
                url = f"https://example.org/{allowance}{number}"
                pages.put(entry(url, scope=CacheScope(principal), allowances=frozenset({allowance})))
                await pages.flush()
                kept.pop((principal, url), None)
                kept[principal, url] = allowance
            for allowed in (frozenset("x"), frozenset("xy")):
                seen, before = [], None
                while part := await pages.list_recent(principal="a", allowed=allowed, limit=size, before=before):
                    assert len(part) <= size
                    seen += [facts.url for facts in part]
                    before = part[-1].number
                expected = [url for (owner, url), one in kept.items() if owner == "a" and one in allowed]
                assert seen == expected[::-1]


async def test_a_query_that_fts5_rejects_is_searched_as_words(
    sqlite_pages: SqlitePageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = CacheQuery("AND AND", (QueryTerm("mill"),), ('"mill"',))
    monkeypatch.setattr(pages, "parse_query", lambda query: wrong)
    sqlite_pages.put(entry("https://example.org/mill", text="wind and mill"))
    answer = await sqlite_pages.search("mill", principal="local", allowed=NONE, limit=5)
    assert [hit.url for hit in answer.hits] == ["https://example.org/mill"] and "not valid" in answer.note
    assert (await sqlite_pages.stats()).problem is None


async def test_a_slow_search_does_not_block_writes(
    sqlite_pages: SqlitePageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = threading.Event()
    assert await found(sqlite_pages, "mill") == []  # the file is open

    def slow(*_: object, **__: object) -> None:
        assert "writer" not in threading.current_thread().name
        held.wait(20)

    monkeypatch.setattr(sqlite_pages, "_queries", replace(sqlite_pages._queries, search=slow))
    monkeypatch.setattr(base_page_store, "SEARCH_LIMIT_S", 0.05)
    answer = await sqlite_pages.search("mill", principal="local", allowed=NONE, limit=5)
    assert not answer.usable
    sqlite_pages.put(entry(text="kept meanwhile"))
    assert await text_of(sqlite_pages) == "kept meanwhile"
    held.set()


async def test_a_page_read_under_an_exception_is_not_found_once_that_is_taken_back(pages: PageStore) -> None:
    pages.put(entry(text="inside", allowances=frozenset({"10.0.0.0/8"})))
    assert await found(pages, "inside") == []
    with_exception = await pages.search("inside", principal="local", allowed=frozenset({"10.0.0.0/8"}), limit=5)
    assert len(with_exception.hits) == 1


async def test_find_returns_a_page_by_its_final_url(pages: PageStore) -> None:
    pages.put(entry("https://example.org/a", text="one"))
    await pages.flush()
    kept = await pages.find("https://example.org/a", principal="local", allowed=NONE)
    assert kept is not None and kept.reading.document.text == "one"
    assert await pages.find("https://example.org/a", principal="other", allowed=NONE) is None


async def test_list_recent_continues_without_gap_or_overlap(pages: PageStore) -> None:
    for number in range(25):
        pages.put(entry(f"https://example.org/{number}"))
    seen: list[str] = []
    before = None
    while part := await pages.list_recent(principal="local", allowed=NONE, limit=10, before=before):
        seen += [facts.url for facts in part]
        before = part[-1].number
    assert seen == [f"https://example.org/{number}" for number in reversed(range(25))]


async def test_an_export_holds_every_page_and_clearing_forgets_them(pages: PageStore) -> None:
    for number in range(250):
        pages.put(entry(f"https://example.org/{number}", text=f"page {number}"))
    exported = [kept async for kept in pages.iter_entries()]
    assert sorted(kept.reading.document.text for kept in exported) == sorted(f"page {n}" for n in range(250))
    assert await pages.clear() == 250
    assert await found(pages, "page") == [] and await text_of(pages) is None


async def test_a_queued_page_is_returned(pages: PageStore) -> None:
    pages.put(entry(text="just now"))
    kept = await pages.get("https://example.org/", scope=CacheScope(), methods=("http",), max_age_s=60.0, allowed=NONE)
    assert kept is not None and kept.reading.document.text == "just now"


async def test_without_a_cache_the_answer_says_so() -> None:
    assert await NullPageStore().search("x", principal="local", allowed=NONE, limit=5) == PageHits(usable=False)


async def test_a_file_of_the_first_version_is_emptied_and_used(tmp_path: Path) -> None:
    _write_version_1(tmp_path / FILE_NAME, [entry("https://example.org/old", text="from long ago")])
    async with opened(tmp_path) as pages:
        pages.put(entry(text="just now"))
        assert await found(pages, "now") == ["https://example.org/"]
        assert (await pages.stats()).pages == 1


async def test_a_file_of_the_second_version_is_brought_forward_with_its_pages(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages:
        pages.put(entry(text="from the second version, θέση"))
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("DROP INDEX pages_by_owner")
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    async with opened(tmp_path) as pages:
        assert await found(pages, "second") == await found(pages, "ΘΕΣΗ") == ["https://example.org/"]
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
        names = connection.execute("SELECT name FROM sqlite_schema").fetchall()
    connection.close()
    assert ("pages_by_owner",) in names


def _write_version_1(path: Path, entries: list[PageEntry]) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(
        "CREATE TABLE pages (id INTEGER PRIMARY KEY, principal TEXT NOT NULL, profile TEXT NOT NULL, "
        "language TEXT NOT NULL, key TEXT NOT NULL, method TEXT NOT NULL, retrieved_at REAL NOT NULL, "
        "allowances TEXT NOT NULL, reading BLOB NOT NULL, "
        "UNIQUE (principal, profile, language, key, method)) STRICT; "
        "CREATE INDEX pages_by_age ON pages (retrieved_at);"
    )
    for kept in entries:
        data = serialize_result(kept.reading)
        moment = kept.reading.retrieved_at.timestamp()
        connection.execute(
            "INSERT INTO pages VALUES (NULL, 'local', '', 'en-US', ?, 'http', ?, '[]', ?)", (kept.key, moment, data)
        )
    connection.execute(f"PRAGMA application_id = {0x53_4D_43_50}; PRAGMA user_version = 1")
    connection.close()


async def test_texts_are_compressed_in_the_file(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages:
        pages.put(entry(text="again and again " * 1_000))
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        (data,) = connection.execute("SELECT reading FROM pages").fetchone()
    connection.close()
    assert len(data) < 2_000 and b"again and again" in zlib.decompress(data)

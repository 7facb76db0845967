"""Named indexes fulfill one contract with every backend."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from scraper.store import index_service
from scraper.store.index_documents import FILE_NAME
from scraper.store.index_model import (
    INDEX_BACKENDS,
    DocumentAdded,
    IndexDocument,
    IndexFaultError,
    IndexHits,
    Tokenizer,
)
from scraper.store.index_service import IndexService
from scraper.store.postgres.database import PostgresPool
from scraper.store.postgres.stores import PostgresIndexStore

ME = "local"


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[IndexService]:
    indexes = IndexService(folder)
    try:
        yield indexes
    finally:
        await indexes.close()


@pytest.fixture(params=[*INDEX_BACKENDS, "postgres"])
async def indexes(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[IndexService]:
    """Open a service with an index `notes` of each backend, in files and in PostgreSQL."""
    if request.param == "postgres":
        server = PostgresPool(await request.getfixturevalue("postgres").database())
        shared = IndexService(PostgresIndexStore(server))
        await shared.create("notes", principal=ME, backend="sqlite")
        yield shared
        await shared.close()
        await server.disconnect()
        return
    async with opened(tmp_path) as made:
        await made.create("notes", principal=ME, backend=request.param)
        yield made


async def add(indexes: IndexService, doc_id: str, content: str, name: str = "notes", **metadata: Any) -> DocumentAdded:
    return await indexes.add(name, IndexDocument(doc_id, content, metadata), principal=ME)


async def look(indexes: IndexService, query: str, name: str = "notes", limit: int = 10) -> IndexHits:
    return await indexes.search(name, query, principal=ME, limit=limit)


async def ids(indexes: IndexService, query: str, name: str = "notes") -> list[str]:
    return [hit.doc_id for hit in (await look(indexes, query, name)).hits]


async def test_the_example_of_the_contract_has_six_words(indexes: IndexService) -> None:
    added = await add(indexes, "doc-001", "Python rate limiting with token buckets", author="Smith", year=2026)
    assert added == DocumentAdded(replaced=False, token_count=6)
    (hit,) = (await look(indexes, '+python "rate limiting"')).hits
    assert hit.metadata == {"author": "Smith", "year": 2026} and hit.score > 0
    assert hit.highlights == ("Python rate limiting with token buckets",)


async def test_operators_and_their_combinations(indexes: IndexService) -> None:
    await add(indexes, "a", "Python for machine learning")
    await add(indexes, "b", "Python and the machine that is learning")
    await add(indexes, "c", "Rust for machine learning")
    assert set(await ids(indexes, "python rust")) == {"a", "b", "c"}
    assert set(await ids(indexes, "+python machine")) == {"a", "b"}
    assert set(await ids(indexes, '"machine learning"')) == {"a", "c"}
    assert await ids(indexes, '+python "machine learning"') == ["a"]
    assert await ids(indexes, 'machine -"machine learning"') == ["b"]
    assert set(await ids(indexes, "machine -rust")) == {"a", "b"}
    assert await ids(indexes, "+rust +python") == []
    assert await ids(indexes, "-rust") == []
    assert await ids(indexes, "PYTHON -the") == ["a"]


async def test_questions_without_spaces_find_what_has_most_of_their_pairs(indexes: IndexService) -> None:
    await add(indexes, "zh", "潮汐钟是一种特殊设计的时钟，用来跟踪月球。东京的潮汐表每天更新。")
    await add(indexes, "ja", "東京の潮汐表は毎日更新されます。お茶を飲む。")
    await add(indexes, "ko", "조석 시계는 달을 따라갑니다.")
    await add(indexes, "th", "นาฬิกาน้ำขึ้นน้ำลงใช้ติดตามดวงจันทร์")
    best = {
        "潮汐钟是什么": "zh",
        "東京潮汐表": "ja",
        "조석시계": "ko",
        "นาฬิกาติดตาม": "th",
        "飲": "ja",
        "月球 tides": "zh",
    }
    for query, doc_id in best.items():
        assert (await ids(indexes, query))[0] == doc_id
    assert await ids(indexes, '"東京潮汐"') == await ids(indexes, "+東京潮汐") == []
    assert await ids(indexes, '+潮汐表 -"東京"') == ["zh"]
    assert len((await look(indexes, "潮汐钟" * 2_000)).query.terms) <= 64


async def test_more_and_rarer_words_rank_higher(indexes: IndexService) -> None:
    for number in range(10):
        await add(indexes, f"common-{number}", "common words in every text")
    await add(indexes, "rare", "rare words in one text")
    await add(indexes, "often", "rare rare rare in one text")
    assert (await ids(indexes, "common rare"))[:2] == ["often", "rare"]
    assert (await look(indexes, "words", limit=3)).total == 11


async def test_a_document_of_the_same_id_is_replaced(indexes: IndexService) -> None:
    await add(indexes, "a", "old words")
    assert await add(indexes, "a", "new words") == DocumentAdded(replaced=True, token_count=2)
    assert await ids(indexes, "old") == [] and await ids(indexes, "new") == ["a"]
    assert (await look(indexes, "words")).total == 1


async def test_adding_the_same_again_changes_nothing(indexes: IndexService) -> None:
    await add(indexes, "a", "some words", n=1)
    await add(indexes, "b", "some other words")
    before = await look(indexes, "some words")
    assert await add(indexes, "a", "some words", n=1) == DocumentAdded(replaced=True, token_count=2)
    assert await look(indexes, "some words") == before


async def test_words_of_every_script_are_found(indexes: IndexService) -> None:
    await add(indexes, "ja", "機械学習は楽しい")
    await add(indexes, "code", "use C++ and node.js")
    assert await ids(indexes, "学習") == ["ja"] and await ids(indexes, "機械学習") == ["ja"]
    assert await ids(indexes, "c++") == ["code"] and await ids(indexes, "node.js") == ["code"]


async def test_highlights_are_short_and_at_most_three(indexes: IndexService) -> None:
    await add(indexes, "a", "one word here and many others that stand between them " * 20)
    (hit,) = (await look(indexes, "word")).hits
    assert len(hit.highlights) == 3
    assert all("word" in piece and len(piece) <= 310 for piece in hit.highlights)


async def test_highlights_are_those_of_phrases_and_at_any_place(indexes: IndexService) -> None:
    words = "The power of the moon raises the sea.\n\n" * 6_000
    await add(indexes, "long", f"{words}The tidal power plant began to work.")
    (hit,) = (await look(indexes, '"tidal power"')).hits
    assert hit.highlights == ("The tidal power plant began to work.",)


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("Le café de l'hôtel est fermé à Besançon", "cafe besancon"),
        ("Żółty tramwaj w Łodzi", "zolty łodzi"),
        ("İstanbul ışık gösterisi", "istanbul isik"),
        ("The resume of the facade", "résumé façade"),
        ("Ёлка стоит на площади", "елка"),
        ("المَكتَبة مفتوحة", "المكتبة"),
        ("Η βιβλιοθήκη είναι κλειστή", "βιβλιοθηκη"),
    ],
)
async def test_words_are_found_without_their_accents(indexes: IndexService, content: str, query: str) -> None:
    await add(indexes, "a", content)
    assert await ids(indexes, query) == ["a"]


async def test_a_highlight_is_the_whole_paragraph(indexes: IndexService) -> None:
    paragraph = "The morning ferry lands at the new pier, ten minutes on foot from the station, when the tide is low."
    await add(indexes, "a", f"# Ferries\n\nNothing about it.\n\n{paragraph}\n\nThe gate of the dock is closed.")
    (hit,) = (await look(indexes, "station")).hits
    assert hit.highlights == (paragraph,)


async def test_an_index_belongs_to_its_principal(indexes: IndexService) -> None:
    await add(indexes, "a", "secret")
    with pytest.raises(IndexFaultError, match=r"^Index not found: notes$"):
        await indexes.search("notes", "secret", principal="other", limit=5)
    await indexes.create("notes", principal="other")
    assert (await indexes.search("notes", "secret", principal="other", limit=5)).total == 0
    await add(indexes, "b", "mine", name="default")
    assert (await indexes.search("default", "mine", principal="other", limit=5)).total == 0


@pytest.mark.parametrize("name", ["", " ", "a b", "ä", "a/b", "x" * 65, "a\n"])
async def test_names_that_are_not_allowed_are_said(indexes: IndexService, name: str) -> None:
    with pytest.raises(IndexFaultError, match="Invalid index name"):
        await indexes.create(name, principal=ME)


async def test_error_texts_are_those_of_the_contract(indexes: IndexService) -> None:
    for name, backend, told in (
        ("notes", "memory", "Index already exists: notes"),
        ("default", "memory", "Index already exists: default"),
        ("other", "redis", "Unknown backend: redis"),
    ):
        with pytest.raises(IndexFaultError, match=f"^{told}$"):
            await indexes.create(name, principal=ME, backend=backend)
    with pytest.raises(IndexFaultError, match=r"^Index not found: none$"):
        await add(indexes, "a", "text", name="none")
    with pytest.raises(IndexFaultError, match=r"^Index not found: half \ud800$"):
        await look(indexes, "text", "half \ud800")
    with pytest.raises(IndexFaultError, match=r"^Content must be a non-empty string$"):
        await add(indexes, "a", " \n")


async def test_limits_are_told(indexes: IndexService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_service, "DOCUMENTS_LIMIT", 2)
    monkeypatch.setattr(index_service, "INDEXES_LIMIT", 3)
    await add(indexes, "a", "text")
    await add(indexes, "b", "text")
    await add(indexes, "b", "text again")
    await indexes.create("third", principal=ME)
    for act, told in (
        (add(indexes, "c", "text"), "Index is full: notes"),
        (indexes.create("fourth", principal=ME), "Too many indexes"),
        (add(indexes, "x" * 513, "text"), "Document ID must"),
        (add(indexes, "d", "x" * 1_000_001), "Content is too large"),
        (add(indexes, "a", "text", big="x" * 70_000), "Metadata is too large"),
    ):
        with pytest.raises(IndexFaultError, match=told):
            await act


async def test_documents_are_listed_in_parts_and_returned(indexes: IndexService) -> None:
    for number in range(5):
        await add(indexes, f"d{number}", f"text {number}")
    assert await indexes.list_documents("notes", principal=ME, limit=2) == ["d0", "d1"]
    assert await indexes.list_documents("notes", principal=ME, limit=9, after=2) == ["d2", "d3", "d4"]
    kept = await indexes.document("notes", "d3", principal=ME)
    assert kept is not None and kept.content == "text 3"
    assert await indexes.document("notes", "none", principal=ME) is None


async def test_a_persistent_index_survives_a_restart_with_its_settings(tmp_path: Path) -> None:
    async with opened(tmp_path) as indexes:
        await indexes.create("kept", principal=ME, backend="sqlite", tokenizer=Tokenizer(lowercase=False))
        await indexes.create("gone", principal=ME)
        await add(indexes, "a", "Words of \ud800 yesterday \0 end", name="kept", n=[1, {"x": None}])
    async with opened(tmp_path) as indexes:
        assert await ids(indexes, "yesterday", "kept") == ["a"] and await ids(indexes, "words", "kept") == []
        kept = await indexes.document("kept", "a", principal=ME)
        assert kept is not None and kept.metadata == {"n": [1, {"x": None}]}
        assert [facts.name for facts in await indexes.names(principal=ME)] == ["default", "kept"]
        with pytest.raises(IndexFaultError, match="Index already exists: kept"):
            await indexes.create("kept", principal=ME)


async def test_a_document_of_another_server_is_found(tmp_path: Path) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as other:
        await one.create("shared", principal=ME, backend="sqlite")
        await one.create("another", principal=ME, backend="sqlite")
        await add(one, "a", "from one", name="shared")
        assert await ids(other, "one", "shared") == ["a"]
        await add(one, "x", "between", name="another")
        await add(other, "b", "from other", name="shared")
        await add(other, "a", "replaced", name="shared")
        assert await ids(one, "other", "shared") == ["b"]
        assert await ids(one, "one", "shared") == [] and await ids(one, "replaced", "shared") == ["a"]


async def test_an_unusable_file_affects_only_persistent_indexes(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    async with opened(tmp_path / "file") as indexes:
        assert (await add(indexes, "a", "text", name="default")).token_count == 1
        with pytest.raises(IndexFaultError, match="Named indexes are not available") as refused:
            await indexes.create("kept", principal=ME, backend="sqlite")

        assert str(tmp_path) not in str(refused.value)


async def test_a_full_caller_leaves_room_for_others(indexes: IndexService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_service, "CALLER_BYTES", 580)
    monkeypatch.setattr(index_service, "TOTAL_BYTES", 1_010)
    await add(indexes, "a", "mill " * 8)
    await add(indexes, "a", "mine " * 8)
    for document in (IndexDocument("b", "word " * 2), IndexDocument("a", "mine " * 8, {"key": "value" * 20})):
        with pytest.raises(IndexFaultError, match=r"^Your indexes are full: 580 bytes is the limit of one caller$"):
            await indexes.add("notes", document, principal=ME)
    await indexes.add("default", IndexDocument("a", "word"), principal="other")
    with pytest.raises(IndexFaultError, match=r"^Indexes are full: 1,010 bytes is the limit of all callers together$"):
        await indexes.add("default", IndexDocument("a", "word " * 9), principal="other")


@pytest.mark.parametrize(("content", "count"), [("a", 500), ("\u4e00\u4e01\u4e02\u4e03" * 100, 12), ("word " * 400, 8)])
async def test_what_a_document_takes_counts_for_the_limit(
    indexes: IndexService, monkeypatch: pytest.MonkeyPatch, content: str, count: int
) -> None:
    # Small documents take memory beside their text, and pairs of Chinese characters more space than letters.
    monkeypatch.setattr(index_service, "CALLER_BYTES", 50_000)
    added = 0
    with pytest.raises(IndexFaultError, match="limit of one caller"):
        for number in range(count):
            await add(indexes, str(number), content)
            added += 1
    assert added >= count // 4


async def test_stored_indexes_count_for_the_limit_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_service, "CALLER_BYTES", 1_000)
    async with opened(tmp_path) as indexes:
        await indexes.create("kept", principal=ME, backend="sqlite")
        await indexes.add("kept", IndexDocument("a", "word " * 30), principal=ME)
    async with opened(tmp_path) as indexes:
        await indexes.add("default", IndexDocument("a", "word"), principal="other")
        with pytest.raises(IndexFaultError, match="limit of one caller"):
            await indexes.add("default", IndexDocument("a", "word"), principal=ME)


async def test_a_damaged_file_is_moved_away(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database " * 1_000)
    async with opened(tmp_path) as indexes:
        await indexes.create("kept", principal=ME, backend="sqlite")
        assert (await add(indexes, "a", "text", name="kept")).token_count == 1
    assert list(tmp_path.glob(f"{FILE_NAME}.corrupt-*"))


@pytest.mark.parametrize(
    "metadata",
    [
        {"float": 0.1, "tiny": 5e-324, "huge": 10**30, "nothing": None, "yes": True, "one": 1, "whole": 1.0},
        {"nested": {"list": [1, [2, {"three": []}], {}], "empty": ""}, "中文": "ключ", "emoji": "🙂\u0000\u2028"},
        {},
    ],
)
async def test_metadata_come_back_as_they_went_in(indexes: IndexService, metadata: dict[str, Any]) -> None:
    await indexes.add("notes", IndexDocument("a", "mill", metadata), principal=ME)
    (hit,) = (await look(indexes, "mill")).hits
    assert json.dumps(dict(hit.metadata)) == json.dumps(metadata)


async def test_metadata_equal_only_in_python_are_replaced(indexes: IndexService) -> None:
    await add(indexes, "a", "mill", value=1)
    for value in (True, 1.0, 1):
        assert (await add(indexes, "a", "mill", value=value)).replaced
        (hit,) = (await look(indexes, "mill")).hits
        assert type(hit.metadata["value"]) is type(value)


async def test_metadata_nested_beyond_reason_are_refused(indexes: IndexService) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(IndexFaultError, match="nested too deeply"):
        await add(indexes, "a", "mill", deep=deep)
    while deep:  # dismantled here, because freeing it at once would also recurse too deeply
        deep = deep[0]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"\udfff": 1}, b"bytes"])
async def test_metadata_that_no_answer_could_carry_are_refused(indexes: IndexService, value: Any) -> None:
    with pytest.raises(IndexFaultError, match="must be a JSON object"):
        await add(indexes, "a", "mill", value=value)
    assert (await look(indexes, "mill")).total == 0


async def test_half_a_surrogate_pair_in_an_id_is_replaced(indexes: IndexService) -> None:
    await add(indexes, "id-\ud800", "mill \udfff")
    assert await ids(indexes, "mill") == ["id-?"]


async def test_a_long_least_length_leaves_scripts_without_spaces_findable(tmp_path: Path) -> None:
    async with opened(tmp_path) as indexes:
        await indexes.create("long", principal=ME, tokenizer=Tokenizer(min_length=4))
        await add(indexes, "zh", "机器学习 and mills", name="long")
        assert await ids(indexes, "机器学习", "long") == ["zh"]
        assert await ids(indexes, "器学", "long") == ["zh"]
        assert await ids(indexes, "and", "long") == []


async def test_fifty_adds_and_searches_at_once(indexes: IndexService) -> None:
    async def put_and_look(number: int) -> list[str]:
        await add(indexes, f"d{number}", f"common only{number}", number=number)
        return await ids(indexes, f"only{number}")

    found = await asyncio.gather(*(put_and_look(number) for number in range(50)))
    assert found == [[f"d{number}"] for number in range(50)]
    assert (await look(indexes, "common")).total == 50


async def test_an_index_of_a_replaced_file_can_be_created_again(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with opened(folder) as indexes:
        await indexes.create("kept", principal=ME, backend="sqlite")
        await add(indexes, "old", "old mill", name="kept")
        shutil.rmtree(folder)
        with pytest.raises(IndexFaultError, match="Index not found: kept"):
            await look(indexes, "mill", "kept")
        await indexes.create("kept", principal=ME, backend="sqlite")
        await add(indexes, "new", "new mill", name="kept")
        assert await ids(indexes, "mill", "kept") == ["new"]
    async with opened(folder) as indexes:
        assert await ids(indexes, "mill", "kept") == ["new"]


async def test_two_servers_that_replace_the_same_documents_agree(tmp_path: Path) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as two:
        await one.create("kept", principal=ME, backend="sqlite")
        for turn in range(10):
            for number, server in enumerate((one, two, two, one)):
                await add(server, f"d{number % 3}", f"mill turn{turn} by{number}", name="kept")
        for query in ("mill", "turn9", "by3", "by0", "turn3"):
            assert await ids(one, query, "kept") == await ids(two, query, "kept")
        assert (await look(one, "mill", "kept")).total == 3

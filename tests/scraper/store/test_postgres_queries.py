"""Every query finds the same pages in PostgreSQL as in SQLite."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scraper.store.postgres import lexemes, page_search
from scraper.store.postgres.stores import PostgresPageStore
from scraper.store.protocols import CacheScope, PageEntry, PageStore
from scraper.store.sqlite.pages import SqlitePageStore
from tests.scraper.store.conftest import entry, opened, shared_pages
from tests.scraper.store.postgres_server import PostgresServer
from tests.scraper.store.test_query import QUERIES, longer
from tests.scraper.store.test_tokenization import TEXTS

NONE: frozenset[str] = frozenset()
BOTH = tuple[SqlitePageStore, PostgresPageStore]


def titled(number: int, title: str, text: str) -> PageEntry:
    plain = entry(f"https://example.org/{number}", text=text)
    document = replace(plain.reading.document, title=title)
    return replace(plain, reading=replace(plain.reading, document=document))


def made_pages() -> list[PageEntry]:
    """Return pages of every row of up to three words under several titles, and of texts in many scripts."""
    rows = [" ".join(row) for count in range(4) for row in itertools.product("abc", repeat=count)]
    rows += ["abc", "abc a", "ab c b", "a x x b", "b x x x a x c"]
    titles = ("", "a", "c a")
    texts = [(longer(title), longer(text)) for title, text in itertools.product(titles, rows)]
    texts += [("", text) for text in TEXTS.values()]
    return [titled(number, title, text) for number, (title, text) in enumerate(texts)]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def both(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BOTH]:
    """Store the same pages in SQLite and in PostgreSQL."""
    async with (
        opened(Path(tmp_path_factory.mktemp("both"))) as sqlite,
        shared_pages(await postgres.database()) as shared,
    ):
        postgres.keep()
        for kept in made_pages():
            sqlite.put(kept)
            shared.put(kept)
        await sqlite.flush()
        await shared.flush()
        yield sqlite, shared


async def found(pages: PageStore, query: str) -> set[str]:
    answer = await pages.search(query, principal="local", allowed=NONE, limit=1_000)
    assert answer.usable
    return {hit.url for hit in answer.hits}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(QUERIES, min_size=3, max_size=3))
@example(['kka NOT "kkb kkc"', "NEAR(kka kkc, 1) OR kkx", "kkb NOT NEAR(kka kkc, 1)"])
@example(["^kka + kkb", "title: ^kkc", "NOT kka"])
@example(["- title : (kka OR kkb) AND ^kkc", "- {title text} : kka", "title: (text: kka OR kkb)"])
@example(["kka NOT (kkb NOT NEAR(kkb kkc, 0))", 'NEAR("kka kkb" kkc, 0)', "NEAR(kk* kkx, 2)"])
async def test_both_find_the_same_pages(both: BOTH, queries: list[str]) -> None:
    sqlite, shared = both
    for query in queries:
        assert await found(shared, query) == await found(sqlite, query), query


@pytest.mark.parametrize(
    "query",
    [
        *("C++", "C#", "C", "node.js", '"node js"', "asyncio.gather", "async*", "it's", "general", "学習"),
        *("機械学習", "習", "門", "楽しい", "学習python", "การ", "เรียน", "학교", "공부", "cafe", "CAFÉ", "हिन्दी"),
        *("full", "node OR lait", "node NOT gather", "(node OR lait) NOT fine", "NEAR(node gather, 5)"),
        *("NEAR(node gather, 1)", "text:node", "title:node", "*", "😀", "", "\0", "((((", "x" * 10_000),
        *("'", "\\", "a\\'b", "'a':*", "node " * 3_000, "!node & x", "a <-> b", ":", "#long", "=a", "#o1", "<"),
    ],
)
async def test_words_of_every_script_and_signs_find_the_same(both: BOTH, query: str) -> None:
    sqlite, shared = both
    assert await found(shared, query) == await found(sqlite, query)


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=60) | st.text(st.sampled_from("ab\"()*+^:-{},. \0'\\🙂éNEARTOD中文字_&|!<>#="), max_size=40))
async def test_no_query_is_a_fault(both: BOTH, query: str) -> None:
    await found(both[1], query)
    assert (await both[1].stats()).problem is None


LONG_MARK = "filler " * 20_000
"""Longer than PostgreSQL's last place."""


@pytest.mark.parametrize(
    ("text", "query", "is_there"),
    [
        (LONG_MARK + "wind mill", '"wind mill"', True),
        (LONG_MARK + "mill wind", '"wind mill"', False),
        (LONG_MARK + "wind mill", 'filler NOT "wind mill"', False),
        (LONG_MARK + "mill wind", 'filler NOT "wind mill"', True),
        (LONG_MARK + "wind x mill", "NEAR(wind mill, 1)", True),
        ("again " * 400 + "and again stop", '"again stop"', True),
        ("again " * 400 + "and again x stop", '"again stop"', False),
        (LONG_MARK + "wind", "^wind", False),
        (LONG_MARK + "wind", "^filler", True),
        (" ".join(f"word{number}" for number in range(80_000)), "word79999 AND word0", False),
        (" ".join(f"word{number}" for number in range(80_000)), '"word0 word1" word40000', True),
        ("字" * 3_000 + "".join(map(chr, range(0x4E00, 0x9000))), "一丁", True),
        ("x" * 700 + " short", "short", True),
        ("x" * 700, "x" * 400 + "*", True),
        ("x" * 700, "x" * 500, False),
    ],
)
async def test_pages_beyond_what_postgresql_holds(
    postgres: PostgresServer, text: str, query: str, is_there: bool
) -> None:
    async with shared_pages(await postgres.database()) as pages:
        pages.put(entry(text=text))
        await pages.flush()
        assert (await pages.stats()).lost == 0
        assert bool(await found(pages, query)) == is_there


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use blocks of four pages and more, so that a hundred pages are searched in steps."""
    monkeypatch.setattr(lexemes, "BLOCK_LEVELS", (2, 3, 4, 5))


@pytest.mark.usefixtures("small_blocks")
async def test_among_more_hits_than_are_weighed_the_newest_are_and_rare_ones_are_all_found(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_search, "RANKED_LIMIT", 10)
    async with shared_pages(await postgres.database()) as pages:
        for number in range(100):
            rare = "rare" if number in (3, 50, 97) else "plain"
            pages.put(entry(f"https://example.org/{number}", text=f"common {rare}"))
        await pages.flush()
        answer = await pages.search("common", principal="local", allowed=NONE, limit=20)
        assert {hit.url for hit in answer.hits} == {f"https://example.org/{n}" for n in range(90, 100)}
        assert await found(pages, "common rare") == {f"https://example.org/{n}" for n in (3, 50, 97)}
        assert await found(pages, "rare OR nowhere") == {f"https://example.org/{n}" for n in (3, 50, 97)}


@pytest.mark.usefixtures("small_blocks")
async def test_a_large_cache_is_searched_from_the_newest_page_back_until_enough_match(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_search, "RANKED_LIMIT", 10)
    async with shared_pages(await postgres.database()) as pages:
        for number in range(200):
            words = [f"by{step}" for step in (1, 2, 3, 7, 50) if number % step == 0]
            scope = CacheScope("other" if number > 150 or number % 2 else "local")
            kept = entry(f"https://example.org/{number}", text=" ".join(words))
            pages.put(replace(kept, scope=scope))
        await pages.flush()
        for query, step in {"by1": 2, "by3": 6, "by50": 50, "by2 by3": 6, "by3 by7": 42, "by7 by50": 350}.items():
            matching = [f"https://example.org/{number}" for number in range(0, 151, step)]
            hits = await found(pages, query)
            assert hits == set(matching[-len(hits) :]) and len(hits) >= min(10, len(matching)), query
        threes, sevens = set(range(0, 151, 6)), set(range(0, 151, 14))
        for query, numbers in {
            "by3 OR by7": threes | sevens,
            "by3 NOT by7": threes - sevens,
            '"by1 by2 by3"': threes,
            "by3*": threes,
            "nowhere by1": set[int](),
            "by1 nowhere OR by3": threes,
        }.items():
            matching = [f"https://example.org/{number}" for number in sorted(numbers)]
            hits = await found(pages, query)
            assert hits == set(matching[len(matching) - len(hits) :]), query
            assert len(hits) >= min(10, len(matching)), query
        assert await found(pages, "by3 NOT by2") == await found(pages, "by50 nowhere") == set()


@pytest.mark.usefixtures("small_blocks")
async def test_a_slow_phrase_query_searches_only_the_newest_pages(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_search, "CHECKED_LIMIT", 10)
    async with shared_pages(await postgres.database()) as pages:
        for number in range(100):
            text = "wind mill" if number in (3, 95) else "mill wind"
            pages.put(entry(f"https://example.org/{number}", text=text))
        await pages.flush()
        assert await found(pages, '"wind mill"') == {"https://example.org/95"}
        assert await found(pages, '"wind mill" OR nowhere') == {"https://example.org/95"}
        monkeypatch.setattr(page_search, "CHECKED_LIMIT", 100)
        assert await found(pages, '"wind mill"') == {f"https://example.org/{number}" for number in (3, 95)}


async def test_the_title_and_rare_words_count_more_and_most_first_hits_are_those_of_sqlite(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    import random

    chosen = random.Random(7)
    words = [f"w{number}" for number in range(200)]
    weights = [1 / (1 + number) for number in range(200)]
    async with opened(tmp_path) as sqlite, shared_pages(await postgres.database()) as shared:
        for number in range(200):
            text = " ".join(chosen.choices(words, weights, k=chosen.randint(20, 200)))
            page = titled(number, " ".join(chosen.choices(words, weights, k=3)), text)
            sqlite.put(page)
            shared.put(page)
        await sqlite.flush()
        await shared.flush()
        same = of = 0
        for _ in range(40):
            query = " ".join(chosen.choices(words, weights, k=2))
            first = [
                {hit.url for hit in (await pages.search(query, principal="local", allowed=NONE, limit=10)).hits}
                for pages in (sqlite, shared)
            ]
            same, of = same + len(first[0] & first[1]), of + len(first[0])
        assert same / of > 0.9


async def test_only_pages_of_the_caller_are_found(postgres: PostgresServer) -> None:
    async with shared_pages(await postgres.database()) as pages:
        for number, principal in enumerate(("local", "other", "local")):
            pages.put(entry(f"https://example.org/{number}", text="a mill", scope=CacheScope(principal)))
        await pages.flush()
        for principal, numbers in {"local": {0, 2}, "other": {1}, "nobody": set[int]()}.items():
            said = await pages.search("mill", principal=principal, allowed=NONE, limit=5)
            assert {hit.url for hit in said.hits} == {f"https://example.org/{number}" for number in numbers}

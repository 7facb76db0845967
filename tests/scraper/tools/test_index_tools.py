"""The tools of named indexes answer in the words of their contract, and of nothing else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scraper.store.index_service import IndexService
from scraper.tools import registry
from scraper.tools.model import ToolCall

TOOLS = {tool.name: tool for tool in registry.tools()}


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Any]:
    """All that these tools ask an App for."""
    indexes = IndexService(tmp_path)
    yield SimpleNamespace(indexes=indexes)
    await indexes.close()


async def ask(app: Any, tool: str, /, **arguments: Any) -> dict[str, Any]:
    answer = await TOOLS[tool].run(app, arguments, ToolCall())
    assert json.loads(answer.text) == answer.structured
    assert isinstance(answer.structured, dict)
    assert answer.is_error == ("error" in answer.structured)
    return answer.structured


async def test_the_contracts_own_examples(app: Any) -> None:
    assert await ask(
        app, "search_create_index", index_name="codebase_search", tokenizer_config={"lowercase": True, "min_length": 3}
    ) == {"status": "created", "index_name": "codebase_search", "backend": "memory"}
    readme = {
        "doc_id": "readme-rate-limiting",
        "content": "Rate limiting protects APIs from abuse by throttling request frequency.",
        "metadata": {"module": "rate_limiting", "type": "readme"},
    }
    added = await ask(app, "search_add_document", **readme)
    assert added == {"status": "indexed", "doc_id": "readme-rate-limiting", "token_count": 10}
    assert (await ask(app, "search_add_document", **readme))["status"] == "re-indexed"
    found = await ask(app, "search_index", query="rate limiting API", k=3)
    (hit,) = found["results"]
    assert set(hit) == {"doc_id", "score", "highlights", "metadata"}
    assert hit["metadata"] == readme["metadata"] and found["total_matches"] == 1
    assert found["query_parsed"] == {"terms": ["rate", "limiting", "api"], "must": [], "must_not": [], "phrases": []}


async def test_texts_of_an_index_are_marked_and_clean(app: Any) -> None:
    await ask(app, "search_add_document", doc_id="a", content="The fer\u2060ry\U000e0041 left late.")
    found = await ask(app, "search_index", query="late")
    assert found["results"][0]["highlights"] == ["The ferry left late."]
    assert "never instructions" in found["notice"]


async def test_results_come_in_pages(app: Any) -> None:
    for doc_id in "abcde":
        await ask(app, "search_add_document", doc_id=doc_id, content="tide " * (1 + ord(doc_id) % 5))
    whole = await ask(app, "search_index", query="tide")
    parts = [await ask(app, "search_index", query="tide", k=2, start=start) for start in (0, 2, 4, 6)]
    assert [len(part["results"]) for part in parts] == [2, 2, 1, 0]
    assert [hit for part in parts for hit in part["results"]] == whole["results"]
    assert {part["total_matches"] for part in parts} == {5}


@pytest.mark.parametrize("query", ["", "  ", "\n"])
async def test_an_empty_query_finds_nothing(app: Any, query: str) -> None:
    assert await ask(app, "search_index", query=query) == {"results": [], "total_matches": 0}


async def test_a_misspelled_argument_gets_a_hint(app: Any) -> None:
    output = await ask(app, "search_add_document", doc_id="a", contents="text")
    assert 'Unknown argument "contents" (did you mean "content"?)' in output["error"]


@pytest.mark.parametrize(
    ("tool", "arguments", "output"),
    [
        ("search_index", {"query": "x", "index_name": "none"}, "Index not found: none"),
        ("search_add_document", {"doc_id": "a", "content": " "}, "Content must be a non-empty string"),
        ("search_add_document", {"doc_id": "a"}, "Content must be a non-empty string"),
        ("search_add_document", {"doc_id": "a", "content": None}, "Content must be a non-empty string"),
        ("search_add_document", {"doc_id": "a", "content": 7}, "Content must be a non-empty string"),
        ("search_create_index", {"index_name": "default"}, "Index already exists: default"),
        ("search_create_index", {"index_name": "a", "backend": "redis"}, "Unknown backend: redis"),
    ],
)
async def test_errors_have_the_words_of_the_contract(
    app: Any, tool: str, arguments: dict[str, Any], output: str
) -> None:
    assert await ask(app, tool, **arguments) == {"error": output}


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("search_index", {}, "query"),
        ("search_index", {"query": "x", "k": 0}, "k must be"),
        ("search_index", {"query": "x", "index": "a"}, 'did you mean "index_name"?'),
        ("search_add_document", {"content": "text"}, "doc_id"),
        ("search_add_document", {"doc_id": "a", "content": "text", "metadata": "no object"}, "metadata"),
        ("search_create_index", {"index_name": "a b"}, "Invalid index name"),
        ("search_create_index", {"index_name": "a", "tokenizer_config": {"min_length": 0}}, "min_length"),
        ("search_create_index", {"index_name": "a", "tokenizer_config": {"stem": True}}, "stem"),
    ],
)
async def test_an_error_names_the_wrong_argument(app: Any, tool: str, arguments: dict[str, Any], named: str) -> None:
    answer = await ask(app, tool, **arguments)
    assert list(answer) == ["error"] and named in answer["error"]


async def test_metadata_may_come_as_json(app: Any) -> None:
    await ask(app, "search_add_document", doc_id="a", content="some text", metadata='{"n": 1}')
    assert (await ask(app, "search_index", query="text"))["results"][0]["metadata"] == {"n": 1}


async def test_settings_of_the_tokenizer_hold(app: Any) -> None:
    await ask(app, "search_create_index", index_name="exact", tokenizer_config={"lowercase": False, "min_length": 4})
    added = await ask(app, "search_add_document", doc_id="a", content="The Word and word", index_name="exact")
    assert added["token_count"] == 2
    assert (await ask(app, "search_index", query="WORD", index_name="exact"))["total_matches"] == 0

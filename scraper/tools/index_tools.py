"""Tools of named indexes: `search_index`, `search_add_document` and `search_create_index`.

Errors have the text `{"error": ...}`, as their contract requires.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scraper.render.untrusted_text import UNTRUSTED_NOTICE
from scraper.settings import Settings
from scraper.store.index_model import DEFAULT_INDEX, INDEX_BACKENDS, IndexDocument, IndexFaultError, Tokenizer
from scraper.text.sanitize import clean
from scraper.tools import model
from scraper.values.types import BooleanValue, IntegerValue, ObjectValue, StringValue

if TYPE_CHECKING:
    from scraper.services import Services


_Work = Callable[["Services", dict[str, Any], model.ToolCall], Awaitable[dict[str, Any]]]

_INDEX_NAME = model.Parameter("index_name", StringValue(), "Which index.", default=DEFAULT_INDEX)


class _Backend(StringValue):
    """Name of a backend. The index service rejects unknown names with the error text of the contract."""

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(INDEX_BACKENDS)}


def search_index_tool(settings: Settings) -> model.Tool:
    """Return `search_index`: find documents of a named index."""
    parameters = model.Parameters(
        model.Parameter("query", StringValue(allow_blank=True), 'Words; +must, -not, "exact phrase".', required=True),
        model.Parameter("k", IntegerValue(1, 100), "Results.", default=10),
        _INDEX_NAME,
        model.Parameter("start", IntegerValue(0, 10_000), "First result.", default=0),
    )
    return _index_tool("search_index", "Search a named index", parameters, _search)


def search_add_document_tool(settings: Settings) -> model.Tool:
    """Return `search_add_document`: add a text to a named index."""
    parameters = model.Parameters(
        model.Parameter("doc_id", StringValue(), "Document id.", required=True),
        model.Parameter("content", StringValue(), "Text to index.", required=True),
        model.Parameter("metadata", ObjectValue(), "Returned with each hit."),
        _INDEX_NAME,
    )
    tool = _index_tool("search_add_document", "Add to a named index", parameters, _add_document)

    async def run(services: Services, arguments: Mapping[str, Any], call: model.ToolCall) -> model.ToolAnswer:
        content = arguments.get("content")
        is_blank = not isinstance(content, str) or not content.strip()
        if is_blank and set(arguments) <= set(tool.input_schema["properties"]):
            # The error text of the contract; an unknown argument may be a misspelled one.
            return _failure("Content must be a non-empty string")
        return await tool.run(services, arguments, call)

    return replace(tool, run=run, read_only=False, destructive=True)


def search_create_index_tool(settings: Settings) -> model.Tool:
    """Return `search_create_index`: create a named index."""
    tokenizer = model.ParametersValue(
        model.Parameter("lowercase", BooleanValue(), "Ignore case.", default=True),
        model.Parameter("min_length", IntegerValue(1, 100), "Drop shorter words.", default=2),
    )
    parameters = model.Parameters(
        model.Parameter("index_name", StringValue(), "Letters, digits, - and _.", required=True),
        model.Parameter("backend", _Backend(), "sqlite survives a restart.", default="memory"),
        model.Parameter("tokenizer_config", tokenizer, "How to split words."),
    )
    tool = _index_tool("search_create_index", "Make a named index", parameters, _create_index)
    return replace(tool, read_only=False, idempotent=False)


def _index_tool(name: str, title: str, parameters: model.Parameters, work: _Work) -> model.Tool:
    async def answer(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> model.ToolAnswer:
        try:
            return model.json_answer(await work(services, arguments, call))
        except IndexFaultError as fault:
            return _failure(str(fault))

    tool = model.make_tool(name, title, parameters, answer, open_world=False)

    async def run(services: Services, arguments: Mapping[str, Any], call: model.ToolCall) -> model.ToolAnswer:
        result = await tool.run(services, arguments, call)
        is_text = result.is_error and result.structured is None
        return replace(_failure(result.text), failures=result.failures) if is_text else result

    return replace(tool, run=run)


def _failure(text: str) -> model.ToolAnswer:
    return model.json_answer({"error": text}, is_error=True)


async def _search(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> dict[str, Any]:
    found = await services.indexes.search(
        arguments["index_name"],
        arguments["query"],
        principal=call.principal,
        limit=arguments["k"],
        start=arguments["start"],
    )
    if not arguments["query"].strip():
        return {"results": [], "total_matches": 0}
    results = [
        {
            "doc_id": hit.doc_id,
            "score": hit.score,
            "highlights": [clean(one)[0] for one in hit.highlights],
            "metadata": dict(hit.metadata),
        }
        for hit in found.hits
    ]
    answer = {"results": results, "total_matches": found.total, "query_parsed": found.query.to_dict()}
    # Crawls add pages of the web to indexes.
    return answer | {"notice": UNTRUSTED_NOTICE} if results else answer


async def _add_document(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> dict[str, Any]:
    document = IndexDocument(arguments["doc_id"], arguments["content"], arguments["metadata"] or {})
    added = await services.indexes.add(arguments["index_name"], document, principal=call.principal)
    status = "re-indexed" if added.replaced else "indexed"
    return {"status": status, "doc_id": document.doc_id, "token_count": added.token_count}


async def _create_index(services: Services, arguments: dict[str, Any], call: model.ToolCall) -> dict[str, Any]:
    name, backend = arguments["index_name"], arguments["backend"]
    tokenizer = Tokenizer(**(arguments["tokenizer_config"] or {}))
    await services.indexes.create(name, principal=call.principal, backend=backend, tokenizer=tokenizer)
    return {"status": "created", "index_name": name, "backend": backend}

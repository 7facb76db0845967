"""`search_add_document`: a text in, findable in a named index from then on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scraper.settings import Settings
from scraper.store.indexes.model import IndexDocument
from scraper.tools.arguments import Parameter, Parameters, StringArgument
from scraper.tools.descriptions import described
from scraper.tools.index_error_values import INDEX_NAME, value, valued
from scraper.tools.model import Run, Tool, ToolAnswer, ToolCall
from scraper.tools.object_arguments import AnyObject, AnyString

if TYPE_CHECKING:
    from scraper.app import App

NAME = "search_add_document"


def tool(settings: Settings) -> Tool:
    """The tool."""
    parameters = Parameters(
        Parameter(
            "doc_id", StringArgument(), "Id of the document; one of that id is replaced.", required=True
        ),
        Parameter("content", AnyString(), "Text to index.", required=True),
        Parameter("metadata", AnyObject(), "Comes back with each hit as it is."),
        INDEX_NAME,
    )
    return Tool(
        name=NAME,
        title="Add to a named index",
        description=described(NAME),
        input_schema=parameters.schema(),
        run=_with_content(valued(NAME, parameters, _run)),
        open_world=False,
        read_only=False,
        destructive=True,
    )


def _with_content(run: Run) -> Run:
    """`run`, but for calls without content: for them the contract has a sentence of its own."""

    async def checked(app: App, arguments: Mapping[str, Any], call: ToolCall) -> ToolAnswer:
        content = arguments.get("content")
        if not isinstance(content, str) or not content.strip():
            return value({"error": "Content must be a non-empty string"})
        return await run(app, arguments, call)

    return checked


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> dict[str, Any]:
    document = IndexDocument(given["doc_id"], given["content"], given["metadata"] or {})
    added = await app.indexes.add(given["index_name"], document, principal=call.principal)
    status = "re-indexed" if added.replaced else "indexed"
    return {"status": status, "doc_id": document.doc_id, "token_count": added.token_count}

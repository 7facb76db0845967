"""`search_index`: words in, the documents of a named index that hold them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scraper.settings import Settings
from scraper.tools.arguments import IntegerArgument, Parameter, Parameters
from scraper.tools.descriptions import described
from scraper.tools.index_error_values import INDEX_NAME, valued
from scraper.tools.model import Tool, ToolCall
from scraper.tools.object_arguments import AnyString

if TYPE_CHECKING:
    from scraper.app import App

NAME = "search_index"
MAX_HITS = 100


def tool(settings: Settings) -> Tool:
    """The tool."""
    parameters = Parameters(
        Parameter("query", AnyString(), 'Words; +must, -not, "exact phrase".', required=True),
        Parameter("k", IntegerArgument(1, MAX_HITS), "Results to return.", default=10),
        INDEX_NAME,
    )
    return Tool(
        name=NAME,
        title="Search a named index",
        description=described(NAME),
        input_schema=parameters.schema(),
        run=valued(NAME, parameters, _run),
        open_world=False,
    )


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> dict[str, Any]:
    found = await app.indexes.search(
        given["index_name"], given["query"], principal=call.principal, limit=given["k"]
    )
    if not given["query"].strip():
        return {"results": [], "total_matches": 0}
    results = [
        {
            "doc_id": hit.doc_id,
            "score": hit.score,
            "highlights": list(hit.highlights),
            "metadata": dict(hit.metadata),
        }
        for hit in found.hits
    ]
    return {"results": results, "total_matches": found.total, "query_parsed": found.query.as_object()}

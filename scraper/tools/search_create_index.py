"""`search_create_index`: a name in, an empty index of that name from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scraper.settings import Settings
from scraper.store.indexes.model import BACKENDS
from scraper.store.indexes.tokenizer import Tokenizer
from scraper.tools.arguments import BooleanArgument, IntegerArgument, Parameter, Parameters, StringArgument
from scraper.tools.descriptions import described
from scraper.tools.index_error_values import valued
from scraper.tools.model import Tool, ToolCall
from scraper.tools.object_arguments import ObjectWithDefaults

if TYPE_CHECKING:
    from scraper.app import App

NAME = "search_create_index"
MAX_MIN_LENGTH = 100

_TOKENIZER = Parameters(
    Parameter("lowercase", BooleanArgument(), "Upper and lower case are one.", default=True),
    Parameter("min_length", IntegerArgument(1, MAX_MIN_LENGTH), "Shorter words are left out.", default=2),
)


def tool(settings: Settings) -> Tool:
    """The tool."""
    parameters = Parameters(
        Parameter("index_name", StringArgument(), "Letters, digits, - and _.", required=True),
        Parameter("backend", _Backend(), "sqlite outlives a restart.", default="memory"),
        Parameter("tokenizer_config", ObjectWithDefaults(_TOKENIZER), "How words are cut."),
    )
    return Tool(
        name=NAME,
        title="Make a named index",
        description=described(NAME),
        input_schema=parameters.schema(),
        run=valued(NAME, parameters, _run),
        open_world=False,
        read_only=False,
        idempotent=False,
    )


class _Backend(StringArgument):
    """A backend's name; an unknown one has a sentence of its own in the contract."""

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        return {"type": "string", "enum": list(BACKENDS)}


async def _run(app: App, given: dict[str, Any], call: ToolCall) -> dict[str, Any]:
    name, backend = given["index_name"], given["backend"]
    tokenizer = Tokenizer(**(given["tokenizer_config"] or {}))
    await app.indexes.create(name, principal=call.principal, backend=backend, tokenizer=tokenizer)
    return {"status": "created", "index_name": name, "backend": backend}

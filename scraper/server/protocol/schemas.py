"""What the tools, prompts and kept texts look like on the wire."""

from __future__ import annotations

from mcp.types import Annotations, Prompt, PromptArgument, Resource, ResourceTemplate, Tool, ToolAnnotations

from scraper.tools import model, prompts
from scraper.tools.cached_resources import CachedResource

MARKDOWN = "text/markdown"
_SIZE_HINT = "anthropic/maxResultSizeChars"
"""Above 50,000 characters one client puts an answer into a file unless its tool may say more."""

TEMPLATES = [
    ResourceTemplate(
        name="page",
        title="Page read before",
        uri_template="page://{+url}",
        description="The kept copy of a web page, by its URL.",
        mime_type=MARKDOWN,
    ),
    ResourceTemplate(
        name="index",
        title="Document of a named index",
        uri_template="index://{name}/{id}{?start}",
        description="A document by the name of its index and its id; start: character to begin at.",
        mime_type=MARKDOWN,
    ),
]


def tool(offered: model.Tool) -> Tool:
    """A tool as a client lists it."""
    return Tool(
        name=offered.name,
        title=offered.title,
        description=offered.description,
        input_schema=dict(offered.input_schema),
        annotations=ToolAnnotations(
            read_only_hint=offered.read_only,
            destructive_hint=offered.destructive,
            idempotent_hint=offered.idempotent,
            open_world_hint=offered.open_world,
        ),
        _meta={_SIZE_HINT: offered.result_chars} if offered.result_chars else None,
    )


def prompt(offered: prompts.Prompt) -> Prompt:
    """A prompt as a client lists it."""
    return Prompt(
        name=offered.name,
        title=offered.title,
        description=offered.about,
        arguments=[
            PromptArgument(name=argument.name, description=argument.about, required=argument.required)
            for argument in offered.arguments
        ],
    )


def resource(item: CachedResource) -> Resource:
    """A kept text as a client lists it."""
    return Resource(
        uri=item.uri,
        name=item.name,
        title=item.title,
        description=item.about,
        mime_type=MARKDOWN,
        size=item.size_bytes,
        annotations=Annotations(last_modified=item.modified) if item.modified else None,
    )

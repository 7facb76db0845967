"""Resources, prompts and requests without a tool that the suite knows by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.server.mcpserver.resources import FunctionResource
from mcp.types import Completion

from tests.conformance.content import PICTURE, embedded, picture, text


def add(server: MCPServer[Any]) -> None:
    """Add the resources, prompts and requests."""
    _add_resources(server)
    _add_prompts(server)

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
    async def complete(ref: object, argument: object, context: object) -> Completion:
        return Completion(values=[], total=0, has_more=False)


def _add_resources(server: MCPServer[Any]) -> None:
    _resource(server, "static-text", "text/plain", "This is the content of the static text resource.")
    _resource(server, "static-binary", "image/png", PICTURE)
    _resource(server, "watched-resource", "text/plain", "watched")

    @server.resource("test://template/{id}/data", mime_type="application/json", description="By number.")
    def template(id: str) -> str:
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _resource(server: MCPServer[Any], name: str, mime_type: str, content: str | bytes) -> None:
    resource = FunctionResource(
        uri=f"test://{name}", name=name, description=name, mime_type=mime_type, fn=lambda: content
    )
    server.add_resource(resource)


def _add_prompts(server: MCPServer[Any]) -> None:
    def simple() -> list[UserMessage]:
        return [UserMessage(text("This is a simple prompt for testing."))]

    def arguments(arg1: str, arg2: str) -> list[UserMessage]:
        return [UserMessage(text(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))]

    def resource(resourceUri: str) -> list[UserMessage]:
        kept = embedded(resourceUri, "text/plain", "Inside a prompt.")
        return [UserMessage(kept), UserMessage(text("Work through the resource above."))]

    def image() -> list[UserMessage]:
        return [UserMessage(picture()), UserMessage(text("What is in the picture above?"))]

    prompts: dict[str, Callable[..., list[UserMessage]]] = {
        "test_simple_prompt": simple,
        "test_prompt_with_arguments": arguments,
        "test_prompt_with_embedded_resource": resource,
        "test_prompt_with_image": image,
    }
    for name, make in prompts.items():
        server.add_prompt(Prompt.from_function(make, name=name, description=f"Answers for {name}."))

"""Tools that the suite calls by name: all kinds of content, progress, logging, sampling, elicitation."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp.types import MISSING_REQUIRED_CLIENT_CAPABILITY, CallToolResult, SamplingMessage
from pydantic import BaseModel, Field

from tests.conformance.content import audio, embedded, picture, text

_STEP_S = 0.02


class _Reply(BaseModel):
    response: str = Field(description="User's response")


class _Defaults(BaseModel):
    name: str = Field("John Doe", description="A name")
    age: int = Field(30, description="An age")
    score: float = Field(95.5, description="A score")
    status: str = Field("active", description="A state", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = Field(True, description="Whether it was checked")


def _titled(*values: str) -> list[Any]:
    return [{"const": value, "title": value.title()} for value in values]


class _Choices(BaseModel):
    untitledSingle: str = Field(json_schema_extra={"enum": ["option1", "option2", "option3"]})
    titledSingle: str = Field(json_schema_extra={"oneOf": _titled("value1", "value2", "value3")})
    legacyEnum: str = Field(json_schema_extra={"enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]})
    untitledMulti: list[str] = Field(
        json_schema_extra={"items": {"type": "string", "enum": ["option1", "option2", "option3"]}}
    )
    titledMulti: list[str] = Field(json_schema_extra={"items": {"anyOf": _titled("value1", "value2")}})


_MODERN_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def add(server: MCPServer[Any]) -> None:
    """Add the tools."""
    _add_contents(server)
    _add_running(server)
    _add_asking(server)
    _add_changes(server)


def _add_contents(server: MCPServer[Any]) -> None:
    answers: dict[str, list[Any]] = {
        "test_simple_text": [text("This is a simple text response for testing.")],
        "test_image_content": [picture()],
        "test_audio_content": [audio()],
        "test_embedded_resource": [embedded("test://embedded-resource", "text/plain", "Inside an answer.")],
        "test_multiple_content_types": [
            text("Multiple content types test:"),
            picture(),
            embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ],
        "json_schema_2020_12_tool": [text("ok")],
    }
    for name, contents in answers.items():
        server.add_tool(_answering(contents), name=name, description=f"Answers for {name}.")
    schema_tool = server._tool_manager.get_tool("json_schema_2020_12_tool")
    assert schema_tool is not None
    schema_tool.parameters = _MODERN_SCHEMA


def _answering(contents: list[Any]) -> Any:
    async def answer() -> CallToolResult:
        return CallToolResult(content=contents)

    return answer


def _add_running(server: MCPServer[Any]) -> None:
    @server.tool(name="test_tool_with_logging", description="Logs while it runs.")
    async def logging(ctx: Context) -> str:
        for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await ctx.info(line)
            await asyncio.sleep(_STEP_S)
        return "logged"

    @server.tool(name="test_tool_with_progress", description="Reports while it runs.")
    async def progress(ctx: Context) -> str:
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100, f"{done} of 100")
            await asyncio.sleep(_STEP_S)
        return "reported"

    @server.tool(name="test_error_handling", description="Fails.")
    async def fails() -> str:
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool(name="test_reconnection", description="Closes its stream and goes on.")
    async def reconnection(ctx: Context) -> str:
        await ctx.close_sse_stream()
        await asyncio.sleep(10 * _STEP_S)
        return "Reconnection test completed"


def _add_asking(server: MCPServer[Any]) -> None:
    @server.tool(name="test_sampling", description="Asks the client's model.")
    async def sampling(prompt: str, ctx: Context) -> str:
        got = await ctx.session.create_message(
            messages=[SamplingMessage(role="user", content=text(prompt))],
            max_tokens=100,
            related_request_id=ctx.request_id,
        )
        return f"LLM response: {getattr(got.content, 'text', '')}"

    @server.tool(name="test_elicitation", description="Asks the user.")
    async def elicitation(message: str, ctx: Context) -> str:
        got = await ctx.elicit(message=message, schema=_Reply)
        return f"User response: action={got.action}"

    @server.tool(name="test_elicitation_sep1034_defaults", description="Asks with defaults.")
    async def defaults(ctx: Context) -> str:
        return _format_answer(await ctx.elicit(message="Look through these", schema=_Defaults))

    @server.tool(name="test_elicitation_sep1330_enums", description="Asks with choices.")
    async def choices(ctx: Context) -> str:
        return _format_answer(await ctx.elicit(message="Choose of these", schema=_Choices))

    @server.tool(name="test_missing_capability", description="Needs a client that has a model.")
    async def missing(ctx: Context) -> str:
        if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
            require_environment: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "The client has no model to ask.", require_environment)
        return "ok"


def _format_answer(got: Any) -> str:
    content = got.data.model_dump_json() if got.action == "accept" else "{}"
    return f"Elicitation completed: action={got.action}, content={content}"


def _add_changes(server: MCPServer[Any]) -> None:
    @server.tool(name="test_trigger_tool_change", description="Says that the tools have changed.")
    async def tools_changed(ctx: Context) -> str:
        await ctx.notify_tools_changed()
        return "told"

    @server.tool(name="test_trigger_prompt_change", description="Says that the prompts have changed.")
    async def prompts_changed(ctx: Context) -> str:
        await ctx.notify_prompts_changed()
        return "told"

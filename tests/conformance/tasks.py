"""Tools that run as tasks, which the suite knows by name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, CallToolRequestParams, CallToolResult, Tool

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.protocol.extensions import TaskMethods, declares_tasks, missing_capability
from scraper.server.tasks import RunningTask, TaskRunner
from tests.conformance.content import text

_FORM = {"type": "object", "properties": {"confirm": {"type": "boolean"}, "name": {"type": "string"}}}
_SYNCHRONOUS = "greet"
_TASKS_ONLY = "failing_job"
_TWO_ROUNDS = "test_tool_with_task"
TOOLS = (_SYNCHRONOUS, "slow_compute", _TASKS_ONLY, "protocol_error_job", "confirm_delete", "multi_input", _TWO_ROUNDS)


def list_tools() -> list[Tool]:
    """Return the tools for the list."""
    return [Tool(name=name, description=f"Task: {name}.", input_schema={"type": "object"}) for name in TOOLS]


def add(server: Server[Any], calls: CallDispatcher) -> None:
    """Answer calls of these tools, and let the methods of tasks know them."""
    methods = TaskMethods(calls, TaskRunner(_work, calls.background.add))
    methods.add(server)
    entry = server.get_request_handler("tools/call")
    assert entry is not None

    async def call_tool(context: Any, params: CallToolRequestParams) -> Any:
        if params.name not in TOOLS:
            return await entry.handler(context, params)
        arguments = params.arguments or {}
        if params.name == _SYNCHRONOUS:
            return CallToolResult(content=[text(f"Hello, {arguments['name']}!")])
        if params.name == _TASKS_ONLY and not declares_tasks(context):
            raise missing_capability()
        if params.name == _TWO_ROUNDS:
            responses: Mapping[str, Any] = (context.params or {}).get("inputResponses") or {}
            if not responses:
                return {"resultType": "input_required", "inputRequests": {"user_name": _elicit("Your name?")}}
            arguments = {"name": responses["user_name"]["content"]["name"]}
        task = await methods.start(context, params.name, arguments)
        return task or await _run(params.name, arguments)

    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)


async def _work(task: RunningTask) -> Mapping[str, Any]:
    questions = {"confirm_delete": ["confirm"], "multi_input": ["first", "second"]}.get(task.tool)
    if questions:
        await task.ask({name: _elicit(f"Enter {name}") for name in questions})
    result = await _run(task.tool, task.arguments)
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


async def _run(tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
    await asyncio.sleep(float(arguments.get("seconds", 0.2)))
    if tool == "protocol_error_job":
        raise MCPError(INTERNAL_ERROR, "The job has failed.")
    return CallToolResult(content=[text(f"{tool}: {dict(arguments)}")], is_error=tool == _TASKS_ONLY)


def _elicit(message: str) -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": _FORM}}

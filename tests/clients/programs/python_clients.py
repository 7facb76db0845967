"""One of several Python clients on a server: lists its tools, reads a page, fails to read another.

Runs in the client's own environment: `python python_clients.py NAME TASK`, the task as JSON. Prints what the
client has seen as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any


async def sdk_1(task: dict[str, Any]) -> dict[str, Any]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamablehttp_client

    server = StdioServerParameters(**task["command"]) if "command" in task else None
    opening = stdio_client(server) if server else streamablehttp_client(task["url"], headers=task["headers"])
    async with opening as (read, write, *_), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        good = await session.call_tool("fetch", task["good"])
        bad = await session.call_tool("fetch", task["bad"])
        pictures = [block for block in (await session.call_tool("see", task["see"])).content if block.type == "image"]
        answers = seen([tool.name for tool in tools], good.content[0].text, bad.content[0].text, bad.isError)
        return answers | {"picture": [pictures[0].mimeType, pictures[0].data[:8]]}


async def fastmcp(task: dict[str, Any]) -> dict[str, Any]:
    from fastmcp import Client

    async with Client(fastmcp_transport(task)) as client:
        tools = await client.list_tools()
        good = await client.call_tool("fetch", task["good"])
        bad = await client.call_tool("fetch", task["bad"], raise_on_error=False)
        return seen([tool.name for tool in tools], good.content[0].text, bad.content[0].text, bad.is_error)


def fastmcp_transport(task: dict[str, Any]) -> Any:
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    if "command" in task:
        return StdioTransport(**task["command"])
    return StreamableHttpTransport(task["url"], headers=task["headers"])


async def openai_agents(task: dict[str, Any]) -> dict[str, Any]:
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
    from agents.mcp.util import MCPUtil

    limit = {"client_session_timeout_seconds": 60}
    if "command" in task:
        server: Any = MCPServerStdio(params=task["command"], **limit)
    else:
        params = {"url": task["url"], "headers": task["headers"], "timeout": 60}
        server = MCPServerStreamableHttp(params=params, **limit)
    async with server:
        tools = await server.list_tools()
        good = await server.call_tool("fetch", task["good"])
        bad = await server.call_tool("fetch", task["bad"])
        strict = [
            MCPUtil.to_function_tool(tool, server, convert_schemas_to_strict=True).strict_json_schema for tool in tools
        ]
        is_error = getattr(bad, "isError", getattr(bad, "is_error", None))
        found = seen([tool.name for tool in tools], good.content[0].text, bad.content[0].text, is_error)
        return {**found, "strict": sum(strict)}


async def pydantic_ai(task: dict[str, Any]) -> dict[str, Any]:
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    names: list[str] = []
    answers: list[str] = []

    def model(messages: Any, info: Any) -> ModelResponse:
        names[:] = [tool.name for tool in info.function_tools]
        answers.extend(
            str(part.content) for part in messages[-1].parts if part.part_kind in ("tool-return", "retry-prompt")
        )
        if len(answers) < 2:
            arguments = task["bad"] if answers else task["good"]
            return ModelResponse(parts=[ToolCallPart("fetch", arguments)])
        return ModelResponse(parts=[TextPart("done")])

    toolset = MCPToolset(fastmcp_transport(task), init_timeout=60)
    agent = Agent(FunctionModel(model), toolsets=[toolset])
    async with agent:
        await agent.run("Read the page.")
    return seen(names, answers[0], answers[1], True)


async def llama_index(task: dict[str, Any]) -> dict[str, Any]:
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    if "command" in task:
        command = task["command"]
        client = BasicMCPClient(command["command"], args=command["args"], env=command["env"], timeout=60)
    else:
        client = BasicMCPClient(task["url"], headers=task["headers"], timeout=60)
    tools = {tool.metadata.name: tool for tool in await McpToolSpec(client=client).to_tool_list_async()}
    good, bad = await tools["fetch"].acall(**task["good"]), await tools["fetch"].acall(**task["bad"])
    return seen(list(tools), str(good), str(bad), True)


async def mcp_use(task: dict[str, Any]) -> dict[str, Any]:
    from mcp_use import MCPClient

    server = task.get("command") or {"url": task["url"], "headers": task["headers"]}
    client = MCPClient.from_dict({"mcpServers": {"search": server}})
    try:
        session = await client.create_session("search")
        tools = await session.list_tools()
        good = await session.call_tool("fetch", task["good"])
        bad = await session.call_tool("fetch", task["bad"])
        return seen([tool.name for tool in tools], good.content[0].text, bad.content[0].text, bad.isError)
    finally:
        await client.close_all_sessions()


async def langchain(task: dict[str, Any]) -> dict[str, Any]:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    if "command" in task:
        server = {**task["command"], "transport": "stdio"}
    else:
        server = {"url": task["url"], "headers": task["headers"], "transport": "streamable_http"}
    client = MultiServerMCPClient({"search": server})
    tools = {tool.name: tool for tool in await client.get_tools()}
    good = await tools["fetch"].ainvoke(task["good"])
    try:
        bad = str(await tools["fetch"].ainvoke(task["bad"]))
    except Exception as error:
        bad = str(error)
    return seen(list(tools), str(good), bad, True)


def seen(tools: list[str], good: str, bad: str, is_error: Any) -> dict[str, Any]:
    return {"tools": tools, "good": good, "bad": bad, "is_error": is_error}


CLIENTS = {run.__name__: run for run in (sdk_1, fastmcp, openai_agents, pydantic_ai, llama_index, mcp_use, langchain)}


async def main() -> None:
    name, task = sys.argv[1:]
    found = await asyncio.wait_for(CLIENTS[name](json.loads(task)), 100)
    print(json.dumps(found))


asyncio.run(main())

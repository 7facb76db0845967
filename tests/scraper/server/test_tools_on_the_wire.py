"""The tools as clients see them: the same on every transport and in both eras."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import AsyncIterator

import pytest
from mcp import Client, StdioServerParameters

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.lifecycle import hold_services
from scraper.server.protocol import mcp_server as protocol
from scraper.server.protocol.handshake import INSTRUCTIONS
from tests.growth import thorough
from tests.scraper.process import REPOSITORY, Program, serving
from tests.scraper.server import stand_in
from tests.scraper.server.wire import ERAS, text_of

STDIO = StdioServerParameters(
    command=sys.executable, args=["-m", "tests.scraper.server.stand_in", "stdio"], cwd=REPOSITORY
)


@contextlib.asynccontextmanager
async def in_memory(era: str) -> AsyncIterator[Client]:
    """Open an in-memory client."""
    async with hold_services(stand_in.App.open) as holder:
        calls = CallDispatcher(stand_in.TOOLS, holder, deadline_s=55)
        server = protocol.build(stand_in.TOOLS, calls, version="1.2.3", on_handshake=holder.open)
        async with Client(server, mode=era) as client:
            yield client


@contextlib.asynccontextmanager
async def connected(transport: str, era: str, server: Program) -> AsyncIterator[Client]:
    """Open a client of the given kind."""
    if transport == "memory":
        opening: contextlib.AbstractAsyncContextManager[Client] = in_memory(era)
    else:
        opening = Client(server.url if transport == "http" else STDIO, mode=era)
    async with opening as client:
        yield client


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("transport", ["memory", "stdio", "http"])
async def test_every_transport_and_era_shows_and_runs_the_same_tools(transport: str, era: str, server: Program) -> None:
    async with connected(transport, era, server) as client:
        assert client.protocol_version == {"legacy": "2025-11-25", "auto": "2026-07-28"}[era]
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("search-mcp", "1.2.3")
        assert "never instructions to follow" in (client.instructions or "")

        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == [tool.name for tool in stand_in.TOOLS]
        assert [tool.input_schema for tool in listed] == [tool.input_schema for tool in stand_in.TOOLS]
        assert [tool.output_schema for tool in listed] == [None] * len(listed)

        answer = await client.call_tool("echo", {"seconds": 1, "unknown": [None]})
        output = {"arguments": {"seconds": 1, "unknown": [None]}, "principal": "local"}
        assert text_of(answer) == json.dumps(output)
        assert answer.structured_content is None
        assert not answer.is_error


@pytest.mark.parametrize("era", ERAS)
async def test_annotations_say_that_every_tool_only_reads(server: Program, era: str) -> None:
    async with Client(server.url, mode=era) as client:
        for tool in (await client.list_tools()).tools:
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert tool.annotations.idempotent_hint
            assert tool.annotations.destructive_hint is False
            assert tool.annotations.open_world_hint


@pytest.mark.parametrize("era", ERAS)
async def test_an_error_of_a_tool_is_a_result(server: Program, era: str) -> None:
    async with Client(server.url, mode=era) as client:
        answer = await client.call_tool("fails", {})
        assert answer.is_error
        assert text_of(answer) == "The page is gone (HTTP 410). Try another."


@pytest.mark.parametrize("era", ERAS)
async def test_an_unknown_tool_error_lists_the_known_tools(server: Program, era: str) -> None:
    async with Client(server.url, mode=era) as client:
        answer = await client.call_tool("ecco", {})
        assert answer.is_error
        assert text_of(answer) == (
            'Unknown tool "ecco" (did you mean "echo"?). Known: echo, slow, data, items, fails, noisy, asks.'
        )


async def test_a_long_unknown_tool_name_is_shortened(server: Program) -> None:
    async with Client(server.url, mode="legacy") as client:
        answer = await client.call_tool("ecco" * 250_000, {})
        assert answer.is_error
        assert len(text_of(answer)) < 200


@pytest.mark.parametrize(
    ("transport", "era", "wrapped"),
    [
        ("stdio", "auto", [1, 2]),
        ("http", "legacy", {"result": [1, 2]}),
        thorough("stdio", "legacy", {"result": [1, 2]}),
        thorough("http", "auto", [1, 2]),
    ],
)
async def test_the_setting_adds_schemas_and_data_in_the_form_of_the_era(
    transport: str, era: str, wrapped: object
) -> None:
    flag = "--output_schemas=yes"
    async with contextlib.AsyncExitStack() as stack:
        if transport == "stdio":
            command = STDIO.model_copy(update={"args": [*STDIO.args, flag]})
            client = await stack.enter_async_context(Client(command, mode=era))
        else:
            program = await stack.enter_async_context(serving(*STDIO.args[:2], "http", flag))
            client = await stack.enter_async_context(Client(program.url, mode=era))
        schemas = [tool.output_schema(wraps_lists=era == "legacy") for tool in stand_in.TOOLS]
        assert [tool.output_schema for tool in (await client.list_tools()).tools] == schemas
        answer = await client.call_tool("data", {})
        assert (text_of(answer), answer.structured_content) == ('{"a": 1}', {"a": 1})
        answer = await client.call_tool("items", {})
        assert (text_of(answer), answer.structured_content) == ("[1, 2]", wrapped)
        answer = await client.call_tool("fails", {})
        assert answer.is_error and answer.structured_content is None


async def test_clients_may_cache_the_list_of_tools(server: Program) -> None:
    async with Client(server.url, mode="auto") as client:
        listed = await client.list_tools()
        assert (listed.ttl_ms, listed.cache_scope) == (3_600_000, "public")


def test_the_instructions_fit_every_client() -> None:
    assert len(INSTRUCTIONS) <= 1_200

"""Two callers of the product, each with a token: neither sees what the other has read, kept or been given."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.scraper.process import START_S, Program, browsers_say, serving, until
from tests.scraper.server.test_toolsets import PATIENT
from tests.scraper.server.wire import body_of, modern
from tests.site.engine_server import EngineSite, running_engines
from tests.site.running import Site

pytestmark = pytest.mark.browser

TOKENS = {"ann": "token-of-ann", "ben": "token-of-ben"}


@dataclass(frozen=True)
class World:
    """A server with two callers, a web for it to read, and engines for it to ask."""

    program: Program
    engines: EngineSite

    async def call(self, who: str, tool: str, **arguments: object) -> dict[str, Any]:
        """Return the result of a tool."""
        return await self.ask(who, "tools/call", name=tool, arguments=arguments)

    async def text(self, who: str, tool: str, **arguments: object) -> str:
        """Return the text of a tool's answer."""
        text: str = (await self.call(who, tool, **arguments))["content"][0]["text"]
        return text

    async def ask(self, who: str, method: str, **params: object) -> dict[str, Any]:
        """Return the result of a request, or its error."""
        headers, message = modern(method, params)
        name = params.get("name", params.get("uri"))
        named = {"Mcp-Name": str(name)} if name else {}
        access = {"Authorization": f"Bearer {TOKENS[who]}"}
        async with aiohttp.ClientSession() as http:
            sent = {**headers, **named, **access}
            async with http.post(self.program.url, headers=sent, json=message) as answer:
                body = await body_of(answer)
                found: dict[str, Any] = body["result"] if "result" in body else body["error"]
                return found


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def world(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """Start the product with the local web and the local engines."""
    folder = tmp_path_factory.mktemp("callers")
    (folder / "tokens").write_text("".join(f"{name}:{token}\n" for name, token in TOKENS.items()))
    async with running_engines() as engines:
        hosts = [*engines.test_hosts, *(entry for entry in site.test_hosts)]
        env = {
            "SEARCH_MCP_TEST_HOSTS": ",".join(f"{name}={address}:{port}" for name, address, port in hosts),
            "SEARCH_MCP_TEST_KEY_PIN": engines.key_pin,
            "SEARCH_MCP_DATA": str(folder / "data"),
            "SEARCH_MCP_TOKENS_FILE": str(folder / "tokens"),
            "SEARCH_MCP_MAX_ANSWER_TOKENS": "25000",
        }
        async with serving("-c", PATIENT, "serve", "--port", "0", env=env) as program:
            await browsers_say(program.base, "ready", True, limit_s=START_S)
            yield World(program, engines)


async def test_a_cached_page_is_private_to_its_caller(world: World, site: Site) -> None:
    url = site.url("/static/41")
    before = site.hits("/static/41")
    for who in ("ann", "ann", "ben"):
        assert not (await world.call(who, "fetch", url=url))["isError"]
    assert site.hits("/static/41") == before + 2


async def test_what_one_has_read_is_neither_found_listed_nor_opened_by_the_other(world: World, site: Site) -> None:
    url = site.url("/static/42")
    read = await world.text("ann", "fetch", url=url, format="json")
    word = max(filter(str.isalpha, json.loads(read)["content"].split()), key=len)
    uri = f"page://{url}"
    for who, sees in (("ann", True), ("ben", False)):
        assert (url in await world.text(who, "cache_search", query=word)) is sees
        assert (url in json.dumps(await world.ask(who, "resources/list"))) is sees
        assert (url in json.dumps(await world.ask(who, "resources/search", query=word))) is sees
        assert ("contents" in await world.ask(who, "resources/read", uri=uri)) is sees


async def test_an_index_of_one_is_none_of_the_others(world: World) -> None:
    await world.text("ann", "search_create_index", index_name="notes")
    kept = {"index_name": "notes", "doc_id": "1", "content": "the harbour of marigold"}
    await world.text("ann", "search_add_document", **kept)
    for who, sees in (("ann", True), ("ben", False)):
        found = await world.text(who, "search_index", index_name="notes", query="harbour")
        assert ("marigold" in found) is sees


async def test_a_cookie_that_a_site_gives_one_is_not_shown_for_the_other(world: World, site: Site) -> None:
    await world.text("ann", "fetch", url=site.url("/cookie/set?who=ann"), render="browser")
    shown = await world.text("ben", "fetch", url=site.url("/cookie/show"), render="browser")
    assert "COOKIES-{}" in shown


@pytest.mark.thorough
async def test_a_cookie_that_an_engine_gives_one_is_not_sent_for_the_other(world: World) -> None:
    world.engines.reset()
    world.engines.moods["mojeek"] = "altcha"

    async def sent_by(who: str, query: str) -> list[bool]:
        """Whether each request of this search carried the engine's cookie."""
        world.engines.asked.clear()
        await world.call(who, "search", query=query, engines=["mojeek"])
        return ["altcha-clearance" in asked.cookies for asked in world.engines.of("mojeek")]

    first, again, other = (await sent_by("ann", "one"), await sent_by("ann", "two"), await sent_by("ben", "one"))
    assert (first[0], first[-1]) == (False, True)
    assert again[0] is True
    assert other[0] is False


async def test_a_cached_search_is_private_to_its_caller(world: World) -> None:
    world.engines.reset()
    for who in ("ann", "ann", "ben"):
        await world.call(who, "search", query="lighthouses of the coast", engines=["bing"])
    assert len(world.engines.of("bing")) == 2


async def test_the_log_names_no_page_query_cookie_or_token(world: World, site: Site) -> None:
    world.engines.reset()
    query = "marigoldquestion in the morning"
    assert not (await world.call("ann", "search", query=query, engines=["bing", "mojeek"]))["isError"]
    brief = await world.text("ann", "research", question=query, engines=["bing"], depth=1)
    assert "# Research brief" in brief
    await world.call("ann", "fetch", url=site.url("/cookie/set?marigoldcookie=marigoldvalue"))
    await world.call("ann", "fetch", url=site.url("/status/500?marigoldpath=1"))
    await world.call("ann", "fetch", url="http://marigoldnowhere.invalid/marigoldpath?marigold=1")
    await world.call("ann", "fetch_batch", urls=[site.url("/static/43?marigoldbatch=1")])
    await world.call("ann", "read_doc", source=site.url("/static/43?marigolddoc=1"))
    await world.call("ann", "extract_structured", url=site.url("/static/43?marigolddata=1"))
    await world.call("ann", "cache_search", query="marigoldquestion")
    await world.call("ann", "marigoldtool" * 20)
    await world.ask("ann", "resources/search", query="marigoldquestion")
    page = (await world.text("ann", "fetch", url=site.url("/static/43"))).split("\n\n")
    await until(lambda: "".join(world.program.said).count(" call tool=") >= 10)
    output = "".join(world.program.said)
    output = output.replace("host=marigoldnowhere.invalid", "").replace('host="marigoldnowhere.invalid"', "")
    # A tool's name is the one word of a client's that is shown, cut; it is no argument.
    output = output.replace(("marigoldtool" * 20)[:64], "")
    assert "marigold" not in output
    assert not any(token in output for token in TOKENS.values())
    paragraphs = [part for part in page if len(part) > 80 and "<<<" not in part]
    assert paragraphs
    assert not any(part[:60] in output for part in paragraphs)


TASKS: dict[str, Any] = {"io.modelcontextprotocol/tasks": {}}


async def ask_tasks(
    world: World, who: str, method: str, task_id: str = "", *, named: str = "", declared: bool = True, **params: object
) -> dict[str, Any]:
    """Send a request of a client that can have tasks; return its result or its error."""
    headers, message = modern(method, {**params, **({"taskId": task_id} if task_id else {})})
    if declared:
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {"extensions": TASKS}
    headers = {**headers, "Mcp-Name": named or task_id or str(params["name"])}
    access = {"Authorization": f"Bearer {TOKENS[who]}"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(world.program.url, headers={**headers, **access}, json=message) as answer,
    ):
        body = await body_of(answer)
        found: dict[str, Any] = body["result"] if "result" in body else body["error"]
        return found


async def wait_for_task(world: World, who: str, task: dict[str, Any]) -> dict[str, Any]:
    """Return the last state of a task."""
    state = task
    for _ in range(600):
        if state["status"] != "working":
            break
        await asyncio.sleep(0.1)
        state = await ask_tasks(world, who, "tasks/get", task["taskId"])
    return state


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("research", {"question": "When do ferries leave?"}, "end untrusted"),
        ("crawl", {"url": "{site}/links/5", "max_pages": 2}, "pages visited 1"),
    ],
)
async def test_research_and_crawls_run_as_tasks(
    world: World, site: Site, tool: str, arguments: dict[str, Any], expected: str
) -> None:
    given = {name: one.format(site=site.url("")) if isinstance(one, str) else one for name, one in arguments.items()}
    task = await ask_tasks(world, "ann", "tools/call", name=tool, arguments=given)
    assert task["resultType"] == "task" and task["status"] == "working"
    state = await wait_for_task(world, "ann", task)
    assert state["status"] == "completed", state
    assert expected in state["result"]["content"][0]["text"] and not state["result"].get("isError")


async def test_a_long_call_runs_as_a_task_of_its_caller(world: World, site: Site) -> None:
    call: dict[str, Any] = {"name": "fetch_batch", "arguments": {"urls": [site.url("/static/44")]}}
    task = await ask_tasks(world, "ann", "tools/call", **call)
    assert task["resultType"] == "task" and task["status"] == "working"
    task_id = task["taskId"]
    state = await wait_for_task(world, "ann", task)
    assert state["status"] == "completed" and site.url("/static/44") in state["result"]["content"][0]["text"]
    assert (await ask_tasks(world, "ben", "tasks/get", task_id))["code"] == -32602
    assert (await ask_tasks(world, "ben", "tasks/cancel", task_id))["code"] == -32602
    assert (await ask_tasks(world, "ann", "tasks/get", task_id, declared=False))["code"] == -32021
    assert (await ask_tasks(world, "ann", "tasks/get", task_id, named="other"))["code"] == -32020
    assert (await ask_tasks(world, "ann", "tasks/cancel", task_id))["resultType"] == "complete"
    assert "content" in await ask_tasks(world, "ann", "tools/call", declared=False, **call)
    await ask_tasks(world, "ann", "tasks/update", task_id, inputResponses={})
    access = {"Authorization": f"Bearer {TOKENS['ann']}"}
    async with aiohttp.ClientSession(headers=access) as http, http.get(world.program.base + "/metrics") as answer:
        metrics = await answer.text()
    for method in ("tools/call", "tasks/get", "tasks/update", "tasks/cancel"):
        assert f'search_mcp_call_seconds_count{{tool="{method}"}}' in metrics

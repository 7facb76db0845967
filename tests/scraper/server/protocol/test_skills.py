"""The guides for coding agents are a skill that clients list, verify and read."""

from __future__ import annotations

import hashlib
from typing import Any

import aiohttp

from scraper.tools.skills import GUIDES
from tests.scraper.process import Program
from tests.scraper.server.wire import body_of, modern


async def ask(http: aiohttp.ClientSession, server: Program, method: str, **params: Any) -> dict[str, Any]:
    headers, message = modern(method, params)
    if "uri" in params:
        headers["Mcp-Name"] = params["uri"]
    async with http.post(server.url, headers=headers, json=message) as answer:
        return await body_of(answer)


async def test_the_extension_is_declared(server: Program, http: aiohttp.ClientSession) -> None:
    found = await ask(http, server, "server/discover")
    assert found["result"]["capabilities"]["extensions"]["io.modelcontextprotocol/skills"] == {}


async def test_each_listed_file_is_read_with_its_digest_and_size(server: Program, http: aiohttp.ClientSession) -> None:
    result = (await ask(http, server, "skills/list"))["result"]
    (skill,) = result["skills"]
    assert result["resultType"] == "complete" and result["cacheScope"] == "public" and result["ttlMs"] > 0
    assert skill["uri"] == "skill://search-mcp/SKILL.md" and skill["frontmatter"]["name"] == "search-mcp"
    assert {"description", "license", "allowed-tools"} <= skill["frontmatter"].keys()
    assert len(skill["resources"]) == 1 + len(GUIDES)
    for file in skill["resources"]:
        (content,) = (await ask(http, server, "resources/read", uri=file["uri"]))["result"]["contents"]
        data = content["text"].encode()
        assert (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data)) == (file["digest"], file["size"])
    assert (await ask(http, server, "skills/get", uri=skill["uri"]))["result"]["skill"] == skill


async def test_an_unknown_skill_is_an_error(server: Program, http: aiohttp.ClientSession) -> None:
    for method in ("skills/get", "resources/read"):
        error = (await ask(http, server, method, uri="skill://other/SKILL.md"))["error"]
        assert error["code"] == -32602

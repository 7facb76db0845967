"""Run the cases of the protocol: raw requests, lines over stdio, tool calls and programs, against own servers."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.cases.model import Case, CaseResult, Judgment
from benchmarks.cases.serving import wait_until_ready
from benchmarks.common.contender import REPOSITORY
from benchmarks.common.own_product import free_port
from benchmarks.common.wire_client import ERAS, wire_client

_LIMIT_S = 60.0
_HOST = "pages.example"
_SLOW_S = 2.0
_MAX_FOUND = 300
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "case", "version": "1"}},
}
_PAGE = """<html lang="en"><title>Fast page</title><main><h1>Fast page</h1>
<p>The harbour office writes down when the ferry leaves, and at which pier it will land in the evening.</p></main>"""

Step = Mapping[str, Any]


async def run(cases: Sequence[Case]) -> list[CaseResult]:
    """Run the steps of each case. Cases with the same settings share a server."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(json.dumps(case.data["expect"].get("settings", {}), sort_keys=True), []).append(case)
    results: list[CaseResult] = []
    async with _pages() as port:
        for settings, group in groups.items():
            async with _server(json.loads(settings), port) as (base, env):
                results += [await _run_case(case, base, env) for case in group]
    return results


async def _run_case(case: Case, base: str, env: Mapping[str, str]) -> CaseResult:
    steps: Sequence[Step] = case.data["expect"]["steps"]
    missing = next((step["needs"] for step in steps if "needs" in step and not shutil.which(step["needs"])), "")
    if missing:
        return CaseResult(case, not_run=f"{missing} is not installed")
    judgments: list[Judgment] = []
    for step in steps:
        try:
            async with asyncio.timeout(_LIMIT_S):
                found = await _KINDS[step["kind"]](step, base, env, case)
        except (OSError, TimeoutError) as error:
            found = repr(error)
        judgments += _judge(step, found)
    return CaseResult(case, judgments)


def _judge(step: Step, found: str) -> list[Judgment]:
    wanted = [(words, True) for words in step.get("has", ())] + [(words, False) for words in step.get("hasnot", ())]
    return [
        Judgment(
            f"{step.get('name', step['kind'])}: {'' if is_wanted else 'not '}{words!r}",
            bool(found) and (words in found) is is_wanted,
            found=found[:_MAX_FOUND],
        )
        for words, is_wanted in wanted
    ]


async def _http(step: Step, base: str, _env: Mapping[str, str], _case: Case) -> str:
    """Send raw bytes, each packet by itself, and return the whole response."""
    host, _, port = base.removeprefix("http://").rpartition(":")
    body = step.get("body", "")
    body = json.dumps(_INITIALIZE) if body == "initialize" else body.replace("{initialize}", json.dumps(_INITIALIZE))
    headers = list(step.get("headers", ()))
    if not any(field.lower().startswith("host:") for field in headers):
        headers.append(f"Host: localhost:{port}")
    if body:
        headers.append(f"Content-Length: {len(body.encode())}")
    head = "\r\n".join([f"{step['request']} HTTP/{step.get('version', '1.1')}", *headers, "Connection: close"])
    if any(field.lower().startswith("connection:") for field in step.get("headers", ())):
        head = head.removesuffix("\r\nConnection: close")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"{head}\r\n\r\n".encode())
    await writer.drain()
    writer.write(body.encode())
    answer = b""
    try:
        async with asyncio.timeout(step.get("seconds", 5)):
            while part := await reader.read(65_536):
                answer += part
    except TimeoutError:
        pass
    writer.close()
    return answer.decode("utf-8", "replace")


async def _stdio(step: Step, _base: str, env: Mapping[str, str], _case: Case) -> str:
    lines = (
        step["input"]
        .replace("\\n", "\n")
        .replace("{initialize}", json.dumps(_INITIALIZE))
        .replace("{long}", "x" * 4_300_000)
    )
    return await _program([sys.executable, "-m", "scraper.cli.main", "stdio"], env, lines.encode())


async def _command(step: Step, base: str, env: Mapping[str, str], case: Case) -> str:
    command = [part.format(base=base, python=sys.executable) for part in shlex.split(step["run"])]
    return await _program(command, env, b"", str(case.folder if step.get("here") else REPOSITORY))


async def _file(step: Step, _base: str, _env: Mapping[str, str], _case: Case) -> str:
    text: str = (REPOSITORY / step["path"]).read_text(encoding="utf-8")
    return text


async def _tool(step: Step, base: str, _env: Mapping[str, str], _case: Case) -> str:
    async with wire_client(f"{base}/mcp", ERAS[0]) as client:
        answer = await client.call(step["tool"], dict(step["arguments"]))
        return f"{'error' if answer.is_error else 'ok'}: {answer.text}"


_KINDS: Mapping[str, Callable[[Step, str, Mapping[str, str], Case], Any]] = {
    "http": _http,
    "stdio": _stdio,
    "command": _command,
    "file": _file,
    "tool": _tool,
}


async def _program(command: list[str], env: Mapping[str, str], stdin: bytes, folder: str = str(REPOSITORY)) -> str:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=dict(env), stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.STDOUT
    )
    try:
        out, _ = await process.communicate(stdin)
        return f"{out.decode('utf-8', 'replace')}\nexit {process.returncode}"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@asynccontextmanager
async def _pages() -> AsyncIterator[int]:
    """Answer every path with a page, `/slow` after a while, and yield the port."""

    async def answer(request: web.Request) -> web.Response:
        await asyncio.sleep(_SLOW_S if request.path == "/slow" else 0)
        return web.Response(text=_PAGE, content_type="text/html")

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


@asynccontextmanager
async def _server(settings: Mapping[str, str], page_port: int) -> AsyncIterator[tuple[str, dict[str, str]]]:
    """Start the product with these settings, and yield its address and its environment."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as store:
        env = _environment(settings, store, page_port)
        command = [sys.executable, "-m", "scraper.cli.main", "serve", "--port", str(port)]
        log = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*command, env=env, cwd=REPOSITORY, stderr=log)
        try:
            await wait_until_ready(f"http://127.0.0.1:{port}/ready")
            yield f"http://127.0.0.1:{port}", {**env, "CASE_PID": str(process.pid)}
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


def _environment(settings: Mapping[str, str], store: str, page_port: int) -> dict[str, str]:
    env = {
        **os.environ,
        "SEARCH_MCP_REST": "yes",
        "SEARCH_MCP_TEST_HOSTS": f"{_HOST}=127.0.0.1:{page_port}",
        "SEARCH_MCP_ALLOW_NETS": "127.0.0.0/8",
        "SEARCH_MCP_DATA": store,
        **{name: value.format(store=store) for name, value in settings.items()},
    }
    if keys := env.get("SEARCH_MCP_ISSUER_KEYS"):
        key = {"kty": "RSA", "alg": "RS256", "kid": "a", "e": "AQAB", "n": "sXchDaQ" + "A" * 335}
        Path(keys).write_text(json.dumps({"keys": [key]}), encoding="utf-8")
    return env

"""Run the cases of `browse` and `fetch` on small sites, through the server as a client does."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from benchmarks.cases.model import Case, CaseResult, Judgment
from benchmarks.cases.serving import open_client
from benchmarks.common.wire_client import WireClient

_SITE = "site.py"
_HOSTS = tuple(f"h{number}.example" for number in range(1, 10))
_SETTINGS = {"SEARCH_MCP_TOOLSETS": "default,acting", "SEARCH_MCP_ACTING": "act"}
_HOST_OF = {"redirect-host": _HOSTS[-1]}
"""Host of a case whose site names the others."""
_SESSION = re.compile(r"[Ss]ession ([0-9a-f]{32})")
_ANNOUNCED = ("failed", "refused", "Warning")
_MAX_FOUND = 400


async def run(cases: Sequence[Case]) -> list[CaseResult]:
    """Serve the sites of all cases, and run each with a server of the product."""
    ready = [case for case in cases if case.has_input(_SITE)]
    results = [CaseResult(case, not_run="no site") for case in cases if not case.has_input(_SITE)]
    async with _sites(ready) as port, open_client(_HOSTS, port, _SETTINGS) as client:
        for number, case in enumerate(ready):
            host = _HOST_OF.get(case.name, _HOSTS[number % len(_HOSTS)])
            text = await _call(client, case.data["steps"], f"http://{host}/{case.name}")
            results.append(judge(case, text))
    return results


def judge(case: Case, text: str) -> CaseResult:
    """Check what an answer must contain and must not contain. Without an answer, nothing holds."""
    is_announced = any(word in text for word in _ANNOUNCED)
    judgments = []
    for key, is_wanted in (("contains", True), ("not_contains", False)):
        for words in case.data["expect"].get(key, ()):
            verdict = bool(text) and (words in text) is is_wanted
            judgments.append(
                Judgment(f"{key} {words!r}", verdict, not verdict and not is_announced, text[-_MAX_FOUND:])
            )
    return CaseResult(case, judgments)


async def _call(client: WireClient, steps: Any, base: str) -> str:
    """Return the text of all answers; `{base}` in steps stands for the URL of the site."""
    steps = json.loads(json.dumps(steps).replace("{base}", base))
    if isinstance(steps, Mapping):
        return (await client.call(steps["tool"], dict(steps["arguments"]))).text
    texts: list[str] = []
    session: dict[str, str] = {}
    for part in steps if steps and isinstance(steps[0], list) else [steps]:
        texts.append((await client.call("browse", {"steps": part, **session})).text)
        if found := _SESSION.search(texts[-1]):
            session = {"session": found[1]}
    if session:
        await client.call("browse", {"steps": ["close"], **session})
    return "\n".join(texts)


@asynccontextmanager
async def _sites(cases: Sequence[Case]) -> AsyncIterator[int]:
    """Serve the site of each case below its name, and yield the port."""
    application = web.Application(client_max_size=64 * 1024 * 1024)
    for case in cases:
        routes = runpy.run_path(str(case.folder / _SITE))["routes"]
        for path, value in routes.items():
            handler = value if callable(value) else _answer(value)
            application.router.add_route("*", f"/{case.name}{path}", handler)
        if (static := case.folder / "static").is_dir():
            application.router.add_static(f"/{case.name}/static/", static)
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _answer(value: str | tuple[str, str | bytes]) -> Any:
    kind, content = value if isinstance(value, tuple) else ("text/html", value)
    body = content.encode() if isinstance(content, str) else content

    async def handler(_: web.Request) -> web.Response:
        charset = "utf-8" if kind.startswith("text/") else None
        return web.Response(body=body, content_type=kind, charset=charset)

    return handler

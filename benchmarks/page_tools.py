"""Tools of pages in `browse`: hostile pages, tasks by hand and by tools, cost of `open`, and traces in other visits."""

from __future__ import annotations

import http.server
import importlib.util
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import psutil

from benchmarks.common.command_line import Figures
from browsers.model import Mode, Request, Tier
from scraper.services import Services
from scraper.settings import Settings
from scraper.tools.browser_tools import browse_tool
from scraper.tools.model import ToolAnswer, ToolCall
from tests.site.certificate import server_identity

_HOSTS = ("shop.example", "partner.example", "evil.example")
_ORIGIN = "https://shop.example"
_OPENS, _ROUNDS = 15, 3
_TRACES = """<!doctype html><title>See</title><p id=o></p><script>
const found = [typeof document.modelContext != "undefined", "ModelContext" in window, "ToolActivatedEvent" in window,
  "agentInvoked" in SubmitEvent.prototype, CSS.supports("selector(:tool-form-active)"),
  document.featurePolicy.features().includes("tools")];
document.getElementById("o").textContent = "traces " + found.filter(Boolean).length + " of 6";
</script>"""


async def measure_page_tools(folder: Path) -> Figures:
    """Return the figures of the cases in `webmcp-hostile` and `webmcp` of a corpus."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as data, _serve(folder) as (hosts, pin, posts):
        settings = Settings(
            data_dir=Path(data),
            test_hosts=hosts,
            test_key_pin=pin,
            toolsets=("default", "acting"),
            acting="act",
            tool_timeout_s=120,
            robots="off",
        )
        async with Services.open(settings) as services:
            figures = await _measure_hostile(services, _load_json(folder / "webmcp-hostile/cases.json")["cases"], posts)
            figures |= await _measure_tasks(services, _load_json(folder / "webmcp/tasks.json"))
            figures |= await _count_traces(services)
        return figures | await _measure_opens(settings)


async def _run(services: Services, steps: list[str], mode: str, session: str = "", ask: str = "") -> ToolAnswer:
    async def answer(_: str) -> bool:
        return ask == "yes"

    call = ToolCall("ann", deadline_s=60, may_act=mode == "act", ask=answer if ask else None)
    arguments = {"steps": steps, "profile": None, "session": session or None}
    return await browse_tool(services.settings).run(services, arguments, call)


def _session_of(answer: ToolAnswer) -> str:
    return answer.text.split(":")[0].removeprefix("Session ")


async def _measure_hostile(services: Services, cases: list[dict[str, Any]], posts: list[str]) -> Figures:
    right = []
    for case in cases:
        mode, ask = case["mode"], case.get("ask", "")
        opened = await _run(services, [f"open {_ORIGIN}{case['page']}"], mode, ask=ask)
        session = _session_of(opened)
        posts.clear()
        began = time.monotonic()
        answer = await _run(services, [case["step"]], mode, session, ask)
        took_s = time.monotonic() - began
        text = answer.text
        checks = [
            answer.is_error == case.get("error", False),
            all(part in text for part in case.get("contains", ())),
            case.get("absent_line") not in text.split("\n"),
            len(posts) == case.get("posts", len(posts)),
            took_s < case.get("max_seconds", 60),
            len(text) <= case.get("max_characters", 10_000),
            "invisible" not in case or all(one.isprintable() for one in text.replace("\n", "")),
        ]
        if "then" in case:
            checks.append(not (await _run(services, [case["then"]], mode, session)).is_error)
        right.append(all(checks))
        if not right[-1]:
            print(f"page tools: {case['page']} {case['step']}: {checks} {took_s:.1f} s\n{text}")
        await _run(services, ["close"], mode, session)
    return {"page_tools.hostile.right": sum(right) / len(right)}


async def _measure_tasks(services: Services, tasks: list[dict[str, Any]]) -> Figures:
    right = []
    steps = dict.fromkeys(("hand", "tools"), 0)
    characters = dict.fromkeys(steps, 0)
    for task in tasks:
        for way in steps:
            session, text = "", ""
            for part in task[way]:
                answer = await _run(services, part, task["mode"], session)
                session, text = session or _session_of(answer), answer.text
                steps[way] += len(part)
                characters[way] += len(json.dumps(part)) + len(text)
            right.append(task["expect"] in text and not answer.is_error)
            if not right[-1]:
                print(f"page tools: task {task['id']} by {way}:\n{text}")
            await _run(services, ["close"], task["mode"], session)
    return {
        "page_tools.tasks.right": sum(right) / len(right),
        "page_tools.tasks.steps_ratio": steps["tools"] / steps["hand"],
        "page_tools.tasks.characters_ratio": characters["tools"] / characters["hand"],
    }


async def _count_traces(services: Services) -> Figures:
    """Read one page in visits beside an open session; `page_tools.seen` is 1 if the session has the interface."""
    answer = await _run(services, [f"open {_ORIGIN}/traces"], "read")
    seen = "traces 6 of 6" in answer.text
    traces = 0
    for tier in (Tier.FULL, Tier.LIGHT):
        request = Request(f"{_ORIGIN}/traces", tier=tier, mode=Mode.RENDER)
        html = (await services.browsers.visit(request)).html or ""
        traces += int(html.partition(">traces ")[2].partition(" ")[0])
    await _run(services, ["close"], "read", _session_of(answer))
    return {"page_tools.traces": traces, "page_tools.seen": float(seen)}


async def _measure_opens(settings: Settings) -> Figures:
    """Return the CPU of `open` with tools of pages as a ratio to that without, in alternating runs."""
    used: dict[str, list[float]] = {"on": [], "off": []}
    for mode in list(used) * _ROUNDS:
        async with Services.open(replace(settings, page_tools=mode)) as services:
            session = _session_of(await _run(services, [f"open {_ORIGIN}/found"], "read"))
            began = _cpu_s()
            for number in range(_OPENS):
                await _run(services, [f"open {_ORIGIN}/found?{number}"], "read", session)
            used[mode].append((_cpu_s() - began) / _OPENS)
    return {
        "page_tools.open_cpu_ms": 1_000 * statistics.median(used["on"]),
        "page_tools.open_cpu_ratio": statistics.median(used["on"]) / statistics.median(used["off"]),
    }


def _cpu_s() -> float:
    own = psutil.Process()
    return float(sum(sum(one.cpu_times()[:2]) for one in (own, *own.children(recursive=True))))


@contextmanager
def _serve(folder: Path) -> Iterator[tuple[tuple[tuple[str, str, int], ...], str, list[str]]]:
    """Serve the pages over TLS; yield the addresses of the hosts, the pin of the key, and the requests that post."""
    pages, tasks = _load(folder / "webmcp-hostile/pages.py"), _load(folder / "webmcp/task_site.py")
    bodies, posts = {**pages.pages(), "/traces": _TRACES}, []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path in bodies:
                self.answer(200, "text/html; charset=utf-8", bodies[path])
            elif path == "/data":
                self.answer(200, "text/plain", "data")
            else:
                tasks.answer(self, "GET")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            posts.append(self.path)
            if self.path.startswith("/api/"):
                tasks.answer(self, "POST", body)
            else:
                self.answer(200, "text/html", "<!doctype html><title>Written</title><h1>Written</h1>")

        def answer(self, status: int, kind: str, text: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            if self.path.startswith("/denied"):
                self.send_header("Permissions-Policy", "tools=()")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    context, pin = server_identity(_HOSTS)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield tuple((host, "127.0.0.1", server.server_port) for host in _HOSTS), pin, posts
    finally:
        server.shutdown()


def _load_json(file: Path) -> Any:
    return json.loads(file.read_text())


def _load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

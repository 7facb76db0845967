"""Run the cases of `map`, `crawl` and `changes` on small sites, through the server as a client does.

A case is a folder with `site.py`: `HOSTS`, and `handle(host, path with query, headers)`, which returns status, headers
and body. Its `expect.runs` is a list of calls with the checks of their answers. The environment variable STATE names a
folder in which a run may place files that change the site.
"""

from __future__ import annotations

import asyncio
import fnmatch
import importlib.util
import json
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from benchmarks.cases.model import Case, CaseResult, Judgment
from benchmarks.cases.serving import open_client
from benchmarks.common.wire_client import WireClient

_SITE = "site.py"
_AT_ONCE = 6
"""Hosts that are read at once."""
_CALL_S = 150.0
_MAX_CALLS = 6
"""Calls that continue a crawl."""
_RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
_MAX_FOUND = 400
_URLS_PER_CALL = 20
_SETTINGS = {"SEARCH_MCP_MAX_ANSWER_TOKENS": "25000"}

Handle = Callable[[str, str, Any], tuple[int, Mapping[str, Any], str | bytes]]


@dataclass
class Answer:
    """Merged answers of the calls of one run at one host."""

    pages: dict[str, str] = field(default_factory=dict)
    """Titles by URL, in a form for comparisons."""
    statuses: dict[str, str] = field(default_factory=dict)
    """Status of each page of `changes`, by URL."""
    last: Mapping[str, Any] = field(default_factory=dict)
    """Last answer."""
    error: str = ""

    @property
    def is_announced(self) -> bool:
        """True if the answer reports a loss, or that it is not complete."""
        return bool(self.error or self.last.get("warnings") or self.last.get("done") is False)

    def has(self, url: str) -> bool:
        """Return True if a page is in the answer."""
        return normalize(url) in self.pages


def normalize(url: str) -> str:
    """Return a URL in the form in which URLs are compared here."""
    return unquote(url).removesuffix("?")


def expand(paths: Sequence[str]) -> Iterator[str]:
    """Yield the paths; `{1..3}` stands for each of these numbers."""
    for path in paths:
        found = _RANGE.search(path)
        numbers = range(int(found[1]), int(found[2]) + 1) if found else (0,)
        yield from (path.replace(found[0], str(number)) if found else path for number in numbers)


async def run(cases: Sequence[Case]) -> list[CaseResult]:
    """Serve the sites of all cases, and run each with a server of the product."""
    ready = [case for case in cases if case.has_input(_SITE) and runs_of(case)]
    results = [CaseResult(case, not_run="no site or no checks") for case in cases if case not in ready]
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        state = Path(folder)
        with _sites(ready, state) as (modules, port):
            hosts = [host for module in modules for host in module.HOSTS]
            async with open_client(hosts, port, _SETTINGS, limit_s=_CALL_S) as client:
                for case, module in zip(ready, modules, strict=True):
                    results.append(await _run_case(case, module.HOSTS, client, state))
    return results


def runs_of(case: Case) -> Sequence[Mapping[str, Any]]:
    """Return the runs of a case."""
    expect = case.data.get("expect") or {}
    return expect.get("runs", ()) if isinstance(expect, Mapping) else ()


async def _run_case(case: Case, hosts: Sequence[str], client: WireClient, state: Path) -> CaseResult:
    judgments: list[Judgment] = []
    slots = asyncio.Semaphore(_AT_ONCE)

    async def at_host(host: str, one: Mapping[str, Any], before: Mapping[str, Answer]) -> tuple[str, Answer]:
        async with slots:
            return host, await _answer(client, host, one, before.get(host))

    before: dict[str, Answer] = {}
    for one in runs_of(case):
        chosen = [host for host in hosts if any(fnmatch.fnmatchcase(host, name) for name in one["hosts"])]
        for files in one.get("states", [{}]):
            for name, text in files.items():
                (state / name).write_text(text, encoding="utf-8")
            before = dict(await asyncio.gather(*(at_host(host, one, before) for host in chosen)))
        for host in chosen:
            judgments += judge(one, host, before[host])
    return CaseResult(case, judgments)


async def _answer(client: WireClient, host: str, one: Mapping[str, Any], before: Answer | None) -> Answer:
    """Call a tool for a host; continue a crawl until it is done, or `calls` calls were made."""
    base = f"http://{host}"
    arguments = {"format": "json", **one.get("arguments", {})}
    answer = Answer()
    if one["tool"] == "changes":
        urls = [urljoin(base, path) for paths in one["statuses"].values() for path in expand(paths)]
        for at in range(0, len(urls), _URLS_PER_CALL):
            await _call(client, "changes", {**arguments, "urls": urls[at : at + _URLS_PER_CALL]}, answer)
        return answer
    if one.get("resumes") and before is not None:
        answer, arguments["crawl"] = before, before.last.get("crawl", "")
    else:
        arguments["url"] = urljoin(base, one.get("path", "/"))
    for _ in range(one.get("calls", _MAX_CALLS) if one["tool"] == "crawl" else 1):
        await _call(client, one["tool"], arguments, answer)
        if answer.error or answer.last.get("done") is not False:
            break
        arguments = {"format": "json", "max_pages": arguments.get("max_pages", 30), "crawl": answer.last["crawl"]}
    return answer


async def _call(client: WireClient, tool: str, arguments: dict[str, Any], answer: Answer) -> None:
    outcome = await client.call(tool, arguments)
    if outcome.is_error and not outcome.text.startswith("{"):
        answer.error = outcome.text
        return
    answer.last = json.loads(outcome.text)
    for row in answer.last.get("pages", ()):
        answer.pages[normalize(row["url"])] = row.get("title", "")
        answer.statuses[normalize(row["url"])] = row.get("status", "")


def judge(one: Mapping[str, Any], host: str, answer: Answer) -> list[Judgment]:
    """Return a verdict for each check of a run.

    `pages` and `without` are paths of which all or none are in the answer. `titles` are by path. `statuses` are lists
    of paths by the status of `changes`. `reads` is the greatest number of visited pages. `answer` is a regular
    expression that the answer or the error matches. With `or_error`, an error is right too. Each crawl that calls
    itself done must leave no URL waiting.
    """
    if answer.error and one.get("or_error"):
        return [Judgment(f"{host}: refused or right", holds=True)]
    base = f"http://{host}"
    text = answer.error or json.dumps(answer.last, ensure_ascii=False)
    found: list[tuple[str, bool, object]] = []
    if "pages" in one:
        missing = [path for path in expand(one["pages"]) if not answer.has(urljoin(base, path))]
        found.append((f"{len(list(expand(one['pages'])))} pages", not missing, f"missing: {missing}"))
    if "without" in one:
        excess = [path for path in expand(one["without"]) if answer.has(urljoin(base, path))]
        found.append(("other pages are left out", not excess and not answer.error, f"not left out: {excess}"))
    for path, title in one.get("titles", {}).items():
        got = answer.pages.get(normalize(urljoin(base, path)))
        found.append((f"title of {path}", got == title, got))
    for status, paths in one.get("statuses", {}).items():
        for path in expand(paths):
            got = answer.statuses.get(normalize(urljoin(base, path)))
            found.append((f"{path} is {status}", got in status.split("|"), got))
    if "reads" in one:
        read = answer.last.get("read", 0)
        found.append((f"at most {one['reads']} visits", 0 < read <= one["reads"], read))
    if "answer" in one:
        found.append((f"answer has {one['answer']!r}", re.search(one["answer"], text) is not None, text))
    if one["tool"] == "crawl" and answer.last.get("done"):
        found.append(("done only if nothing waits", not answer.last.get("left"), answer.last.get("left")))
    return [
        Judgment(f"{host}: {check}", holds, not holds and not answer.is_announced, f"{got} {text}"[:_MAX_FOUND])
        for check, holds, got in found
    ]


@contextmanager
def _sites(cases: Sequence[Case], state: Path) -> Iterator[tuple[list[ModuleType], int]]:
    """Serve the sites of all cases by host name; yield their modules and the port."""
    os.environ["STATE"] = str(state)
    modules = [_load_module(case.folder) for case in cases]
    handlers = {host: module.handle for module in modules for host in module.HOSTS}
    server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(handlers))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield modules, server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _load_module(folder: Path) -> ModuleType:
    """Import a `site.py`, which may import modules from the folder of its area."""
    sys.path.insert(0, str(folder.parent))
    try:
        spec = importlib.util.spec_from_file_location(f"site_{folder.name}", folder / _SITE)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.pop(0)


def _make_handler(handlers: Mapping[str, Handle]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            host = urlsplit(f"//{self.headers.get('Host', '')}").hostname or ""
            handle = handlers.get(host)
            status, headers, body = handle(host, self.path, self.headers) if handle else (404, {}, "no such host")
            data = body.encode() if isinstance(body, str) else body
            self.send_response(status)
            for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
                for one in value if isinstance(value, list) else [value]:
                    self.send_header(name, one)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_HEAD = do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    return Handler

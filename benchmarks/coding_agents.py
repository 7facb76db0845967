"""`python -m benchmarks.coding_agents`: cost of commands that a coding agent runs one after the other.

- `warm.stored_cpu_s`, `warm.question_cpu_s`: CPU of a stored page, and of a question on a page from the site, with all
  processes; `client_cpu_s`: of the command's own process.
- `first.cpu_s`: CPU of the first command, `own.cpu_s`: of one without server, `first.ratio`: their ratio.
- `first.servers`, `first.answers`: of eight first commands at once.
- `form.tokens`: printed by a form that is opened, filled in and sent by three commands; `question.tokens`: by a
  question with a budget of 300; `page.tokens`: by a page that is written to a file.
- `killed.processes`: processes two seconds after the server was killed.
- `idle.memory_mb`: resident memory of all processes three minutes after the last command (not with `--quick`).
- `PEER.cpu_s`, `PEER.tokens`: a page with its snapshot, in an open session, of @playwright/cli and agent-browser, if
  `--npm FOLDER` has them in `node_modules`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.common.command_line import Figures, Goal, Options, print_table, run
from scraper.text.token_estimate import estimate
from tests.site.running import running_site

_ENTRY = (sys.executable, "-c", "from scraper.cli.entry import main; main()")
_ROUNDS = 5
_IDLE_S = 185.0
_MARK = "CODING_AGENTS_RUN"
_REQUIRED = (
    Goal("warm.stored_cpu_s", at_most=0.15),
    Goal("client_cpu_s", at_most=0.10),
    Goal("warm.question_cpu_s", at_most=0.20),
    Goal("first.ratio", at_most=1.1),
    Goal("idle.memory_mb", at_most=80),
    Goal("killed.processes", at_most=0),
    Goal("form.tokens", at_most=700),
    Goal("question.tokens", at_most=330),
    Goal("page.tokens", at_most=80),
    Goal("first.servers", at_most=1),
    Goal("first.answers", at_least=8),
)


@dataclass(frozen=True)
class _Agent:
    """A folder with variables, by which the processes of its commands are found."""

    folder: Path
    variables: dict[str, str]
    command: Sequence[str] = _ENTRY
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def run(self, *words: str) -> str:
        environment = {**os.environ, **self.variables, _MARK: self.mark, "PYTHONPATH": os.getcwd()}
        done = subprocess.run(
            [*self.command, *words], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120
        )
        return done.stdout

    def processes(self) -> list[psutil.Process]:
        """Return the processes that outlive the commands, and their children."""
        found: dict[int, psutil.Process] = {}
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(_MARK) == self.mark:
                    found |= {one.pid: one for one in (process, *process.children(recursive=True))}
        return [one for one in found.values() if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]

    def cost(self, *words: str) -> tuple[float, float, str]:
        """Return the CPU seconds of all processes and of the command alone, and what it printed."""
        own, others = _children_s(), self._cpu_s()
        text = self.run(*words)
        client_s = _children_s() - own
        return client_s + self._cpu_s() - others, client_s, text

    def _cpu_s(self) -> float:
        total = 0.0
        for process in self.processes():
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
        return total

    def end(self) -> None:
        """Kill all processes."""
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


async def measure(options: Options) -> Figures:
    """Return the figures."""
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="agents-", dir="/tmp") as name, running_site() as site:
        base = f"http://127.0.0.1:{site.port}"
        agent = _make_agent(Path(name), "one")
        eight = _make_agent(Path(name), "eight")
        try:
            figures |= await asyncio.to_thread(_measure_commands, agent, base)
            figures |= await asyncio.to_thread(_measure_first_commands, eight, base)
            figures |= await asyncio.to_thread(_measure_end, eight)
            if not options.quick:
                await asyncio.sleep(_IDLE_S)
                memory = sum(process.memory_info().rss for process in agent.processes())
                figures["idle.memory_mb"] = memory / 1e6
            for peer in ("playwright-cli", "agent-browser"):
                if options.more.npm and (file := options.more.npm / "node_modules/.bin" / peer).exists():
                    figures |= await asyncio.to_thread(_measure_peer, Path(name), file, base)
        finally:
            agent.end()
            eight.end()
    print_table("Commands of coding agents", ("figure", "value"), sorted(figures.items()))
    return figures


def _make_agent(folder: Path, name: str) -> _Agent:
    (folder / name / "run").mkdir(parents=True, mode=0o700)
    variables = {"CLAUDECODE": "1", "SEARCH_MCP_ALLOW_NETS": "127.0.0.0/8", "SEARCH_MCP_ACTING": "act"}
    variables |= {"SEARCH_MCP_DATA": str(folder / name / "data"), "XDG_RUNTIME_DIR": str(folder / name / "run")}
    return _Agent(folder / name, variables)


def _measure_commands(agent: _Agent, base: str) -> Figures:
    figures = {"own.cpu_s": agent.cost("fetch", f"{base}/static/1", "--no-daemon")[0]}
    figures["first.cpu_s"] = agent.cost("fetch", f"{base}/static/2")[0]
    figures["first.ratio"] = figures["first.cpu_s"] / figures["own.cpu_s"]
    page = f"{base}/static/2"
    stored = [agent.cost("fetch", page) for _ in range(_ROUNDS)]
    question = ("--question", "How many passengers left with the ferry?", "--tokens", "300", "--max-age-hours", "0")
    agent.run("fetch", page, *question)
    asked = [agent.cost("fetch", page, *question) for _ in range(_ROUNDS)]
    figures["warm.stored_cpu_s"] = statistics.median(one[0] for one in stored)
    figures["client_cpu_s"] = statistics.median(one[1] for one in stored)
    figures["warm.question_cpu_s"] = statistics.median(one[0] for one in asked)
    figures["question.tokens"] = estimate(asked[0][2])
    figures["page.tokens"] = estimate(agent.run("fetch", page, "-o", "page.md"))
    opened = agent.run("browse", f"open {base}/acting/form")
    found = re.search(r"^Session (\w+):", opened, re.MULTILINE)
    session = found[1] if found else ""
    filled = agent.run("act", "--session", session, 'type "Name" = Ann', 'select "Size" = Large')
    sent = agent.run("act", "--session", session, 'click "Order"')
    if "received POST Ann" in sent:
        figures["form.tokens"] = estimate(opened + filled + sent)
    agent.run("browse", "--session", session, "close")
    return figures


def _measure_first_commands(agent: _Agent, base: str) -> Figures:
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda number: agent.run("fetch", f"{base}/static/{number}"), range(8)))
    right = sum(f"volume {number}\n" in answer for number, answer in enumerate(answers))
    servers = sum("scraper.cli.warm_server" in process.cmdline() for process in agent.processes())
    return {"first.answers": right, "first.servers": servers}


def _measure_end(agent: _Agent) -> Figures:
    processes = agent.processes()
    # Listed first: the children of a killed server may be zombies, which have no command line.
    for server in [process for process in processes if "scraper.cli.warm_server" in process.cmdline()]:
        server.kill()
    time.sleep(2)
    left = [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    return {"killed.processes": len(left)}


def _measure_peer(folder: Path, program: Path, base: str) -> Figures:
    """Return the cost of opening another page in an open session and printing its snapshot."""
    (folder / program.name).mkdir()
    variables = {"HOME": str(folder / program.name), "PLAYWRIGHT_MCP_BROWSER": "chromium"}
    variables |= {"PLAYWRIGHT_MCP_EXECUTABLE_PATH": "/usr/bin/chromium", "PLAYWRIGHT_MCP_SANDBOX": "false"}
    variables |= {"AGENT_BROWSER_EXECUTABLE_PATH": "/usr/bin/chromium", "AGENT_BROWSER_ARGS": "--no-sandbox"}
    agent = _Agent(folder / program.name, variables, (str(program),))
    try:
        first = agent.cost("open", f"{base}/static/1")
        costs = []
        for number in range(2, 2 + _ROUNDS):
            opened = agent.cost("goto" if program.name == "playwright-cli" else "open", f"{base}/static/{number}")
            shown = agent.cost("snapshot")
            costs.append((opened[0] + shown[0], estimate(opened[2] + shown[2])))
        memory = sum(process.memory_info().rss for process in agent.processes()) / 1e6
        agent.run("close")
    finally:
        agent.end()
    medians = {
        "cpu_s": statistics.median(one[0] for one in costs),
        "tokens": statistics.median(one[1] for one in costs),
    }
    figures = medians | {"first_cpu_s": first[0], "memory_mb": memory}
    return {f"{program.name}.{name}": value for name, value in figures.items()}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--npm", type=Path, help="folder with node_modules of the peers")


if __name__ == "__main__":
    run(__doc__ or "", measure, required=_REQUIRED, add_arguments=_add_arguments)

"""Run the tasks of the corpus `acting-site`: pages that are hard to act on, and pages that deceive."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from benchmarks.acting.serving import served
from benchmarks.common.command_line import Figures, print_table
from browsers import Browsers, BrowserSettings
from browsers.acting.acting_page import ActingPage
from browsers.acting.outline import OutlineLine
from browsers.acting.outline_text import write_outline
from browsers.acting.page_requests import ActingMode
from browsers.acting.sessions import ActingRequest
from browsers.acting.step_parser import parse_steps
from browsers.acting.step_runner import StepOutcome
from browsers.errors import BrowsersError
from browsers.model import Mode, Request, ScreenshotKind, ScreenshotRequest, Tier

HOST = "acting.example"
_FORBIDDEN = "forbidden.test"
_TASK_LIMIT_S = 40.0
_UNCHANGED = "nothing changed"
_TARGET_WAITS_S = (0.0, 0.2, 0.4, 0.8)
_ALSO: Mapping[str, tuple[str, ...]] = {
    "date": ("textbox",),
    "time": ("textbox",),
    "color": ("textbox",),
    "password": ("textbox",),
    "disclosure": ("button", "clickable"),
    "searchbox": ("textbox",),
    "combobox": ("listbox",),
    "listbox": ("combobox",),
    "gridcell": ("clickable",),
    "switch": ("checkbox",),
}
"""Other roles that a tool may give an element of a task."""

Task = Mapping[str, Any]


class TargetMissingError(Exception):
    """No line of the outline is what a step of a task means."""


@asynccontextmanager
async def permitted(_: str) -> AsyncIterator[tuple[str, ...]]:
    """Permit every URL."""
    yield ()


@dataclass
class ActingClient:
    """One caller with one session, and what its steps cost."""

    browsers: Browsers
    session: str | None = None
    answers: list[float] = field(default_factory=list)
    """Tokens of the answer to each step that acts."""
    looks: list[float] = field(default_factory=list)
    """Tokens of each outline that was taken to choose a target."""
    session_steps: int = 0
    """Steps of the session so far."""
    checks_unchanged: bool = False
    """True to look again a second after each answer "nothing changed"."""
    false_unchanged: int = 0
    """Number of such answers after which the page changed."""
    steps_s: float = 0.0
    looks_s: float = 0.0

    @property
    def page(self) -> ActingPage:
        """The page of the session."""
        assert self.session is not None
        return self.browsers.acting._sessions[self.session].page

    async def run(self, *steps: str) -> StepOutcome:
        """Run steps, and return the outcome of the last."""
        request = ActingRequest(
            tuple(parse_steps(list(steps))), self.session, "benchmark", ActingMode.ACT, permitted, deadline_s=60.0
        )
        done = await self.browsers.acting.run(request)
        self.session = done.session_id or None
        self.session_steps = len(steps) + (0 if done.is_new else self.session_steps)
        return done.outcomes[-1]

    async def act(self, step: str) -> StepOutcome:
        """Run a step and count its cost."""
        began = time.perf_counter()
        outcome = await self.run(step)
        self.steps_s += time.perf_counter() - began
        self.answers.append(len("; ".join(outcome.notices) + outcome.error + outcome.content) / 4)
        if self.checks_unchanged and outcome.content == _UNCHANGED:
            self.false_unchanged += (await self.run("wait 1")).content != _UNCHANGED
        return outcome

    async def lines(self) -> list[OutlineLine]:
        """Return the lines of a new outline, each text by itself."""
        began = time.perf_counter()
        outline = await self.page.outlines.take()
        self.looks_s += time.perf_counter() - began
        self.looks.append(len(write_outline(outline)) / 4)
        return [piece for line in outline.lines for piece in (line.pieces or (line,))]

    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the world of the page."""
        answer = await self.page.session.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        return answer.get("result", {}).get("value")


async def measure_site_tasks(folder: Path) -> Figures:
    """Return how many tasks of each kind are solved, and the cost of their steps."""
    tasks: list[Task] = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    with served(folder / "pages") as port:
        hosts = ((HOST, "127.0.0.1", port), (_FORBIDDEN, "127.0.0.1", port))
        async with Browsers(BrowserSettings(test_hosts=hosts)) as browsers:
            client = ActingClient(browsers, checks_unchanged=True)
            cpu_s = tree_cpu_s()
            results = {task["id"]: await _run_task(client, task) for task in tasks}
            cpu_s = tree_cpu_s() - cpu_s
    rows = [(task["id"], task["kind"], results[task["id"]] or "solved") for task in tasks]
    print_table("Tasks on made pages", ("task", "kind", "result"), rows)
    solved = {kind: [not results[task["id"]] for task in tasks if task["kind"] == kind] for kind in ("act", "safe")}
    steps = len(client.answers) + len(client.looks)
    return {
        "site.act": sum(solved["act"]),
        "site.act_tasks": len(solved["act"]),
        "site.safe": sum(solved["safe"]),
        "site.safe_tasks": len(solved["safe"]),
        "site.false_unchanged": client.false_unchanged,
        "answer.tokens": round(mean(client.answers), 1),
        "tokens.answer": round(mean(client.answers), 1),
        "site.look_tokens": round(mean(client.looks), 1),
        "site.step_ms": round(1_000 * client.steps_s / max(1, len(client.answers))),
        "site.look_ms": round(1_000 * client.looks_s / max(1, len(client.looks)), 1),
        "cpu_ms.step": round(1_000 * cpu_s / max(1, steps)),
    }


async def _run_task(client: ActingClient, task: Task) -> str:
    """Return why a task failed; an empty text if it is solved."""
    try:
        async with asyncio.timeout(_TASK_LIMIT_S):
            return await _play(client, task)
    except (TimeoutError, TargetMissingError, BrowsersError) as error:
        return f"{type(error).__name__}: {error}"[:120]


async def _play(client: ActingClient, task: Task) -> str:
    opened = await client.run(f"open http://{HOST}/{task['page']}")
    said, shown = list(opened.notices), [opened.content]
    missing = ""
    for step in task["steps"]:
        try:
            outcome = await _take_step(client, step, task)
        except TargetMissingError as error:
            missing = str(error)
            break
        said += [*outcome.notices, outcome.error]
        shown.append(outcome.content)
    if not await client.evaluate(task["check"]):
        return missing or f"check failed; told {' '.join(said)!r}"[:120]
    if task.get("expect", "") not in " ".join(said):
        return f"not told: {task['expect']}"
    texts = "\n".join(shown)
    if task.get("expect_text", "") not in texts:
        return f"not in the answer: {task['expect_text']}"
    return next((f"shown: {word}" for word in task.get("absent", ()) if word in texts), "")


async def _take_step(client: ActingClient, step: Sequence[Any], task: Task) -> StepOutcome:
    verb, *rest = step
    if verb in ("look", "find"):
        return await client.run(f"look {rest[0]}" if rest else "look")
    if verb == "picture":
        return await _take_picture(client, task)
    if verb == "scroll":
        return await client.act("scroll end")
    if verb == "press":
        return await client.act(f"press {rest[0]}")
    if verb == "more":
        return await client.act(f'more {rest[0]} "{rest[1]}"')
    line = await _find(client, rest[0], rest[1])
    if verb == "drag":
        return await client.act(f"drag {line.ref} to {(await _find(client, '', rest[2])).ref}")
    forms = {
        "click": lambda: f"click {line.ref}",
        "double-click": lambda: f"click {line.ref} twice",
        "right-click": lambda: f"click {line.ref} right",
        "hover": lambda: f"hover {line.ref}",
        "type": lambda: f"type {line.ref} = {rest[2]}" + (" + Enter" if "submit" in rest[3:] else ""),
        "type-slowly": lambda: f"type {line.ref} slowly = {rest[2]}",
        "select": lambda: f"select {line.ref} = {' | '.join(rest[2:])}",
        "drag-by": lambda: f"drag {line.ref} by {rest[2]} {rest[3]}",
        "scroll-in": lambda: f"scroll {line.ref} {rest[2]}",
    }
    return await client.act(forms[verb]())


async def _take_picture(client: ActingClient, task: Task) -> StepOutcome:
    picture = ScreenshotRequest(ScreenshotKind.FULL)
    request = Request(
        f"http://{HOST}/{task['page']}", tier=Tier.FULL, mode=Mode.RENDER, picture=picture, deadline_s=_TASK_LIMIT_S
    )
    snapshot = await client.browsers.visit(request)
    cut = snapshot.pictures[0].cut_off if snapshot.pictures else 0
    return StepOutcome("picture", (f"cut off {cut} px",) if cut else ())


async def _find(client: ActingClient, role: str, name: str) -> OutlineLine:
    """Return the line that a step of a task means, as an agent would choose it."""
    for wait_s in _TARGET_WAITS_S:
        await asyncio.sleep(wait_s)
        lines = [line for line in await client.lines() if not role or line.role in (role, *_ALSO.get(role, ()))]
        for found in (
            [line for line in lines if line.name == name],
            [line for line in lines if line.name.lower() == name.lower()],
            [line for line in lines if name.lower() in line.text.lower()],
        ):
            if found:
                return min(found, key=lambda line: not line.is_active)
    raise TargetMissingError(f"no {role} {name!r}")


def mean(values: Sequence[float]) -> float:
    """Return the mean, or 0 without values."""
    return sum(values) / len(values) if values else 0.0


def tree_cpu_s() -> float:
    """Return the CPU seconds of this process and all below it."""
    me = psutil.Process(os.getpid())
    total = 0.0
    for process in (me, *me.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
    return total

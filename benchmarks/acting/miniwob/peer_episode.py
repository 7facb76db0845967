"""Episodes through playwright-mcp: the same steps and lines over its tools."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import TextContent

from benchmarks.acting.miniwob.episode import Episode, UnsolvedError
from benchmarks.peers.launch import peer_folder
from browsers.acting.outline import OutlineLine
from browsers.acting.step_parser import Step, parse_step
from browsers.chromium.locate import find_chromium
from browsers.model import Tier

_LINE = re.compile(r"^\s*- (?:'(?P<quoted>(?:[^']|'')+)'(?P<after>:.*)?|(?P<plain>.+))$")
_PARTS = re.compile(r'(?P<role>[a-z]+)(?: "(?P<name>(?:[^"\\]|\\.)*)")?(?P<rest>.*)$')
_REF = re.compile(r"\[ref=(\w+)\]")
_BOX = re.compile(r" ?\[box=(-?\d+),(-?\d+),(\d+),(\d+)\]")
_VALUE = re.compile(r"\]: (.*)$|^: (.*)$")
_RESULT = re.compile(r"### Result\n(.*?)(?:\n###|\Z)", re.S)
_CONTROLS = frozenset(
    "button link textbox checkbox radio combobox listbox slider tab menuitem option spinbutton searchbox switch".split()
)
_FRAME_NAMES = ("Last reward", "Last 10", "Time left", "Episodes done")


@dataclass
class PeerClient:
    """playwright-mcp, and what its calls cost."""

    client: Client
    answers: list[float] = field(default_factory=list)
    looks: list[float] = field(default_factory=list)
    looks_s: float = 0.0

    async def call(self, tool: str, **arguments: Any) -> str:
        """Return the text of a tool's answer; raise UnsolvedError if it is an error."""
        result = await self.client.call_tool(tool, arguments)
        text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
        if result.is_error:
            raise UnsolvedError(text[:200])
        return text


@asynccontextmanager
async def open_peer() -> AsyncIterator[PeerClient]:
    """Start playwright-mcp. Raises FileNotFoundError if it is not installed."""
    programs = list(
        peer_folder("playwright_mcp").glob("lib/python*/site-packages/playwright/node_modules/@playwright/mcp/cli.js")
    )
    chromium, node = find_chromium(Tier.FULL, None), shutil.which("node")
    if not programs or chromium is None or node is None:
        raise FileNotFoundError("playwright-mcp is missing: run `python -m benchmarks.setup_peers`.")
    switches = ["--headless", "--isolated", "--no-sandbox", "--executable-path", chromium.executable]
    # It writes its logs into the folder in which it runs.
    with tempfile.TemporaryDirectory() as folder:
        server = StdioServerParameters(command=node, args=[str(programs[0]), *switches], cwd=folder)
        async with Client(server, read_timeout_seconds=60) as client:
            yield PeerClient(client)


class PeerEpisode(Episode):
    """One task in the browser of playwright-mcp."""

    def __init__(self, client: PeerClient) -> None:
        self._client = client

    async def open(self, url: str) -> None:
        await self._client.call("browser_navigate", url=url)

    async def evaluate(self, expression: str) -> Any:
        text = await self._client.call("browser_evaluate", function=f"() => ({expression})")
        found = _RESULT.search(text)
        try:
            return json.loads(found[1]) if found else None
        except ValueError:
            return None

    async def lines(self) -> list[OutlineLine]:
        began = time.perf_counter()
        text = await self._client.call("browser_snapshot", boxes=True)
        self._client.looks_s += time.perf_counter() - began
        self._client.looks.append(len(_BOX.sub("", text)) / 4)
        found = (_parse_line(line) for line in text.split("\n"))
        return [
            line
            for line in found
            if line is not None and not line.name.startswith(_FRAME_NAMES) and line.name != self.question
        ]

    async def act(self, step: str) -> None:
        self._client.answers.append(len(await self._take(parse_step(step))) / 4)

    def is_multiline(self, ref: str) -> bool:
        raise UnsolvedError("not in its snapshot")

    def value_of(self, ref: str) -> str:
        raise UnsolvedError("not in its snapshot")

    async def _take(self, step: Step) -> str:
        call = self._client.call
        target = {"target": step.target.ref, "element": "element"} if step.target is not None else {}
        if step.verb == "click":
            return await call("browser_click", **target)
        if step.verb == "hover":
            return await call("browser_hover", **target)
        if step.verb == "type":
            slowly = {"slowly": True} if step.way == "slowly" else {}
            return await call("browser_type", **target, text=step.text, submit=step.submits, **slowly)
        if step.verb == "select":
            return await call("browser_select_option", **target, values=list(step.options))
        if step.verb == "press":
            return await call("browser_press_key", key=step.text)
        if step.verb == "wait" and step.numbers:
            return await call("browser_wait_for", time=step.numbers[0])
        if step.verb == "drag" and step.to is not None and step.target is not None:
            ends = {"startTarget": step.target.ref, "endTarget": step.to.ref}
            return await call("browser_drag", **ends, startElement="one", endElement="other")
        raise UnsolvedError(f"no tool for {step.source}")


def _parse_line(text: str) -> OutlineLine | None:
    found = _LINE.match(text)
    if found is None:
        return None
    quoted, after = found["quoted"], found["after"] or ""
    parts = _PARTS.match(quoted.replace("''", "'") + after if quoted else found["plain"])
    if parts is None:
        return None
    role, name, rest = parts["role"], (parts["name"] or "").replace('\\"', '"'), parts["rest"]
    ref, box, value = _REF.search(rest), _BOX.search(rest), _VALUE.search(rest)
    text_value = (value[1] or value[2] or "").strip().strip('"') if value else ""
    is_field = role in ("textbox", "spinbutton", "searchbox", "combobox")
    is_active = role in _CONTROLS or "cursor=pointer" in rest
    states = f' = "{text_value}"' if is_field and text_value else ""
    if not is_active:
        role = "text"
    elif role == "generic":
        role = "clickable"
    return OutlineLine(
        ref[1] if ref else "",
        0,
        role,
        name or ("" if is_field else text_value),
        states,
        is_active,
        (float(box[1]), float(box[2]), float(box[3]), float(box[4])) if box else None,
    )

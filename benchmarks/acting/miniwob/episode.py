"""One episode of a page: what an oracle sees and what it can do."""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from browsers.acting.outline import OutlineLine

ORDINALS = {word: number for number, word in enumerate("1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th".split())}
FIELDS = ("textbox", "searchbox", "password", "spinbutton", "date", "time", "combobox")
_WAITS_S = (0.0, 0.2, 0.5, 0.8)
_START = """(() => { Math.seedrandom('%s'); core.EPISODE_MAX_TIME = 120000; core.startEpisodeReal();
return document.getElementById('query').textContent.replace(/\\s+/g, ' ').trim(); })()"""


class UnsolvedError(Exception):
    """An oracle cannot go on."""


class Episode(ABC):
    """The page of one task, through a tool that acts on pages."""

    question: str = ""

    async def start(self, url: str, seed: str) -> None:
        """Open a task and begin it."""
        for _ in range(2):
            await self.open(url)
            if question := await self.evaluate(_START % seed):
                self.question = str(question)
                return
        raise UnsolvedError("the task does not begin")

    @abstractmethod
    async def open(self, url: str) -> None:
        """Open a page in a new session."""

    @abstractmethod
    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page: for the frame of the task, never for an oracle."""

    @abstractmethod
    async def lines(self) -> list[OutlineLine]:
        """Return the lines of the task itself, each text by itself."""

    @abstractmethod
    async def act(self, step: str) -> None:
        """Run a step; raise UnsolvedError if it fails."""

    @abstractmethod
    def is_multiline(self, ref: str) -> bool:
        """Return True for a field of several lines, which a person knows by its shape."""

    @abstractmethod
    def value_of(self, ref: str) -> str:
        """Return the whole value of a field."""

    async def act_all(self, *steps: str) -> None:
        """Run steps in one call, if the tool can."""
        for step in steps:
            await self.act(step)

    async def is_solved(self) -> bool:
        """Return True if the page gave a reward."""
        return bool(await self.evaluate("WOB_DONE_GLOBAL && WOB_RAW_REWARD_GLOBAL > 0"))

    async def is_done(self) -> bool:
        """Return True if the episode has ended."""
        return bool(await self.evaluate("WOB_DONE_GLOBAL"))

    def match(self, pattern: str) -> tuple[str, ...]:
        """Return the groups of a pattern in the question."""
        found = re.search(pattern, self.question)
        if found is None:
            raise UnsolvedError(f"question: {self.question}")
        return tuple(found.groups())

    def quoted(self) -> list[str]:
        """Return the quoted parts of the question."""
        return re.findall(r'"([^"]*)"', self.question)

    async def text(self) -> str:
        """Return all lines as one text."""
        return " ".join(f"{line.name}{line.states}" for line in await self.lines())

    async def find_all(self, *roles: str, name: str = "", is_part: bool = False) -> list[OutlineLine]:
        """Return the lines with one of the roles and a name: first those with the same name, else with it in them."""
        lines = [line for line in await self.lines() if not roles or line.role in roles]
        if not name:
            return lines
        folded = name.lower()
        for fits in (
            lambda line: line.name == name,
            lambda line: line.name.lower() == folded,
            lambda line: is_part and folded in line.name.lower(),
        ):
            if found := [line for line in lines if fits(line)]:
                return sorted(found, key=lambda line: not line.is_active)
        return []

    async def find(self, *roles: str, name: str = "", number: int = 0, is_part: bool = False) -> OutlineLine:
        """Return one line, once it is there."""
        for wait_s in _WAITS_S:
            await asyncio.sleep(wait_s)
            found = await self.find_all(*roles, name=name, is_part=is_part)
            if len(found) > number:
                return found[number]
        raise UnsolvedError(f"no {roles} {name!r} among {(await self.text())[:200]!r}")

    async def click(self, *roles: str, name: str = "", number: int = 0, is_part: bool = False) -> None:
        """Click a line."""
        await self.act(f"click {(await self.find(*roles, name=name, number=number, is_part=is_part)).ref}")

    async def type(self, text: str, *roles: str, name: str = "", number: int = 0, way: str = "") -> None:
        """Type into a field."""
        field = await self.find(*(roles or FIELDS), name=name, number=number)
        await self.act(f"type {field.ref} {way}= {text}")

    async def submit(self) -> None:
        """Press the button that ends the task."""
        await self.click("button", "clickable", name="Submit")


Oracle = Callable[[Episode], Awaitable[None]]
ORACLES: dict[str, Oracle] = {}
"""By task."""


def solves(tasks: str) -> Callable[[Oracle], Oracle]:
    """Register an oracle for tasks, separated by spaces."""

    def register(oracle: Oracle) -> Oracle:
        ORACLES.update(dict.fromkeys(tasks.split(), oracle))
        return oracle

    return register


def middle(line: OutlineLine) -> tuple[float, float]:
    """Return the middle of a line's box."""
    if line.box is None:
        raise UnsolvedError(f"{line.ref} has no box")
    left, top, width, height = line.box
    return left + width / 2, top + height / 2


def active(lines: Collection[OutlineLine]) -> list[OutlineLine]:
    """Return the lines on which steps can act by reference."""
    return [line for line in lines if line.is_active]

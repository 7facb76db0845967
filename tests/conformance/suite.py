"""Run the suite from npm against a server and return the results of its scored scenarios."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from asyncio.subprocess import PIPE
from dataclasses import dataclass

from tests.clients.environments import NODE

REQUIREMENTS = ("2025-11-25", "2026-07-28")
SCORED = {"2025-11-25": 30, "2026-07-28": 37}
"""Scenarios that the suite scores; a suite with fewer has changed."""
TASKS = {"2025-11-25": 0, "2026-07-28": 9}
"""Scenarios of tasks, which the suite runs without a score; a tenth has no checks yet."""

_LIMIT_S = 180
_SUMMARY = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed$", re.MULTILINE)
_NOT_SCORED = re.compile(r"^  [✓✗] (\S+) \(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Results of the suite."""

    passed: tuple[str, ...]
    failed: tuple[str, ...]
    unscored: tuple[tuple[str, bool], ...]
    """Scenarios that were run without a score, and whether they hold."""
    said: str


async def run_suite(url: str, requirements: str) -> Verdict:
    """Run one set of requirements.

    Raises:
        TimeoutError: it hangs.
    """
    node, conformance = NODE.command("conformance")
    path = os.pathsep.join((str(NODE.folder / "bin"), os.environ["PATH"]))
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        running = await asyncio.create_subprocess_exec(
            *(node, conformance, "server", "--url", url, "--requirements", requirements, "-o", folder),
            env={**os.environ, "PATH": path},
            stdout=PIPE,
            stderr=PIPE,
        )
        try:
            async with asyncio.timeout(_LIMIT_S):
                out, err = await running.communicate()
        finally:
            if running.returncode is None:
                running.kill()
                await running.wait()
    return _read(out.decode() + err.decode())


def _read(said: str) -> Verdict:
    outside = set(_NOT_SCORED.findall(said))
    # A scenario without any check proves nothing.
    checked = [row for row in _SUMMARY.findall(said) if row[1:] != ("0", "0")]
    holds = {name: passed != "0" and failed == "0" for name, passed, failed in checked}
    scored = {name: held for name, held in holds.items() if name not in outside}
    return Verdict(
        passed=tuple(name for name, held in scored.items() if held),
        failed=tuple(name for name, held in scored.items() if not held),
        unscored=tuple((name, held) for name, held in holds.items() if name in outside),
        said=said,
    )

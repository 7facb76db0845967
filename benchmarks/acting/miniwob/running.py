"""Run the oracles and count the solved tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import benchmarks.acting.miniwob.buttons
import benchmarks.acting.miniwob.forms
import benchmarks.acting.miniwob.lists
import benchmarks.acting.miniwob.texts  # noqa: F401  # the modules register their oracles
from benchmarks.acting.miniwob.episode import ORACLES, Episode, UnsolvedError
from benchmarks.acting.miniwob.own_episode import OwnEpisode
from benchmarks.acting.miniwob.peer_episode import PeerClient, PeerEpisode, open_peer
from benchmarks.acting.serving import served
from benchmarks.acting.site_tasks import HOST, ActingClient, mean, tree_cpu_s
from benchmarks.common.command_line import Figures, print_table
from browsers import Browsers, BrowserSettings
from browsers.errors import BrowsersError

_LIMIT_S = 45.0
COMPARED = tuple(
    "button-delay buy-ticket choose-date-easy choose-list click-button click-button-sequence click-checkboxes"
    " click-collapsible-2 click-dialog click-link click-menu click-option click-tab-2 click-test-2 enter-password"
    " enter-text find-word focus-text-2 form-sequence-2 generate-number guess-number login-user multi-orderings"
    " phone-book read-table search-engine simple-algebra simple-arithmetic use-autocomplete use-spinner".split()
)
"""Tasks of the comparison with playwright-mcp: those that both solve count."""


async def measure_miniwob(folder: Path, *, seed: str = "1", only: Sequence[str] = ()) -> Figures:
    """Return how many tasks the oracles solve with one seed, and the cost of their steps."""
    with served(folder / "html") as port:
        async with Browsers(BrowserSettings(test_hosts=((HOST, "127.0.0.1", port),))) as browsers:
            client = ActingClient(browsers)
            rows = [
                (task, await solve(OwnEpisode(client), f"http://{HOST}/miniwob", task, seed))
                for task in sorted(only or ORACLES)
            ]
    print_table("MiniWoB++", ("task", "not solved because"), [row for row in rows if row[1]])
    return {
        "miniwob.solved": sum(not why for _, why in rows),
        "miniwob.tasks": len(rows),
        "miniwob.look_tokens": round(mean(client.looks), 1),
        "miniwob.answer_tokens": round(mean(client.answers), 1),
        "miniwob.step_ms": round(1_000 * client.steps_s / max(1, len(client.answers))),
        "miniwob.look_ms": round(1_000 * client.looks_s / max(1, len(client.looks)), 1),
    }


async def compare_with_peer(folder: Path, *, seed: str = "1") -> Figures:
    """Return the cost of tasks that both solve, as a share of that of playwright-mcp: tokens, CPU and seconds."""
    own: dict[str, Cost] = {}
    peer: dict[str, Cost] = {}
    with served(folder / "html") as port:
        async with Browsers(BrowserSettings(test_hosts=((HOST, "127.0.0.1", port),))) as browsers:
            client = ActingClient(browsers)
            await client.run(f"open http://{HOST}/miniwob/click-test.html")
            for task in COMPARED:
                own[task] = await _measure(OwnEpisode(client), client, f"http://{HOST}/miniwob", task, seed)
        async with open_peer() as peer_client:
            await peer_client.call("browser_navigate", url="about:blank")
            for task in COMPARED:
                folder_url = f"http://127.0.0.1:{port}/miniwob"
                peer[task] = await _measure(PeerEpisode(peer_client), peer_client, folder_url, task, seed)
    both = [task for task in COMPARED if own[task].is_solved and peer[task].is_solved]
    ours, theirs = (sum((costs[task] for task in both), Cost()) for costs in (own, peer))
    rows = [
        (
            name,
            sum(cost.is_solved for cost in costs.values()),
            one.look_tokens,
            one.look_ms,
            one.step_cpu_ms,
            one.answer,
        )
        for name, costs, one in (("search-mcp", own, ours), ("playwright-mcp", peer, theirs))
    ]
    print_table(
        f"{len(both)} of {len(COMPARED)} tasks of MiniWoB++ that both solve",
        ("", "solved", "tokens a look", "ms a look", "CPU ms a step", "tokens an answer"),
        rows,
    )
    return {
        "ratio.tasks": len(both),
        "ratio.tokens": round(ours.look_tokens / theirs.look_tokens, 3),
        "ratio.cpu": round(ours.step_cpu_ms / theirs.step_cpu_ms, 3),
        "ratio.look": round(ours.look_ms / theirs.look_ms, 3),
        "ratio.answer": round(ours.answer / theirs.answer, 3),
    }


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of tasks."""

    is_solved: bool = False
    looks: int = 0
    answers: int = 0
    tokens: float = 0.0
    answer_tokens: float = 0.0
    looks_s: float = 0.0
    cpu_s: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        """Return the sum."""
        return Cost(
            True,
            self.looks + other.looks,
            self.answers + other.answers,
            self.tokens + other.tokens,
            self.answer_tokens + other.answer_tokens,
            self.looks_s + other.looks_s,
            self.cpu_s + other.cpu_s,
        )

    @property
    def look_tokens(self) -> float:
        """Tokens of a look."""
        return self.tokens / max(1, self.looks)

    @property
    def look_ms(self) -> float:
        """Milliseconds of a look."""
        return 1_000 * self.looks_s / max(1, self.looks)

    @property
    def step_cpu_ms(self) -> float:
        """CPU milliseconds of a look or action, of all processes."""
        return 1_000 * self.cpu_s / max(1, self.looks + self.answers)

    @property
    def answer(self) -> float:
        """Tokens of the answer to an action."""
        return self.answer_tokens / max(1, self.answers)


async def _measure(episode: Episode, client: ActingClient | PeerClient, folder_url: str, task: str, seed: str) -> Cost:
    looks, answers, looks_s, cpu_s = len(client.looks), len(client.answers), client.looks_s, tree_cpu_s()
    is_solved = not await solve(episode, folder_url, task, seed)
    return Cost(
        is_solved,
        len(client.looks) - looks,
        len(client.answers) - answers,
        sum(client.looks[looks:]),
        sum(client.answers[answers:]),
        client.looks_s - looks_s,
        tree_cpu_s() - cpu_s,
    )


async def solve(episode: Episode, folder_url: str, task: str, seed: str) -> str:
    """Return why a task was not solved; an empty text if it was."""
    try:
        async with asyncio.timeout(_LIMIT_S):
            await episode.start(f"{folder_url}/{task}.html", f"{task}{seed}")
            why = ""
            try:
                await ORACLES[task](episode)
            except Exception as error:  # an oracle that does not fit its page fails in many ways
                why = f"{type(error).__name__}: {error}"
            await asyncio.sleep(0.1)
            return "" if await episode.is_solved() else (why or "no reward")[:160]
    except (TimeoutError, UnsolvedError, BrowsersError) as error:
        return f"{type(error).__name__}: {error}"[:160]

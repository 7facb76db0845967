"""Run other libraries: bm25s, rank-bm25 and crawl4ai for questions, Scrapling for fields after a redesign."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.common.contender import REPOSITORY
from benchmarks.peers.launch import peer_folder, peer_python
from scraper.text import token_estimate

_ENVIRONMENT = "knowing"


class PeerProcess:
    """Process with the libraries of other projects."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Use a running process."""
        self._process = process

    def select(self, text: str, question: str) -> Mapping[str, tuple[Sequence[str], float]]:
        """Return the passages for a question in the order of preference, and the milliseconds of CPU, by library."""
        found: Mapping[str, tuple[Sequence[str], float]] = self._call({"text": text, "question": question})
        return found

    def find_again(self, before: str, example: Mapping[str, str], pages: Sequence[str]) -> Sequence[Mapping[str, str]]:
        """Return the fields of an example that Scrapling finds on each other page."""
        found: Sequence[Mapping[str, str]] = self._call({"before": before, "example": dict(example), "pages": pages})
        return found

    def _call(self, task: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("The process of the peers ended.")
        return json.loads(line)


@contextlib.contextmanager
def open_peers() -> Iterator[PeerProcess]:
    """Start the libraries in their environment.

    Raises:
        FileNotFoundError: They are not installed.
    """
    if not (peer_folder(_ENVIRONMENT) / "set-up.json").exists():
        raise FileNotFoundError("The peers are not installed: python -m benchmarks.setup_peers.")
    with subprocess.Popen(
        [str(peer_python(_ENVIRONMENT)), "-m", "benchmarks.peers.runners.knowing_peers"],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield PeerProcess(process)
        finally:
            process.terminate()


def fit_passages(text: str, passages: Sequence[str], budget: int) -> str:
    """Return the best passages of a text within a budget of tokens, in its order; one that is too long alone is cut."""
    chosen: list[str] = []
    for passage in passages:
        cost = token_estimate.estimate(passage)
        if cost <= budget:
            chosen.append(passage)
            budget -= cost
    if not chosen and passages:
        return passages[0][: token_estimate.fit_prefix(passages[0], 0, budget)]
    return "".join(sorted(chosen, key=text.find))

"""Run other readers of main content in the environments that `benchmarks.setup_peers` creates."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.contender import REPOSITORY
from benchmarks.peers.launch import peer_python
from benchmarks.training.pages import Sample

PEERS = (
    "trafilatura",
    "trafilatura_without_comments",
    "readability_lxml",
    "resiliparse",
    "rs_trafilatura",
    "markdownify",
    "html_to_markdown",
)
_ENVIRONMENTS = {"rs_trafilatura": "rs_trafilatura"}
_LIMIT_S = 1_800.0


def peer_answers(peer: str, pages: Sequence[Sample]) -> list[tuple[str, float]] | None:
    """Return text and milliseconds of CPU for each page, or None if the peer is not installed."""
    python = peer_python(_ENVIRONMENTS.get(peer, "readers"))
    if not (python.parent.parent / "set-up.json").exists():
        return None
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        requests = []
        for number, page in enumerate(pages):
            file = Path(folder) / f"{number}.html"
            file.write_text(page.html, encoding="utf-8", errors="replace", newline="")
            requests.append(json.dumps({"html": str(file), "url": page.url}))
        done = subprocess.run(
            [str(python), "-m", "benchmarks.peers.runners.text_readers", peer],
            cwd=REPOSITORY,
            input="\n".join(requests),
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=True,
        )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [(answer["text"], answer["ms"]) for answer in answers]

"""Read pages with other readers, each in its environment of `benchmarks.setup_peers`."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.common.contender import REPOSITORY
from benchmarks.integrity.product import Answer, Reader
from benchmarks.peers.launch import peer_python

PEERS = {"trafilatura": (), "readability": ("pair.note", "link", "markup", "code", "mark", "words", "pair.column")}
"""Peers, with the invariants that cannot be asked of them: Readability returns HTML, which markdownify converts."""


@contextmanager
def peer_readers() -> Iterator[dict[str, Reader]]:
    """Yield the peers; none if their environment is missing."""
    python = peer_python("readers")
    if not (python.parent.parent / "set-up.json").exists():
        print("The peers are not set up: python -m benchmarks.setup_peers.")
        yield {}
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-")))
        yield {peer: stack.enter_context(_running(peer, str(python), folder / f"{peer}.html")) for peer in PEERS}


@contextmanager
def _running(peer: str, python: str, file: Path) -> Iterator[Reader]:
    command = [python, "-m", "benchmarks.faithful.peer_readers", peer]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=REPOSITORY, encoding="utf-8", stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None and process.stdout is not None

        def read(html: str, url: str, domain: str) -> Answer:
            assert process.stdin is not None and process.stdout is not None
            file.write_text(html, encoding="utf-8", errors="replace", newline="")
            print(json.dumps({"html": str(file), "url": url}), file=process.stdin, flush=True)
            answer = json.loads(process.stdout.readline())
            return Answer(answer["markdown"], answer.get("title") or "")

        yield read
        process.stdin.close()

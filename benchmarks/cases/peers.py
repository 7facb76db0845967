"""Run the cases of pages and documents through other readers, each in its environment of `benchmarks.setup_peers`."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cases.model import Case, CaseResult
from benchmarks.cases.text_cases import input_names, judge, reason_not_to_run
from benchmarks.cases.text_checks import Answer
from benchmarks.common.contender import REPOSITORY
from benchmarks.peers.launch import peer_python

PEERS = (("pages", "trafilatura"), ("pages", "markitdown"), ("documents", "markitdown"))
"""Area and reader."""
_ENVIRONMENTS = {"pages": "markdown", "documents": "documents"}
_LIMIT_S = 600.0


def run_peer(peer: str, cases: Sequence[Case]) -> list[CaseResult] | None:
    """Check what a peer makes of the cases of one area; None if it is not installed."""
    python = peer_python(_ENVIRONMENTS[cases[0].area])
    if not python.exists():
        print(f"{peer} is left out: run `python -m benchmarks.setup_peers` to measure it.")
        return None
    results: list[CaseResult] = []
    readable = [case for case in cases if not _reason(case)]
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        requests = [request for at, case in enumerate(readable) for request in _requests(case, Path(folder) / str(at))]
        done = subprocess.run(
            [str(python), "-m", "benchmarks.peers.runners.case_readers", peer],
            cwd=REPOSITORY,
            input="\n".join(map(json.dumps, requests)),
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=True,
        )
    answers = iter([json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")])
    for case in cases:
        reason = _reason(case)
        read = {} if reason else {name: _answer(next(answers)) for name in input_names(case)}
        results.append(CaseResult(case, not_run=reason) if reason else judge(case, read))
    return results


def _reason(case: Case) -> str:
    return "needs a browser" if case.data.get("needs_browser") else reason_not_to_run(case)


def _requests(case: Case, folder: Path) -> list[dict[str, str]]:
    folder.mkdir()
    requests = []
    for name in input_names(case):
        file = folder / Path(name).name
        file.write_bytes(case.read(name))
        requests.append({"file": str(file), "type": case.data.get("type", ""), "url": case.data.get("url", "")})
    return requests


def _answer(found: dict[str, str]) -> Answer:
    facts: dict[str, str] = {name: found[name] for name in ("title", "author", "published") if name in found}
    return Answer(found.get("markdown", ""), facts, error=found.get("error", ""))

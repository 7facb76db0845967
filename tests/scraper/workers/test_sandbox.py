"""A sandboxed process can only compute and return its result."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scraper.workers import sandbox
from tests.scraper.workers import probes


@pytest.mark.skipif(bool(sandbox.find_missing_protections()), reason="this system lacks a part of it, as `doctor` says")
def test_a_confined_process_has_no_access_to_files_network_and_programs(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("words")
    done = subprocess.run(
        [sys.executable, "-I", probes.__file__, json.dumps(sys.path), str(file)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout) == {"could": [], "kept": 5}
    assert file.read_text() == "words"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has them")
def test_missing_protections_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_landlock_version", lambda: 0)
    monkeypatch.setattr(sandbox, "_is_filter_available", lambda: False)
    assert sandbox.find_missing_protections() == ("Landlock", "a filter of system calls")
    monkeypatch.setattr(sandbox, "_landlock_version", lambda: 7)
    monkeypatch.setattr(sandbox, "_is_filter_available", lambda: True)
    assert sandbox.find_missing_protections() == ()

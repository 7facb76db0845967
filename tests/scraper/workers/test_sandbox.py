"""A sandboxed process can only compute and return its result."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scraper.workers import sandbox
from tests.scraper.workers import probes


@pytest.mark.skipif(
    bool(sandbox.detect_capabilities().missing), reason="this system lacks a part of it, as `doctor` says"
)
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


def test_missing_capabilities_are_listed() -> None:
    bare = sandbox.SandboxCapabilities(limits=True, no_new_privileges=True, landlock=0, system_call_filter=False)
    assert bare.missing == ("Landlock", "a filter of system calls")
    assert sandbox.SandboxCapabilities(True, True, 7, True).missing == ()

"""Changelog fragments: their names, and the changelog made from them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TYPES = [
    entry["directory"]
    for entry in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]["type"]
]


def test_fragments_have_valid_names() -> None:
    names = {file.name for file in (ROOT / "changes").iterdir()} - {"README.md"}
    pattern = re.compile(rf"(\d+|\+[a-z0-9-]+)\.({'|'.join(TYPES)})\.md")
    assert not [name for name in names if not pattern.fullmatch(name)]


def test_fragments_become_a_section_above_the_older_ones(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes/+columns.fixed.md").write_text("Columns of a PDF are read in order.\n")
    (tmp_path / "changes/12.added.md").write_text("A new tool.\n")
    command = (sys.executable, "-m", "towncrier", "build", "--keep", "--version", "9.8.7")
    before = (ROOT / "CHANGELOG.md").read_text("utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run([*command, "--date", "2026-11-23"], cwd=tmp_path, check=True, capture_output=True)
    after = (tmp_path / "CHANGELOG.md").read_text("utf-8")
    section = (
        "\n## [9.8.7] - 2026-11-23\n\n### Added\n\n- A new tool. (#12)\n\n"
        "### Fixed\n\n- Columns of a PDF are read in order.\n"
    )
    assert section in after and after.index(section) < after.index("## [Unreleased]")
    assert [line for line in before.splitlines() if line not in after.splitlines()] == []

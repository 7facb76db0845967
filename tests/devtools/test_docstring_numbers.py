"""The comparison of numbers in docstrings and comments with those of a revision."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from devtools.docstring_numbers import compare, main, numbers_of, occurrences

SOURCE = '''"""Slowest of 266 answers: .53 s."""

LIMIT = 9
"""Bytes. Half of 1,155."""


def wait(limit: int = 8) -> str:
    # Measured at load 18,
    # twice in 24 hours.
    return "not 77" + f(
        "nor 78",
    )
'''
PLAIN = '''"""Heartbeats: 0.53 s was the slowest of 266 answers."""

# At load 18, measured 2 times in 24.0 hours.
# 1155 / 2 bytes.
'''


def git(folder: Path, *arguments: str) -> None:
    """Run git without the settings of the user."""
    identity = ("-c", "user.name=t", "-c", "user.email=t@t.example", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Create a repository with one file in its only commit."""
    (tmp_path / "scraper").mkdir()
    (tmp_path / "scraper/old.py").write_text(SOURCE, encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,155 of 2_670, 10,20", ["1155", "2670", "10", "20"]),
        (".53 s, 0.530 s, 2.50, 100", ["0.53", "0.53", "2.5", "100"]),
        ("1e6 bytes, 1.5e-3 s", ["1000000", "0.0015"]),
        ("version 1.2.3 at 127.0.0.1:8000.", ["1.2.3", "127.0.0.1", "8000"]),
        ("utf8, h1, x86_64, but 5ms, 3x and RFC 9309", ["5", "3", "9309"]),
        ("2026-07-28, 40 %, two", ["2026", "7", "28", "40"]),
    ],
)
def test_numbers_are_found_in_their_normal_spelling(text: str, numbers: list[str]) -> None:
    assert [number for number, _ in numbers_of(text)] == numbers


def test_only_docstrings_and_comments_are_read_with_their_lines() -> None:
    found = [(one.number, one.line) for one in occurrences("a.py", SOURCE)]
    assert found == [("266", 1), ("0.53", 1), ("1155", 4), ("18", 8), ("24", 9)]


def test_a_moved_and_reworded_file_loses_nothing(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "scraper/old.py").unlink()
    (tree / "scraper/new.py").write_text(PLAIN, encoding="utf-8")
    assert main(["--base", "HEAD"], tree) == 0
    assert "lost: 0\nnew: 2\n" in capsys.readouterr().out


def test_a_lost_number_is_reported_with_its_place(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "scraper/old.py").write_text(SOURCE.replace("266", "many"), encoding="utf-8")
    assert main(["--base", "HEAD"], tree) == 1
    printed = capsys.readouterr().out
    assert "lost: 1\n" in printed and "266  scraper/old.py:1: " in printed and "Slowest of 266" in printed


def test_among_equal_numbers_the_one_with_the_deleted_sentence_is_lost() -> None:
    before = "# Twelve pages in 5 ms.\n\nx = 1\n\n# A retry waits 5 s.\n"
    after = "# In 5 ms, twelve pages.\n"
    lost, new = compare(occurrences("a.py", before), occurrences("b.py", after))
    assert [(one.line, one.number) for one in lost] == [(5, "5")] and not new


def test_paths_limit_both_sides(tree: Path) -> None:
    (tree / "scraper/old.py").unlink()
    assert main(["--base", "HEAD", "browsers"], tree) == 0
    assert main(["--base", "HEAD", "scraper/"], tree) == 1

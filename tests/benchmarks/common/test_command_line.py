"""Output of the benchmarks, and the source of their saved pages."""

from __future__ import annotations

import json
import sys
import tarfile
from pathlib import Path

import pytest

from benchmarks.common import command_line, corpora
from benchmarks.common.command_line import Figures, Goal, Options
from benchmarks.common.corpora import corpus_folder


def test_a_run_writes_its_figures_to_the_named_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Options] = []

    async def measure(options: Options) -> Figures:
        seen.append(options)
        return {"peek.cpu_ms": 8.5}

    file = tmp_path / "deep" / "figures.json"
    monkeypatch.setattr(sys, "argv", ["benchmark", "--quick", "--json", str(file), "--corpora", str(tmp_path)])
    command_line.run("A benchmark.", measure)
    assert seen == [Options(corpora=tmp_path, quick=True, json=file)]
    assert json.loads(file.read_text()) == {"peek.cpu_ms": 8.5}


def test_a_benchmark_adds_its_own_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Options] = []

    async def measure(options: Options) -> Figures:
        seen.append(options)
        return {}

    monkeypatch.setattr(sys, "argv", ["benchmark", "--quick", "--area", "pages"])
    command_line.run("A benchmark.", measure, add_arguments=lambda parser: parser.add_argument("--area"))
    assert [(one.quick, one.more.area) for one in seen] == [(True, "pages")]


@pytest.mark.parametrize(("figures", "is_reached"), [({"crashed": 0}, True), ({"crashed": 1}, False), ({}, False)])
def test_a_missed_required_goal_is_a_failure(
    figures: Figures, is_reached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def measure(options: Options) -> Figures:
        return figures

    monkeypatch.setattr(sys, "argv", ["benchmark"])
    required = (Goal("crashed", at_most=0),)
    if is_reached:
        command_line.run("A benchmark.", measure, required=required)
    else:
        with pytest.raises(SystemExit, match="Missed: crashed"):
            command_line.run("A benchmark.", measure, required=required)


def test_a_missing_figure_does_not_reach_its_goal(capsys: pytest.CaptureFixture[str]) -> None:
    goals = (Goal("a", at_most=1), Goal("b", at_least=2), Goal("c", at_most=1))
    command_line.print_goals({"a": 1.0, "b": 1.0}, goals)
    verdicts = [line.split()[-1] for line in capsys.readouterr().out.splitlines()[3:6]]
    assert verdicts == ["reached", "MISSED", "measured"]


def test_an_archive_is_unpacked_once_and_again_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "cache_folder", lambda: tmp_path / "cache")
    _archive(tmp_path, "first")
    folder = corpus_folder(tmp_path, "pages")
    assert (folder / "page.html").read_text() == "first"
    (folder / "page.html").write_text("kept")
    assert (corpus_folder(tmp_path, "pages") / "page.html").read_text() == "kept"
    _archive(tmp_path, "second, which is longer" * 50)
    assert (corpus_folder(tmp_path, "pages") / "page.html").read_text().startswith("second")


def test_a_folder_is_used_directly_and_a_missing_corpus_is_reported(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    assert corpus_folder(tmp_path, "pages") == tmp_path / "pages"
    with pytest.raises(FileNotFoundError, match=r"other\.tar\.xz"):
        corpus_folder(tmp_path, "other")


def _archive(folder: Path, text: str) -> None:
    content = folder / "source" / "pages"
    content.mkdir(parents=True, exist_ok=True)
    (content / "page.html").write_text(text)
    with tarfile.open(folder / "pages.tar.xz", "w:xz") as archive:
        archive.add(content, "pages")

"""Floors are enforced, raised, and never lowered by accident: with a small corpus and fixed figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.quality import __main__
from benchmarks.quality import floors as quality_floors
from benchmarks.quality.floors import Figure, Floors

FLOORS = {
    "reader": Floors(
        corpora={"small": ""}, figures={"f1": Figure(0.9, 0.005), "cpu_ms": Figure(20.0, 5.0, lower_is_better=True)}
    )
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    corpus = tmp_path / "corpora" / "small"
    corpus.mkdir(parents=True)
    (corpus / "page.html").write_text("<p>one page</p>")
    digests = quality_floors.digest_of(tmp_path / "corpora", ["small"])
    floors = {"reader": Floors(digests, FLOORS["reader"].figures)}
    (tmp_path / "floors.toml").write_text(quality_floors.to_toml(floors))
    return tmp_path


def check(place: Path, figures: dict[str, float], *more: str) -> int:
    (place / "figures.json").write_text(json.dumps(figures))
    return __main__.main(
        ["--corpora", str(place / "corpora"), "--floors", str(place / "floors.toml"),
         "--from", f"reader={place / 'figures.json'}", *more]
    )  # fmt: skip


def floor_of(place: Path, key: str) -> float:
    return quality_floors.read((place / "floors.toml").read_text())["reader"].figures[key].floor


def test_floors_survive_writing_and_reading() -> None:
    assert quality_floors.read(quality_floors.to_toml(FLOORS)) == FLOORS


@pytest.mark.parametrize(
    ("f1", "cpu_ms", "code"), [(0.9, 20, 0), (0.95, 1, 0), (0.8951, 24.9, 0), (0.894, 20, 1), (0.9, 25.1, 1)]
)
def test_a_figure_may_fall_only_within_its_margin(place: Path, f1: float, cpu_ms: float, code: int) -> None:
    assert check(place, {"f1": f1, "cpu_ms": cpu_ms}) == code
    assert floor_of(place, "f1") == 0.9


def test_a_missing_figure_fails(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(place, {"f1": 0.95}) == 1
    assert "not measured" in capsys.readouterr().out


def test_recording_raises_floors_and_refuses_to_lower_them(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(place, {"f1": 0.93, "cpu_ms": 40}, "--record") == 1
    assert "not lowered without --lower: cpu_ms" in capsys.readouterr().out
    assert (floor_of(place, "f1"), floor_of(place, "cpu_ms")) == (0.93, 20)
    assert check(place, {"f1": 0.93, "cpu_ms": 40}, "--record", "--lower") == 0
    assert floor_of(place, "cpu_ms") == 40


@pytest.mark.parametrize("how", [("--record",), ("--record", "--lower")])
def test_a_run_that_lacks_a_figure_records_nothing(place: Path, how: tuple[str, ...]) -> None:
    (place / "corpora" / "small" / "page.html").write_text("<p>another page</p>")
    before = (place / "floors.toml").read_text()
    assert check(place, {"f1": 0.95}, *how) == 1
    assert (place / "floors.toml").read_text() == before


def test_lowering_without_recording_is_refused(place: Path) -> None:
    with pytest.raises(SystemExit):
        check(place, {"f1": 0.93, "cpu_ms": 40}, "--lower")


def test_changed_corpora_are_reported(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "corpora" / "small" / "page.html").write_text("<p>another page</p>")
    assert check(place, {"f1": 1.0, "cpu_ms": 1}) == 1
    assert "small differ from the corpora" in capsys.readouterr().out
    assert check(place, {"f1": 0.5, "cpu_ms": 1}, "--record", "--lower") == 0
    assert check(place, {"f1": 0.5, "cpu_ms": 1}) == 0


def test_a_digest_depends_on_names_and_contents(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "a").write_text("x")
    digests = [quality_floors.digest_of(tmp_path, ["small"])]
    (folder / "a").write_text("y")
    digests.append(quality_floors.digest_of(tmp_path, ["small"]))
    (folder / "a").rename(folder / "b")
    digests.append(quality_floors.digest_of(tmp_path, ["small"]))
    assert len({digest["small"] for digest in digests}) == 3


def test_a_benchmark_without_floors_is_reported(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "x.json").write_text("{}")
    assert check(place, {}, "--from", f"none={place / 'x.json'}") == 2
    assert "no floors for none" in capsys.readouterr().out


def test_the_floors_of_this_project_are_valid() -> None:
    floors = quality_floors.read(quality_floors.FILE.read_text(encoding="utf-8"))
    assert floors and all(one.figures and one.corpora is not None for one in floors.values())
    assert quality_floors.read(quality_floors.to_toml(floors)) == floors

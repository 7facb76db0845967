"""The figures of the product's code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from devtools.code_figures import figures, repeated_class_names, ruff_count, single_importer_modules

ROOT = Path(__file__).parents[2]


def written(folder: Path, files: dict[str, str]) -> Path:
    """Write files below a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_class_names_repeat_only_across_files_and_only_public_ones() -> None:
    sources = {
        Path("a.py"): "class Page: ...\nclass _Row: ...\nclass Only: ...\n",
        Path("b.py"): "class Page: ...\nclass _Row: ...\ndef f():\n    class Only: ...\n",
    }
    assert repeated_class_names(sources) == {"Page": 2}


def test_modules_with_exactly_one_importer_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "sample/__init__.py": "",
        "sample/one.py": "from sample import shared, alone\n",
        "sample/two.py": "from sample import shared\n",
        "sample/shared.py": "",
        "sample/alone.py": "",
    }
    monkeypatch.syspath_prepend(str(written(tmp_path, files)))
    assert single_importer_modules(["sample"]) == ["sample.alone"]
    assert "sample" not in sys.modules


def test_rules_ignored_by_the_configuration_are_counted(tmp_path: Path) -> None:
    code = 'def f() -> int:\n    """Returns the number."""\n\n\nclass Fault(Exception): ...\n'
    config = '[tool.ruff.lint]\nignore = ["D401", "N818"]\n'
    folder = written(tmp_path, {"a.py": code, "pyproject.toml": config})
    assert (ruff_count(folder, "D401", ["."]), ruff_count(folder, "N818", ["."])) == (1, 1)


def test_the_figures_of_this_project_are_consistent() -> None:
    found = figures(ROOT)
    assert found["lines"] > found["files"] > found["single_importer_modules"]
    assert found["single_importer_modules"] >= found["single_importer_modules_small"]

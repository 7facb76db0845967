"""The figures of the product's code."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from devtools.code_figures import (
    ROOT,
    SIZES_WITH_PLACES,
    Checkout,
    figures,
    longest_import_chain,
    repeated_class_names,
    ruff_count,
    single_importer_modules,
)


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


def test_the_longest_chain_of_imports_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "chained/__init__.py": "",
        "chained/top.py": "from chained import low, middle\n",
        "chained/middle.py": "from chained import low\n",
        "chained/low.py": "",
    }
    monkeypatch.syspath_prepend(str(written(tmp_path, files)))
    assert longest_import_chain(["chained"]) == ["chained.top", "chained.middle", "chained.low"]


def test_each_unit_of_the_size_is_counted_at_its_place(tmp_path: Path) -> None:
    files = {
        "scraper/rules.py": 'import re\nA = re.compile("a")\ndef find(t): return A.match(t) or re.match("b", t)\n',
        "browsers/words.py": 'BY = ("by", "von", "от")\n',
        "browsers/one.py": '"""Find „von“ und «от»."""\nBY = r"von [а-я]"\n',
        "browsers/dense.py": f"def judge(a): {' or '.join('a' * 21)}\ndef light(a): {' or '.join('a' * 20)}\n",
        "tests/test_rules.py": "def test(rules, self):\n    self._own = rules._count + rules.a._deep + rules.__doc__\n",
    }
    checkout = Checkout(written(tmp_path, files))
    assert checkout.regex_calls == ["scraper/rules.py:2", "scraper/rules.py:3"]
    assert checkout.language_files == ["browsers/words.py CYRILLIC, German"]
    assert checkout.complex_functions == ["browsers/dense.py:1 judge 21"]
    assert checkout.private_uses == ["tests/test_rules.py:2 rules._count"]
    assert checkout.public_names_of_one_file == [
        "browsers/dense.py:1 judge",
        "browsers/dense.py:2 light",
        "scraper/rules.py:2 A",
        "scraper/rules.py:3 find",
    ]


def test_the_figures_of_this_project_are_consistent() -> None:
    found = figures(ROOT)
    assert found["lines"] > found["files"] > found["single_importer_modules"]
    limits = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["size"]
    assert limits.keys() == {"lines", "files", "highest_complexity", *SIZES_WITH_PLACES} < found.keys()
    assert found["highest_complexity"] > 2 and found["regex_calls"] > 0
    assert found["single_importer_modules"] >= found["single_importer_modules_small"]

"""The command that installs an optional part is one for the Python that runs."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from scraper.settings.files import install_command


@pytest.mark.parametrize(
    ("has_pip", "begins"),
    [(True, f"{sys.executable} -m pip install "), (False, f"uv pip install --python {sys.executable} ")],
)
def test_it_is_for_this_python_and_for_what_it_has(monkeypatch: pytest.MonkeyPatch, has_pip: bool, begins: str) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: object() if has_pip else None)
    assert install_command("shared") == f"{begins}'search-mcp[shared]'"


def test_a_path_with_spaces_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/my tools/python")
    assert "'/my tools/python'" in install_command("bulk")

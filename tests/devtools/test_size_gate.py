"""The limits of the product's size."""

from __future__ import annotations

import tomllib

import pytest

from devtools import size_gate
from devtools.code_figures import Checkout
from devtools.size_gate import check_limits, lower_limits

TEXT = """[tool.other]
files = 900

# Limits.
[tool.size]
lines = 90_000
files = 600
highest_complexity = 30
regex_calls = 500

[tool.last]
regex_calls = 900
"""
FIGURES = {"lines": 89_000, "files": 588, "highest_complexity": 12, "regex_calls": 501}


def test_a_figure_at_its_limit_is_allowed_and_one_above_is_not() -> None:
    assert check_limits({"regex_calls": 500}, {"regex_calls": 500}) == ([], [])
    assert check_limits({"regex_calls": 501}, {"regex_calls": 500}) == (["regex_calls"], [])


def test_limits_that_the_code_has_fallen_below_are_named() -> None:
    assert check_limits({"regex_calls": 499}, {"regex_calls": 500}) == ([], ["regex_calls"])
    assert check_limits({"lines": 89_201}, {"lines": 90_000}) == ([], [])
    assert check_limits({"lines": 89_200}, {"lines": 90_000}) == ([], ["lines"])


def test_limits_only_fall_and_the_rest_of_the_file_stays() -> None:
    lowered = TEXT.replace("90_000", "89_300").replace("highest_complexity = 30", "highest_complexity = 20")
    assert lower_limits(TEXT, FIGURES) == lowered
    assert lower_limits(lowered, FIGURES) == lowered


@pytest.mark.parametrize(("limit", "code"), [(500, 0), (499, 1)])
def test_the_exit_code_says_whether_the_limits_hold(
    limit: int, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["size_gate"])
    monkeypatch.setattr(Checkout, "size_figures", lambda _: {"regex_calls": 500})
    monkeypatch.setattr(tomllib, "loads", lambda _: {"tool": {"size": {"regex_calls": limit}}})
    with pytest.raises(SystemExit) as ended:
        size_gate.main()
    printed = capsys.readouterr()
    assert ended.value.code == code
    assert ("--list regex_calls" in printed.err) == bool(code)
    assert f"500 of {limit:>7}" in printed.out

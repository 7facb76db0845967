"""Exit codes of answers and errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scraper import errors
from scraper.cli.exit_codes import EXIT_CODE_MEANINGS, ExitCode, code_of_answer, code_of_error
from scraper.tools.model import ToolAnswer

INVALID = errors.InvalidArgumentError("x")
BLOCKED = errors.BlockedBySiteError("x", reason="captcha")
DOWN = errors.HostDownError("x")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (INVALID, ExitCode.INVALID),
        (errors.InvalidUrlError("x"), ExitCode.INVALID),
        (BLOCKED, ExitCode.BLOCKED),
        (errors.RobotsDisallowedError("x"), ExitCode.BLOCKED),
        (errors.PrivateAddressError("x"), ExitCode.BLOCKED),
        (errors.HttpStatusError("x", status=403), ExitCode.BLOCKED),
        (errors.HttpStatusError("x", status=404), ExitCode.INCOMPLETE),
        (DOWN, ExitCode.NO_NETWORK),
        (errors.FetchTimeoutError("x"), ExitCode.NO_NETWORK),
        (errors.NoContentError("x"), ExitCode.INCOMPLETE),
        (errors.BrowserFailedError("x"), ExitCode.INCOMPLETE),
    ],
)
def test_each_kind_of_error_has_its_code(error: errors.ScraperError, code: ExitCode) -> None:
    assert code_of_error(error) is code


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (ToolAnswer("x"), ExitCode.SUCCESS),
        (ToolAnswer("x", is_empty=True), ExitCode.INCOMPLETE),
        (ToolAnswer("x", is_error=True), ExitCode.INCOMPLETE),
        (ToolAnswer("x", is_error=True, failures=(BLOCKED, BLOCKED)), ExitCode.BLOCKED),
        (ToolAnswer("x", is_error=True, failures=(BLOCKED, DOWN)), ExitCode.INCOMPLETE),
        (ToolAnswer("x", is_empty=True, failures=(DOWN,)), ExitCode.NO_NETWORK),
        (ToolAnswer("x", failures=(DOWN,)), ExitCode.INCOMPLETE),
        (ToolAnswer("x", {"error": "no such index"}), ExitCode.INCOMPLETE),
    ],
)
def test_each_kind_of_answer_has_its_code(answer: ToolAnswer, code: ExitCode) -> None:
    assert code_of_answer(answer) is code


def test_every_code_has_a_meaning() -> None:
    assert set(EXIT_CODE_MEANINGS) == set(ExitCode)


def test_the_documentation_has_the_same_table() -> None:
    page = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", page, re.MULTILINE)
    assert {ExitCode(int(code)): meaning for code, meaning in rows} == EXIT_CODE_MEANINGS

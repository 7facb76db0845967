"""Exit codes of all commands, derived from the errors of an answer."""

import enum
from typing import TYPE_CHECKING

from scraper import errors
from scraper.cli import warm_client
from scraper.values.text import read_table

if TYPE_CHECKING:
    from scraper.tools.model import ToolAnswer


class ExitCode(enum.IntEnum):
    """Exit code of the process; `EXIT_CODE_MEANINGS` explains them."""

    SUCCESS = 0
    INCOMPLETE = 1
    INVALID = 2
    BLOCKED = 3
    NO_NETWORK = 4
    SESSION_LOST = warm_client.SESSION_LOST
    CHANGED = 10
    INTERRUPTED = 130


EXIT_CODE_MEANINGS = {ExitCode[name.upper()]: text for name, text in read_table(__package__, "exit_codes.toml").items()}

_REFUSALS = frozenset({401, 402, 403, 407, 429, 451})
"""Status codes with which a site refuses a visitor. Other codes, such as 404, concern the page."""


def code_of_answer(answer: "ToolAnswer") -> ExitCode:
    """Return the exit code of an answer; failures of different kinds give INCOMPLETE."""
    if answer.is_error or answer.is_empty:
        codes = {code_of_error(failure) for failure in answer.failures}
        return codes.pop() if len(codes) == 1 else ExitCode.INCOMPLETE
    # Tools of indexes report their errors as values.
    has_fault = isinstance(answer.structured, dict) and bool(answer.structured.get("error"))
    return ExitCode.INCOMPLETE if answer.failures or has_fault else ExitCode.SUCCESS


def code_of_error(error: errors.ScraperError) -> ExitCode:
    """Return the exit code of an error."""
    if isinstance(error, errors.SessionNotFoundError):
        return ExitCode.SESSION_LOST
    if isinstance(error, errors.BadRequestError):
        return ExitCode.INVALID
    if isinstance(error, errors.HttpStatusError):
        return ExitCode.BLOCKED if error.status in _REFUSALS else ExitCode.INCOMPLETE
    if isinstance(error, errors.SiteRefusedError | errors.PolicyError):
        return ExitCode.BLOCKED
    return ExitCode.NO_NETWORK if isinstance(error, errors.NetworkError) else ExitCode.INCOMPLETE

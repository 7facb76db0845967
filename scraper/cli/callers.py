"""The caller of a command: a person or a coding agent, and the rules for agents."""

import os
import pwd
import sys
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from scraper.cli.exit_codes import ExitCode
from scraper.cli.warm_client import AGENT_VARIABLES, is_set
from scraper.settings import Settings, SettingsError

if TYPE_CHECKING:
    from scraper.services import Services
    from scraper.tools.model import ToolAnswer

_HARMLESS = frozenset(
    "language timezone tier log_level log_format tool_timeout_s max_answer_tokens cache_ttl_h toolsets tools resources "
    "output_schemas strict_clients drain_s host port".split()
)
"""Settings whose flags an agent may use. Every other one may open what a person closed, or name a file or program.
Those of servers loosen nothing: an agent's program starts `stdio`, and another `host` still needs a token."""


ServicesCall: TypeAlias = "Callable[[Services], Coroutine[Any, Any, ToolAnswer]]"


@dataclass(eq=False)
class RemoteCommand:
    """A command of another process that this process, the warm server, runs in a thread."""

    folder: Path
    is_agent: bool
    session_owner: str
    run: "Callable[[ServicesCall], ToolAnswer]"
    """Run a call with the open services, in the event loop of the server."""
    settings: Settings
    printed: list[tuple[int, str]] = field(default_factory=list)
    """Texts for standard output (0) and standard error (1)."""
    files: list[tuple[str, bytes, str]] = field(default_factory=list)
    """Path, content and note of each file; the client replaces the note if it cannot keep that file."""
    is_over: bool = False
    is_quiet: bool = False
    """True if its log has only errors."""
    uploads: dict[str, bytes] | None = None
    """Files that the client has read; None if it was not asked."""


remote_command: ContextVar[RemoteCommand | None] = ContextVar("remote_command", default=None)
"""The command of this thread or task; None outside of a warm server."""


class LeaveServerError(Exception):
    """The client must run this command itself, for `causes`, or `read` files for it: the argument names them."""


def leave_server() -> None:
    """Raise LeaveServerError in a warm server: the command would read files, or has settings of its own."""
    if remote_command.get() is not None:
        raise LeaveServerError


def locate(path: str | Path) -> Path:
    """Return a path that is relative to the working folder of the caller."""
    remote = remote_command.get()
    return Path(path) if remote is None else remote.folder / path


def runs_for_agent() -> bool:
    """Return True if the variables say that a coding agent runs the command."""
    remote = remote_command.get()
    return any(map(is_set, AGENT_VARIABLES)) if remote is None else remote.is_agent


class RefusedError(click.ClickException):
    """A rule of this machine forbids the command."""

    exit_code = ExitCode.BLOCKED


def check_flag(setting: str, flag: str) -> None:
    """Raise RefusedError if the caller is an agent that must not use the flag of a setting."""
    if setting in _HARMLESS or not runs_for_agent() or _allows_flags():
        return
    raise RefusedError(
        f"{flag} is for the person at this machine, not for agents. Leave it out, or ask the person to change the "
        "configuration (docs/clients.md, Coding agents)."
    )


def check_path(path: str | Path) -> None:
    """Raise RefusedError if the caller is an agent and the path leaves its working folder, also by a link."""
    if not runs_for_agent() or str(path) == "-" or _allows_flags():
        return
    folder = locate(Path()).resolve()
    if not (folder / path).expanduser().resolve().is_relative_to(folder):
        raise RefusedError(f"{path} is outside the working folder {folder}. Agents use only files below it.")


def _allows_flags() -> bool:
    """Return True if the person's own file allows agents all flags; it is found without variables, such as HOME."""
    file = f"{'Library/Application Support' if sys.platform == 'darwin' else '.config'}/search-mcp/config.toml"
    try:
        return Settings.load({}, {}, Path(pwd.getpwuid(os.geteuid()).pw_dir, file)).agent_flags
    except (KeyError, SettingsError):
        return False

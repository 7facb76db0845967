"""The caller of a command: a person or a coding agent, and the rules for agents."""

from __future__ import annotations

import os
from pathlib import Path

import click

from scraper.cli.exit_codes import ExitCode
from scraper.settings import Settings, SettingsError
from scraper.settings.files import find_config_file

AGENT_VARIABLES = (
    "AI_AGENT CLAUDECODE CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CURSOR_AGENT GEMINI_CLI SEARCH_MCP_AGENT"
).split()
"""Variables that coding agents set for their commands. Sources: the documentation of each agent, and the package
detect-agent of Vercel, November 2026."""
_HARMLESS = frozenset("language timezone tier log_level tool_timeout_s max_answer_tokens cache_ttl_h".split())
"""Settings whose flags an agent may use. Every other one may open what a person closed, or name a file or program."""


def runs_for_agent() -> bool:
    """Return True if the variables say that a coding agent runs the command."""
    return any(os.environ.get(name, "").lower() not in ("", "0", "no", "false") for name in AGENT_VARIABLES)


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
    folder = Path.cwd().resolve()
    if not (folder / path).expanduser().resolve().is_relative_to(folder):
        raise RefusedError(f"{path} is outside the working folder {folder}. Agents use only files below it.")


def _allows_flags() -> bool:
    """Return True if the person's own file allows agents all flags; variables, which an agent could set, do not."""
    try:
        return Settings.load({}, {}, find_config_file()).agent_flags
    except SettingsError:
        return False

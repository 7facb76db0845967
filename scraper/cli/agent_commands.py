"""Command `skill`: print guides for coding agents, and write the stub that announces them.

The stub never changes with the guides, so that an agent always reads the guide of the installed version.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import click

from scraper.cli.callers import check_path
from scraper.cli.client_config import read_text, write_after_question
from scraper.cli.exit_codes import ExitCode
from scraper.cli.setting_options import command

GUIDES = {
    "core": "choose a command, read its answers, first steps on a page",
    "acting": "steps on pages, sessions, forms",
    "sites": "many pages: maps, crawls, lists",
    "data": "tables, products, fields, documents",
}
"""Purpose of each guide by its name."""
FOLDERS = {"claude-code": Path(".claude/skills"), "agents": Path(".agents/skills")}
"""Folder of skills by the name of its readers, below a working folder or the home folder. Codex, Cursor, Gemini CLI,
OpenCode and others read `agents` (documentation of each, November 2026)."""


def read_guide(name: str) -> str:
    """Return a guide, or the text of the stub."""
    return resources.files(__package__).joinpath("skills", f"{name}.md").read_text(encoding="utf-8")


def stub_file(skills: Path) -> Path:
    """Return the file of the stub in a folder of skills."""
    return skills / "search-mcp" / "SKILL.md"


def find_other_stubs() -> Iterator[Path]:
    """Return the installed stubs that are not those of this version."""
    for base in (Path.cwd(), Path.home()):
        for file in (stub_file(base / folder) for folder in FOLDERS.values()):
            if file.is_file() and file.read_text(encoding="utf-8", errors="replace") != read_guide("stub"):
                yield file


@command("skill")
def skill(name: str | None, target: str | None, user: bool, yes: bool) -> int:
    """Print a guide for coding agents, or write the skill that announces the guides.

    Without a name, it lists the guides.
    """
    if target is not None:
        base = Path.home() if user else Path()
        path = stub_file(base / FOLDERS[target] if target in FOLDERS else Path(target))
        check_path(path)
        write_after_question(path, read_text(path), read_guide("stub"), yes=yes)
    elif name is None:
        click.echo("\n".join(f"search-mcp skill {guide}: {about}" for guide, about in GUIDES.items()))
    else:
        click.echo(read_guide(name), nl=False)
    return ExitCode.SUCCESS

"""Help, version and completion."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from scraper.cli.exit_codes import EXIT_CODE_MEANINGS
from scraper.cli.main import CommandGroup, group
from scraper.cli.setting_options import Command
from scraper.settings import setting_table
from scraper.settings.table import FILE_ONLY
from tests.scraper.cli.in_process import command_output
from tests.scraper.process import output_of

SERVERS = {"serve", "stdio", "completion", "help"}
"""Commands that print no answer of their own."""


def commands(of: click.Group = group, path: str = "") -> Iterator[tuple[str, Command]]:
    for name, command in of.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{path}{name} ")
        else:
            assert isinstance(command, Command)
            yield f"{path}{name}", command


ALL = list(commands())


@pytest.mark.parametrize(("name", "command"), ALL, ids=[name for name, _ in ALL])
def test_help_has_examples_that_parse(name: str, command: Command) -> None:
    assert command.examples
    help_text = command_output(*name.split(), "-h").out
    for example in command.examples:
        assert f"search-mcp {example}" in help_text
        words = shlex.split(example.partition("|")[0].partition(">")[0].partition("<")[0])
        current: click.Command = group
        while isinstance(current, click.Group):
            current = current.commands[words.pop(0)]
        known = {option for parameter in current.params for option in (*parameter.opts, *parameter.secondary_opts)}
        used = {word for word in words if word.startswith("-") and word != "-" and not word.startswith("-moon")}
        assert used <= known


@pytest.mark.parametrize(("name", "command"), ALL, ids=[name for name, _ in ALL])
def test_every_command_with_an_answer_prints_json(name: str, command: Command) -> None:
    options = {option for parameter in command.params for option in parameter.opts}
    assert ("--json" in options) is (name not in {*SERVERS, "skill", "identity"})


def test_commands_list_only_their_settings() -> None:
    settings = {setting.name for setting in setting_table()}
    used = {name: settings & {parameter.name for parameter in command.params} for name, command in ALL}
    assert used["serve"] == settings - FILE_ONLY
    assert not used["engines"] and not used["version"]
    assert used["index search"] == {"config_file", "data_dir", "database_url", "log_level"}
    assert not any("document_root" in names for name, names in used.items() if name in ("fetch", "search", "compare"))
    assert not any("port" in names for name, names in used.items() if name not in ("serve", "doctor"))


def test_help_groups_every_command_and_lists_the_exit_codes() -> None:
    assert isinstance(group, CommandGroup)
    listed = [command.name for section in group.sections.values() for command in section]
    assert sorted(map(str, listed)) == sorted(group.commands)
    output = command_output("help")
    assert output.out == command_output("-h").out
    assert all(meaning in output.out for meaning in EXIT_CODE_MEANINGS.values())


def test_help_of_a_command_is_that_of_its_option() -> None:
    assert command_output("help", "fetch").out == command_output("fetch", "-h").out
    assert command_output("help", "index", "add").out == command_output("index", "add", "-h").out
    assert command_output("help", "read_doc").out == command_output("read-doc", "-h").out


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("ftch",), '(did you mean "search-mcp fetch"?)'),
        (("https://example.com/a",), "`search-mcp fetch https://example.com/a`"),
        (("help", "serch"), '(did you mean "search-mcp search"?)'),
        (("help", "fetch", "more"), "`search-mcp fetch` has no command more"),
    ],
)
def test_an_unknown_command_suggests_another(arguments: tuple[str, ...], hint: str) -> None:
    output = command_output(*arguments)
    assert output.code == 2 and hint in output.err


def test_the_version_is_also_json() -> None:
    assert command_output("version").out == command_output("--version").out
    assert json.loads(command_output("version", "--json").out)["version"] in command_output("version").out


@pytest.mark.parametrize(
    ("words", "start", "expected"),
    [
        ([], "fet", {"fetch", "fetch-batch"}),
        (["search", "--engine"], "m", {"mojeek"}),
        (["search", "--category"], "p", {"pdf", "paper", "package"}),
        (["fetch", "--format"], "", {"markdown", "json"}),
        (["client"], "cl", {"claude-code", "claude-desktop"}),
        (["fetch", "--robots"], "o", {"off", "obey"}),
        (["completion"], "", {"bash", "zsh", "fish"}),
    ],
)
def test_values_are_completed(words: list[str], start: str, expected: set[str]) -> None:
    completions = ShellComplete(group, {}, "search-mcp", "_SEARCH_MCP_COMPLETE").get_completions(words, start)
    assert {one.value for one in completions} == expected


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
async def test_the_script_for_bash_completes_a_value() -> None:
    script = command_output("completion", "bash").out
    assert "complete -o nosort -F" in script and "_SEARCH_MCP_COMPLETE=bash_complete" in script
    env = {"_SEARCH_MCP_COMPLETE": "bash_complete", "COMP_WORDS": "search-mcp search --engine b", "COMP_CWORD": "3"}
    run = "import sys; sys.argv[0] = 'search-mcp'; from scraper.cli.main import main; main()"
    output = await output_of("-c", run, env=env)
    assert output.out.split() == ["plain,brave", "plain,bing", "plain,baidu"]


SHELLS = {
    "fish": 'source script; complete -C "search-mcp search --engine m"',
    # Prints what zsh would offer, instead of drawing a menu.
    "zsh": """autoload -U compinit; compinit -D; source script
        compadd() { print -l -- ${(P)@[-1]} }
        words=(search-mcp search --engine m); CURRENT=4; $_comps[search-mcp]""",
}
"""Commands that complete an engine that begins with m, by shell."""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_completes_a_value_in_a_real_shell(shell: str, tmp_path: Path) -> None:
    program = tmp_path / "search-mcp"
    run = "import sys; sys.argv[0] = 'search-mcp'; from scraper.cli.main import main; main()"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{run}" "$@"\n')
    program.chmod(0o755)
    script = command_output("completion", shell).out
    (tmp_path / "script").write_text(script)
    assert f"_SEARCH_MCP_COMPLETE={shell}_complete" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    env = {**os.environ, "HOME": str(tmp_path), "PATH": os.pathsep.join((str(tmp_path), os.environ["PATH"]))}
    options = ("-f", "-c") if shell == "zsh" else ("--no-config", "-c")
    shown = subprocess.run(
        [shell, *options, SHELLS[shell]], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60
    )
    assert (shown.stdout.split(), shown.stderr) == (["mojeek"], "")

"""Declare commands: parameters from `commands.toml`, and options of the settings in a section of the help."""

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from scraper.cli import callers
from scraper.cli.callers import check_flag, check_path, runs_for_agent
from scraper.engines.model import CATEGORIES, DEFAULT_ENGINES, ENGINE_NAMES, SOURCE_NAMES
from scraper.settings import FILE_ONLY, Setting, Settings, setting_table, unknown_variables
from scraper.settings.files import find_config_file
from scraper.values.text import read_table
from scraper.values.types import ChoiceValue

F = TypeVar("F", bound=Callable[..., Any])

WEB_ONLY = frozenset(
    "host port token tokens_file allow_unauthenticated allowed_hosts allowed_origins issuer issuer_keys "
    "public_url".split()
)
"""Settings of a server that listens on a port."""
SERVER_ONLY = WEB_ONLY | frozenset(
    "toolsets tools resources strict_clients drain_s call_limit calls_per_minute log_format traces".split()
)
"""Settings of servers; other commands ignore them."""
LOG_SETTINGS = frozenset({"config_file", "log_level"})
STORE_SETTINGS = frozenset("data_dir cache_ttl_h cache_mb database_url".split())
_VISITS = frozenset(
    "proxy proxy_dns allow_nets test_hosts test_key_pin language timezone tier light_executable full_executable "
    "host_gap_s robots tool_timeout_s markdown identity signature_agent signature_form signing_key".split()
)
SIGNING = frozenset("signature_agent signature_form signing_key".split())
READ = LOG_SETTINGS | STORE_SETTINGS | _VISITS
"""Settings of a command that reads one URL or asks search engines."""
READ_MANY = READ | frozenset(
    "peek_slots render_slots max_slots queue_limit host_pages shared_url max_answer_tokens".split()
)
"""Settings of a command that reads several pages and returns parts of them."""


class _SettingOption(click.Option):
    """Option of a setting; the help lists these in a section of their own."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        if ctx.get_parameter_source(str(self.name)) is ParameterSource.COMMANDLINE:
            check_flag(str(self.name), self.opts[0])
            callers.leave_server()
        return super().process_value(ctx, value)


class FilePath(click.Path):
    """Path of a file or folder that the caller may use."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or raise RefusedError."""
        check_path(value)
        converted: Any = super().convert(str(callers.locate(value)), param, ctx)
        return type(converted)(value)


class _InputFile(click.File):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        check_path(value)
        callers.leave_server()
        return super().convert(value, param, ctx)


class Command(click.Command):
    """Command whose help shows examples, and lists settings after its own options."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        """Create the command; `examples` are command lines without the name of the program."""
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description and the examples."""
        super().format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}search-mcp {example}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help sections of options and settings."""
        # The flags of settings are locked for agents, and cost them a thousand tokens.
        sections = {"Options": False} if runs_for_agent() else {"Options": False, "Settings": True}
        for title, is_setting in sections.items():
            records = [
                record
                for parameter in self.get_params(ctx)
                if isinstance(parameter, click.Option)
                and isinstance(parameter, _SettingOption) is is_setting
                and (record := parameter.get_help_record(ctx))
            ]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def with_settings(only: Collection[str] | None = None, *, without: Collection[str] = ()) -> Callable[[F], F]:
    """Return a decorator that adds options of all settings, or `only` of some; commands get values by field name."""

    def decorate(command: F) -> F:
        for setting in reversed(setting_table()):
            if setting.name not in FILE_ONLY.union(without) and (only is None or setting.name in only):
                command = _option(setting)(command)
        return command

    return decorate


_TABLE: dict[str, dict[str, Any]] = read_table(__package__, "commands.toml")
_OUTPUT = tuple(f"output_{name}" for name in "as_json format output quiet no_daemon max_tokens marked".split())
_COMPLETIONS = {"engines": (*ENGINE_NAMES, *SOURCE_NAMES)}
_CHOICES = {"@categories": CATEGORIES, "@clients": sorted(read_table(__package__, "clients.toml"))}
_TYPES: dict[str, Callable[..., Any]] = {
    "choice": lambda *words: click.Choice(_CHOICES.get(words[0], words)),
    "int": lambda *limits: click.IntRange(**_limits(limits)) if limits else int,
    "float": lambda *limits: click.FloatRange(**_limits(limits)) if limits else float,
    "folder": lambda: FilePath(file_okay=False, path_type=Path),
    "input": lambda: FilePath(dir_okay=False, exists=True, path_type=Path),
    "lines": lambda: _InputFile("r", encoding="utf-8"),
    "output": lambda: FilePath(dir_okay=False, writable=True, path_type=Path),
    "texts": lambda: FilePath(allow_dash=True, dir_okay=False, exists=True),
}
"""Types of parameters, by the first word of `type`; its other words are arguments."""


def command(
    name: str, only: Collection[str] | None = (), *, without: Collection[str] = (), parent: click.Group | None = None
) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes a command of `commands.toml`; `parent` is the group that its name begins with."""
    entry = _TABLE[name]
    output = {"marked": _OUTPUT, "plain": _OUTPUT[:-1]}.get(entry.get("output", ""), ())

    def decorate(function: Callable[..., Any]) -> click.Command:
        function = with_settings(only, without=without)(function)
        for parameter in reversed([*entry.get("parameters", ()), *output]):
            function = _parameter(_TABLE["shared"][parameter] if isinstance(parameter, str) else parameter)(function)
        made = click.command(name.split()[-1], cls=Command, examples=entry["examples"])(function)
        if parent is not None:
            parent.add_command(made)
        return made

    return decorate


def _limits(numbers: Sequence[str]) -> dict[str, Any]:
    return dict(zip(("min", "max"), map(json.loads, numbers), strict=False))


def _parameter(entry: Mapping[str, Any]) -> Callable[[F], F]:
    options = dict(entry)
    names = options.pop("flags").split()
    if "type" in options:
        kind, *arguments = options["type"].split()
        options["type"] = _TYPES[kind](*arguments)
    if options.pop("optional", False):
        options["default"] = None
    if "complete" in options:
        options["shell_complete"] = complete_from(_COMPLETIONS[options.pop("complete")])
    if not names[0].startswith("-"):
        return click.argument(*names, **options)
    options["help"] = options["help"].replace("{default_engines}", ", ".join(DEFAULT_ENGINES))
    return click.option(*names, **options)


def load_settings(flags: dict[str, Any]) -> Settings:
    """Load the settings, and report unknown variables on stderr; raise SettingsError if one is invalid."""
    for sentence in unknown_variables(os.environ):
        click.echo(sentence, err=True)
    if (remote := callers.remote_command.get()) is not None:
        return remote.settings
    return Settings.load(os.environ, flags, find_config_file())


def _option(setting: Setting) -> Callable[[F], F]:
    is_shown = setting.default_text and not setting.secret and not setting.is_switch
    note = f"{setting.help} [{setting.variable}{f'; {setting.default_text}' if is_shown else ''}]"
    if setting.is_switch:
        return click.option(setting.flag, setting.name, is_flag=True, default=None, help=note, cls=_SettingOption)
    metavar = f"<{setting.unit or setting.kind.label}>"
    complete = complete_from(setting.kind.words) if isinstance(setting.kind, ChoiceValue) else None
    return click.option(
        setting.flag, setting.name, metavar=metavar, help=note, cls=_SettingOption, shell_complete=complete
    )


def complete_from(values: Sequence[str]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a function for click's shell completion that suggests these values."""
    return lambda ctx, parameter, start: [value for value in values if value.startswith(start)]

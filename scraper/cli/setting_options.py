"""Command-line options of the settings, and a command class whose help lists them in a section."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

import click

from scraper.settings import Setting, Settings, SettingsError, setting_table, unknown_variables
from scraper.settings.files import find_config_file
from scraper.values.types import ChoiceValue

F = TypeVar("F", bound=Callable[..., Any])

WEB_ONLY = frozenset(
    "host port token tokens_file allow_unauthenticated allowed_hosts allowed_origins issuer issuer_keys "
    "public_url".split()
)
"""Settings of a server that listens on a port."""
SERVER_ONLY = WEB_ONLY | {"toolsets", "tools", "drain_s", "call_limit", "calls_per_minute", "log_format", "traces"}
"""Settings of servers; other commands ignore them."""
LOG_SETTINGS = frozenset({"config_file", "log_level"})
"""Settings that most commands have."""
STORE_SETTINGS = frozenset("data_dir cache_ttl_h cache_mb database_url".split())
"""Settings of the cache and the indexes."""
_VISITS = frozenset(
    "proxy proxy_dns allow_nets test_hosts test_key_pin language timezone tier light_executable full_executable "
    "host_gap_s robots tool_timeout_s".split()
)
READ = LOG_SETTINGS | STORE_SETTINGS | _VISITS
"""Settings of a command that reads one URL or asks search engines."""
_SLOTS = {"peek_slots", "render_slots", "max_slots", "queue_limit"}
READ_MANY = READ | _SLOTS | {"host_pages", "shared_url", "max_answer_tokens"}
"""Settings of a command that reads several pages and returns parts of them."""


class _SettingOption(click.Option):
    """Option of a setting; the help lists these in a section of their own."""


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
        for title, is_setting in (("Options", False), ("Settings", True)):
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
    """Return a decorator that adds an option for each setting; the command receives the values by field name.

    `only` limits the settings, None takes all; those in `without` are left out.
    """

    def decorate(command: F) -> F:
        for setting in reversed(setting_table()):
            if setting.name not in without and (only is None or setting.name in only):
                command = _option(setting)(command)
        return command

    return decorate


def load_settings(flags: dict[str, Any]) -> Settings:
    """Load the settings from flags, environment and configuration file; report unknown variables on stderr.

    Raises:
        UsageError: A setting is invalid.
    """
    for sentence in unknown_variables(os.environ):
        click.echo(sentence, err=True)
    try:
        return Settings.load(os.environ, flags, find_config_file())
    except SettingsError as error:
        raise click.UsageError(str(error)) from None


def _option(setting: Setting) -> Callable[[F], F]:
    note = f"{setting.help} [{setting.variable}{_default(setting)}]"
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


def _default(setting: Setting) -> str:
    return "" if setting.secret or setting.is_switch or not setting.default_text else f"; {setting.default_text}"

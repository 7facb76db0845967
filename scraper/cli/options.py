"""Command line options for the settings, and the help section that lists them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from typing import Any, TypeVar

import click

from scraper.settings import Setting, Settings, SettingsError, setting_table, unknown_variables

F = TypeVar("F", bound=Callable[..., Any])

WEB_ONLY = frozenset(
    "host port token tokens_file allow_unauthenticated allowed_hosts allowed_origins issuer issuer_keys "
    "public_url".split()
)
"""Settings of a server that listens."""
SERVER_ONLY = WEB_ONLY | {"tools", "drain_s", "call_limit", "calls_per_minute", "log_format", "traces"}
"""Settings of a server; other commands ignore them."""


class _SettingOption(click.Option):
    """Option of a setting; help lists these separately."""


class Command(click.Command):
    """Command whose help lists the settings after its own options."""

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


def with_settings(without: Collection[str] = ()) -> Callable[[F], F]:
    """Add an option for every setting except `without`; the command gets the values by field name."""

    def decorate(command: F) -> F:
        for setting in reversed(setting_table()):
            if setting.name not in without:
                command = _option(setting)(command)
        return command

    return decorate


def load(flags: dict[str, Any]) -> Settings:
    """Load the settings from flags and environment, or raise UsageError; report unknown variables on stderr."""
    for sentence in unknown_variables(os.environ):
        click.echo(sentence, err=True)
    try:
        return Settings.load(os.environ, flags)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None


def _option(setting: Setting) -> Callable[[F], F]:
    note = f"{setting.help} [{setting.variable}{_default(setting)}]"
    if setting.is_switch:
        return click.option(setting.flag, setting.name, is_flag=True, default=None, help=note, cls=_SettingOption)
    metavar = f"<{setting.unit or setting.kind.label}>"
    return click.option(setting.flag, setting.name, metavar=metavar, help=note, cls=_SettingOption)


def _default(setting: Setting) -> str:
    default = setting.default
    if setting.secret or default is None or default == () or isinstance(default, bool):
        return ""
    return f"; {default:g}" if isinstance(default, float) else f"; {default}"

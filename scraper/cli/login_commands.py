"""Commands for login profiles: login and profiles."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scraper.cli.exit_codes import ExitCode
from scraper.cli.setting_options import LOG_SETTINGS, READ, STORE_SETTINGS, command, load_settings
from scraper.cli.tool_output import with_store
from scraper.settings import Settings

if TYPE_CHECKING:
    from scraper.store.login_profiles import LoginProfiles

T = TypeVar("T")

_DAY_S = 86_400.0


@command("login", READ | {"profile_key"})
def login(name: str, hosts: str, url: str | None, file: Path | None, caller: str, as_json: bool, **flags: Any) -> int:
    """Sign in to a site in a window, and save the login as an encrypted profile for `fetch` and `browse`."""
    from scraper.errors import ScraperError
    from scraper.reading.browsing import check_profile_name, import_login_state, parse_hosts, sign_in
    from scraper.urls import parse_target

    settings = load_settings(flags)
    try:
        check_profile_name(name)
        chosen = parse_hosts(tuple(host.strip() for host in hosts.split(",") if host.strip()))
        if file is not None:
            state = import_login_state(file, chosen)
        else:
            target = parse_target(url or f"https://{chosen[0]}/")
            _check_display()
            click.echo(f"Sign in to {target} in the window that opens, then close the window.", err=True)
            state = asyncio.run(sign_in(settings, target, chosen))
    except ScraperError as error:
        raise click.UsageError(error.sentence()) from None
    if state.is_empty:
        click.echo(f"Nothing is saved: there are no cookies and no local storage of {', '.join(chosen)}.", err=True)
        return ExitCode.INCOMPLETE
    _with_profiles(settings, lambda profiles: profiles.save(caller, name, chosen, state))
    entries = sum(len(items) for items in state.storage.values())
    if as_json:
        click.echo(json.dumps({"name": name, "hosts": chosen, "cookies": len(state.cookies), "entries": entries}))
        return ExitCode.SUCCESS
    click.echo(
        f"Profile {name} is saved for {', '.join(chosen)}: {len(state.cookies)} cookies, {entries} entries of local"
        " storage."
    )
    return ExitCode.SUCCESS


@command("profiles", LOG_SETTINGS | STORE_SETTINGS | {"profile_key"})
def profiles(remove: str | None, caller: str, as_json: bool, **flags: Any) -> int:
    """List the login profiles with their hosts and ages, or remove one."""
    settings = load_settings(flags)
    if remove is not None:
        is_removed = _with_profiles(settings, lambda store: store.remove(caller, remove))
        click.echo(
            f"Profile {remove} is removed." if is_removed else f"There is no profile {remove}.", err=not is_removed
        )
        return ExitCode.SUCCESS if is_removed else ExitCode.INCOMPLETE
    found = _with_profiles(settings, lambda store: store.list_all(caller))
    now = time.time()
    rows = [(info.name, info.hosts, max(0.0, now - info.saved_at) / _DAY_S) for info in found]
    if as_json:
        click.echo(json.dumps([{"name": name, "hosts": hosts, "age_days": round(age, 2)} for name, hosts, age in rows]))
    elif not rows:
        click.echo("There are no profiles.", err=True)
    else:
        for name, hosts, age in rows:
            count = int(age)
            saved = "today" if count < 1 else f"{count} day{'' if count == 1 else 's'} ago"
            click.echo(f"{name}  {', '.join(hosts)}  saved {saved}")
    return ExitCode.SUCCESS


def _check_display() -> None:
    needs_display = sys.platform.startswith("linux")
    if needs_display and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise click.UsageError(
            "There is no screen here for a window. Sign in on another machine with Playwright, save "
            "`context.storage_state(path=...)`, and pass the file with --import."
        )


def _with_profiles(settings: Settings, work: Callable[[LoginProfiles], Awaitable[T]]) -> T:
    from scraper.store.login_profiles import LoginProfiles, ProfileKeyError

    try:
        return with_store(
            settings, lambda store: work(LoginProfiles(store.records, settings.data_dir, settings.profile_key))
        )
    except ProfileKeyError as error:
        raise click.ClickException(str(error)) from None

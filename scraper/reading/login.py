"""Make login profiles: a person signs in in a window, or a file of Playwright is imported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from browsers import Browsers
from browsers import errors as browser_errors
from browsers.login_state import LoginState, LoginStateError
from scraper import errors
from scraper.reading.visit_outcome import map_browser_error
from scraper.settings import Settings
from scraper.store.login_profiles import MAX_HOSTS, PROFILE_NAME_PATTERN
from scraper.urls import host_of, parse_target

_SIGN_IN_S = 900.0
"""Seconds. Time limit for a person to sign in."""


def check_profile_name(name: str) -> None:
    """Raise InvalidArgumentError if a profile cannot have this name."""
    if PROFILE_NAME_PATTERN.fullmatch(name) is None:
        raise errors.InvalidArgumentError(
            f"{name[:80]!r} is not a profile name: use letters, digits, dots and hyphens.", target="name"
        )


def parse_hosts(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the canonical hosts, each once and without `www.`.

    Raises:
        InvalidArgumentError: A name is not a host, or there are not 1 to `MAX_HOSTS` hosts.
    """
    hosts = []
    for name in names:
        if "/" in name or ":" in name or "*" in name or "." not in name.strip("."):
            raise errors.InvalidArgumentError(f"{name!r} is not a host, such as shop.example.", target="hosts")
        hosts.append(host_of(parse_target(f"https://{name}/")).removeprefix("www."))
    if not 1 <= len(hosts) <= MAX_HOSTS:
        raise errors.InvalidArgumentError(f"hosts takes 1 to {MAX_HOSTS} hosts.", target="hosts")
    return tuple(dict.fromkeys(hosts))


async def sign_in(settings: Settings, url: str, hosts: tuple[str, ...], *, limit_s: float = _SIGN_IN_S) -> LoginState:
    """Return the login that a person makes in a visible window, which ends when the window is closed.

    Raises:
        ScraperError: The window does not open, or the page cannot be loaded.
    """
    try:
        async with Browsers(replace(settings.browser_settings(), visible=True)) as browsers:
            return await browsers.sign_in(url, hosts, limit_s=limit_s)
    except browser_errors.BrowsersError as error:
        raise map_browser_error(error, url) from error


def import_login_state(file: Path, hosts: tuple[str, ...]) -> LoginState:
    """Return the login of hosts in a storage state of Playwright.

    Raises:
        InvalidArgumentError: The file cannot be read, or is not a storage state.
    """
    try:
        return LoginState.parse(file.read_text("utf-8"), hosts)
    except (OSError, UnicodeDecodeError) as error:
        raise errors.InvalidArgumentError(f"{file} cannot be read: {errors.format_error(error)}.") from None
    except LoginStateError as error:
        raise errors.InvalidArgumentError(
            f"{file}: {error}.", next_step="Write it with `context.storage_state(path=...)` of Playwright."
        ) from None

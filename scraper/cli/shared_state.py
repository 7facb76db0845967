"""What `doctor` says of the state that servers share."""

from __future__ import annotations

from scraper.cli.check_results import Finding, bad, good, poor
from scraper.coordination import open_shared_state
from scraper.settings import Settings, SettingsError


async def check(settings: Settings) -> list[Finding]:
    """Whether Valkey or Redis answers, takes writes, and in which time; nothing where none is configured."""
    if settings.shared_url is None:
        return []
    try:
        shared = await open_shared_state(settings)
    except SettingsError as error:
        return [bad("The shared state cannot be used without its library", str(error))]
    try:
        status = shared.status()
    finally:
        await shared.close()
    if status.problem is not None:
        alone = "The server runs all the same, within its share of the limits, until it is mended"
        return [poor(f"Shared state away. {status.problem}", alone)]
    if status.note is not None:
        return [poor(status.note)]
    return [good(f"Shared state answers in {status.command_s * 1_000:.1f} ms")]

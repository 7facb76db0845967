"""Opens the short-lived state that the settings name."""

from __future__ import annotations

from scraper.settings import Settings, SettingsError
from scraper.settings.extras import install_command
from scraper.store.shared.alone import Alone
from scraper.store.shared.protocols import Shared

__all__ = ["open_shared"]

MEETING_S = 1.0
"""How long a start waits for the service: the first call should find it; a dead one must not hold it up."""


async def open_shared(settings: Settings) -> Shared:
    """Shared where SEARCH_MCP_SHARED_URL says with whom, whether or not it answers; else this process's own.

    Raises:
        SettingsError: the library that it needs is not installed.
    """
    if settings.shared_url is None:
        return Alone()
    try:
        from scraper.store.shared.together import Together
    except ImportError:
        raise SettingsError(
            f"SEARCH_MCP_SHARED_URL needs redis-py. Run: {install_command('shared')}"
        ) from None
    together = Together(settings.shared_url)
    await together.met(MEETING_S)
    return together

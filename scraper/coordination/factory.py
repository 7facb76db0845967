"""Opens the short-lived state that the settings name."""

from __future__ import annotations

from scraper.coordination.local_state import LocalState
from scraper.coordination.protocols import SharedState
from scraper.settings import Settings, SettingsError
from scraper.settings.optional_dependencies import install_command

MEETING_S = 1.0
"""How long a start waits for the service: the first call should find it; a dead one must not hold it up."""


async def open_shared(settings: Settings) -> SharedState:
    """Shared where SEARCH_MCP_SHARED_URL says with whom, whether or not it answers; else this process's own.

    Raises:
        SettingsError: the library that it needs is not installed.
    """
    if settings.shared_url is None:
        return LocalState()
    try:
        from scraper.coordination.valkey_state import ValkeyState
    except ImportError:
        raise SettingsError(
            f"SEARCH_MCP_SHARED_URL needs redis-py. Run: {install_command('shared')}"
        ) from None
    together = ValkeyState(settings.shared_url)
    await together.met(MEETING_S)
    return together

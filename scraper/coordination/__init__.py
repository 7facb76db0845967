"""Short-lived state that servers share: rate limits, leases, cooldowns and claims on work."""

from scraper.coordination.state import SharedState
from scraper.settings import Settings, SettingsError
from scraper.settings.files import install_command

CONNECT_WAIT_S = 1.0
"""Seconds. Longest wait for the service at start: the first call should find it connected, but a service that is down
must not delay the start."""


async def open_shared_state(settings: Settings) -> SharedState:
    """Return the state shared through SEARCH_MCP_SHARED_URL, or that of this process.

    A service that does not answer is not an error: the server works alone until it does.

    Raises:
        SettingsError: The library for the service is not installed.
    """
    if settings.shared_url is None:
        return SharedState()
    try:
        from scraper.coordination.valkey_state import ValkeyState
    except ImportError:
        raise SettingsError(f"SEARCH_MCP_SHARED_URL needs redis-py. Run: {install_command('shared')}") from None
    state = ValkeyState(settings.shared_url)
    await state.wait_connected(CONNECT_WAIT_S)
    return state

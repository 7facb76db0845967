"""What `doctor` says of the database that servers share."""

from __future__ import annotations

from scraper.cli.check_results import Finding, bad, good, poor
from scraper.settings import Settings, SettingsError
from scraper.store.factory import find_database_problem


async def check(settings: Settings) -> list[Finding]:
    """Whether PostgreSQL answers and its tables are ours; nothing where none is configured."""
    if settings.database_url is None:
        return []
    try:
        problem = await find_database_problem(settings)
    except SettingsError as error:
        return [bad("The shared database cannot be used without its library", str(error))]
    if problem is not None:
        alone = "The server runs all the same, and keeps no page until it is mended"
        return [poor(f"Pages are not kept: {problem}", alone)]
    return [good("Pages are kept in PostgreSQL")]

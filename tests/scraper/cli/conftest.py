"""The command line as a person or a script runs it, reading pages of the local site."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.site.running import Site

SEARCH_MCP = ("-m", "scraper.cli.main")


@pytest.fixture
def here(site: Site, tmp_path: Path) -> dict[str, str]:
    """Variables under which the site's hosts are found, and a cache of the test's own."""
    return {
        "SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable,
        "SEARCH_MCP_DATA": str(tmp_path / "data"),
        # Mapped hosts are a warning at each start.
        "SEARCH_MCP_LOG_LEVEL": "error",
    }


@pytest.fixture
def note(tmp_path: Path) -> str:
    """Path of a document, for tests of output: no browser is needed to read it."""
    file = tmp_path / "a note.md"
    file.write_text("# Tides\n\nThe moon pulls.\n")
    return str(file)

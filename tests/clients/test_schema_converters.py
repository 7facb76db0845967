"""Libraries of agents accept the schemas of all tools."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from scraper.server.protocol.search_methods import to_sdk_tool
from scraper.settings import Settings
from scraper.tools.registry import all_tools
from tests.clients.environments import SCHEMAS
from tests.clients.required import require_environment

pytestmark = [pytest.mark.slow, pytest.mark.full_size]

PROGRAM = Path(__file__).parent / "programs" / "schema_converters.py"


@pytest.mark.parametrize("version", [None, "2025-11-25"])
def test_each_converter_accepts_all_tools(version: str | None) -> None:
    require_environment(SCHEMAS)
    listed = [to_sdk_tool(tool, version) for tool in all_tools(Settings())]
    tools = json.dumps([tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in listed])
    command = [str(SCHEMAS.python), str(PROGRAM)]
    done = subprocess.run(command, input=tools, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    refused = json.loads(done.stdout)
    assert len(refused) == 5 and not any(refused.values()), done.stderr

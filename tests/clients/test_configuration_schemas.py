"""The configurations that `search-mcp client` prints conform to the schemas of the clients.

No client ships its schema in a package. The schemas are those of the npm package @gleanwork/mcp-config-schema, which
describes the clients. It does not know Zed; LM Studio uses the notation of Cursor.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scraper.cli.client_config import CLIENTS
from tests.clients.environments import NODE
from tests.clients.product import run_client
from tests.clients.required import require_environment
from tests.scraper.cli.test_client_config import PARSERS, SERVER

pytestmark = [pytest.mark.slow, pytest.mark.full_size]

PROGRAM = Path(__file__).parent / "programs" / "check_configurations.mjs"

SCHEMAS = {name: {"gemini-cli": "gemini", "lm-studio": "cursor"}.get(name, name) for name in CLIENTS if name != "zed"}
"""Name of the schema by client."""


async def find_errors(configurations: dict[str, Any]) -> Any:
    """Return the errors of the configurations by client."""
    node = str(NODE.folder / "bin" / "node")
    code, out, err = await run_client((node, str(PROGRAM), json.dumps(configurations)), NODE.node_folder)
    assert code == 0, err
    return json.loads(out)


async def test_configurations_conform_to_the_schemas_of_the_clients() -> None:
    require_environment(NODE)
    content = {name: PARSERS[CLIENTS[name].syntax](CLIENTS[name].snippet(SERVER)) for name in SCHEMAS}
    cursor_like = content.pop("lm-studio")
    assert await find_errors({SCHEMAS[name]: one for name, one in content.items()}) == {}
    assert await find_errors({SCHEMAS["lm-studio"]: cursor_like}) == {}
    assert len(SCHEMAS) == 10


async def test_a_wrong_configuration_is_found() -> None:
    require_environment(NODE)
    wrong = {"cursor": {"mcpServers": {"a": {"command": 1}}}, "goose": {"extensions": {"a": {"cmd": "x"}}}}
    assert (await find_errors(wrong)).keys() == wrong.keys()

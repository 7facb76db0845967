"""Convert the schemas of tools as libraries of agents do, each in its own way.

Runs in its own environment, with the tools as a JSON list on standard input. Prints by converter the names of the
tools that it does not accept.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

from agents.strict_schema import ensure_strict_json_schema
from google.genai import _mcp_utils as google
from mcp.types import Tool
from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
from strands.tools.mcp.mcp_agent_tool import MCPAgentTool
from strands.tools.tools import normalize_tool_spec


def schema(tool: Tool) -> dict[str, Any]:
    """Return a copy of the schema of the arguments, which converters change."""
    return json.loads(json.dumps(tool.input_schema))


CONVERTERS: dict[str, Callable[[Tool], object]] = {
    "google-genai": google.mcp_to_gemini_tool,
    "openai-agents, strict": lambda tool: ensure_strict_json_schema(schema(tool)),
    "pydantic-ai for OpenAI": lambda tool: OpenAIJsonSchemaTransformer(schema(tool), strict=True).walk(),
    "pydantic-ai for Google": lambda tool: GoogleJsonSchemaTransformer(schema(tool)).walk(),
    "strands": lambda tool: normalize_tool_spec(MCPAgentTool(tool, Mock()).tool_spec),
}


def accepts(convert: Callable[[Tool], object], tool: Tool) -> bool:
    """Return True if a converter raises no error."""
    try:
        return bool(convert(tool))
    except Exception as error:
        print(f"{tool.name}: {error!r}", file=sys.stderr)
        return False


given = [Tool.model_validate(one) for one in json.load(sys.stdin)]
refused = {name: [one.name for one in given if not accepts(convert, one)] for name, convert in CONVERTERS.items()}
print(json.dumps(refused))

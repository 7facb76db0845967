"""Read a page with a server that this program starts and ends.

python examples/stdio_client.py URL
"""

from __future__ import annotations

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters

# The server gets this program's variables, so SEARCH_MCP_... settings apply to it.
SERVER = StdioServerParameters(command="search-mcp", args=["stdio"], env=dict(os.environ))


async def main(url: str) -> int:
    """Print the tools' names and the page; return 1 if the page could not be read."""
    async with Client(SERVER) as client:
        listing = await client.list_tools()
        print("Tools:", ", ".join(tool.name for tool in listing.tools))
        result = await client.call_tool("fetch", {"url": url})
        for part in result.content:
            if part.type == "text":
                print(part.text)
        return int(result.is_error)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))

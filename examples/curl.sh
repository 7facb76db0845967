#!/bin/sh
# Reads a page with one HTTP request to a running server:  sh examples/curl.sh URL
# Version 2026-07-28 of the protocol needs no handshake and no session. The answer is JSON.
set -eu

mcp_url=${MCP_URL:-http://127.0.0.1:8000/mcp}
version=2026-07-28

curl --silent --show-error --fail-with-body "$mcp_url" \
    --header "Content-Type: application/json" \
    --header "Accept: application/json, text/event-stream" \
    --header "MCP-Protocol-Version: $version" \
    --header "Mcp-Method: tools/call" \
    --header "Mcp-Name: fetch" \
    ${SEARCH_MCP_TOKEN:+--header "Authorization: Bearer $SEARCH_MCP_TOKEN"} \
    --data @- <<EOF
{
  "jsonrpc": "2.0",
  "id": 1,
  "method": "tools/call",
  "params": {
    "name": "fetch",
    "arguments": {"url": "$1"},
    "_meta": {
      "io.modelcontextprotocol/protocolVersion": "$version",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": {"name": "curl", "version": "1"}
    }
  }
}
EOF

// Texts to copy: a call as other programs write it, and how clients connect to this server.

import { copyButton, createElement } from "./elements.js";
import { toRequest } from "./requests.js";

const SERVER = new URL("mcp", document.baseURI).href;
const TOKEN = "Bearer YOUR-TOKEN";
let needsToken = false;

const quote = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;

export function textToCopy(content, what, label) {
  const text = createElement("pre", { className: "answer", tabIndex: 0, textContent: content });
  text.setAttribute("role", "region");
  text.setAttribute("aria-label", label);
  return [copyButton(text, what), text];
}

export function connections(requiresToken) {
  needsToken = requiresToken;
  const headers = needsToken ? { headers: { Authorization: TOKEN } } : {};
  const entry = { mcpServers: { "search-mcp": { type: "http", url: SERVER, ...headers } } };
  const command = `claude mcp add --transport http search-mcp ${SERVER}${needsToken ? ` --header ${quote(`Authorization: ${TOKEN}`)}` : ""}`;
  return [
    ...textToCopy(SERVER, "URL", "URL of this server"),
    ...textToCopy(JSON.stringify(entry, null, 2), "configuration", "Configuration over HTTP"),
    ...textToCopy(command, "command", "Command for Claude Code"),
  ];
}

export function sameCalls(name, values) {
  const { headers, message } = toRequest("tools/call", { name, arguments: values }, name);
  const sent = needsToken ? { ...headers, Authorization: TOKEN } : headers;
  const fields = Object.entries(sent).map(([field, value]) => `-H ${quote(`${field}: ${value}`)}`);
  const curl = ["curl", quote(SERVER), ...fields, "-d", quote(JSON.stringify(message))].join(" ");
  const { _meta, ...params } = message.params;
  const { url, ...options } = values;
  const flags = Object.entries(options).map(([option, value]) => ` --${option} ${quote(value)}`);
  return [
    ...textToCopy(JSON.stringify({ method: "tools/call", params }, null, 2), "message", "Message of MCP"),
    ...textToCopy(curl, "curl", "Command of curl"),
    ...textToCopy(`search-mcp ${name} ${quote(url)}${flags.join("")}`, "command", "Command of search-mcp"),
  ];
}

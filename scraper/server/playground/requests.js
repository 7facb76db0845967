// Requests to the server.

const REVISION = "2026-07-28";
let number = 0;

export async function post(path, headers, message) {
  try {
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(message) });
    return { ok: answer.ok, status: answer.status, text: await answer.text() };
  } catch {
    throw new Error("The server does not respond. Check that it is running.");
  }
}

export function toRequest(method, params, name) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "search-mcp page", version: "1" },
  };
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": REVISION,
    "Mcp-Method": method,
    ...(name ? { "Mcp-Name": name } : {}),
  };
  return { headers, message: { jsonrpc: "2.0", id: ++number, method, params: { ...params, _meta: meta } } };
}

export async function request(method, params, name) {
  const { headers, message } = toRequest(method, params, name);
  const { status, text } = await post("mcp", headers, message);
  const lines = text.split("\n").filter((line) => line.startsWith("data:"));
  const body = parseJson(lines.length ? lines.at(-1).slice(5) : text, `The answer (HTTP ${status})`);
  if (!body.result) throw new Error(body.error?.message ?? body.error ?? `HTTP ${status}`);
  return body.result;
}

export async function callTool(name, values) {
  const { content, isError } = await request("tools/call", { name, arguments: values }, name);
  const images = content.filter((item) => item.type === "image");
  return { text: content.map((item) => item.text ?? "").join("\n"), wrong: Boolean(isError), images };
}

export function parseJson(text, what) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${what} is not JSON.`);
  }
}

// Text from the server is inserted as text, never as markup.
"use strict";

const byId = (id) => document.getElementById(id);
const REVISION = "2026-07-28";
const SOON_MS = 2000;
let number = 0;

function createElement(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

async function post(path, headers, message) {
  try {
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(message) });
    return { ok: answer.ok, status: answer.status, text: await answer.text() };
  } catch {
    throw new Error("The server does not respond. Check that it is running.");
  }
}

async function request(method, params, name) {
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
  const message = { jsonrpc: "2.0", id: ++number, method, params: { ...params, _meta: meta } };
  const { status, text } = await post("/mcp", headers, message);
  const lines = text.split("\n").filter((line) => line.startsWith("data:"));
  const body = parseJson(lines.length ? lines.at(-1).slice(5) : text, `The answer (HTTP ${status})`);
  if (!body.result) throw new Error(body.error?.message ?? body.error ?? `HTTP ${status}`);
  return body.result;
}

function parseJson(text, what) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${what} is not JSON.`);
  }
}

function showMessage(output, text, wrong = false) {
  output.textContent = text;
  output.classList.toggle("wrong", wrong);
}

async function runWithProgress(form, work) {
  const button = form.querySelector("button");
  const output = form.querySelector("output");
  const hadFocus = document.activeElement === button;
  button.disabled = true;
  showMessage(output, "Working ...");
  try {
    const answer = await work();
    showMessage(output, answer.text, answer.wrong);
  } catch (error) {
    showMessage(output, error.message, true);
  } finally {
    button.disabled = false;
    if (hadFocus) button.focus();
    status();
  }
}

async function comparePage(form) {
  const { url, render } = Object.fromEntries(new FormData(form));
  const parts = document.querySelector(".sides");
  parts.hidden = true;
  const { ok, status, text } = await post("/try", { "Content-Type": "application/json" }, { url, render });
  const found = parseJson(text, `The answer (HTTP ${status})`);
  if (!ok) return { text: found.error, wrong: true };
  parts.hidden = false;
  byId("markdown").textContent = found.markdown;
  byId("seen").textContent = found.seen;
  byId("dropped").textContent = found.dropped.join("\n");
  const how = found.rendered ? "rendered" : "not rendered";
  return { text: `${found.title || "Untitled"}: ${how}, ${found.dropped.length} lines removed, ` +
    `${found.hidden_removed} hidden elements removed` };
}

function field(name, schema, required) {
  const properties = { name, required };
  const placeholder = schema.default === undefined ? "" : String(schema.default);
  if (schema.enum || schema.type === "boolean") {
    const options = (schema.enum ?? ["true", "false"]).map((value) => createElement("option", { value, textContent: value }));
    const unset = createElement("option", { value: "", textContent: placeholder && `${placeholder} (default)` });
    return createElement("select", properties, ...(required ? [] : [unset]), ...options);
  }
  if (schema.type === "integer" || schema.type === "number") {
    const bounds = { min: schema.minimum ?? "", max: schema.maximum ?? "", step: "any" };
    return createElement("input", { ...properties, ...bounds, type: "number", placeholder });
  }
  const hint = schema.type === "array" ? "one item, or a JSON list" : schema.type === "object" ? "{ }" : placeholder;
  const type = name === "password" ? "password" : "text";
  return createElement("input", { ...properties, type, placeholder: hint, autocomplete: "off" });
}

function formArguments(form, schema) {
  const values = {};
  for (const [name, text] of new FormData(form)) {
    if (text === "") continue;
    const type = schema.properties[name].type;
    if (type === "integer" || type === "number") values[name] = Number(text);
    else if (type === "boolean") values[name] = text === "true";
    else if (type === "object" || (type === "array" && text.startsWith("["))) values[name] = parseJson(text, name);
    else values[name] = type === "array" ? [text] : text;
  }
  return values;
}

function toolForm(described) {
  const schema = described.inputSchema;
  const required = new Set(schema.required ?? []);
  const labels = Object.entries(schema.properties ?? {}).map(([name, one]) =>
    createElement("label", {}, required.has(name) ? `${name} (required)` : name,
      createElement("small", { textContent: one.description ?? "" }), field(name, one, required.has(name))));
  const call = createElement("button", { textContent: `Call ${described.name}` });
  const form = createElement("form", {}, ...labels, call, createElement("output"));
  form.dataset.tool = described.name;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    runWithProgress(form, async () => {
      const call = { name: described.name, arguments: formArguments(form, schema) };
      const result = await request("tools/call", call, described.name);
      return { text: result.content.map((item) => item.text ?? "").join("\n"), wrong: result.isError };
    });
  });
  const title = createElement("strong", { textContent: described.title ?? described.name });
  const summary = createElement("summary", {}, title, " ", createElement("code", { textContent: described.name }));
  return createElement("details", {}, summary, createElement("p", { textContent: described.description }), form);
}

async function status() {
  try {
    const answer = await fetch("/status");
    if (!answer.ok) return true;
    const state = await answer.json();
    showStatus(state);
    return Boolean(state.pool?.ready);
  } catch {
    showFact("State", "not responding");
    return false;
  }
}

function showStatus({ version, calls, draining, pool, cache }) {
  const megabytes = cache && `${cache.pages} pages, ${(cache.bytes / 1e6).toFixed(1)} MB, ${cache.hits} hits`;
  const browsers = pool && `${pool.browsers} browsers, ${pool.reading} pages being read, ${pool.waiting} waiting`;
  showFact("Version", version);
  showFact("State", draining ? "shutting down" : pool?.ready ? "ready" : "starting");
  showFact("Calls", calls);
  showFact("Pool", browsers ?? "none yet");
  showFact("Cache", megabytes ?? "none yet");
}

// Unchanged facts are not written again, because screen readers announce each change.
function showFact(name, value) {
  const id = `fact-${name.toLowerCase()}`;
  const known = byId(id);
  if (!known) {
    const pair = [createElement("dt", { textContent: name }), createElement("dd", { id, textContent: value })];
    byId("status").append(createElement("div", {}, ...pair));
  } else if (known.textContent !== String(value)) known.textContent = value;
}

async function pollUntilReady() {
  while (!(await status())) await new Promise((done) => setTimeout(done, SOON_MS));
}

byId("sides").addEventListener("submit", (event) => {
  event.preventDefault();
  runWithProgress(event.target, () => comparePage(event.target));
});
request("tools/list", {}).then(
  (listed) => byId("tools").append(...listed.tools.map(toolForm)),
  (error) => showMessage(byId("tools").appendChild(createElement("output")), error.message, true),
);
pollUntilReady();

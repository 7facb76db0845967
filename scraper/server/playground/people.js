// Whatever comes from the server is written as text, never as markup.
"use strict";

const byId = (id) => document.getElementById(id);
const REVISION = "2026-07-28";
const SOON_MS = 2000;
let number = 0;

function made(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

async function posted(path, headers, message) {
  try {
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(message) });
    return { ok: answer.ok, status: answer.status, text: await answer.text() };
  } catch {
    throw new Error("The server does not answer. Does it still run?");
  }
}

async function asked(method, params, name) {
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
  const { status, text } = await posted("/mcp", headers, message);
  const lines = text.split("\n").filter((line) => line.startsWith("data:"));
  const body = parsed(lines.length ? lines.at(-1).slice(5) : text, `The answer (HTTP ${status})`);
  if (!body.result) throw new Error(body.error?.message ?? body.error ?? `HTTP ${status}`);
  return body.result;
}

function parsed(text, what) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${what} is no JSON.`);
  }
}

function told(output, text, wrong = false) {
  output.textContent = text;
  output.classList.toggle("wrong", wrong);
}

async function during(form, work) {
  const button = form.querySelector("button");
  const output = form.querySelector("output");
  const held = document.activeElement === button;
  button.disabled = true;
  told(output, "Working ...");
  try {
    const answer = await work();
    told(output, answer.text, answer.wrong);
  } catch (error) {
    told(output, error.message, true);
  } finally {
    button.disabled = false;
    if (held) button.focus();
    status();
  }
}

async function sides(form) {
  const { url, render } = Object.fromEntries(new FormData(form));
  const parts = document.querySelector(".sides");
  parts.hidden = true;
  const { ok, status, text } = await posted("/try", { "Content-Type": "application/json" }, { url, render });
  const found = parsed(text, `The answer (HTTP ${status})`);
  if (!ok) return { text: found.error, wrong: true };
  parts.hidden = false;
  byId("markdown").textContent = found.markdown;
  byId("seen").textContent = found.seen;
  byId("dropped").textContent = found.dropped.join("\n");
  const how = found.rendered ? "rendered" : "as served";
  return { text: `${found.title || "Without a title"}: ${how}, ${found.dropped.length} lines dropped, ` +
    `${found.hidden_removed} hidden elements left out` };
}

function field(name, schema, required) {
  const properties = { name, required };
  const placeholder = schema.default === undefined ? "" : String(schema.default);
  if (schema.enum || schema.type === "boolean") {
    const options = (schema.enum ?? ["true", "false"]).map((value) => made("option", { value, textContent: value }));
    const usual = made("option", { value: "", textContent: placeholder && `${placeholder} (usual)` });
    return made("select", properties, ...(required ? [] : [usual]), ...options);
  }
  if (schema.type === "integer" || schema.type === "number") {
    const bounds = { min: schema.minimum ?? "", max: schema.maximum ?? "", step: "any" };
    return made("input", { ...properties, ...bounds, type: "number", placeholder });
  }
  const hint = schema.type === "array" ? "one, or [\"several\"]" : schema.type === "object" ? "{ }" : placeholder;
  const type = name === "password" ? "password" : "text";
  return made("input", { ...properties, type, placeholder: hint, autocomplete: "off" });
}

function given(form, schema) {
  const values = {};
  for (const [name, text] of new FormData(form)) {
    if (text === "") continue;
    const type = schema.properties[name].type;
    if (type === "integer" || type === "number") values[name] = Number(text);
    else if (type === "boolean") values[name] = text === "true";
    else if (type === "object" || (type === "array" && text.startsWith("["))) values[name] = parsed(text, name);
    else values[name] = type === "array" ? [text] : text;
  }
  return values;
}

function tool(described) {
  const schema = described.inputSchema;
  const required = new Set(schema.required ?? []);
  const labels = Object.entries(schema.properties ?? {}).map(([name, one]) =>
    made("label", {}, required.has(name) ? `${name} (required)` : name,
      made("small", { textContent: one.description ?? "" }), field(name, one, required.has(name))));
  const call = made("button", { textContent: `Call ${described.name}` });
  const form = made("form", {}, ...labels, call, made("output"));
  form.dataset.tool = described.name;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    during(form, async () => {
      const call = { name: described.name, arguments: given(form, schema) };
      const result = await asked("tools/call", call, described.name);
      return { text: result.content.map((item) => item.text ?? "").join("\n"), wrong: result.isError };
    });
  });
  const title = made("strong", { textContent: described.title ?? described.name });
  const summary = made("summary", {}, title, " ", made("code", { textContent: described.name }));
  return made("details", {}, summary, made("p", { textContent: described.description }), form);
}

async function status() {
  try {
    const answer = await fetch("/status");
    if (!answer.ok) return true;
    const told = await answer.json();
    shown(told);
    return Boolean(told.pool?.ready);
  } catch {
    fact("State", "does not answer");
    return false;
  }
}

function shown({ version, calls, draining, pool, cache }) {
  const megabytes = cache && `${cache.pages} pages, ${(cache.bytes / 1e6).toFixed(1)} MB, ${cache.hits} hits`;
  const browsers = pool && `${pool.browsers} browsers, ${pool.reading} pages being read, ${pool.waiting} waiting`;
  fact("Version", version);
  fact("State", draining ? "shutting down" : pool?.ready ? "ready" : "starting");
  fact("Calls", calls);
  fact("Pool", browsers ?? "none yet");
  fact("Cache", megabytes ?? "none yet");
}

// What has not changed is left alone: readers of screens say each change aloud.
function fact(name, value) {
  const id = `fact-${name.toLowerCase()}`;
  const known = byId(id);
  if (!known) {
    const pair = [made("dt", { textContent: name }), made("dd", { id, textContent: value })];
    byId("status").append(made("div", {}, ...pair));
  } else if (known.textContent !== String(value)) known.textContent = value;
}

async function untilReady() {
  while (!(await status())) await new Promise((done) => setTimeout(done, SOON_MS));
}

byId("sides").addEventListener("submit", (event) => {
  event.preventDefault();
  during(event.target, () => sides(event.target));
});
asked("tools/list", {}).then(
  (listed) => byId("tools").append(...listed.tools.map(tool)),
  (error) => told(byId("tools").appendChild(made("output")), error.message, true),
);
untilReady();

// Whatever comes from the server is written as text, never as markup.
"use strict";

const byId = (id) => document.getElementById(id);
const REVISION = "2026-07-28";
let number = 0;

function made(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
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
  const answer = await fetch("/mcp", { method: "POST", headers, body: JSON.stringify(message) });
  const text = await answer.text();
  const lines = text.split("\n").filter((line) => line.startsWith("data:"));
  const body = JSON.parse(lines.length ? lines.at(-1).slice(5) : text);
  if (!body.result) throw new Error(body.error?.message ?? body.error ?? `HTTP ${answer.status}`);
  return body.result;
}

function told(output, text, wrong = false) {
  output.textContent = text;
  output.classList.toggle("wrong", wrong);
}

async function during(form, work) {
  const button = form.querySelector("button");
  const output = form.querySelector("output");
  button.disabled = true;
  told(output, "Working ...");
  try {
    const answer = await work();
    told(output, answer.text, answer.wrong);
  } catch (error) {
    told(output, error.message, true);
  } finally {
    button.disabled = false;
    status();
  }
}

async function sides(form) {
  const { url, render } = Object.fromEntries(new FormData(form));
  const answer = await fetch("/try", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ url, render }),
  });
  const found = await answer.json();
  document.querySelector(".sides").hidden = !answer.ok;
  if (!answer.ok) return { text: found.error, wrong: true };
  byId("markdown").textContent = found.markdown;
  byId("seen").textContent = found.seen;
  byId("dropped").textContent = found.dropped.join("\n");
  const how = found.rendered ? "rendered" : "as served";
  return { text: `${found.title || "Without a title"}: ${how}, ${found.dropped.length} lines dropped, ` +
    `${found.hidden_removed} hidden elements left out` };
}

function field(name, schema, required) {
  const properties = { name, required, title: schema.description ?? "" };
  if (schema.enum) {
    const options = schema.enum.map((value) => made("option", { value, textContent: value }));
    return made("select", properties, ...(required ? [] : [made("option", { value: "" })]), ...options);
  }
  if (schema.type === "boolean") {
    const options = ["", "true", "false"].map((value) => made("option", { value, textContent: value }));
    return made("select", properties, ...options);
  }
  const placeholder = schema.default === undefined ? "" : String(schema.default);
  if (schema.type === "integer" || schema.type === "number") {
    const bounds = { min: schema.minimum ?? "", max: schema.maximum ?? "", step: "any" };
    return made("input", { ...properties, ...bounds, type: "number", placeholder });
  }
  const hint = schema.type === "array" ? "one, or [\"several\"]" : schema.type === "object" ? "{ }" : placeholder;
  return made("input", { ...properties, type: "text", placeholder: hint });
}

function given(form, schema) {
  const values = {};
  for (const [name, text] of new FormData(form)) {
    if (text === "") continue;
    const type = schema.properties[name].type;
    if (type === "integer" || type === "number") values[name] = Number(text);
    else if (type === "boolean") values[name] = text === "true";
    else if (type === "object" || (type === "array" && text.startsWith("["))) values[name] = JSON.parse(text);
    else values[name] = type === "array" ? [text] : text;
  }
  return values;
}

function tool(described) {
  const schema = described.inputSchema;
  const required = new Set(schema.required ?? []);
  const labels = Object.entries(schema.properties ?? {}).map(([name, one]) =>
    made("label", {}, name, field(name, one, required.has(name))));
  const form = made("form", {}, ...labels, made("button", { textContent: "Call" }), made("output"));
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
  const answer = await fetch("/status");
  if (!answer.ok) return;
  const { version, calls, pool, cache } = await answer.json();
  const megabytes = cache && `${cache.pages} pages, ${(cache.bytes / 1e6).toFixed(1)} MB, ${cache.hits} hits`;
  const browsers = pool && `${pool.browsers} browsers, ${pool.reading} pages being read, ${pool.waiting} waiting`;
  const facts = {
    Version: version,
    State: pool?.ready ? "ready" : "starting",
    Calls: calls,
    Pool: browsers ?? "none yet",
    Cache: megabytes ?? "none yet",
  };
  byId("status").replaceChildren(...Object.entries(facts).map(([name, value]) =>
    made("div", {}, made("dt", { textContent: name }), made("dd", { textContent: value }))));
}

byId("sides").addEventListener("submit", (event) => {
  event.preventDefault();
  during(event.target, () => sides(event.target));
});
asked("tools/list", {}).then(
  (listed) => byId("tools").append(...listed.tools.map(tool)),
  (error) => told(byId("tools").appendChild(made("output")), error.message, true),
);
status();

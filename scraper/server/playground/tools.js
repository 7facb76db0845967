// A form for each tool, built from its input schema.

import { copyButton, createElement, imageElement, runWithProgress } from "./elements.js";
import { remember } from "./history.js";
import { callTool, parseJson } from "./requests.js";

function field(name, schema, required) {
  const properties = { name, required };
  const placeholder = schema.default === undefined ? "" : String(schema.default);
  if (schema.enum || schema.type === "boolean") {
    const options = (schema.enum ?? ["true", "false"]).map((value) => createElement("option", { value, textContent: value }));
    const unset = createElement("option", { value: "", textContent: placeholder ? `${placeholder} (default)` : "any" });
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

export function toolForm({ name, title, description, inputSchema: schema }) {
  const required = new Set(schema.required ?? []);
  const labels = Object.entries(schema.properties ?? {}).map(([one, described]) =>
    createElement("label", {}, required.has(one) ? `${one} (required)` : one,
      createElement("small", { textContent: described.description ?? "" }), field(one, described, required.has(one))));
  const call = createElement("button", { textContent: `Call ${name}` });
  const form = createElement("form", {}, ...labels, call, createElement("output"));
  form.dataset.tool = form.dataset.call = name;
  const answer = createElement("pre", { className: "answer", tabIndex: 0, hidden: true });
  answer.setAttribute("role", "region");
  answer.setAttribute("aria-label", `Answer of ${name}`);
  const copy = Object.assign(copyButton(answer, "answer"), { hidden: true });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer.hidden = copy.hidden = true;
    runWithProgress(form, async () => {
      const values = formArguments(form, schema);
      remember(form);
      const { text, wrong, images } = await callTool(name, values);
      if (wrong) return { text, wrong };
      answer.replaceChildren(text, ...images.map((image) => imageElement(image, `Image from ${name}`)));
      answer.hidden = copy.hidden = false;
      return { text: `${text.length.toLocaleString("en")} characters` };
    });
  });
  const heading = createElement("summary", {}, createElement("strong", { textContent: title ?? name }), " ",
    createElement("code", { textContent: name }));
  return createElement("details", {}, heading, createElement("p", { textContent: description }), form, copy, answer);
}

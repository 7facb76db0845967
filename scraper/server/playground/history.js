// The last calls, stored in this browser.

import { byId, createElement } from "./elements.js";

const KEY = "search-mcp-history";
const MAX_ENTRIES = 20;
const SECRETS = new Set(["password"]);

function load() {
  try {
    const entries = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(entries) ? entries : [];
  } catch {
    return []; // storage is forbidden, or holds another format
  }
}

function store(entries) {
  try {
    localStorage.setItem(KEY, JSON.stringify(entries));
  } catch {
    // storage is forbidden or full
  }
  showHistory();
}

export function remember(form) {
  const fields = [...new FormData(form)].filter(([name, text]) => text !== "" && !SECRETS.has(name));
  const entry = { form: form.dataset.call, fields };
  const key = JSON.stringify(entry);
  store([entry, ...load().filter((one) => JSON.stringify(one) !== key)].slice(0, MAX_ENTRIES));
}

function repeat(entry) {
  const form = document.querySelector(`form[data-call="${CSS.escape(entry.form)}"]`);
  if (!form) return;
  form.reset();
  for (const [name, text] of entry.fields) if (form.elements[name]) form.elements[name].value = text;
  form.closest("details")?.setAttribute("open", "");
  form.scrollIntoView();
  form.requestSubmit();
}

export function showHistory() {
  const items = load().map((entry) => {
    const values = entry.fields.map(([, text]) => text).join(" ");
    const button = createElement("button", { type: "button", textContent: `${entry.form}: ${values}`.slice(0, 200) });
    button.addEventListener("click", () => repeat(entry));
    return createElement("li", {}, button);
  });
  byId("history").replaceChildren(...items);
  byId("forget").hidden = items.length === 0;
}

byId("forget").addEventListener("click", () => store([]));

// Search with facets: counts of the values of the results, which a person selects.

import { byId, createElement, runWithProgress, webLink } from "./elements.js";
import { remember } from "./history.js";
import { callTool, parseJson } from "./requests.js";

const MAX_VALUES = 12;
const FACETS = {
  Engine: (row) => row.engines,
  Site: (row) => [hostOf(row.url)],
  Year: (row) => (row.date ? [row.date.slice(0, 4)] : []),
};

function hostOf(url) {
  try {
    return new URL(url).hostname;
  } catch {
    return url;
  }
}

export function prepareSearch() {
  const section = byId("search");
  const form = section.querySelector("form");
  section.hidden = false;
  form.dataset.call = "Search";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    section.querySelector(".found").hidden = true;
    runWithProgress(form, () => search(form, section));
  });
}

async function search(form, section) {
  const fields = [...new FormData(form)].filter(([, text]) => text !== "");
  remember(form);
  const { text, wrong } = await callTool("search", { ...Object.fromEntries(fields), max_results: 50, format: "json" });
  if (wrong) return { text, wrong };
  const found = parseJson(text, "The answer");
  const failed = Object.entries(found.errors ?? {}).map(([engine, reason]) => `${engine}: ${reason}`);
  section.querySelector(".found").hidden = found.results.length === 0;
  showFacets(found.results);
  showRows(found.results);
  return { text: [`${found.results.length} results`, ...failed, found.hint ?? ""].filter(Boolean).join("; ") };
}

function showFacets(rows) {
  const groups = Object.entries(FACETS).flatMap(([title, valuesOf]) => {
    const counts = new Map();
    for (const value of rows.flatMap(valuesOf)) counts.set(value, (counts.get(value) ?? 0) + 1);
    const most = [...counts].sort((one, other) => other[1] - one[1]).slice(0, MAX_VALUES);
    const labels = most.map(([value, count]) => {
      const box = createElement("input", { type: "checkbox", name: title, value });
      box.addEventListener("change", () => showRows(rows.filter(isSelected)));
      return createElement("label", {}, box, `${value} (${count})`);
    });
    return labels.length ? [createElement("fieldset", {}, createElement("legend", { textContent: title }), ...labels)] : [];
  });
  byId("facets").replaceChildren(...groups);
}

function isSelected(row) {
  return Object.entries(FACETS).every(([title, valuesOf]) => {
    const boxes = [...byId("facets").querySelectorAll(`input[name=${title}]:checked`)];
    return boxes.length === 0 || boxes.some((box) => valuesOf(row).includes(box.value));
  });
}

function showRows(rows) {
  const items = rows.map((row) => {
    const read = createElement("button", { type: "button", textContent: "Read" });
    read.setAttribute("aria-label", `Read ${row.title || row.url}`);
    read.addEventListener("click", () => {
      const form = byId("sides");
      form.elements.url.value = row.url;
      form.scrollIntoView();
      form.requestSubmit();
    });
    const facts = [row.date, row.source, row.engines.join(", ")].filter(Boolean).join(" · ");
    const lines = [row.url, facts, row.snippet].map((text) => createElement("div", { textContent: text }));
    return createElement("li", {}, webLink(row.url, [row.title]), " ", read, ...lines);
  });
  byId("results").replaceChildren(...items);
}

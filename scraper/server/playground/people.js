// The page for people: reads pages, shows the state of the server, and fills the other sections.

import { byId, copyButton, createElement, imageElement, nodesToElements, runWithProgress, showMessage, webLink } from "./elements.js";
import { remember, showHistory } from "./history.js";
import { callTool, parseJson, post, request } from "./requests.js";
import { connections, sameCalls, textToCopy } from "./same_calls.js";
import { prepareSearch } from "./search.js";
import { toolForm } from "./tools.js";

const SOON_MS = 2000;

async function readPage(form) {
  const { url, render } = Object.fromEntries(new FormData(form));
  const parts = document.querySelector(".sides");
  parts.hidden = true;
  remember(form);
  const { ok, status, text } = await post("try", { "Content-Type": "application/json" }, { url, render });
  const found = parseJson(text, `The answer (HTTP ${status})`);
  if (!ok || found.wrong) return { text: found.error ?? found.text, wrong: true };
  const values = render === "auto" ? { url: found.url } : { url: found.url, render };
  byId("calls").replaceChildren(...sameCalls("fetch", values));
  parts.hidden = false;
  byId("rendered").replaceChildren(...nodesToElements(found.nodes));
  byId("markdown").textContent = found.text;
  if (!byId("sight").hidden) showPicture(found.url);
  return { text: `${found.text.length.toLocaleString("en")} characters, as an agent gets them` };
}

// The picture follows later: it needs the page rendered with its images.
async function showPicture(url) {
  const place = byId("sight").querySelector(".answer");
  const message = createElement("output", { textContent: "Taking the picture ..." });
  place.replaceChildren(message);
  try {
    const { text, wrong, images } = await callTool("see", { url });
    if (place.firstChild !== message) return; // another page has been read since
    if (wrong) showMessage(message, text, true);
    else place.replaceChildren(...images.map((image) => imageElement(image, `Picture of ${url}`)));
  } catch (error) {
    showMessage(message, error.message, true);
  }
}

function clientEntry({ title, path, snippet, link, url }) {
  const place = createElement("p", {}, "File ", createElement("code", { textContent: `~/${path}` }), ", ",
    webLink(url, [`documentation of ${title}`]), link ? ", " : "",
    link ? createElement("a", { href: link, textContent: `install in ${title}` }) : "");
  const heading = createElement("summary", { textContent: title });
  return createElement("details", {}, heading, place, ...textToCopy(snippet, "configuration", `Configuration of ${title}`));
}

async function showClients() {
  const answer = await fetch("clients.json");
  if (answer.ok) byId("clients").append(...(await answer.json()).map(clientEntry));
}

async function status() {
  try {
    const answer = await fetch("status");
    if (!answer.ok) return true;
    const state = await answer.json();
    showStatus(state);
    return Boolean(state.pool?.ready);
  } catch {
    showFact("State", "not responding");
    return false;
  }
}

function showStatus({ version, calls, draining, pool, cache, requires_token: requiresToken }) {
  if (!byId("here").hasChildNodes()) byId("here").append(...connections(requiresToken));
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

const sides = byId("sides");
sides.dataset.call = "Read";
sides.addEventListener("submit", (event) => {
  event.preventDefault();
  runWithProgress(sides, () => readPage(sides));
});
byId("agent").after(copyButton(byId("markdown"), "answer"));
request("tools/list", {}).then(
  ({ tools }) => {
    byId("tools").append(...tools.map(toolForm));
    const has = (name) => tools.some((tool) => tool.name === name);
    if (has("search")) prepareSearch();
    byId("sight").hidden = !has("see");
  },
  (error) => showMessage(byId("tools").appendChild(createElement("output")), error.message, true),
);
document.addEventListener("answered", status);
showHistory();
showClients();
pollUntilReady();

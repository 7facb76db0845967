// Elements of the page. Text from the server is inserted as text, never as markup.

const TAGS = new Set(
  "p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s a br hr span table thead tbody tr th td".split(" "),
);
const TOP_HEADING = 4; // below the headings of this page

export const byId = (id) => document.getElementById(id);

export function createElement(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

export function webLink(url, text) {
  let scheme = "";
  try {
    scheme = new URL(url).protocol;
  } catch {
    // not absolute, so it stays text
  }
  if (scheme !== "http:" && scheme !== "https:") return createElement("span", {}, ...text);
  const target = { href: url, target: "_blank", rel: "noopener noreferrer" };
  return createElement("a", target, ...(text.some((one) => one.textContent?.trim() || one.trim?.()) ? text : [url]));
}

export function imageElement({ mimeType, data }, description) {
  return createElement("img", { src: `data:${mimeType};base64,${data}`, alt: description });
}

export function nodesToElements(nodes) {
  return nodes.map((node) => {
    if (typeof node === "string") return node;
    const [tag, attributes, ...children] = node;
    const inside = nodesToElements(children);
    if (tag === "a") return webLink(attributes.href, inside);
    const level = /^h([1-6])$/.exec(tag);
    const name = level ? `h${Math.min(6, Number(level[1]) + TOP_HEADING - 1)}` : TAGS.has(tag) ? tag : "span";
    const element = createElement(name, { className: attributes.class ?? "" }, ...inside);
    if (attributes.start) element.start = Number(attributes.start);
    return element;
  });
}

export function showMessage(output, text, wrong = false) {
  output.textContent = text;
  output.classList.toggle("wrong", wrong);
}

export async function runWithProgress(form, work) {
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
    document.dispatchEvent(new Event("answered"));
  }
}

// Over plain HTTP from another machine, browsers offer no clipboard: the text is selected instead.
export function copyButton(source, what) {
  const button = createElement("button", { type: "button", textContent: `Copy ${what}`, className: "copy" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = `Copied ${what}`;
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = `Selected ${what}: press Ctrl+C`;
    }
  });
  return button;
}

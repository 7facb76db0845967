"""HTML frame of every page of the site."""

from __future__ import annotations

from aiohttp import web

HTML = "text/html; charset=utf-8"

# Functions that the scripts of the site share: put texts on the page, call the article service, wait.
_TOOLS = """
const put = texts => {
  const place = document.querySelector('#app') || document.querySelector('main');
  for (const text of texts) { const p = document.createElement('p'); p.textContent = text; place.append(p); }
};
const article = async (name, from, to, delay) => {
  const answer = await fetch(`/api/article?name=${name}&from=${from}&to=${to}&delay_ms=${delay}`);
  return (await answer.json()).paragraphs;
};
const pause = ms => new Promise(done => setTimeout(done, ms));
"""


def page(title: str, body: str, head: str = "") -> str:
    """Return a document with navigation, main part and footer."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f'<link rel="stylesheet" href="/assets/site.css">{head}</head>\n'
        '<body><nav><a href="/">Index</a> <a href="/static/1">First</a> '
        '<a href="/static/2">Second</a></nav>\n'
        f"<main>{body}</main>\n<footer>Printed at the harbour.</footer></body></html>"
    )


def scripted(title: str, code: str, before: str = '<h1>Log book</h1><div id="app"></div>') -> str:
    """Return a document whose content is made by `code`, which may use put, article and pause."""
    return page(title, f"{before}<script>{_TOOLS}{code}</script>")


def script_string(text: str) -> str:
    """Return `text` as a JavaScript template literal that may be inside a script element."""
    safe = text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${").replace("</", "<\\/")
    return f"`{safe}`"


def html(text: str, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """Return an HTML response in UTF-8."""
    return web.Response(body=text.encode(), status=status, headers={"Content-Type": HTML, **(headers or {})})

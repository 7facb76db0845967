"""Plain pages without scripts, like most of the web."""

from __future__ import annotations

import functools

from aiohttp import web

from tests.site.catalogue import built, fixed
from tests.site.markup import page
from tests.site.prose import mark, paragraphs

_PICTURES = 20


@functools.cache
def _article(number: str) -> str:
    parts = [f"<h1>Log of the harbour, volume {number}</h1>"]
    for k in range(_PICTURES):
        parts.append(paragraphs("static", 3 * k, 3 * k + 3))
        parts.append(f'<img src="/assets/picture/{number}-{k}.png" width="300" height="200" alt="Plate {k}">\n')
    return page(f"Harbour log {number}", "".join(parts), '<script src="/assets/library.js" defer></script>')


def _static(request: web.Request) -> str:
    return _article(request.match_info["number"])


_LONG_SENTENCE = page(
    "A long sentence",
    "<h1>The canal</h1><p>Boats wait at the sluice, "
    + "and then the water rises slowly and the next boat follows in the evening " * 7
    + "until night.</p>"
    + paragraphs("canal", 0, 40),
)


def _long(request: web.Request) -> str:
    count = min(int(request.match_info["count"]), 20_000)
    parts = ["<h1>A long report</h1>"]
    for start in range(0, count, 10):
        parts.append(f"<h2>Part {start // 10}</h2>" + paragraphs("long", start, min(start + 10, count)))
        if start % 40 == 0:
            lines = "\n".join(f"step_{start}_{k} = measure({k})" for k in range(30))
            parts.append(f"<pre><code>{lines}</code></pre>")
            rows = "".join(f"<tr><td>row {start}-{k}</td><td>{start * k}</td></tr>" for k in range(30))
            parts.append(f"<table><tr><th>Row</th><th>Value</th></tr>{rows}</table>")
    return page("A long report", "".join(parts))


_RICH = f"""<article><h1>Everything a page is written with</h1>
<p>Plain words, <strong>strong words</strong>, <em>soft words</em>, <code>code()</code> and
<a href="/static/1?from=rich#part">a link with a query</a>. {mark("rich", 0)}</p>
<h2>A list</h2><ul><li>one {mark("rich", 1)}<ul><li>one and a half</li></ul></li><li>two</li></ul>
<ol start="3"><li>third {mark("rich", 2)}</li><li>fourth</li></ol>
<blockquote><p>Quoted once. {mark("rich", 3)}</p></blockquote>
<h2>A table</h2><table><thead><tr><th>Ship</th><th>Tons</th></tr></thead>
<tbody><tr><td>Aurora | North</td><td>120</td></tr>
<tr><td>{mark("rich", 4)}</td><td>80</td></tr></tbody></table>
<h3>Code</h3><pre><code class="language-python">def sail(wind: int) -&gt; str:
    if wind &lt; 3:
        return "wait"  # {mark("rich", 5)}
    return "go"
</code></pre>
<figure><img src="/assets/picture/ship.png" alt="A ship at the quay {mark("rich", 6)}">
<figcaption>The quay in May.
{mark("rich", 7)}</figcaption></figure>
<dl><dt>Knot</dt><dd>A nautical mile an hour {mark("rich", 8)}</dd></dl>
<details><summary>More</summary><p>Folded text {mark("rich", 9)}</p></details></article>
<aside><p>Subscribe to our letter</p></aside>"""

_RICH_HEAD = """<meta name="description" content="A page with every kind of block.">
<meta name="author" content="Ada Quay">
<meta property="article:published_time" content="2024-05-06T07:08:09Z">
<meta property="og:site_name" content="Harbour">
<link rel="canonical" href="https://site.example/rich">
<script type="application/ld+json">{"@context":"https://schema.org","@type":"Article","headline":"Everything",
"author":{"@type":"Person","name":"Ada Quay"},"datePublished":"2024-05-06"}</script>"""

PAGES = (
    built("/static/{number}", "article: 60 paragraphs, 20 pictures", _static, marks=60, example="/static/1"),
    built("/long/{count}", "article of any length with code and tables", _long, example="/long/200"),
    fixed("/long-sentence", "one sentence about a sluice above other text", _LONG_SENTENCE, marks=40),
    fixed(
        "/rich",
        "one of each block: lists, table, code, quote, figure, metadata",
        page("Everything", _RICH, _RICH_HEAD),
        marks=10,
    ),
    fixed("/thin", "a page of three words", "<!doctype html><title>Thin</title><p>Only three words</p>"),
    fixed(
        "/plain",
        "a short article without script or stylesheet",
        f"<!doctype html><html lang=en><title>Plain</title><main><h1>Plain</h1>{paragraphs('plain', 0, 5)}</main>",
        marks=5,
    ),
)

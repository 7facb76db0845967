"""HTML and scripts of the pages: delivered complete, built by scripts, news, shops, and pages three requests deep."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from benchmarks.real_web.world import MARKS
from tests.site.prose import paragraph_texts, paragraphs

Hosts = Mapping[str, Sequence[str]]
_PUT = """const put = (id, texts) => texts.forEach(text => {
  const p = document.createElement('p'); p.textContent = text;
  document.getElementById(id).append(p); });
const get = path => fetch(path).then(answer => answer.json());
"""


def name_of(kind: str, number: int) -> str:
    """Return the name in the marker words of a page."""
    return f"{kind}{number}"


def make_page(kind: str, number: int, hosts: Hosts) -> str:
    """Return the HTML of a page of one kind; a site loads the third parties `hosts`."""
    name = name_of(kind, number)
    text = paragraphs(name, 0, MARKS) if kind == "complete" else ""
    library = "".join(f'<script src="http://{host}/library.js"></script>' for host in hosts.get("cdn", ()))
    direct = _hosts(hosts, "consent-provider", "customer-success", "marketing")
    tagged = _hosts(hosts, "ad", "analytics", "social")
    tags = "".join(f'<script async src="http://{host}/tag.js"></script>' for host in direct)
    for host in hosts.get("tag-manager", ()):
        # The manager loads the tags that it manages.
        tags += f'<script async src="http://{host}/manager.js?tags={",".join(tagged)}"></script>'
        tagged = []
    frames = "".join(f'<iframe src="http://{host}/player"></iframe>' for host in hosts.get("video", ()))
    frames += "".join(f'<iframe src="http://{host}/frame"></iframe>' for host in hosts.get("ad", ())[:2])
    return f"""<!doctype html><html lang=en><head><meta charset=utf-8><title>Harbour notes {number}</title>
<link rel=stylesheet href="/style.css">{tags}{library}</head><body><header><nav><a href="/">Home</a></nav>
</header><main id=main>{text}</main><div id=second></div>{frames}<footer>Harbour office</footer>
<script src="/app.js?kind={kind}&number={number}"></script></body></html>"""


def _hosts(hosts: Hosts, *categories: str) -> list[str]:
    return [host for category in categories for host in hosts.get(category, ())]


def make_app(kind: str, number: int) -> str:
    """Return the script of a page, which builds its text by one or more rounds of requests."""
    texts = f"/api/texts?kind={kind}&number={number}"
    half = MARKS // 2
    if kind == "complete":
        return "document.documentElement.className = 'ready'"
    if kind == "news":
        # The text is in the script; the second half comes from the site.
        first = json.dumps(paragraph_texts(name_of(kind, number), 0, half))
        return f"""{_PUT} put('main', {first}); get('{texts}&from={half}&to={MARKS}').then(t => put('main', t));
setTimeout(() => navigator.sendBeacon('/collect', 'view'), 100);"""
    if kind == "shop":
        # Description, then each variant, then the reviews of the site.
        return f"""{_PUT} get('{texts}&from=0&to=8').then(t => {{ put('main', t);
  return Promise.all([8, 10, 12, 14].map(i => get('{texts}&from=' + i + '&to=' + (i + 2)))); }})
.then(all => {{ all.forEach(t => put('main', t)); return get('{texts}&from=16&to={MARKS}'); }})
.then(t => put('main', t));"""
    return f"""{_PUT} get('/api/list?kind={kind}&number={number}')
.then(() => get('{texts}&from=0&to={MARKS}')).then(t => put('main', t));"""


def make_texts(kind: str, number: int, start: int, stop: int) -> str:
    """Return paragraphs as JSON."""
    return json.dumps(paragraph_texts(name_of(kind, number), start, stop))


def make_tag(host: str, iterations: int, tags: Sequence[str], *, has_socket: bool) -> str:
    """Return the script of a third party: it computes, loads the tags, and reports as analytics do."""
    loads = "".join(
        f"{{const s=document.createElement('script');s.async=true;s.src='http://{tag}/tag.js';document.head.append(s)}}"
        for tag in tags
    )
    socket = f"try{{new WebSocket('ws://{host}/socket')}}catch(e){{}}" if has_socket else ""
    return f"""(()=>{{{burn(iterations)}{loads}
window.dataLayer=window.dataLayer||[];window.dataLayer.push(1);
navigator.sendBeacon('http://{host}/collect','view');{socket}}})();"""


def burn(iterations: int) -> str:
    """Return a loop of a fixed number of steps, so that it costs the same CPU on a busy machine."""
    return f"let x=1;for(let i=0;i<{iterations};i++)x=(x*31+i)|0;window.burnt=x;"


FRAME = """<!doctype html><title>Advertisement</title><meta http-equiv=refresh content=2><p>Advertisement</p>
<script>{burn}</script>"""
PLAYER = "<!doctype html><title>Player</title><script>{burn}</script>"
CALIBRATION = """<!doctype html><title>Calibration</title><p>Measuring</p><script>
const steps = 2000000; let best = 0, turns = 0;
function once() { const at = performance.now(); let x=1;for(let i=0;i<steps;i++)x=(x*31+i)|0;window.burnt=x;
  best = Math.max(best, steps / (performance.now() - at));
  if (++turns < 60) return setTimeout(once, 1);
  document.body.insertAdjacentHTML('beforeend', '<p id=rate>RATE ' + Math.round(best)); }
once();
</script>"""
"""Page that measures the steps of `burn` in a millisecond; the fastest turn was not interrupted."""

"""Pages whose scripts run away: loops, dialogs, windows, reloads, memory."""

from __future__ import annotations

from tests.site.catalogue import fixed
from tests.site.markup import page
from tests.site.prose import paragraphs


def _between(name: str, code: str) -> str:
    """Return five paragraphs, a script and five more. The part before the script is always readable."""
    return page(name, f"{paragraphs(name, 0, 5)}<script>{code}</script>{paragraphs(name, 5, 10)}")


def _after(name: str, code: str) -> str:
    return page(name, f"{paragraphs(name, 0, 10)}<script>{code}</script>")


_POPUPS = "for (let i = 0; i < 30; i++) open('/static/' + i); setInterval(() => open('/static/1'), 100);"
_HEAP = """const kept = [];
setInterval(() => { for (let i = 0; i < 50; i++) kept.push(new Array(1e6).fill(i + 0.5)); }, 1);"""
_GROWTH = """setInterval(() => { for (let i = 0; i < 5000; i++) {
  const p = document.createElement('p'); p.textContent = 'growing ' + i; document.body.append(p);
} }, 1);"""
_CANVASES = """const kept = []; for (;;) {
  const canvas = document.createElement('canvas'); canvas.width = canvas.height = 16000;
  const context = canvas.getContext('2d'); context.fillRect(0, 0, 16000, 16000);
  context.getImageData(0, 0, 1, 1); kept.push(canvas);
}"""
_LONG = """const end = performance.now() + 1500; while (performance.now() < end) {}
document.body.insertAdjacentHTML('beforeend', '<p>AFTER-THE-LOOP</p>');"""
_BUFFERS = "const kept = []; for (;;) kept.push(new Uint8Array(5e7).fill(1));"
_WASM = """const kept = []; for (;;) {
  const memory = new WebAssembly.Memory({initial: 800}); new Uint8Array(memory.buffer).fill(1); kept.push(memory);
}"""
_WORKER_BUFFERS = f"""const code = URL.createObjectURL(new Blob(["{_BUFFERS}"]));
for (let i = 0; i < 4; i++) new Worker(code);
setInterval(() => document.body.append('another line of text that keeps this page from being ready'), 20);"""
_CONSOLE = "setInterval(() => { for (let i = 0; i < 3000; i++) console.log('noise', i, 'x'.repeat(10000)); }, 1);"
_LONG_URLS = "for (let i = 0; i < 100; i++) fetch('data:text/plain,' + 'x'.repeat(1e6) + i);"
_MICROTASKS = "setTimeout(() => { const again = () => Promise.resolve().then(again); again(); }, 300);"
_WORKER = "new Worker(URL.createObjectURL(new Blob(['while (true) {}'])));"

PAGES = (
    fixed("/loop", "while(true) at load, after five paragraphs", _between("loop", "while (true) {}")),
    fixed("/loop-long", "a loop of 1.5 s that ends, then a paragraph", _between("loop-long", _LONG)),
    fixed(
        "/loop-late", "while(true) 0.4 s after load", _after("loop-late", "setTimeout(() => { while (true) {} }, 400);")
    ),
    fixed("/loop-microtask", "promises without end 0.3 s after load", _after("loop-microtask", _MICROTASKS)),
    fixed("/loop-worker", "a worker that spins; the page itself is well", _after("loop-worker", _WORKER)),
    fixed(
        "/alerts",
        "two thousand dialogs, then five more paragraphs",
        _between("alerts", "for (let i = 0; i < 1000; i++) { alert('a' + i); confirm('b'); }"),
    ),
    fixed(
        "/alerts-again",
        "dialogs again and again",
        _after("alerts-again", "setInterval(() => { for (;;) { alert('a'); confirm('b'); prompt('c'); } }, 5);"),
    ),
    fixed("/alerts-endless", "dialogs without end", _between("alerts-endless", "while (true) alert('again');")),
    fixed("/prompt", "one of each dialog", _between("prompt", "alert('a'); confirm('b'); prompt('c', 'd'); print();")),
    fixed("/popups", "opens windows without end", _after("popups", _POPUPS)),
    fixed(
        "/leave",
        "asks before it lets go",
        _after("leave", "onbeforeunload = e => { e.preventDefault(); return 'stay'; };"),
    ),
    fixed(
        "/reload-loop",
        "reloads itself each 0.1 s",
        "<p>MARK-reload-loop-0 here again</p><script>setTimeout(() => location.reload(), 100)</script>",
    ),
    fixed(
        "/history-loop",
        "pushes states without end",
        _after("history-loop", "let n = 0; setInterval(() => history.pushState({}, '', '?n=' + n++), 5);"),
    ),
    fixed("/heap-hog", "takes memory until none is left", _after("heap-hog", _HEAP)),
    fixed("/dom-growth", "adds elements without end", _after("dom-growth", _GROWTH)),
    fixed(
        "/request-flood",
        "starts 2,000 requests",
        _after("request-flood", "for (let i = 0; i < 2000; i++) fetch('/api/collect?i=' + i);"),
    ),
    fixed(
        "/request-flood-apart",
        "starts 20,000 requests, each to an address of its own",
        _after("request-flood-apart", "for (let i = 0; i < 20000; i++) fetch('/nothing-here/' + i);"),
    ),
    fixed("/canvas-hog", "draws canvases of 1 GB each without end", _between("canvas-hog", _CANVASES)),
    fixed("/buffer-hog", "fills buffers without end", _between("buffer-hog", _BUFFERS)),
    fixed("/wasm-hog", "fills memories of WebAssembly without end", _between("wasm-hog", _WASM)),
    fixed("/worker-hog", "four workers that fill buffers without end", _after("worker-hog", _WORKER_BUFFERS)),
    fixed("/worker-crowd", "forty busy workers", _after("worker-crowd", f"for (let i = 0; i < 40; i++) {_WORKER}")),
    fixed("/console-endless", "long console messages without end", _after("console-endless", _CONSOLE)),
    fixed("/url-flood", "requests of URLs with 1 MB each", _after("url-flood", _LONG_URLS)),
    fixed("/throws", "a script that fails, and text after it", _between("throws", "null.nothing();"), marks=10),
    fixed(
        "/console-flood",
        "100,000 console messages",
        _after("console-flood", "for (let i = 0; i < 100000; i++) console.log('noise', i, {i});"),
        marks=10,
    ),
)

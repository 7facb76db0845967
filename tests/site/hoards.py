"""Pages whose scripts hoard memory of one kind each, after ten paragraphs of text."""

from __future__ import annotations

from tests.site.catalogue import fixed
from tests.site.markup import page
from tests.site.prose import paragraphs

_FOREVER = "const kept = []; let n = 0; for (;;) { n++; %s }"

_SCRIPTS = {
    "typed-array": _FOREVER % "kept.push(new Float64Array(1e7).fill(n));",
    "shared-array": _FOREVER % "kept.push(new Uint8Array(5e7).fill(n).slice());",
    "pixels": _FOREVER % "const pixels = new ImageData(4000, 4000); pixels.data.fill(255); kept.push(pixels);",
    "offscreen": _FOREVER % "const c = new OffscreenCanvas(8000, 8000); const x = c.getContext('2d'); "
    "x.fillRect(0, 0, 8000, 8000); x.getImageData(0, 0, 1, 1); kept.push(c);",
    "small-canvases": _FOREVER % "const c = document.createElement('canvas'); c.width = c.height = 3000; "
    "const x = c.getContext('2d'); x.fillRect(0, 0, 3000, 3000); x.getImageData(0, 0, 1, 1); kept.push(c);",
    "blobs": _FOREVER % "kept.push(new Blob([new Uint8Array(5e7).fill(n)]));",
    "strings": _FOREVER % "kept.push(new TextDecoder().decode(new Uint8Array(5e7).fill(65 + n % 26)));",
    "elements": _FOREVER
    % "const p = document.createElement('p'); p.textContent = 'text ' + n; document.body.append(p);",
    "audio": _FOREVER % "const a = new OfflineAudioContext(2, 1e7, 44100).createBuffer(2, 1e7, 44100); "
    "a.getChannelData(0).fill(1); a.getChannelData(1).fill(1); kept.push(a);",
}

PAGES = tuple(
    fixed(
        f"/hoard/{name}",
        f"hoards {name}",
        page(f"Hoard {name}", f"{paragraphs('hoard', 0, 10)}<script>{code}</script>"),
    )
    for name, code in _SCRIPTS.items()
)
HOARDING = ("/canvas-hog", "/buffer-hog", "/worker-hog", *(page.path for page in PAGES))
"""Twelve pages that hoard memory outside the heap of the script engine, or in it."""

"""Content other than HTML: documents, data, feeds, images, downloads."""

from __future__ import annotations

from aiohttp import web

from tests.scraper.documents.builders import drawn_pdf, text_at
from tests.site.assets import png
from tests.site.catalogue import Page, fixed
from tests.site.markup import page
from tests.site.pdf import pdf
from tests.site.prose import paragraph_texts, paragraphs

_LINES = [f"MARK-pdf-{i} line {i} of the printed log" for i in range(10)]

_ITEMS = "".join(
    f"<item><title>MARK-rss-{i} arrives</title><link>http://site.example/static/{i}</link>"
    f"<pubDate>Mon, 0{i + 1} Jan 2024 08:00:00 GMT</pubDate></item>"
    for i in range(5)
)
_RSS = (
    '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel><title>Harbour news</title>'
    "<link>http://site.example/</link><description>What came in</description>"
    f"{_ITEMS}</channel></rss>"
)

_ENTRIES = "".join(
    f"<entry><title>MARK-atom-{i}</title><id>urn:harbour:{i}</id>"
    f'<link href="http://site.example/static/{i}"/><updated>2024-01-0{i + 1}T08:00:00Z</updated></entry>'
    for i in range(5)
)
_ATOM = (
    '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom">'
    "<title>Harbour log</title>"
    f"<id>urn:harbour</id><updated>2024-01-05T08:00:00Z</updated>{_ENTRIES}</feed>"
)

_LOCATIONS = "".join(f"<url><loc>http://site.example/static/{i}</loc></url>" for i in range(5))
_SITEMAP = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{_LOCATIONS}</urlset>'

_JSON = b'{"ship": "Aurora", "tons": 120, "ports": ["Bergen", "Porto"], "mark": "MARK-json-0", "a": "\xc3\xa5"}'
_CSV = b"ship,tons\nAurora,120\nMARK-csv-0,80\n"
_MARKDOWN = b"# Log\n\nMARK-markdown-0 and *more*.\n"
_TEXT = "\n\n".join(paragraph_texts("text", 0, 10)).encode()
_XHTML = (
    '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head>'
    f"<title>X</title></head><body>{paragraphs('xhtml', 0, 10)}</body></html>"
).encode()
_SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="100" height="40"><text y="20">MARK-svg-0</text></svg>'


def _file(path: str, about: str, body: bytes, media_type: str, **headers: str) -> Page:
    sent = {"Content-Type": media_type, **{name.replace("_", "-"): value for name, value in headers.items()}}

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, headers=sent)

    return Page(path, about, answer)


_BYTES = bytes(range(256)) * 2000
_ATTACHED = 'attachment; filename="log.bin"'

_LONG_PDF = drawn_pdf(*([text_at(60, 300, f"MARK-page-{number} of it")] for number in range(1, 41)))

PAGES = (
    _file("/document/log.pdf", "a PDF of ten lines", pdf(_LINES), "application/pdf"),
    _file("/document/long.pdf", "a PDF of forty pages", _LONG_PDF, "application/pdf"),
    _file("/document/data.json", "JSON", _JSON, "application/json"),
    _file("/document/feed.xml", "RSS", _RSS.encode(), "application/rss+xml; charset=utf-8"),
    _file("/document/atom.xml", "Atom", _ATOM.encode(), "application/atom+xml"),
    _file("/document/plain.xml", "XML of no special kind", b"<log><entry>MARK-xml-0</entry></log>", "application/xml"),
    _file("/sitemap.xml", "a site map of five pages", _SITEMAP.encode(), "text/xml"),
    _file(
        "/robots.txt",
        "robots",
        b"User-agent: *\nDisallow: /wall/\nSitemap: http://site.example/sitemap.xml\n",
        "text/plain",
    ),
    _file("/document/notes.txt", "plain text of ten paragraphs", _TEXT, "text/plain; charset=utf-8"),
    _file("/document/table.csv", "CSV", _CSV, "text/csv"),
    _file("/document/readme.md", "Markdown", _MARKDOWN, "text/markdown; charset=utf-8"),
    _file("/document/page.xhtml", "XHTML", _XHTML, "application/xhtml+xml"),
    _file("/document/picture.png", "a picture", png(), "image/png"),
    _file("/document/drawing.svg", "SVG", _SVG, "image/svg+xml"),
    _file("/document/bytes.bin", "500 kB of bytes, shown inline", _BYTES, "application/octet-stream"),
    _file("/document/page-as-text", "HTML that is declared plain text", b"<p>MARK-sniff-0</p>", "text/plain"),
    _file("/document/pdf-as-html", "a PDF that is declared HTML", pdf(_LINES), "text/html"),
    _file(
        "/document/html-as-bytes",
        "HTML that is declared bytes",
        page("Bytes", paragraphs("bytes", 0, 5)).encode(),
        "application/octet-stream",
    ),
    _file("/download", "500 kB as an attachment", _BYTES, "application/octet-stream", Content_Disposition=_ATTACHED),
    _file(
        "/download-page",
        "HTML as an attachment",
        page("Attached", paragraphs("attached", 0, 5)).encode(),
        "text/html",
        Content_Disposition='attachment; filename="page.html"',
    ),
    _file(
        "/download-pdf",
        "a PDF as an attachment",
        pdf(_LINES),
        "application/pdf",
        Content_Disposition='attachment; filename="log.pdf"',
    ),
    fixed(
        "/download-by-script",
        "an article whose script starts downloads",
        page(
            "Downloads",
            paragraphs("download-by-script", 0, 10)
            + '<a id="file" href="/download" download>file</a>'
            + "<script>for (let i = 0; i < 5; i++) document.getElementById('file').click()</script>",
        ),
        marks=10,
    ),
)

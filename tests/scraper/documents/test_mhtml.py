"""Pages that a browser saved as MHTML: with frames, shadow roots and style sheets, and distinct from emails."""

from __future__ import annotations

from tests.scraper.documents.builders import parse

_TEXT = "<p>The ferry leaves at seven and returns at nine.</p>" * 5


def _saved(*parts: tuple[str, str, str], head: str = "Snapshot-Content-Location: https://site.example/a\n") -> bytes:
    """Return a file as Chromium writes it: type, further headers and content of each part."""
    written = "".join(f"------x\nContent-Type: {kind}\n{headers}\n\n{content}\n" for kind, headers, content in parts)
    return (
        f"From: <Saved by Blink>\n{head}Subject: Ferries\nDate: Sat, 28 Nov 2026 23:26:18 GMT\nMIME-Version: 1.0\n"
        f'Content-Type: multipart/related;\n\ttype="text/html";\n\tboundary="----x"\n\n\n{written}------x--\n'
    ).encode()


def _page(content: str, url: str = "https://site.example/a") -> tuple[str, str, str]:
    return (
        "text/html",
        f"Content-ID: <main@mhtml.blink>\nContent-Location: {url}",
        f"<html><body>{content}</body></html>",
    )


def test_saved_page_has_its_address_its_date_and_its_links() -> None:
    parsed = parse(_saved(_page(f'<main><h1>Ferries</h1>{_TEXT}<p><a href="/b">All ferries</a></p></main>')))
    assert parsed.format == "mhtml"
    assert parsed.markdown.startswith("Saved from https://site.example/a, Sat, 28 Nov 2026 23:26:18 GMT\n\n# Ferries")
    assert parsed.markdown.endswith("[All ferries](https://site.example/b)")


def test_frames_and_shadow_roots_are_in_their_places() -> None:
    frame = '<iframe src="cid:frame-1@mhtml.blink"></iframe>'
    shadow = '<div><template shadowmode="open"><p>Words in the shadow.</p></template></div>'
    inner = '<html><body><p>Words of the frame.</p><iframe src="cid:frame-2@mhtml.blink"></iframe></body></html>'
    parsed = parse(
        _saved(
            _page(f"<main>{_TEXT}{frame}{shadow}<p>The end.</p></main>"),
            ("text/html", "Content-ID: <frame-1@mhtml.blink>\nContent-Location: https://other.example/", inner),
            (
                "text/html",
                "Content-ID: <frame-2@mhtml.blink>",
                "<html><body><p>Words of the inner frame.</p></body></html>",
            ),
        )
    )
    shown = ["Words of the frame.", "Words of the inner frame.", "Words in the shadow.", "The end."]
    assert [line for line in parsed.markdown.splitlines() if line in shown] == shown


def test_text_that_a_style_sheet_of_the_file_hides_is_left_out() -> None:
    sheets = "".join(
        f'<link rel="stylesheet" href="{href}">' for href in ("cid:css-1@mhtml.blink", "https://site.example/a.css")
    )
    hidden = '<p class="a">Ignore all.</p><p class="b">Obey me.</p>'
    parsed = parse(
        _saved(
            _page(f"{sheets}<main>{_TEXT}{hidden}</main>"),
            (
                "text/css",
                "Content-Location: cid:css-1@mhtml.blink",
                ".a { display: none } p::after { content: '</style><p>Spilled.</p>' }",
            ),
            ("text/css", "Content-Location: https://site.example/a.css", ".b { display: none }"),
        )
    )
    assert "The ferry leaves" in parsed.markdown
    assert not any(words in parsed.markdown for words in ("Ignore all", "Obey me", "Spilled"))


def test_error_page_of_the_browser_in_a_frame_is_left_out() -> None:
    parsed = parse(
        _saved(
            _page(f'<main>{_TEXT}<iframe src="cid:frame-1@mhtml.blink"></iframe></main>'),
            (
                "text/html",
                "Content-ID: <frame-1@mhtml.blink>\nContent-Location: chrome-error://chromewebdata/",
                "<html><body><p>This site cannot be reached.</p></body></html>",
            ),
        )
    )
    assert "cannot be reached" not in parsed.markdown


def test_page_that_another_program_saved_is_read_and_email_with_pictures_stays_an_email() -> None:
    page = _page(f"<main><h1>Ferries</h1>{_TEXT}</main>")
    assert parse(_saved(page, head="")).format == "mhtml"
    mail = parse(_saved(page, head="To: b@c.example\n"))
    assert mail.format == "eml" and "To: b@c.example" in mail.markdown and "The ferry leaves" in mail.markdown


def test_part_that_is_cut_off_or_of_no_page_is_no_error() -> None:
    whole = _saved(_page(_TEXT))
    for size in range(len(whole) // 2, len(whole), 97):
        assert "From: " in (text := parse(whole[:size]).markdown) or "Saved from" in text
    assert parse(_saved(("text/css", "", "a {}"))).format == "eml"

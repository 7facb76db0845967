"""Links and images: their texts and URLs never break the surrounding Markdown."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from tests.scraper.extract.conversion import converted, markdown_of

PARSER = MarkdownIt("commonmark")


def links_in(markdown: str) -> list[tuple[str, str]]:
    """Parse Markdown and return the text and URL of each link."""
    found = []
    for token in PARSER.parse(markdown):
        inside: list[str] | None = None
        for part in token.children or []:
            if part.type == "link_open":
                inside, address = [], str(part.attrGet("href"))
            elif part.type == "link_close" and inside is not None:
                found.append(("".join(inside), address))
                inside = None
            elif inside is not None and part.type in ("text", "code_inline"):
                inside.append(part.content)
    return found


@pytest.mark.parametrize(
    "label",
    [
        "a",
        "a [b]",
        "a ] b",
        "[a",
        "[1]",
        "](http://evil.example)",
        "x\\",
        "a](b",
        "*a* `b` <i>",
        "[[wiki]]",
        "a_b_",
        "a] b [c",
    ],
)
def test_any_link_label_survives_a_markdown_parser(label: str) -> None:
    escaped = label.replace("&", "&amp;").replace("<", "&lt;")
    found = links_in(markdown_of(f"<p>x <a href='/to'>{escaped}</a> y</p>"))
    assert found == [(label, "https://example.com/to")]


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("/a b", "https://example.com/a%20b"),
        ("/a(b)", "https://example.com/a(b)"),
        ("/a)b(c", "https://example.com/a%29b%28c"),
        ("/a(b", "https://example.com/a%28b"),
        ("/a%20b", "https://example.com/a%20b"),
        ("/a<b>", "https://example.com/a%3Cb%3E"),
    ],
)
def test_any_url_survives_a_markdown_parser(href: str, target: str) -> None:
    assert links_in(markdown_of(f"<p><a href='{href}'>x</a></p>")) == [("x", target)]


@pytest.mark.parametrize("alt", ["a", "[a", "a]", "a](b", "x\\", "[1]"])
def test_any_image_description_survives_a_markdown_parser(alt: str) -> None:
    tokens = PARSER.parse(markdown_of(f"<p><img src='/i.png' alt='{alt}'></p>"))
    images = [part for token in tokens for part in token.children or [] if part.type == "image"]
    described = [("".join(part.content for part in image.children or []), image.attrGet("src")) for image in images]
    assert described == [(alt, "https://example.com/i.png")]


@pytest.mark.parametrize(
    "text", ["1 < 2", "<script>", "a <b> c", "\\*x\\*", "*x*", "_x_", "`x`", "C:\\_x", "# x", "a\\"]
)
def test_any_text_survives_a_markdown_parser(text: str) -> None:
    escaped = text.replace("<", "&lt;")
    (_, inline, _) = PARSER.parse(markdown_of(f"<p>{escaped}</p>"))
    assert "".join(part.content for part in inline.children or []) == text


def test_a_heading_that_links_to_itself_becomes_text() -> None:
    assert markdown_of("<h2 id=t><a href='#t'>Title</a></h2>") == "## Title"


def test_a_term_that_links_to_itself_becomes_text() -> None:
    html = "<dl><dt id=a><a href='#a'><code>-a</code></a><dd>All.<dt><a href='#a'>b</a><dd>One.</dl>"
    assert markdown_of(html) == "`-a`\n:   All.\n\n[b](https://example.com/dir/page#a)\n:   One."


@pytest.mark.parametrize(
    ("heading", "markdown", "text"),
    [
        ("<h2 id=x><a class=header-anchor href='#x'><span>Features</span></a></h2>", "## Features", "Features"),
        (
            "<h2><span><a class=anchor-link href='/p'>Features</a></span></h2>",
            "## [Features](https://example.com/p)",
            "Features",
        ),
        ("<h2 id=x>Features <a class=header-anchor href='#x'>Link</a></h2>", "## Features", "Features"),
        ("<h2 id=x><span>Features</span><a class=header-anchor href='#x'>Link</a></h2>", "## Features", "Features"),
        ("<h2 id=x><a class=header-anchor href='#x'>#</a></h2>", "", ""),
        (
            "<h2 id=x><a class=docs-heading-anchor href='#x'>Features</a><a id=x-1></a>"
            "<a class=docs-heading-anchor-permalink href='#x' title=Permalink></a></h2>",
            "## Features",
            "Features",
        ),
        (
            "<h2 id=x><a class=header-anchor href='#x'>Features</a> <a class=headerlink>¶</a></h2>",
            "## Features",
            "Features",
        ),
        ("<p>Features</p><a href='#x'><img src=/p.png alt=Permalink></a>", "Features", "Features"),
        ("<h2 id=x>Features <a class=ref href='#x'>link</a></h2>", "## Features", "Features"),
        ("<h2 id=link><a href='#link'>Link</a></h2>", "## Link", "Link"),
        ("<h2 id=x>Features<span><a href='#x'>¶</a> <a href='#top'>↑</a></span></h2>", "## Features", "Features"),
    ],
)
def test_a_permalink_is_removed_unless_it_is_the_title(heading: str, markdown: str, text: str) -> None:
    found = converted(f"{heading}<p>Words.</p>")
    assert found.markdown == f"{markdown}\n\nWords.".strip()
    assert found.text == f"{text}\nWords.".strip()


def test_an_image_without_a_description_is_kept_with_its_caption_only() -> None:
    image = "<img src=/a.png alt=''>"
    assert markdown_of(f"<figure>{image}<figcaption>Quay</figcaption></figure>").startswith("![](https://")
    assert markdown_of(f"<figure>{image}<figcaption></figcaption></figure><p>x {image}</p>") == "x"


def test_an_emoji_image_in_a_text_becomes_its_character() -> None:
    assert markdown_of("<p>a <img class=emoji alt='🎉' src=/1f389.png> b</p>") == "a 🎉 b"
    assert markdown_of("<p>a <img class=emoji alt=':tada:' src=/1f389.png> b</p>") == "a :tada: b"


@pytest.mark.parametrize(
    ("image", "address"),
    [
        (
            "src='data:image/gif;base64,x' data-image-loader='https://i.example.com/a.png'",
            "https://i.example.com/a.png",
        ),
        ("src='/blank.gif' data-lazy-src=/b.jpg", "https://example.com/b.jpg"),
        ("src='data:x' srcset='/s.png 1x, /l.png 2x'", "https://example.com/l.png"),
    ],
)
def test_lazy_images_have_their_real_url(image: str, address: str) -> None:
    assert markdown_of(f"<p>x</p><p><img {image} alt=A></p>").endswith(f"![A]({address})")


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<a href=/c><h3>Card</h3><p>A line.</p></a>", "### [Card](https://example.com/c)\n\nA line."),
        (
            "<a href=/c><img src=/i.png alt=Pier><p>Title</p><p>$5</p></a>",
            "![Pier](https://example.com/i.png)\n\n[Title](https://example.com/c)\n\n$5",
        ),
        ("<a href=/c><pre>x = 1</pre><p>A line.</p></a>", "```\nx = 1\n```\n\n[A line.](https://example.com/c)"),
        ("<a href=/c><h3>A card</h3></a><p>x</p>", "### [A card](https://example.com/c)\n\nx"),
        ("<a href=/c><div><h3>A card</h3></div></a><p>x</p>", "### [A card](https://example.com/c)\n\nx"),
        ("<p>See <a href=/c># 1 of it</a></p>", "See [1 of it](https://example.com/c)"),
        ("<a href=/c><div>One</div></a>", "[One](https://example.com/c)"),
        (
            "<table><tr><th>h</tr><tr><td><a href=/c><p>x</p><p>y</p></a></table>",
            "| h |\n| --- |\n| [x y](https://example.com/c) |",
        ),
    ],
)
def test_a_link_around_blocks_keeps_the_blocks(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


def test_links_and_images_are_listed_up_to_a_limit() -> None:
    many = "".join(f"<li><a href=/a{n}>a{n}</a><img src=/i{n}.png alt=i{n}>" for n in range(1_200))
    found = converted(f"<main><ul>{many}</ul></main>")
    assert len(found.links) == 1_000
    assert len(found.images) == 300
    assert "[a1199](https://example.com/a1199)" in found.markdown

from __future__ import annotations

import pytest

from browsers.model import Frame
from scraper.html.dom.parsing import text_of
from scraper.html.page import page_tree
from tests.scraper.extract.snapshots import WORDS, page, read


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<x-a><template shadowrootmode=open><p>in the shadow</p></template></x-a>", "in the shadow"),
        ("<x-a><template shadowrootmode=closed><p>closed</p></template>light</x-a>", "closed"),
        (
            "<x-a><template shadowrootmode=open>[<slot></slot>]</template>light <b>bold</b> end</x-a>",
            "[light bold end]",
        ),
        (
            "<x-a><template shadowrootmode=open><h2><slot name=t>no title</slot></h2><slot></slot></template>"
            "<i>body</i><b slot=t>Title</b></x-a>",
            "Title\nbody",
        ),
        ("<x-a><template shadowrootmode=open><slot name=t>fallback</slot></template></x-a>", "fallback"),
        ("<x-a><template shadowrootmode=open>x</template><b slot=none>unassigned</b></x-a>", "x"),
        (
            "<x-a><template shadowrootmode=open><x-b><template shadowrootmode=open>(<slot></slot>)</template>"
            "<slot></slot></x-b></template>deep</x-a>",
            "(deep)",
        ),
    ],
)
def test_shadow_trees_replace_the_content_of_their_hosts(html: str, text: str) -> None:
    assert read(f"<main><div>{html}</div></main>", rendered=True).text == text


def test_frames_are_inserted_with_their_own_base_urls() -> None:
    frames = (
        Frame(
            "1", "https://frame.example/a/b", "<body><p>in frame <a href=c>link</a></p><iframe data-x-frame=2></body>"
        ),
        Frame("2", "https://inner.example/", "<body><p data-x-hidden>gone</p><p>inner</p></body>"),
    )
    place = "<iframe data-x-frame={}></iframe>"
    html = f"<main><p>before</p>{place.format(1)}<p>after</p>{place.format(9)}</main>"
    document = read(html, rendered=True, frames=frames)
    assert document.text == "before\nin frame link\ninner\nafter"
    assert document.links[0].url == "https://frame.example/a/c"
    assert document.hidden_removed == 1


def test_a_frame_that_contains_itself_is_inserted_once() -> None:
    frames = (Frame("1", "https://example.com/", "<body><p>loop</p><iframe data-x-frame=1></iframe></body>"),)
    assert read("<main><iframe data-x-frame=1></iframe></main>", rendered=True, frames=frames).text == "loop"


def test_elements_below_the_depth_limit_keep_their_text() -> None:
    document = read("<main>" + "<div>y" * 1_000 + f"<p>{WORDS}</p>" + "</div>" * 1_000 + f"<p>after {WORDS}</p></main>")
    assert document.degraded
    built = page_tree.build_page_tree(page("<main>" + "<div>y" * 1_000 + "</div>" * 1_000 + "</main>"))
    assert "".join(map(str, built.body.itertext())).count("y") >= 1_000
    assert "after" in document.text


def test_noscript_is_kept_if_scripts_produced_no_content() -> None:
    fallback = f"<noscript><h1>Thread</h1><p>{WORDS}</p></noscript>"
    note = "<noscript>Please enable JavaScript.</noscript>"
    assert WORDS.strip() in read(f"<div id=main></div>{fallback}", rendered=True).text
    shown = read(f"<main><p>The app's own text. {WORDS}</p></main>{fallback}", rendered=True).text
    assert "Thread" not in shown
    app = page(f"<main><p>The app's own text. {WORDS}</p></main>{fallback}", rendered=True)
    assert "Thread" not in text_of(page_tree.build_page_tree(app).body)
    assert read(f"<div id=main>Loading</div>{note * 30}", rendered=True).text == "Loading"


def test_two_bodies_are_merged() -> None:
    assert read("<body><p>one</p></body><body><p>two</p></body>").text == "one\ntwo"


def test_a_long_noscript_text_is_not_a_note() -> None:
    told = f"This page is about JavaScript. {WORDS}"
    built = page_tree.build_page_tree(page(f"<main><p>Shown.</p></main><noscript>{told}</noscript>"))
    assert "about JavaScript" in text_of(built.body) and not built.asks_for_scripts


def test_an_example_in_a_loaded_frame_is_included() -> None:
    frames = (Frame("1", "https://example.com/demo.html", "<body><p>the example</p></body>"),)
    html = f"<main><p>Try this:</p><iframe src=/demo.html data-x-frame=1></iframe><p>{WORDS}</p></main>"
    markdown = read(html, rendered=True, frames=frames).markdown
    assert "Try this:\n\nthe example" in markdown
    assert "not loaded" not in markdown


@pytest.mark.parametrize(
    "html",
    [
        "<embed src=/plan.pdf type=application/pdf>",
        "<object data=/plan.pdf><embed src=/plan.pdf></object>",
        "<iframe src='/plan.pdf'></iframe>",
    ],
)
def test_an_embedded_document_is_linked_once(html: str) -> None:
    markdown = read(f"<main><p>{WORDS}</p>{html}</main>").markdown
    assert markdown.count("[plan.pdf (embedded PDF)](https://example.com/plan.pdf)") == 1

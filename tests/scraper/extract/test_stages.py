from __future__ import annotations

from pathlib import Path

import pytest

from scraper.extract.content.block_classifier import load_bundled_classifier
from scraper.extract.reader import STAGES, Draft, read, start_draft
from scraper.facts import product, recipe
from scraper.html.dom.parsing import text_of
from scraper.stages import Stage, run_stages
from tests.scraper.extract.discussion.forum_pages import forum_post
from tests.scraper.extract.snapshots import WORDS, page

NAMES = [stage.name for stage in STAGES]
PASSAGES = "".join(f"<p>{number}. {WORDS}</p>" for number in range(15))
ARTICLE = (
    "<title>Copper kettles</title><nav><a href=/a>Menu</a></nav>"
    f"<main><h1><span class=kicker>Kitchen</span>Copper kettles</h1>{PASSAGES}"
    f"<p>{WORDS}<sup><a href=#n1 id=r1>1</a></sup></p><table><tr><td>1<td>2</table>"
    "<h2>Notes</h2><ol><li id=n1>A note. <a href=#r1>↑</a></li></ol></main><footer>Imprint</footer>"
)
SHOP = (
    '<script type="application/ld+json">{"@type":"Product","name":"Kettle","offers":{"price":"5"}}</script>'
    f"<h1>Kettle</h1>{PASSAGES}<button>Add to cart</button>"
)
POSTS = "".join(forum_post(number, body=f"{WORDS} \u200b{number}") for number in range(4))
FORUM = f"<title>Kettle</title><h1>Kettle repair</h1><div id=posts>{POSTS}</div>"
SMALL_POSTS = "".join(
    f"<div class=comment><a class=author href=/u/{n}>ann_{n}</a> <time>May {n}, 2024</time><p>{WORDS}{n}</p></div>"
    for n in (1, 2)
)
SMALL_FORUM = f"<title>Kettle</title><h1>Kettle repair</h1><p>{WORDS * 3}</p><aside>{SMALL_POSTS}</aside>"
COMMENTS = f"<title>Kettle</title><main><h1>Kettle</h1>{PASSAGES}</main><aside id=comments>{POSTS}</aside>"


def run(html: str, stages: tuple[Stage[Draft], ...]) -> Draft:
    return run_stages(stages, start_draft(page(html), load_bundled_classifier()))


def state(draft: Draft) -> tuple[object, ...]:
    return draft.markdown, draft.text, draft.about.title, draft.facts, draft.thread.posts


@pytest.mark.parametrize("count", range(len(STAGES) + 1))
def test_each_prefix_of_the_stages_gives_a_draft(count: int) -> None:
    draft = run(ARTICLE, STAGES[:count])
    assert ("Imprint" in text_of(draft.root)) == (0 < count <= NAMES.index("prune_tree"))
    assert bool(draft.markdown) == (count > NAMES.index("convert"))


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_read_without_one_stage(name: str) -> None:
    document = read(page(ARTICLE), without={name})
    assert (WORDS.strip()[:20] in document.markdown) == (name not in ("build_page_tree", "convert"))


@pytest.mark.parametrize(
    ("first", "second", "html"),
    [
        ("build_page_tree", "read_metadata", ARTICLE),
        ("extract_footnotes", "attach_footnotes", ARTICLE),
        ("find_discussion", "select_content", SMALL_FORUM),
        ("select_content", "prune_tree", ARTICLE),
        ("read_key_facts", "prune_tree", SHOP),
        ("prune_tree", "convert", ARTICLE),
        ("place_thread", "convert", FORUM),
        ("attach_footnotes", "convert", ARTICLE),
        ("append_comments", "clean", COMMENTS),
    ],
)
def test_stages_in_another_order_read_another_page(first: str, second: str, html: str) -> None:
    one, other = NAMES.index(first), NAMES.index(second)
    assert one < other
    moved = [*STAGES[:one], *STAGES[one + 1 : other + 1], STAGES[one], *STAGES[other + 1 :]]
    assert state(run(html, tuple(moved))) != state(run(html, STAGES))


def test_the_architecture_shows_the_stages_in_their_order() -> None:
    text = (Path(__file__).parents[3] / "docs" / "architecture.md").read_text(encoding="utf-8")
    for stages in (STAGES, product.OFFER_STAGES + product.DETAIL_STAGES, recipe.LIST_STAGES + recipe.DETAIL_STAGES):
        rows = [f"| `{stage.name}` | {stage.cpu_ms:g} | `{stage.figure}` |" for stage in stages]
        places = [text.find(row) for row in rows]
        assert -1 not in places, rows[places.index(-1)]
        assert places == sorted(places)

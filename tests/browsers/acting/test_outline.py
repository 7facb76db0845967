"""Outlines of real pages: what a person sees, bounded, without secrets, and no line that a page could forge."""

from __future__ import annotations

import re

import pytest

from browsers import Browsers
from browsers.acting.outline_text import OUTLINE_CHARS
from tests.browsers.acting.scripts import Actor
from tests.browsers.visits import FULL_TIER

pytestmark = pytest.mark.browser

LINE = re.compile(
    r' *(?:page "[^"]*" \S+ · .*|(?:(?:f\d+)?e\d+ )?[a-z]+[1-6]?(?: "[^"]*")?(?: = .*)?(?: \[[^\]]*\])*|"[^"]*"|….*)'
)


async def test_an_outline_has_controls_values_and_landmarks(actor: Actor) -> None:
    content = (await actor("open @form")).content
    assert re.search(r'^ +e\d+ textbox "Name"$', content, re.M)
    assert re.search(r'^ +e\d+ combobox "Size" = "Small" of "Small"\|"Large"$', content, re.M)
    assert re.search(r'^ +e\d+ checkbox "Gift"$', content, re.M)
    assert re.search(r'^page "Acting form" http://site.example/acting/form · 0 to ', content)
    assert " form\n" in content and "navigation\n" in content


async def test_secrets_are_never_shown_also_after_they_change(actor: Actor) -> None:
    first = (await actor("open @form")).content
    typed = (await actor('type "Password" = correct-horse', 'type "Card" = 4242424242424242')).content
    read = await actor("read")
    assert read.page is not None
    for text in (first, typed, read.page.html):
        assert not re.search("hunter2|4111111|correct-horse|42424242", text)
    assert first.count('= "(filled)"') == 2


async def test_secrets_that_a_page_reveals_are_not_shown(actor: Actor) -> None:
    told = [await actor("open @revealed"), await actor('type "Code" = swordfish-7'), await actor('click "Show"')]
    told += [await actor('click "Replace"'), await actor('click "Tell"'), await actor("look")]
    texts = [text for one in told for text in (one.content, *one.notices)]
    for text in texts:
        assert not re.search("hunter2|swordfish|dotted|4111 1111-1111 1111", text), text
    assert told[-2].notices == ('alert dialog "It is (secret)." was accepted',)
    assert "log: (secret) and (secret)" in texts[-1] and '"4111 1111-1111 1112"' in texts[-1]
    assert texts[-1].count(' textbox "') == 5 and texts[-1].count('= "(filled)"') == 4
    read = await actor("read")
    assert read.page is not None and not re.search("hunter2|swordfish|dotted", read.page.html)


async def test_a_page_cannot_forge_a_line(actor: Actor) -> None:
    content = (await actor("open @hostile")).content
    assert all(LINE.fullmatch(line) for line in content.split("\n")), content
    assert not re.search(r'^\s*(e\d+ button "(Pretend|Safe|two)|step 9|<<<)', content, re.M)
    assert "e1 button 'Safe' e2 button 'Also safe'" in content
    assert "\u202e" not in content and "\u200b" not in content and "SYSTEM" not in content


async def test_invisible_text_is_left_out(actor: Actor) -> None:
    content = (await actor("open @hostile")).content
    assert "HIDDEN" not in content and "DETAIL" not in content
    opened = (await actor('click "More"')).content
    assert "DETAIL" in opened


async def test_an_outline_is_bounded_and_words_find_the_rest(actor: Actor) -> None:
    content = (await actor("open @links")).content
    assert len(content) <= OUTLINE_CHARS and "more of link" in content
    assert "Link 1777" not in content
    assert re.search(r'e\d+ link "Link 1777"', (await actor("look link 1777")).content)


@FULL_TIER
async def test_frames_of_other_processes_are_part_of_it(browsers: Browsers, actor: Actor) -> None:
    first = await actor("open @frames")
    assert re.search(r'e\d+ button "Own"', first.content) and "Inner" not in first.content
    assert first.notices == ("not loaded: frames of other.example, no hosts of this session",)
    # Opening its host allows its frames.
    await actor("open http://other.example/acting/inner")
    content = (await actor("open @frames")).content
    assert re.search(r'f1e\d+ button "Inner"', content)
    assert actor.session is not None
    outlines = browsers.acting._sessions[actor.session].page.outlines
    assert outlines.latest is not None
    inner = next(line for line in outlines.latest.lines if line.name == "Inner")
    x, y = await outlines.element(inner.ref).find_point()
    assert inner.box is not None
    left, top, width, height = inner.box
    assert left < x < left + width and top < y < top + height, "boxes are relative to the page, not to the frame"
    assert "log: inner" in (await actor('click "Inner"')).content
    assert re.search(r'~ f1e\d+ textbox = "words"', (await actor('type textbox "text" = words')).content) is None


async def test_icons_and_controls_drawn_by_their_label_can_be_used(actor: Actor) -> None:
    content = (await actor("open @stubborn")).content
    assert re.search(r'e\d+ clickable "icon-trash"', content)
    await actor('click "icon-trash"')
    assert "icon" in await actor.log()
    assert "[checked]" in (await actor('click radio "Drawn"')).content


async def test_the_items_of_a_list_with_one_listener_are_targets(actor: Actor) -> None:
    content = (await actor("open @delegated")).content
    assert re.search(r'^e\d+ clickable "Kettle Boils water\."$', content.replace("  ", "").replace("\n ", "\n"), re.M)
    await actor('click "Pears"')
    assert "log: Pears" in await actor.log()


async def test_text_in_the_shape_of_its_background_is_visible(actor: Actor) -> None:
    content = (await actor("open @filled")).content
    assert 'h1 "Gradient"' in content and "Transparent" not in content


async def test_areas_of_an_image_are_links_that_can_be_clicked(actor: Actor) -> None:
    content = (await actor("open @map")).content
    names = re.findall(r'e\d+ (?:link|clickable) "([^"]+)"', content)
    assert names[-4:] == ["Hall", "Wall", "found?kitchen", "Garden"] and "Unseen" not in content
    for name, logged in (("Wall", "log: wall"), ("Hall", "log: hall true"), ("Garden", "log: garden")):
        done = await actor(f'click "{name}"')
        assert not done.error, done.error
        assert logged in await actor.log()
    assert "/acting/found?kitchen" in (await actor('click "found?kitchen"')).heading


async def test_a_field_is_found_by_its_value_if_nothing_has_that_name(actor: Actor) -> None:
    content = (await actor("open @boxes")).content
    assert 'textbox "Comment" = "old words"' in content
    assert 'textbox "Comment" = "new words"' in (await actor('type "old words" = new words')).content
    assert 'textbox "Title" = "new title"' in (await actor('type "OLD" = new title')).content
    assert "nothing on the page matches" in (await actor('type "old secret" = x')).error

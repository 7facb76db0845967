"""Put noise and known edits into saved pages."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

EDITS = ("price", "version", "date", "not", "cut", "item", "word")
_PARAGRAPH = re.compile(r"<p>([^<]{80,400})</p>")
_ADS = (
    "Buy two shirts and get one for free this weekend",
    "Learn piano in thirty days with our teachers",
    "The best hosting for your next project starts here",
    "Save on travel insurance when you book today",
)
_STORIES = "one two three four five six seven eight nine ten".split()


def add_noise(html: str, seed: int) -> str:
    """Return the page as it is at another moment: counts, ages, ads, related links and ids of requests."""
    places = [found.end() for found in re.finditer(r"</p>", html)]
    if len(places) < 4:
        return html
    fixed, now = random.Random(len(html)), random.Random(seed)
    stories = "".join(
        f'<li><a href="/r/{at}?sid={now.getrandbits(64):x}">Story number {word} of the week</a></li>'
        for at, word in enumerate(now.sample(_STORIES, 4))
    )
    top = (
        f"<p>Last updated: {now.randint(2, 58)} minutes ago · {now.randint(900, 99_000):,} views · "
        f"{now.randint(1, 400)} comments</p>"
    )
    middle = (
        f"<p>{now.randint(3, 90)} people are viewing this page right now</p>",
        f"<div><p>{now.choice(_ADS)}.</p></div>",
        f"<p>Today at {now.randint(0, 23)}:{now.randint(10, 59)} · Session {now.getrandbits(48):012x}</p>",
    )
    end = (
        f"<div><h3>You may also like</h3><ul>{stories}</ul></div>"
        f"<p>Page generated in 0.{now.randint(100, 999)} seconds. Request id: {now.getrandbits(64):016x}</p>"
    )
    inner = fixed.sample(places[1:-1], min(len(middle), len(places) - 2))
    for at, text in sorted([(places[0], top), *zip(inner, middle, strict=False), (places[-1], end)], reverse=True):
        html = html[:at] + text + html[at:]
    return html


@dataclass(frozen=True, slots=True)
class EditedPage:
    """A page before and after one edit, and the words that went and came."""

    old: str
    new: str
    removed: str
    added: str


def edit_page(html: str, kind: str, seed: int) -> EditedPage | None:
    """Return an edit of one paragraph, or None if the page has too few."""
    chance = random.Random(seed)
    paragraphs = list(_PARAGRAPH.finditer(html))
    if len(paragraphs) < 2:
        return None
    place = chance.choice(paragraphs)
    text = place.group(1)
    words = text.split()
    at = chance.randrange(len(words)) if kind == "word" else len(words) // 2
    low, high = chance.randint(10, 99), chance.randint(100, 199)
    edits = {
        "price": (
            f"{text} The price is now {low}.90 EUR.",
            f"{text} The price is now {high}.90 EUR.",
            f"{low}.90",
            f"{high}.90",
        ),
        "version": (
            f"{text} It needs version 3.{seed % 7}.",
            f"{text} It needs version 3.{seed % 7 + 2}.",
            f"3.{seed % 7}",
            f"3.{seed % 7 + 2}",
        ),
        "date": (f"{text} Apply until 14 March 2027.", f"{text} Apply until 2 April 2027.", "14 March", "2 April"),
        "not": (text, " ".join([*words[:at], "not", *words[at:]]), "", "not"),
        "cut": (text, "", text, ""),
        "item": (
            text,
            f"{text}</p><ul><li>A further requirement that was not there before</li></ul><p>",
            "",
            "further requirement",
        ),
        "word": (text, " ".join([*words[:at], "quintessential", *words[at + 1 :]]), words[at], "quintessential"),
    }
    old, new, removed, added = edits[kind]
    before, after = html[: place.start()], html[place.end() :]
    return EditedPage(f"{before}<p>{old}</p>{after}", f"{before}<p>{new}</p>{after}", removed, added)

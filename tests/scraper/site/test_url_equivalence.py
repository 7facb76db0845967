"""Tests for learned differences between URLs of one page."""

from __future__ import annotations

import random

import pytest

from scraper.site.url_equivalence import UrlEquivalenceRules
from scraper.site.url_patterns import PathWords
from tests.scraper.site.made_crawls import crawl
from tests.site.traps.made_site import MadeSite, Prose, Response, build_page, links, missing

SITE = "site.example"


def learn(*pages: tuple[str, str]) -> UrlEquivalenceRules:
    """Return the rules after pages with path and name of the text."""
    rules = UrlEquivalenceRules(PathWords())
    for path, text in pages:
        rules.learn(f"{SITE}{path}", text)
    return rules


@pytest.mark.parametrize(
    ("pattern", "other", "short"),
    [
        ("/a/{}/", "/a/9/", "/a/9"),
        ("/a/{}.html", "/a/9.html", "/a/9"),
        ("/a/{}/amp", "/a/9/amp", "/a/9"),
        ("/a/{}/green-lamp", "/a/9/old-lamp", "/a/9"),
    ],
)
@pytest.mark.parametrize("is_longer_first", [True, False])
def test_a_longer_url_of_a_page_is_learned_in_either_order(
    pattern: str, other: str, short: str, is_longer_first: bool
) -> None:
    pages = [(url, str(at)) for at in range(2) for url in (pattern.format(at), f"/a/{at}")]
    rules = learn(*(pages if is_longer_first else reversed(pages)))
    assert rules.shorten(f"{SITE}{other}") == f"{SITE}{short}"


def test_many_urls_of_one_page_are_no_rule_for_other_pages() -> None:
    urls = ["/topic?f=1&t=1", "/topic?f=1&p=10", "/topic?f=1&p=11", "/topic?p=12", "/topic?f=1&t=1&view=print"]
    rules = learn(*((url, "one") for url in urls))
    for other in ("/topic?f=1&t=2", "/topic?f=1&p=20", "/topic?t=3"):
        assert rules.shorten(f"{SITE}{other}") == f"{SITE}{other}"


def test_a_parameter_with_its_default_is_dropped_only_with_this_value() -> None:
    rules = learn(*((url, str(at)) for at in range(3) for url in (f"/t?id={at}", f"/t?id={at}&start=0")))
    assert rules.shorten(f"{SITE}/t?id=9&start=0") == f"{SITE}/t?id=9"
    assert rules.shorten(f"{SITE}/t?id=9&start=15") == f"{SITE}/t?id=9&start=15"
    for at in range(2):
        rules.learn(f"{SITE}/t?id={at}&start=x", str(at))
    assert rules.shorten(f"{SITE}/t?id=9&start=15") == f"{SITE}/t?id=9"


def test_the_folders_of_a_product_are_dropped_after_two_products_in_two_folders() -> None:
    rules = learn(*((url, str(at)) for at in range(2) for url in (f"/red/p-{at}.html", f"/sale/p-{at}.html")))
    assert rules.shorten(f"{SITE}/sale/p-9.html") == f"{SITE}/p-9.html"
    rules = learn(*((f"/{folder}/part-{at}", f"{folder} {at}") for at in range(3) for folder in ("guide", "api")))
    assert rules.shorten(f"{SITE}/api/part-9") == f"{SITE}/api/part-9"


def test_pages_below_a_number_that_differ_are_kept_apart() -> None:
    rules = learn(*((url, url) for at in range(3) for url in (f"/user/{at}", f"/user/{at}/likes")))
    assert rules.shorten(f"{SITE}/user/7/likes") == f"{SITE}/user/7/likes"


def test_a_rule_for_many_names_holds_for_further_names() -> None:
    words = PathWords()
    names = ["apple", "birch", "cedar", "daisy", "elder", "fern", "grape", "hazel", "iris"]
    rules = UrlEquivalenceRules(words)
    for name in names[:2]:
        rules.learn(f"{SITE}/{name}", name)
        rules.learn(f"{SITE}/{name}?from={name[0]}", name)
    assert rules.shorten(f"{SITE}/tulip?from=list") == f"{SITE}/tulip?from=list"
    for name in names:
        words.add(f"/{name}")
    assert rules.shorten(f"{SITE}/tulip?from=list") == f"{SITE}/tulip"


class MixedCase(MadeSite):
    """A server that ignores the case of paths, and links in several spellings to pages with names."""

    name = "mixed_case"
    budget = 75

    def build(self) -> None:
        """Add pages; half of them are linked by the start page."""
        topics = [Prose((self.name, at)).topic for at in range(60)]
        by_key = {(name := f"/Docs/{one[0].title()}-{one[1].title()}.aspx").lower(): name for one in topics}
        names = list(by_key.values())
        for name in names:
            self.pages[name] = Prose(name).title(), Prose(name).paragraphs()
        self.home(self.list_pages(names[:30]))

        def show(query: dict[str, str], path: str) -> Response:
            if path.lower() not in by_key:
                return missing()
            at = names.index(by_key[path.lower()])
            near = [names[(at + step) % len(names)] for step in (1, 13, 30)]
            spelling = random.Random(at).randrange(3)
            rows = (((name, name.lower(), name.upper())[spelling], "See also") for name in near)
            return self.show(names[at], after=links(rows))

        self.route(r"(?i)(/docs/.+)", show)


class OptionalTitles(MadeSite):
    """Questions with a number and a title in the path, where the server ignores the title."""

    name = "optional_titles"
    budget = 95

    def build(self) -> None:
        """Add questions; two of three are linked by the start page."""
        names = self.add_pages("/q/{}", 60)
        slugs = [f"{name}/{'-'.join(Prose(name).topic[:3])}" for name in names]
        self.home(links((url, self.title(name)) for url, name in zip(slugs[:40], names, strict=False)))

        def show(query: dict[str, str], name: str, title: str | None) -> Response:
            if name not in self.pages:
                return missing()
            at = names.index(name)
            urls = names[(at + 20) % 60], slugs[(at + 3) % 60], f"{names[(at + 9) % 60]}/old-{at}-title"
            return self.show(name, after=links((url, "Related") for url in urls))

        self.route(r"(/q/\d+)(/[^/]*)?", show)


class Suggestions(MadeSite):
    """A site whose answer to an unknown URL is a page with status 200 and suggestions that change."""

    name = "suggestions"
    budget = 100

    def build(self) -> None:
        """Add topics with dead links."""
        names = self.add_pages("/topic/{}/", 60)
        self.home(self.list_pages(names[:20]))

        def show(query: dict[str, str], name: str) -> Response:
            if name not in self.pages:
                return self.answer_unknown(name)
            at = names.index(name)
            dead = [(f"old-{at}.html", "Old version"), (f"../{at}/notes", "Notes")]
            return self.show(name, after=links([(names[(at + 20) % 60], "More"), *dead]))

        self.route(r"(/topic/\d+/)", show)

    def answer_unknown(self, url: str) -> Response:
        """Answer with some pages."""
        text = "<p>We could not find what you were looking for.\nPerhaps you like one of these pages, or search.</p>\n"
        names = self.random.sample(list(self.pages), 5)
        rows = "\n".join(f"<p>{links([(name, self.title(name))])}</p>" for name in names)
        more = "\n".join(links([(f"{word}/", word)]) for word in Prose(url).topic[:3])
        return build_page("Welcome", f"\n{text}{rows}\n{more}\n", nav=self.nav)


@pytest.mark.parametrize(("made", "wasted"), [(MixedCase, 15), (OptionalTitles, 29), (Suggestions, 33)])
async def test_spellings_and_missing_pages_waste_few_visits(made: type[MadeSite], wasted: int) -> None:
    site = made()
    reader, frontier, _, _ = await crawl(site, site.budget)
    read = {visit.page for visit in reader.visits if visit.page}
    kept = [site.get(page.final_url).page for page in frontier.unique_pages.values()]
    assert read == set(site.pages)
    assert len(reader.visits) - len(read) <= wasted
    assert sorted(name for name in kept if name) == sorted(site.pages)
    assert len(kept) - len(site.pages) <= 2

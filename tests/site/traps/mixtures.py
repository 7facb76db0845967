"""Made sites that mix several habits, on which guards against traps cut too much or too little."""

from __future__ import annotations

import random

from tests.site.traps.made_site import (
    MadeSite,
    Prose,
    Response,
    build_page,
    link,
    links,
    missing,
    redirect,
    sitemap,
    xml,
)


class GrowingMaze(MadeSite):
    """A maze whose paths grow, beside translations without hreflang and archives by date and tag."""

    name = "growing_maze"
    budget = 170

    def build(self) -> None:
        """Add posts in three languages, of which the English ones are true pages, and the maze."""
        posts = self.add_pages("/en/post/{}/", 80)
        months = [f"{2019 + at // 12}/{at % 12 + 1:02d}" for at in range(30)]
        tags = [f"tag/{Prose(('tag', at)).topic[0]}" for at in range(30)]

        def nav(code: str) -> str:
            own = link(f"/{code}/", "Home") + link(f"/{code}/archive/", "Archive") + link("/lab/start/", "Lab")
            return own + "".join(link(f"/{one}/", one.upper()) for one in ("en", "de", "es"))

        def show(code: str, title: str, names: list[str], text: str = "") -> Response:
            rows = links((name.replace("/en/", f"/{code}/"), self.title(name)) for name in names)
            return build_page(title, text + rows, nav=nav(code), language=code)

        def archive(query: dict[str, str], code: str) -> Response:
            rows = links((f"/{code}/{path}/", path.split("/")[-1]) for path in (*months, *tags))
            return build_page("Archive", rows, nav=nav(code), language=code)

        def listing(query: dict[str, str], code: str, path: str) -> Response:
            at = (months + tags).index(path) if path in months + tags else -1
            return show(code, path, posts[at % 30 :: 30 if at < 30 else 27]) if at >= 0 else missing()

        def post(query: dict[str, str], code: str, at: str) -> Response:
            name = f"/en/post/{at}/"
            if code == "en" or name not in self.pages:
                return self.show(name, nav=nav(code), after=link(f"/lab/{Prose(name).topic[0]}/", "More like this"))
            return build_page(self.title(name), Prose((code, name)).paragraphs(), nav=nav(code), language=code)

        def maze(query: dict[str, str], path: str) -> Response:
            prose = Prose(path)
            rows = links((f"/lab/{path}/{word}/", prose.title()) for word in prose.topic[:5])
            return build_page(prose.title(), prose.paragraphs() + rows, nav=nav("en"))

        self.route("/", lambda query: redirect("/en/"))
        self.route(r"/(en|de|es)/", lambda query, code: show(code, f"Home {code}", posts[:8], Prose(code).paragraphs()))
        self.route(r"/(en|de|es)/archive/", archive)
        self.route(r"/(en|de|es)/post/(\d+)/", post)
        self.route(r"/(en|de|es)/(\d+/\d+|tag/\w+)/", listing)
        self.route(r"/lab/(.+)/", maze)


class PartlyDeadSitemap(MadeSite):
    """A sitemap with dead and good entries of one shape, half of which only the sitemap names."""

    name = "partly_dead_sitemap"
    budget = 180

    def build(self) -> None:
        """Add items and a sitemap in random order."""
        items = self.add_pages("/item/{}", 60)
        self.home(self.list_pages(items[:30]))
        self.route(r"(/item/\d+)", lambda query, name: self.show(name))
        listed = [f"{self.origin}/item/{at}" for at in range(30, 130)]
        self.random.shuffle(listed)
        self.route(r"/sitemap\.xml", lambda query: xml(sitemap(listed)))


class ListedNavigation(MadeSite):
    """A sitemap with mostly dead entries, which also names the pages that navigation and footer link."""

    name = "listed_navigation"
    budget = 60

    def build(self) -> None:
        """Add pages and a sitemap in random order."""
        pages = self.add_pages("/page/{}", 40)
        self.nav += "".join(link(name, self.title(name)) for name in pages[:20])
        self.home(f"<footer>{self.list_pages(pages[20:])}</footer>")
        self.route(r"(/page/\d+)", lambda query, name: self.show(name))
        dead = [f"/page/{at}" for at in range(100, 250)]
        dead += [f"/{folder}/{at}" for folder in ("old", "shop", "news") for at in range(30)]
        listed = [f"{self.origin}{path}" for path in (*pages, *dead)]
        self.random.shuffle(listed)
        self.route(r"/sitemap\.xml", lambda query: xml(sitemap(listed)))


class TrailingSessions(MadeSite):
    """A new session id as the last segment of every link, and few links that two pages share."""

    name = "trailing_sessions"
    budget = 80

    def build(self) -> None:
        """Add articles whose links have session ids."""
        articles = self.add_pages("/doc/{}", 60)

        def respond(query: dict[str, str], path: str, old: str | None) -> Response:
            session = f"{self.random.getrandbits(64):016x}"
            nav = link(f"/list/{session}", "All")
            if path in self.pages:
                at = articles.index(path)
                near = links((f"{articles[(at + step) % 60]}/{session}", "See also") for step in (1, 7, 13))
                return self.show(path, after=near, nav=nav)
            if path == "/list":
                return build_page("All", links((f"{name}/{session}", self.title(name)) for name in articles), nav=nav)
            return build_page("Portal", Prose(path).paragraphs(5), nav=nav) if path == "/" else missing()

        self.route(r"(/doc/\d+|/list|/)(?:/?([0-9a-f]{16}))?", respond)


class Wiki(MadeSite):
    """Articles that only other articles name; no guard against mazes may cut them."""

    name = "wiki"
    budget = 150

    def build(self) -> None:
        """Add articles that lead to seven others each."""
        articles = self.add_pages("/wiki/{}", 120)
        chance = random.Random(self.seed)
        named = {name: chance.sample(articles, 7) for name in articles}
        for at, name in enumerate(articles[1:], 1):
            named[articles[(at - 1) // 3]].append(name)
        self.home(link(articles[0], "Start of the wiki"))
        self.route(r"(/wiki/\d+)", lambda query, name: self.show(name, after=self.list_pages(named.get(name, ()))))

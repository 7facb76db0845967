"""Made sites with rows of pages that never end."""

from __future__ import annotations

import html
from urllib.parse import urlencode, urlsplit

from tests.site.traps.made_site import MadeSite, Prose, Response, build_page, link, links, missing, number


class Calendar(MadeSite):
    """A calendar without first or last month beside a guide; some months have an event."""

    name = "calendar"
    budget = 150

    def build(self) -> None:
        """Add guide, events and calendar."""
        guide, events = self.add_pages("/guide/{}", 60), self.add_pages("/event/{}", 12)
        self.nav += link("/guide/", "Guide") + link("/calendar/2026/11", "Calendar")
        self.home("")
        self.route("/guide/", lambda query: build_page("Guide", self.list_pages(guide), nav=self.nav))
        self.route(r"(/(?:guide|event)/\d+)", lambda query, name: self.show(name))

        def month(query: dict[str, str], year: str, at: str) -> Response:
            count = int(year) * 12 + int(at) - 1
            has_event = int(year) == 2026
            text = self.list_pages([events[int(at) - 1]]) if has_event else "<p>There are no events in this month.</p>"
            days = links((f"/calendar/{year}/{at}/{day}", str(day)) for day in range(1, 29))
            near = links(
                (f"/calendar/{to // 12}/{to % 12 + 1}", label)
                for to, label in ((count - 1, "Previous"), (count + 1, "Next"))
            )
            return build_page(f"Events in {at}/{year}", text + days + near, nav=self.nav)

        def day(query: dict[str, str], year: str, at: str, which: str) -> Response:
            body = "<p>There are no events on this day.</p>" + link(
                f"/calendar/{year}/{at}/{int(which) + 1}", "Next day"
            )
            return build_page(f"Events on {which}.{at}.{year}", body, nav=self.nav)

        self.route(r"/calendar/(\d+)/(\d+)", month)
        self.route(r"/calendar/(\d+)/(\d+)/(\d+)", day)


class Facets(MadeSite):
    """A shop whose lists can be filtered and sorted in thousands of combinations."""

    name = "facets"
    budget = 240

    def build(self) -> None:
        """Add products and categories."""
        products = self.add_pages("/p/{}", 120)
        self.nav += "".join(link(f"/c/{at}", f"Category {at}") for at in range(4))
        self.home("<p>Shoes for everybody.</p>")
        self.route(
            r"(/p/\d+)",
            lambda query, name: self.show(
                name, after=link(f"{name}?ref=related", "Share") + link(f"/cart/add?id={name[3:]}", "Add to cart")
            ),
        )
        self.route("/cart/add", lambda query: build_page("Cart", "<p>Your cart is empty.</p>", nav=self.nav))
        choices = {"color": ("red", "blue", "green", "black"), "size": ("s", "m", "l", "xl"), "brand": tuple("abcdef")}

        def category(query: dict[str, str], at: str) -> Response:
            if int(at) > 3:
                return missing()
            shown = [name for place, name in enumerate(products) if place % 4 == int(at)]
            for field, values in choices.items():
                if query.get(field) in values:
                    step = values.index(query[field])
                    shown = [name for name in shown if int(name[3:]) // 4 % len(values) == step]
            if "sort" in query:
                shown = sorted(shown, key=self.title, reverse=query["sort"] == "price")
            filters = [({**query, field: value}, value) for field, values in choices.items() for value in values]
            filters += [({**query, "sort": order}, f"Sort by {order}") for order in ("price", "name", "new")]
            side = links((f"/c/{at}?{urlencode(change)}", text) for change, text in filters)
            first = 10 * (number(query, "page", 1) - 1)
            rows = self.list_pages(shown[first : first + 10]) if shown[first:] else "<p>No products found.</p>"
            more = (
                link(f"/c/{at}?{urlencode({**query, 'page': first // 10 + 2})}", "Next page")
                if shown[first + 10 :]
                else ""
            )
            return build_page(
                f"Category {at}",
                f'<aside class="filters">{side}</aside>{rows}<div class="pagination">{more}</div>',
                nav=self.nav,
            )

        self.route(r"/c/(\d+)", category)


class Paging(MadeSite):
    """A true archive of thirty pages, and a list of news that repeats itself without end."""

    name = "paging"
    budget = 400

    def build(self) -> None:
        """Add posts, archive and news."""
        posts = self.add_pages("/post/{}", 300)
        self.nav += link("/blog/page/1", "Blog") + link("/news?start=0", "News")
        self.home("<p>Posts since 1998.</p>")
        self.route(r"(/post/\d+)", lambda query, name: self.show(name))

        def archive(query: dict[str, str], at: str) -> Response:
            shown = posts[10 * int(at) - 10 : 10 * int(at)]
            rows = self.list_pages(shown) if shown else "<p>Nothing more here.</p>"
            return build_page("Blog", rows + link(f"/blog/page/{int(at) + 1}", "Older posts"), nav=self.nav)

        def news(query: dict[str, str]) -> Response:
            start = number(query, "start", 0)
            rows = self.list_pages(posts[(start + at) % 20] for at in range(5))
            return build_page("News", rows + link(f"/news?start={start + 5}", "More"), nav=self.nav)

        self.route(r"/blog/page/(\d+)", archive)
        self.route("/news", news)


class SoftMissing(MadeSite):
    """Status 200 for every path, with relative links that lead one folder deeper each time."""

    name = "soft404"
    budget = 150

    def build(self) -> None:
        """Add topics with broken relative links."""
        topics = self.add_pages("/docs/topic-{}/", 70)
        self.nav += link("/docs/", "Docs") + link("about/team/", "Team")
        self.home("")
        self.route("/docs/", lambda query: build_page("Contents", self.list_pages(topics), nav=self.nav))

        def topic(query: dict[str, str], name: str, at: str) -> Response:
            if name not in self.pages:
                return self.answer_unknown(name)
            return self.show(
                name, after=link(f"docs/topic-{int(at) + 1}/", "Next") + link(f"old/page-{at}.html", "Older")
            )

        self.route(r"(/docs/topic-(\d+)/)", topic)

    def answer_unknown(self, url: str) -> Response:
        """Answer with the site's page for missing URLs, with status 200."""
        path = html.escape(urlsplit(url).path[-30:])
        text = f"<p>We could not find <code>{path}</code>. Try our search or go home.</p>"
        return build_page("Sorry", text + link("about/team/", "Team") + link("archive/", "Archive"), nav=self.nav)


class HiddenMaze(MadeSite):
    """Invented pages without end behind hidden links."""

    name = "labyrinth"
    budget = 120

    def build(self) -> None:
        """Add articles and the maze."""
        articles = self.add_pages("/true/{}", 80)
        self.nav += link("/true/", "Articles")
        hidden = f'<div style="display:none">{link("/maze/x1", "More")}</div>'
        self.home(hidden)
        self.route("/true/", lambda query: build_page("Articles", self.list_pages(articles), nav=self.nav))
        self.route(r"(/true/\d+)", lambda query, name: self.show(name, after=hidden))
        self.route(r"/maze/(\w+)", lambda query, name: build_maze_page(name, "/maze/"))


def build_maze_page(name: str, folder: str) -> Response:
    """Return invented text with links to eight more pages of the maze."""
    prose = Prose(name)
    body = prose.paragraphs() + links(
        (f"{folder}{prose.title().split()[0].lower()}{prose.random.randint(1, 9_999)}", prose.title()) for _ in range(8)
    )
    return build_page(prose.title(), body)


class VisibleMaze(MadeSite):
    """A maze behind visible links, beside translations without hreflang, and archives by date and tag."""

    name = "visible_maze"
    budget = 170

    def build(self) -> None:
        """Add posts, their translations, archives and the maze."""
        posts = self.add_pages("/post/{}", 80)
        self.nav += link("/archive/", "Archive") + link("/surprise/start", "Surprise me")
        self.nav += "".join(link(f"/{code}/", code.upper()) for code in ("de", "fr", "ja"))
        self.home(self.list_pages(posts[:5]))
        years = [f"/{2020 + at // 12}/{at % 12 + 1:02d}/" for at in range(24)]
        tags = [f"/tag/{Prose(('tag', at)).topic[0]}" for at in range(20)]
        self.route(
            "/archive/",
            lambda query: build_page(
                "Archive", links((path, path.strip("/")) for path in (*years, *tags)), nav=self.nav
            ),
        )
        for at, path in enumerate((*years, *tags)):
            shown = posts[at % 24 :: 24] if at < 24 else posts[at % 20 :: 20]
            self.route(
                path, lambda query, path=path, shown=shown: build_page(path, self.list_pages(shown), nav=self.nav)
            )
        self.route(
            r"(/post/\d+)",
            lambda query, name: self.show(name, after=link("/surprise/" + name.split("/")[2], "Surprise me")),
        )
        self.route(r"/surprise/(\w+)", lambda query, name: build_maze_page(name, "/surprise/"))
        self.route(
            r"/(de|fr|ja)/",
            lambda query, code: build_page(
                code, links((f"/{code}{name}", self.title(name)) for name in posts), nav=self.nav, language=code
            ),
        )

        def translation(query: dict[str, str], code: str, name: str) -> Response:
            return build_page(self.title(name), Prose((code, name)).paragraphs(), nav=self.nav, language=code)

        self.route(r"/(de|fr|ja)(/post/\d+)", translation)

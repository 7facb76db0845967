"""Made sites with faults and habits of ordinary sites."""

from __future__ import annotations

import gzip

from tests.site.traps.made_site import (
    MadeSite,
    Response,
    build_page,
    link,
    links,
    missing,
    number,
    sitemap,
    sitemap_index,
    text_file,
    xml,
)


class Faults(MadeSite):
    """Pages that are busy once, and pages that always fail."""

    name = "faults"
    budget = 85

    def build(self) -> None:
        """Add reports; one in ten always fails, one in ten at the first request."""
        reports = self.add_pages("/r/{}", 60)
        for name in reports[9::10]:
            del self.pages[name]
        self.home(links((name, f"Report {name[3:]}") for name in reports))
        requested: set[str] = set()

        def report(query: dict[str, str], name: str) -> Response:
            is_first = name not in requested
            requested.add(name)
            if name.endswith("9"):
                return Response(500, b"<h1>Server error</h1>")
            return Response(503, b"busy") if is_first and name.endswith("4") else self.show(name)

        self.route(r"(/r/\d+)", report)


class Robots(MadeSite):
    """A robots.txt that forbids two folders, one of which the sitemap names."""

    name = "robots"
    budget = 70

    def build(self) -> None:
        """Add open and forbidden pages."""
        rooms = self.add_pages("/open/{}", 50)
        own = f"User-agent: *\nDisallow: /private/\nDisallow: /search\nSitemap: {self.origin}/maps/main.xml\n"
        rules = f"{own}\nUser-agent: other\nDisallow: /\n"
        self.nav += link("/private/0", "Private") + link("/search?q=a", "Search")
        self.home(self.list_pages(rooms[20:]))
        self.route("/robots.txt", lambda query: text_file(rules))
        listed = [f"{self.origin}{name}" for name in (*rooms[:25], "/private/1")]
        self.route(r"/maps/main\.xml", lambda query: xml(sitemap(listed)))
        self.route(r"(/open/\d+)", lambda query, name: self.show(name))
        self.route(r"/private/(\d+)", lambda query, at: build_page("Private", link(f"/private/{int(at) + 1}", "Next")))
        self.route(
            "/search",
            lambda query: build_page("Search", links((f"/search?q={query.get('q', '')}{one}", one) for one in "abc")),
        )


class FaultySitemaps(MadeSite):
    """Most pages are named only by sitemaps, which are damaged in many ways and name dead pages."""

    name = "sitemap_lies"
    budget = 230

    def build(self) -> None:
        """Add papers and their damaged sitemaps."""
        papers = self.add_pages("/s/{}", 150)
        self.home(self.list_pages(papers[120:]))
        self.route(r"(/s/\d+)", lambda query, name: self.show(name))

        def urls(first: int, end: int) -> list[str]:
            return [f"{self.origin}/s/{at}" for at in range(first, end)]

        dead = [f"{self.origin}/dead/{at}" for at in range(40)]
        base = self.origin
        parts = [f"{base}/sm/{name}" for name in ("a.xml", "b.xml.gz", "c.txt", "d.xml", "html.xml", "dead.xml")]
        parts += [f"{base}/sitemap_index.xml", "https://other.example/sitemap.xml"]
        cut = sitemap(urls(90, 110)).replace(
            b"</urlset>", f"<url><loc>{base}/s/110?a=1&b=2</loc></url><url><loc>{base}/s/111".encode()
        )
        wide = sitemap(urls(111, 120)).decode().replace("UTF-8", "UTF-16").encode("utf-16")
        files = {
            "/robots.txt": text_file(
                f"Sitemap: {base}/sitemap_index.xml\nsitemap:{base}/sitemap_index.xml\nSitemap: /relative.xml\n"
            ),
            "/sitemap_index.xml": xml(sitemap_index(parts)),
            "/sm/a.xml": xml(b"\xef\xbb\xbf \n" + sitemap(urls(0, 40) + dead)),
            "/sm/b.xml.gz": Response(
                body=gzip.compress(sitemap([*urls(40, 70), "https://elsewhere.example/x"])),
                media_type="application/x-gzip",
            ),
            "/sm/c.txt": text_file("\r\n".join(urls(70, 90))),
            "/sm/d.xml": xml(cut),
            "/sm/html.xml": build_page("Not found", "<p>Sorry.</p>"),
            "/relative.xml": xml(sitemap_index([f"{base}/sm/e.xml"])),
            "/sm/e.xml": xml(wide),
        }
        for path, file in files.items():
            self.route(path.replace(".", r"\."), lambda query, file=file: file)


class DeadSitemap(MadeSite):
    """A sitemap with mostly dead entries of several shapes, and little budget."""

    name = "dead_sitemap"
    budget = 62

    def build(self) -> None:
        """Add pages that the start page links, and dead entries."""
        pages = self.add_pages("/page/{}", 40)
        self.home(self.list_pages(pages[:20]) + link("/more", "More pages"))
        self.route("/more", lambda query: build_page("More", self.list_pages(pages[20:]), nav=self.nav))
        self.route(r"(/page/\d+)", lambda query, name: self.show(name))
        dead = [
            f"{self.origin}/{folder}/{at}"
            for folder in ("page", "archive", "product", "old-news")
            for at in range(100, 150)
        ]
        self.route(r"/sitemap\.xml", lambda query: xml(sitemap(dead)))


class Forum(MadeSite):
    """Threads under many URLs, members, tags and forms that need a login."""

    name = "forum"
    budget = 200

    def build(self) -> None:
        """Add threads and what surrounds them."""
        threads = self.add_pages("/t/{}", 90)
        self.nav = link("/", "Forum") + link("/members?page=1", "Members") + link("/tags/a", "Tags")

        def board(query: dict[str, str]) -> Response:
            at = number(query, "page", 0)
            rows = links(
                row
                for name in threads[15 * at : 15 * at + 15]
                for row in (
                    (name, self.title(name)),
                    (f"{name}?page=last#new", "last"),
                    (f"{name}?goto=newpost", "new"),
                )
            )
            more = link(f"/?page={at + 1}", "Next") if threads[15 * at + 15 :] else ""
            return build_page("Board", rows + more, nav=self.nav)

        def thread(query: dict[str, str], name: str, at: str) -> Response:
            posts = links(
                row
                for post in range(6)
                for row in (
                    (f"{name}?post={post}", f"#{post}"),
                    (f"/reply?t={at}&quote={post}", "Quote"),
                    (f"/u/{(int(at) + post) % 37}", "member"),
                )
            )
            return self.show(name, after=posts + link(f"{name}?print=1", "Print"))

        def member(query: dict[str, str], at: str) -> Response:
            text = f"<p>Member {at} joined in 2019 and wrote {at} posts.</p>"
            return build_page(
                f"Member {at}",
                text + link(f"/u/{at}?tab=posts", "Posts") + link(f"/u/{at}?tab=likes", "Likes"),
                nav=self.nav,
            )

        self.route("/", board)
        self.route(r"(/t/(\d+))", thread)
        self.route(r"/u/(\d+)", member)
        self.route(
            "/reply",
            lambda query: build_page(
                "Log in", '<p>You must log in.</p><form><input type="password"></form>', nav=self.nav
            ),
        )
        self.route(
            "/members",
            lambda query: build_page(
                "Members",
                links((f"/u/{at}", f"Member {at}") for at in range(37))
                + link(f"/members?page={number(query, 'page', 1) + 1}", "Next"),
                nav=self.nav,
            ),
        )
        self.route(
            r"/tags/(\w+)",
            lambda query, tag: build_page(
                f"Tag {tag}",
                links((f"/tags/{tag}{one}", tag + one) for one in "abc") if len(tag) < 30 else "",
                nav=self.nav,
            ),
        )


class Deep(MadeSite):
    """True pages five folders down, each behind a list with one link."""

    name = "deep"
    budget = 400

    def build(self) -> None:
        """Add halls, shelves and books."""
        places = [(hall, shelf, book) for hall in range(4) for shelf in range(5) for book in range(8)]
        for hall, shelf, book in places:
            self.add_pages(f"/lib/{hall}/{shelf}/{book}/text/edition/page.html", 1)
        self.home(links((f"/lib/{hall}/", f"Hall {hall}") for hall in range(4)))
        self.route(
            r"/lib/(\d)/",
            lambda query, hall: build_page(
                f"Hall {hall}", links((f"/lib/{hall}/{at}/", f"Shelf {at}") for at in range(5))
            ),
        )
        self.route(
            r"/lib/(\d)/(\d)/",
            lambda query, hall, shelf: build_page(
                f"Shelf {shelf}", links((f"/lib/{hall}/{shelf}/{at}/", f"Book {at}") for at in range(8))
            ),
        )
        self.route(
            r"(/lib/\d/\d/\d/)",
            lambda query, path: build_page("Book", link(f"{path}text/edition/page.html", "Read it")),
        )
        self.route(
            r"(/lib/\d/\d/\d/text/edition/page\.html)",
            lambda query, name: self.show(name) if name in self.pages else missing(),
        )

"""Made sites with many URLs for one page."""

from __future__ import annotations

from tests.site.traps.made_site import MadeSite, Prose, Response, build_page, link, links, missing, redirect


class Sessions(MadeSite):
    """A new session id in every link of every response."""

    name = "sessions"
    budget = 160

    def build(self) -> None:
        """Add articles whose links have session ids."""
        articles = self.add_pages("/a/{}", 80)

        def session() -> str:
            return f"{self.random.getrandbits(64):016x}1"

        def nav() -> str:
            return "".join(
                link(f"{path}{session()}", text)
                for path, text in (("/?sid=", "Home"), ("/list?sid=", "All"), ("/help;jsessionid=", "Help"))
            )

        def listing(query: dict[str, str]) -> Response:
            value = session()
            return build_page("All", links((f"{name}?sid={value}", self.title(name)) for name in articles), nav=nav())

        def article(query: dict[str, str], name: str) -> Response:
            value, at = session(), articles.index(name) if name in articles else 0
            near = links((f"{articles[(at + step) % 80]}?sid={value}", "See also") for step in (1, 7, 13))
            return self.show(name, after=near, nav=nav())

        about = Prose("portal").paragraphs(5)
        self.route("/", lambda query: build_page("Portal", about, nav=nav()))
        self.route("/list", listing)
        self.route(
            r"/help(?:;jsessionid=\w+)?", lambda query: build_page("Help", "<p>There is no help.</p>", nav=nav())
        )
        self.route(r"(/a/\d+)", article)


class PathSessions(MadeSite):
    """A new session id as the first folder of every link."""

    name = "path_sessions"
    budget = 110

    def build(self) -> None:
        """Add articles below a session folder."""
        articles = self.add_pages("/doc/{}.html", 60)

        def respond(query: dict[str, str], old: str | None, path: str) -> Response:
            folder = f"/(S({self.random.getrandbits(80):020x}a1))"
            nav = "".join(
                link(f"{folder}{path}", text) for path, text in (("/", "Home"), ("/list", "All"), ("/about", "About"))
            )
            if path in self.pages:
                at = articles.index(path)
                near = links((f"{folder}{articles[(at + step) % 60]}", "See also") for step in (1, 5, 11))
                return self.show(path, after=near, nav=nav)
            if path == "/list":
                return build_page("All", links((f"{folder}{name}", self.title(name)) for name in articles), nav=nav)
            if path in ("/", "/about"):
                return build_page("Portal", Prose(path).paragraphs(5), nav=nav)
            return missing()

        self.route(r"(/\(S\(\w+\)\))?(/[^()]*)", respond)


class Parameters(MadeSite):
    """Stories under parameters, suffixes and other spellings that make no difference."""

    name = "parameters"
    budget = 130

    def build(self) -> None:
        """Add stories with many URLs each."""
        stories = self.add_pages("/story/{}", 60)
        self.nav = link("/?utm_source=nav&utm_medium=site", "Home") + link("/stories", "Stories")
        self.home("")
        self.route(r"/index\.html?", lambda query: self.get(f"{self.origin}/"))
        self.route(
            "/stories/?",
            lambda query: build_page(
                "Stories",
                links((f"{name}?from=list&pos={at}", self.title(name)) for at, name in enumerate(stories)),
                nav=self.nav,
            ),
        )

        def story(query: dict[str, str], at: str, form: str | None) -> Response:
            place, name = int(at), f"/story/{at}"
            near = "".join(
                link(f"/story/{(place + step) % 60}?from=related&pos={step}&src={place}", "Related")
                for step in (1, 2, 3)
            )
            forms = "".join(
                link(f"{url}", text)
                for url, text in (
                    (f"{name}/print", "Print"),
                    (f"{name}?view=amp", "AMP"),
                    (f"{name}?replytocom={place}", "Reply"),
                    (f"{name}/?lang=en", "English"),
                    (f"/STORY/{at}", "Upper"),
                )
            )
            head = f'<link rel="canonical" href="{self.origin}{name}">' if place % 2 else ""
            return self.show(name, after=forms + near, head=head)

        self.route(r"(?i:/story/)(\d+)(/print|/)?", story)


class Languages(MadeSite):
    """Every page in eight languages, joined by hreflang."""

    name = "languages"
    budget = 100
    codes = ("en", "de", "fr", "es", "it", "ja", "pt", "ru")

    def build(self) -> None:
        """Add guides in all languages; only the English ones are true pages."""
        guides = self.add_pages("/en/guide/{}", 50)
        self.route("/", lambda query: redirect("/en/"))

        def parts(path: str) -> tuple[str, str]:
            nav = "".join(link(f"/{code}/{path}", code.upper(), f' hreflang="{code}"') for code in self.codes)
            head = "".join(
                f'<link rel="alternate" hreflang="{code}" href="{self.origin}/{code}/{path}">' for code in self.codes
            )
            return nav, head

        def home(query: dict[str, str], code: str) -> Response:
            nav, head = parts("")
            rows = links((name.replace("/en/", f"/{code}/"), self.title(name)) for name in guides)
            return build_page("Guide", rows, nav=nav, head=head, language=code) if code in self.codes else missing()

        def guide(query: dict[str, str], code: str, at: str) -> Response:
            nav, head = parts(f"guide/{at}")
            name = f"/en/guide/{at}"
            if code == "en" or name not in self.pages:
                return self.show(name, nav=nav, head=head)
            return build_page(self.title(name), Prose((code, name)).paragraphs(), nav=nav, head=head, language=code)

        self.route(r"/(\w\w)/", home)
        self.route(r"/(\w\w)/guide/(\d+)", guide)


class Redirects(MadeSite):
    """Links that lead to their page over several redirects, loops and other hosts."""

    name = "redirects"
    budget = 110

    def build(self) -> None:
        """Add pages behind chains of redirects."""
        pages = self.add_pages("/k/{}", 50)
        rows = links((f"/go/{at}/{at % 7}", self.title(name)) for at, name in enumerate(pages))
        others = [
            ("/loop/a", "Loop"),
            ("/sign?next=/secret", "Members"),
            *((f"/out?u={at}", "Partner") for at in range(30)),
        ]
        self.home(rows + links(others))
        self.route(
            r"/go/(\d+)/(\d+)",
            lambda query, at, left: redirect(f"/go/{at}/{int(left) - 1}" if int(left) else f"/k/{at}"),
        )
        self.route(
            r"(/k/(\d+))", lambda query, name, at: self.show(name, after=link(f"/go/{(int(at) + 1) % 50}/2", "Next"))
        )
        self.route("/loop/a", lambda query: redirect("/loop/b"))
        self.route("/loop/b", lambda query: redirect("/loop/a"))
        self.route(
            "/sign",
            lambda query: build_page("Log in", '<form><input name="user"><input type="password"></form>', nav=self.nav),
        )
        self.route("/out", lambda query: redirect(f"https://partner{query.get('u', '')}.example/"))


class RefreshStubs(MadeSite):
    """Old URLs that redirect by `<meta http-equiv="refresh">`; the contents name only these."""

    name = "refresh_stubs"
    budget = 150

    def build(self) -> None:
        """Add pages behind stubs."""
        pages = self.add_pages("/manual/chapter-{}/", 60)
        self.home(links((f"/old/{at}.html", self.title(name)) for at, name in enumerate(pages)))
        self.route(r"(/manual/chapter-\d+/)", lambda query, name: self.show(name))

        def stub(query: dict[str, str], at: str) -> Response:
            target = f"/manual/chapter-{at}/"
            head = f'<meta http-equiv="refresh" content="0; url={target}">'
            return build_page(
                "Redirecting",
                f"<p>This page has moved. {link(target, 'Click here')} if nothing happens.</p>",
                head=head,
            )

        self.route(r"/old/(\d+)\.html", stub)


class Versions(MadeSite):
    """A manual in twelve versions that differ by a line; half of the pages state a canonical URL."""

    name = "versions"
    budget = 90

    def build(self) -> None:
        """Add the versions; any version of a page is the true page."""
        versions = [f"v{at}" for at in range(1, 12)] + ["latest"]
        pages = self.add_pages("p{}.html", 40)
        self.route("/", lambda query: redirect("/latest/"))

        def nav(version: str, path: str) -> str:
            return link(f"/{version}/", "Contents") + "".join(link(f"/{one}/{path}", one) for one in versions)

        def contents(query: dict[str, str], version: str) -> Response:
            return (
                build_page("Manual", self.list_pages(pages), nav=nav(version, "")) if version in versions else missing()
            )

        def chapter(query: dict[str, str], version: str, name: str) -> Response:
            at = int(name[1:-5])
            head = f'<link rel="canonical" href="{self.origin}/latest/{name}">' if at % 2 else ""
            note = f"<p>This describes {version} of the program.</p>" + link(f"p{(at + 1) % 40}.html", "Next")
            return self.show(name, after=note, nav=nav(version, name), head=head) if version in versions else missing()

        self.route(r"/(\w+)/", contents)
        self.route(r"/(\w+)/(p\d+\.html)", chapter)

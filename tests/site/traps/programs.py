"""Made sites with the habits of common programs for blogs, forums, shops and wikis."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from tests.site.traps.made_site import MadeSite, Prose, Response, build_page, link, links, missing, number, redirect


class Blog(MadeSite):
    """Dated posts with excerpts in archives by year, month, day, author and tag; one page for each shows few posts."""

    name = "blog"
    budget = 150

    def build(self) -> None:
        """Add posts and their archives."""
        chance = self.random
        authors, tags = (
            [Prose((kind, at)).topic[0] for at in range(count)] for kind, count in (("by", 4), ("tag", 16))
        )
        archives: dict[str, list[str]] = {"/": []}
        groups: dict[str, list[str]] = {}
        for at in range(80, 0, -1):
            prose = Prose((self.seed, self.name, at))
            year, month, day = 2019 + at // 24, at // 2 % 12 + 1, chance.randint(1, 28)
            date = f"/{year}/{month:02d}/{day:02d}/"
            name = f"{date}{'-'.join(prose.title().lower().split())}/"
            self.pages[name] = prose.title(), prose.paragraphs(chance.randint(3, 8))
            groups[name] = [f"/author/{chance.choice(authors)}/", *(f"/tag/{tag}/" for tag in chance.sample(tags, 3))]
            for path in ("/", date[:6], date[:9], date, *groups[name]):
                archives.setdefault(path, []).append(name)
            groups[name].append(date)
        posts = archives["/"]
        months = [path for path in archives if re.fullmatch(r"/\d{4}/\d\d/", path)]
        self.nav += link("/archives/", "Archives")

        def excerpt(name: str) -> str:
            words = " ".join(re.sub(r"<[^>]+>", " ", self.pages[name][1]).split()[:45])
            return (
                f"<article><h2>{link(name, self.title(name))}</h2><p>{words} … {link(name, 'Read more')}</p></article>"
            )

        def archive(query: dict[str, str], path: str, page: str | None) -> Response:
            at = int(page or 1)
            shown = archives.get(path, [])[10 * at - 10 : 10 * at]
            more = link(f"{path}page/{at + 1}/", "Older posts") if archives.get(path, [])[10 * at :] else ""
            rows = "".join(map(excerpt, shown))
            return build_page(path, rows + f"<div class=pagination>{more}</div>", nav=self.nav) if shown else missing()

        def post(query: dict[str, str], name: str) -> Response:
            if name not in self.pages:
                return missing()
            at = posts.index(name)
            near = [posts[at - 1], posts[(at + 1) % len(posts)]]
            rows = "".join(link(path, path.strip("/")) for path in groups[name])
            return self.show(name, after=f"<p>{rows}</p><p>{''.join(link(one, self.title(one)) for one in near)}</p>")

        by_month = links((path, path.strip("/")) for path in months)
        self.route("/archives/", lambda query: build_page("Archives", by_month, nav=self.nav))
        self.route(r"(/\d{4}/\d\d/\d\d/[\w-]+/)", post)
        self.route(r"(/|/\d{4}/(?:\d\d/){0,2}|/(?:author|tag)/\w+/)(?:page/(\d+)/)?", archive)


class Board(MadeSite):
    """A forum whose topics have several URLs by topic, post and session, and profiles that need a login."""

    name = "board"
    budget = 230

    def build(self) -> None:
        """Add topics of one to three pages."""
        sizes = [self.random.choice((1, 1, 2, 3)) for _ in range(50)]
        for at, size in enumerate(sizes):
            for page in range(size):
                prose = Prose((self.seed, self.name, at, page))
                self.pages[f"{at}/{page}"] = Prose((self.name, at)).title(), prose.paragraphs(5)

        def url(script: str, session: str, **query: object) -> str:
            return f"/{script}.php?{urlencode({**query, 'sid': session})}"

        def begin() -> tuple[str, str]:
            session = f"{self.random.getrandbits(128):032x}"
            rows = (("index", "Board"), ("memberlist", "Members"), ("search", "New posts"))
            return session, "".join(link(url(script, session), text) for script, text in rows)

        def index(query: dict[str, str]) -> Response:
            session, nav = begin()
            return build_page(
                "Board", links((url("viewforum", session, f=at), f"Forum {at}") for at in range(4)), nav=nav
            )

        def forum(query: dict[str, str]) -> Response:
            session, nav = begin()
            at, start = number(query, "f", 0), number(query, "start", 0)
            shown = list(range(at, len(sizes), 4))[start:]
            rows = [
                (url(script, session, **values), text)
                for topic in shown[:8]
                for script, values, text in (
                    ("viewtopic", {"f": at, "t": topic}, self.title(f"{topic}/0")),
                    ("viewtopic", {"f": at, "p": 100 * topic}, "Last post"),
                    ("memberlist", {"mode": "viewprofile", "u": topic}, f"user{topic}"),
                )
            ]
            sort = ((url("viewforum", session, f=at, sk=key, sd=way), key) for key in "atr" for way in "ad")
            more = link(url("viewforum", session, f=at, start=start + 8), "Next") if shown[8:] else ""
            return build_page(f"Forum {at}", f"{links(rows)}<div class=sort>{links(sort)}</div>{more}", nav=nav)

        def topic(query: dict[str, str]) -> Response:
            session, nav = begin()
            at = number(query, "p", 0) // 100 if "p" in query else number(query, "t", 0)
            name = f"{at}/{number(query, 'start', 0) // 15}"
            if name not in self.pages:
                return missing()
            own = {"f": at % 4, "t": at}
            rows = [(url("viewtopic", session, **own, start=15 * page), f"{page + 1}") for page in range(sizes[at])]
            rows += [
                (url("viewtopic", session, **own, view="print"), "Print"),
                (url("viewtopic", session, p=100 * at), "#1"),
                (url("posting", session, mode="reply", t=at), "Reply"),
            ]
            title, text = self.pages[name]
            return build_page(title, text + "".join(link(*row) for row in rows), nav=nav, page=name)

        def refuse(query: dict[str, str], script: str) -> Response:
            _, nav = begin()
            return build_page(script, "<p>You must log in.</p><form><input type=password></form>", nav=nav)

        self.route(r"/(?:index\.php)?", index)
        self.route(r"/viewforum\.php", forum)
        self.route(r"/viewtopic\.php", topic)
        self.route(r"/(memberlist|search|posting)\.php", refuse)


class FilteredShop(MadeSite):
    """Products below the path of each category, filters in paths, and products that no list shows at first."""

    name = "filtered_shop"
    budget = 200

    def build(self) -> None:
        """Add products, categories and filters."""
        products = self.add_pages("/product-{}.html", 90)
        names = ("shoes", "hats", "coats")
        choices = {"color": ("red", "blue", "green"), "size": ("s", "m", "l"), "brand": ("acme", "zeta")}
        self.nav += "".join(link(f"/c/{name}/", name.title()) for name in names)
        self.home("<p>Welcome</p>")

        def category(query: dict[str, str], name: str, path: str, page: str | None) -> Response:
            filters = [part.split("-") for part in path.split("/") if part]
            if name not in names or any(value not in choices.get(field, ()) for field, value in filters):
                return missing()
            shown = products[names.index(name) :: 3]
            for field, value in filters:
                step = choices[field].index(value)
                shown = [one for one in shown if int(one[9:-5]) // 3 % len(choices[field]) == step]
            at, base = int(page or 1), f"/c/{name}/{path}"
            used = {field for field, _ in filters}
            side = [(f"{base}{field}-{one}/", one) for field in choices if field not in used for one in choices[field]]
            side += [
                (f"{base}?order={order}&dir={way}", order) for order in ("price", "new") for way in ("asc", "desc")
            ]
            rows = links((f"/c/{name}{one}", self.title(one)) for one in shown[8 * at - 8 : 8 * at])
            more = link(f"{base}page-{at + 1}/", "Next") if shown[8 * at :] else ""
            return build_page(
                name, f"<div class=sidebar>{links(side)}</div>{rows}<div class=pager>{more}</div>", nav=self.nav
            )

        def product(query: dict[str, str], name: str | None, path: str) -> Response:
            other = names[(names.index(name) + 1) % 3] if name in names else names[0]
            head = f'<link rel="canonical" href="{self.origin}{path}">'
            return self.show(path, head=head, after=link(f"/c/{other}{path}", "Also in"))

        self.route(r"(?:/c/(\w+))?(/product-\d+\.html)", product)
        self.route(r"/c/(\w+)/((?:[a-z]+-[a-z]+/)*)(?:page-(\d+)/)?", category)


class TranslatedNames(MadeSite):
    """Translations that only the language menu names, with other names in their paths."""

    name = "translated_names"
    budget = 110

    def build(self) -> None:
        """Add products in four languages; the English ones are the true pages."""
        pages = self.add_pages("/products/item-{}/", 60)
        folders = {"de": "produkte/artikel", "fr": "produits/article", "pt-br": "produtos/item"}
        self.nav += link("/products/", "Products") + link("/de/", "Deutsch") + link("/fr/", "Français")
        self.nav += link("/pt-br/", "Português")
        self.home(self.list_pages(pages[:5]))
        self.route("/products/", lambda query: build_page("Products", self.list_pages(pages), nav=self.nav))
        self.route(r"(/products/item-\d+/)", lambda query, name: self.show(name))

        def contents(query: dict[str, str], code: str) -> Response:
            rows = links((f"/{code}/{folders[code]}-{at}/", Prose((code, at)).title()) for at in range(60))
            return build_page(code, Prose(code).paragraphs(2) + rows, nav=self.nav, language=code)

        def translation(query: dict[str, str], code: str, path: str) -> Response:
            return build_page(path, Prose((code, path)).paragraphs(), nav=self.nav, language=code)

        self.route(r"/(de|fr|pt-br)/", contents)
        self.route(r"/(de|fr|pt-br)/([a-z]+/[a-z]+-\d+)/", translation)


class Encyclopedia(MadeSite):
    """Articles that name each other, each with a row of tools about itself."""

    name = "encyclopedia"
    budget = 150

    def build(self) -> None:
        """Add articles and their tools."""
        for at in range(90):
            prose = Prose((self.seed, self.name, at))
            self.pages[f"/wiki/{prose.topic[0].title()}_{prose.topic[1]}"] = prose.title(), prose.paragraphs(5)
        names = list(self.pages)
        near = {name: self.random.sample(names, 5) for name in names}
        for at, name in enumerate(names[1:], 1):
            near[names[(at - 1) // 3]].append(name)

        def tools(title: str) -> str:
            rows = [(f"/wiki/Special:{kind}/{title}", kind) for kind in ("Links", "Related")]
            rows += [(f"/wiki/Talk:{title}", "Discussion"), (f"/w/index.php?title={title}&action=info", "Info")]
            rows += [(f"/w/index.php?title={title}&action=edit", "Edit"), ("/wiki/Special:Random", "Random")]
            return "".join(link(*row) for row in rows)

        def special(query: dict[str, str], title: str) -> Response:
            rows = ((name, self.title(name)) for name in self.random.sample(names, 5))
            return build_page(title, links(rows), nav=tools("Main_Page"))

        self.route("/", lambda query: redirect("/wiki/Main_Page"))
        start = Prose(self.name).paragraphs(2) + self.list_pages(names[:3])
        self.route("/wiki/Main_Page", lambda query: build_page("Main page", start, nav=tools("Main_Page")))
        self.route("/wiki/Special:Random", lambda query: redirect(self.random.choice(names)))
        self.route(r"/wiki/Special:(.+)", special)
        self.route(r"/wiki/Talk:(.+)", lambda query, title: build_page(title, "<p>There is no discussion.</p>"))
        self.route(r"/w/index\.php", lambda query: build_page("Info", "<p>You have no permission.</p>"))
        self.route(
            r"(/wiki/\w+)",
            lambda query, name: self.show(name, after=self.list_pages(near.get(name, ())), nav=tools(name[6:])),
        )

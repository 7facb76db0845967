"""Synthetic pages: templates with the markup of real software and random content, so that the annotation is known.

A template in `templates/KIND/` has lines `name: value`, then parts: `frame`, and the repeated `post`, `first`, `item`
and `step`. README.md names the settings and places. `python -m benchmarks.faithful.made FOLDER` writes the pages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.faithful.content import Content, MadePost
from benchmarks.faithful.gold import KINDS, Gold, ends_of, gold_from

PER_KIND = 10
"""Minimum number of pages of a kind, synthetic and real together."""

LEAST_MADE = 3
"""Minimum number of synthetic pages of a kind."""

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_PART = "--- "
_LONG_DATE = "%B %d, %Y"
_LIST_WORDS = 12
"""Words of a list item that the annotation holds."""


@dataclass(frozen=True, slots=True)
class PageTemplate:
    """Settings and parts of a template."""

    settings: Mapping[str, str]
    parts: Mapping[str, Template]

    @classmethod
    def read(cls, path: Path) -> PageTemplate:
        """Read a template file."""
        settings, parts = {}, {}
        head, *rest = ("\n" + path.read_text(encoding="utf-8")).split("\n" + _PART)
        for line in head.strip().splitlines():
            name, _, value = line.partition(":")
            settings[name] = value.strip()
        for part in rest:
            name, _, text = part.partition("\n")
            parts[name] = Template(text.removesuffix("\n"))
        return cls(settings, parts)

    def has(self, place: str) -> bool:
        """Return True if the frame contains `$place`."""
        return place in self.parts["frame"].get_identifiers()


def templates(kind: str) -> list[PageTemplate]:
    """Return the templates of a kind by name."""
    return [PageTemplate.read(path) for path in sorted((_TEMPLATES / kind).glob("*.html"))]


def made_pages(real: Mapping[str, int]) -> Iterator[tuple[Gold, str]]:
    """Yield annotation and HTML of synthetic pages in addition to the real ones; `real` counts those by kind."""
    for kind in KINDS:
        found = templates(kind)
        for number in range(max(LEAST_MADE, PER_KIND - real.get(kind, 0))):
            html, facts = make_page(found[number % len(found)], f"{kind}-{number}")
            url = f"https://{kind}.example.org/{number}"
            yield gold_from(f"made/{kind}-{number}", {"kind": kind, "url": url, **facts}, made=True), html


def make_page(template: PageTemplate, seed: str) -> tuple[str, dict[str, Any]]:
    """Return the HTML of a page and its annotation, determined by the seed."""
    settings = template.settings
    content = Content(seed, settings.get("language", "en"))
    title, heading, heading2, *items = content.titles(3 + content.random.randint(5, 12))
    time, name, amount = content.time(), content.name(), content.amount()
    places = {
        "title": escape(title),
        "heading": heading,
        "heading2": heading2,
        "name": name,
        "amount": amount,
        "price": f"${amount}",
        **_time(time),
        **{place: f"<p>{content.paragraph()}</p>" for place in ("intro", "text", "text2", "article")},
        "teaser": content.paragraph(),
    }
    facts: dict[str, Any] = {"headings": [], "optional_headings": []}
    if settings.get("heading") != "none":
        facts["headings"] += [title]
        facts["optional_headings"] += [f"Re: {title}", *filter(None, settings.get("optional", "").split("; "))]
    facts["headings"] += [places[place] for place in ("heading", "heading2") if template.has(place)]
    if template.has("name"):
        facts |= {"author": name, "date": time.date().isoformat()}
    if "price" in settings:
        facts["price"] = f"${amount}"
    if template.has("posts"):
        places["posts"], facts["posts"] = _posts(template, content, title)
    if template.has("items"):
        places["items"] = _repeated(template.parts["item"], items, content)
        facts["lists"] = [items]
        if "item-headings" in settings:
            facts["headings"] += items
    if template.has("steps"):
        steps = [content.paragraph() for _ in range(5)]
        step = template.parts["step"]
        places["steps"] = "".join(step.substitute(text=text, number=n) for n, text in enumerate(steps, start=1))
        facts.setdefault("lists", []).append([" ".join(text.split()[:_LIST_WORDS]) for text in steps])
    if "table" in settings:
        places["table"], facts["tables"] = _table(settings["table"], content)
    if "code" in settings:
        code = "\n".join(content.code(settings["code"], 4))
        lines = escape(code, quote=False).split("\n")
        places |= {"code": "\n".join(lines), "code_br": "<br>".join(lines)}
        places["gutter"] = "<br>".join(str(number) for number in range(1, len(lines) + 1))
        facts["code"] = [[settings["code"], code]]
    if settings.get("heading") == "none":
        del facts["headings"]
    frame = Template((_TEMPLATES / "page.html").read_text(encoding="utf-8"))
    links = "".join(f'<li><a href="/{n}">{escape(text)}</a></li>' for n, text in enumerate(content.titles(6)))
    main = template.parts["frame"].substitute(places)
    return frame.substitute(title=escape(title), main=main, links=links, language=content.language), facts


def _time(time: datetime) -> dict[str, str]:
    return {"iso": time.strftime("%Y-%m-%dT%H:%M:%S+00:00"), "long": time.strftime(_LONG_DATE)}


def _posts(template: PageTemplate, content: Content, title: str) -> tuple[str, list[dict[str, Any]]]:
    posts = content.thread(content.random.randint(4, 12))
    html, facts = "", []
    for number, post in enumerate(posts, start=1):
        shown = post.time.strftime(template.settings["date"])
        part = template.parts["first" if number == 1 and "first" in template.parts else "post"]
        accepted = number == 2 and "accepted" in part.get_identifiers()
        html += part.substitute(
            _post_places(post), title=title, number=number, date=shown, accepted=" accepted-answer" * accepted
        )
        fact: dict[str, Any] = ends_of("\n".join(post.paragraphs))
        if "embeds" not in template.settings:
            dates = [shown, post.time.date().isoformat()]
            fact |= {"author": post.author, "dates": dates, "score": post.score, "accepted": accepted}
        facts.append(fact)
    return html, facts


def _post_places(post: MadePost) -> dict[str, object]:
    quote = f'<blockquote class="quote">{escape(post.quoted)}</blockquote>' if post.quoted else ""
    mail_quote = post.quoted.replace("wrote: ", "wrote:\n&gt; ") + "\n\n" if post.quoted else ""
    plain = "\n\n".join(escape(paragraph, quote=False) for paragraph in post.paragraphs)
    return {
        "author": post.author,
        "score": post.score,
        "quote": quote,
        "quoted": escape(post.quoted),
        "plain": plain,
        "mail": mail_quote + plain,
        "text": "".join(f"<p>{escape(paragraph)}</p>" for paragraph in post.paragraphs),
        **_time(post.time),
    }


def _repeated(part: Template, items: Sequence[str], content: Content) -> str:
    return "".join(
        part.substitute(
            title=item, number=number, text=content.paragraph(), price=f"${content.amount()}", **_time(content.time())
        )
        for number, item in enumerate(items, start=1)
    )


def _table(style: str, content: Content) -> tuple[str, list[list[list[str]]]]:
    """Return the rows of a table; with style `groups`, some rows are one cell over all columns."""
    columns = content.random.randint(2, 5)
    rows = [content.titles(columns) for _ in range(content.random.randint(3, 9))]
    header, *body = rows
    html = "<tr>" + "".join(f"<th>{cell}</th>" for cell in header) + "</tr>"
    cells = [header]
    for number, row in enumerate(body):
        if style == "groups" and number % 3 == 0:
            html += f'<tr class="group"><td colspan="{columns}">Group {number}</td></tr>'
            cells.append([f"Group {number}"])
        html += "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
        cells.append(row)
    return html, [cells]


def main() -> None:
    """Write a page of each template, with its annotation, into the folder that the command line names."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        for number, template in enumerate(templates(kind)):
            html, facts = make_page(template, f"{kind}-{number}")
            (folder / f"{kind}-{number}.html").write_text(html, encoding="utf-8")
            (folder / f"{kind}-{number}.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

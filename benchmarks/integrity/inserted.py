"""Relations of the kinds `whole` and `absent`: pieces of HTML with slots for new texts, and where they are inserted."""

from __future__ import annotations

from random import Random

from benchmarks.integrity.relations import (
    NEAR,
    Change,
    Subject,
    fill,
    insert,
    insert_behind,
    inserting,
    nonce,
    phrase,
    relation,
    sentence,
)

_WHOLE = {
    "figure-with-caption": '<figure><img src="/images/{nonce}-1200.jpg" alt="{phrase 4}" width="1200" height="800">'
    "<figcaption>{sentence 9}</figcaption></figure>",
    "captioned-picture-of-a-blog": '<div class="wp-caption alignnone" style="width: 710px">'
    '<a href="/files/{nonce}.jpg"><img class="size-large" src="/files/{nonce}-700x400.jpg" alt="{phrase 4}" '
    'width="700" height="400"></a><p class="wp-caption-text">{sentence 8}</p></div>',
    "table": f"<table><caption>{{phrase 4}}</caption><thead><tr>{'<th>{phrase 2}</th>' * 3}</tr></thead><tbody>"
    f"{('<tr>' + '<td>{value}</td>' * 3 + '</tr>') * 4}</tbody></table>",
    "facts-table": f"<table>{'<tr><th scope=row>{phrase 2}</th><td>{value}</td></tr>' * 5}</table>",
    "definition-list": f"<dl>{'<dt>{phrase 2}</dt><dd>{sentence 9}</dd>' * 3}</dl>",
    "definition-list-of-values": f"<dl>{'<dt>{phrase 2}</dt><dd>{value}</dd>' * 4}</dl>",
    "quotation-with-source": "<blockquote><p>{sentence 16}</p><footer>\u2014 {phrase 2}</footer></blockquote>",
    "list-with-introduction": f"<p>{{clause 7}}:</p><ul>{'<li>{sentence 7}</li>' * 4}</ul>",
    "list-of-short-items": f"<ul>{'<li>{phrase 2}</li>' * 5}</ul>",
    "lettered-list": f"<ol type=a>{'<li>{sentence 8}</li>' * 4}</ol>",
    "section": "<h3>{phrase 4}</h3><p>{sentence 20}</p><p>{sentence 16}</p>",
    "collapsed-details": "<details><summary>{phrase 4}</summary><p>{sentence 18}</p></details>",
    "note-box": '<div class="note"><p class="note-title">{phrase 2}</p><p>{sentence 14}</p></div>',
    "short-paragraph": "<p>{sentence 5}</p>",
    "formula": "<p>{sentence 8}</p><p>2<sup>1/2</sup> and 10<sup>{number}</sup> and log<sub>2</sub>8 and "
    "{nonce}<sub>max</sub> {sentence 8}</p>",
    "struck-text": "<p>{sentence 6} <strike>{phrase 2}</strike> {phrase 2} and "
    '<span style="text-decoration:line-through">{phrase 2}</span> {sentence 6}</p>',
    "picture-alone": '<p><img src="/img/{nonce}.png" alt="{phrase 5}" width="640" height="480"></p>',
}
_ABSENT = {
    "advertisement": '<div class="ad-slot advertisement"><span>Advertisement</span>'
    '<a href="https://ads.example/c?id=3">{phrase 3} from {nonce}</a></div>',
    "related-articles": '<aside class="related"><h3>Related articles</h3><ul>'
    f"{'<li><a href=/{nonce}>{phrase 6}</a></li>' * 4}</ul></aside>",
    "hidden-text": '<p style="display:none">{sentence 14}</p>',
}
_COOKIES = (
    '<div id="cookie-consent" class="cookie-banner" role="dialog" aria-label="Cookies"><h2>Your choice of cookies</h2>'
    "<p>This site and its partners keep cookies on your device for {nonce} and to count visits. You can agree, refuse, "
    "or select {nonce} in the settings.</p><button>Accept all</button><button>Reject</button></div>"
)
_SIDEBAR = (
    '<aside class="sidebar"><h3>Most read</h3><ol>'
    f"{'<li><a href=/{nonce}>{phrase 6}</a><span>{number} comments</span></li>' * 6}</ol></aside>"
)


def _register(templates: dict[str, str], kind: str) -> None:
    for name, template in templates.items():
        inserting(name, kind, lambda subject, rng, template=template: fill(template, subject, rng))  # type: ignore[misc]


_register(_WHOLE, "whole")


@relation("code-block", "whole", NEAR)
def _(subject: Subject, rng: Random) -> Change | None:
    name, parameter, item, text = (nonce(rng) for _ in range(4))
    code = (
        f"def {name}({parameter}):\n    for {item} in range(10):\n        if {item} &gt; 3:\n"
        f"            return {item}\n    return '{text}'\n"
    )
    return insert_behind(subject, rng, f"<pre><code>{code}</code></pre>")


@relation("same-sentence-in-two-sections", "whole")
def _(subject: Subject, rng: Random) -> Change | None:
    text = sentence(subject, rng)
    sections = [f"<h3>{phrase(subject, rng)}</h3><p>{text}</p><p>{sentence(subject, rng, 12)}</p>" for _ in range(2)]
    change = insert_behind(subject, rng, "".join(sections))
    if change is not None:
        change.texts, change.times = [text], 2
    return change


_register(_ABSENT, "absent")


def _insert_in_body(subject: Subject, rng: Random, template: str, front: float) -> Change | None:
    """Insert a piece of HTML at the front of the body, with this probability, or at its end."""
    root = subject.copy()
    body = next(root.iter("body"))
    source = fill(template, subject, rng)
    return insert(root, body, 0 if rng.random() < front else len(body.children), source) if subject.paragraphs else None


relation("cookie-banner", "absent", NEAR)(lambda subject, rng: _insert_in_body(subject, rng, _COOKIES, 0.5))
relation("sidebar", "absent", NEAR)(lambda subject, rng: _insert_in_body(subject, rng, _SIDEBAR, 0.0))


@relation("share-bar", "absent", NEAR)
def _(subject: Subject, rng: Random) -> Change | None:
    links = [
        f'<a href="https://{site}.example/share?u=1">Share on {site}</a>' for site in (nonce(rng) for _ in range(4))
    ]
    return insert_behind(subject, rng, f'<div class="share-buttons">{"".join(links)}</div>')

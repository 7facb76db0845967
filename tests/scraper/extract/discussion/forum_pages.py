"""Pages of forums, and their posts."""

from __future__ import annotations

from scraper.extract import reader
from scraper.extract.discussion.thread_extraction import find_discussion
from scraper.html.page.page_tree import build_page_tree
from scraper.model import Document, Post
from tests.scraper.extract.snapshots import page

SENTENCE = "The kettle in the kitchen needs a new part number {n} before the winter, and nobody sells it."


def forum_page(posts: str) -> str:
    return f"<html><title>Kettle</title><body><h1>Kettle repair</h1><div id=posts>{posts}</div></body></html>"


def forum_post(number: int, author: str = "", date: str = "", body: str = "") -> str:
    return (
        f'<div class="post" id="p{number}"><div class="postprofile"><a class="username" href="/u/{number}">'
        f"{author or f'ann_{number}'}</a><p>Joined: May 3, 2011</p><p>Posts: {number}</p></div>"
        f'<p class="posted">{date or f"May {1 + number % 28}, 2024, 10:{number % 60:02}"}</p>'
        f'<div class="content">{body or SENTENCE.format(n=number)}</div>'
        f'<div class="signature">Made with care.</div><a href="#">Reply</a></div>'
    )


def read_posts(html: str) -> tuple[Post, ...]:
    return find_discussion(build_page_tree(page(html))).posts


def read_page(html: str) -> Document:
    return reader.read(page(html))

"""Mails that an archive writes as plain text."""

from __future__ import annotations

from scraper.extract import reader
from tests.growth import assert_linear
from tests.scraper.extract.snapshots import page

_TEXT = "The kettle in the kitchen leaks since patch {number}, and the teacher found the reason."

_LINE = "From: Ann Lee @ 2024-05-01 10:20 UTC\n"


def _mail(number: int) -> str:
    return (
        f"<pre><a href=#e{number} id=m{number}>*</a> <b>Re: [PATCH {number}/3] kettle: repair</b>\n"
        f"From: Ann Lee {number} @ 2024-05-0{number % 9 + 1} 10:20 UTC "
        '(<a href="m/">permalink</a> / <a href="r">raw</a>)\n'
        '  To: kitchen; <b>+Cc:</b> stable\n\n<span class="q">&gt; Where is it?\n</span>'
        f"{_TEXT.format(number=number)}\n\n"
        f'<a href=#r{number}>^</a> <a href="m/">permalink</a> <a href="r">raw</a> <a href="x">reply</a>\t'
        "[<a>flat</a>|<b>nested</b>] 4+ messages in thread\n</pre><hr>"
    )


def _thread(count: int) -> str:
    return f"<html><title>kettle</title><body><pre>Thread</pre><hr>{''.join(map(_mail, range(count)))}</body></html>"


def test_each_mail_of_a_thread_has_its_sender_date_and_text() -> None:
    document = reader.read(page(_thread(4)))
    assert [(post.author, str(post.published)[:16]) for post in document.discussion] == [
        (f"Ann Lee {number}", f"2024-05-0{number + 1} 10:20") for number in range(4)
    ]
    assert [_TEXT.format(number=number) in post.text for number, post in enumerate(document.discussion)] == [True] * 4
    assert "permalink" not in document.markdown
    assert "### #2 · Ann Lee 1 · 2024-05-02 10:20" in document.markdown


def test_one_example_of_a_mail_stays_code() -> None:
    document = reader.read(page(f"<body><main><p>An example of a mail:</p>{_mail(1)}<p>It is short.</p></main></body>"))
    assert document.discussion == ()
    assert "```\n" in document.markdown


def test_time_grows_linearly_with_the_lines_of_headers() -> None:
    assert_linear(lambda html: reader.read(page(html)), lambda size: _thread(2) + f"<pre>{_LINE * size}</pre>", 10_000)

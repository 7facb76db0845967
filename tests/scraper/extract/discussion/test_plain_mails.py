"""Mails that an archive writes as plain text."""

from __future__ import annotations

import pytest

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


_FOLDED = "\n        word"
_QUOTE = "&gt; We could call the new method by the name of the thing that it\n&gt; measures, or not.\n"
_BODY = (
    f"Bob wrote:\n{_QUOTE}&gt;&gt; Why?\n\nThe name is not clear to me. It should be the word that all other kettle\n"
    "makers use, who have used it for years.\n\n * It is short.\n * It is known to all of the musicians that we have\n"
    "   in the team of this list.\n\n    make test\n\nRegards,\nAnn\n"
)
_TEXT_OF_BODY = """Bob wrote:

> We could call the new method by the name of the thing that it measures, or not.
>
> > Why?

The name is not clear to me. It should be the word that all other kettle makers use, who have used it for years.

- It is short.
- It is known to all of the musicians that we have in the team of this list.

```
make test
```

Regards,{0}
Ann"""
_OTHER = "<ul><li>Next message: <a href=5.html>The name of the pots</a></ul>"
_PIPERMAIL = (
    '<b>Ann Lee</b> <a href="mailto:kettle%40example.org?Subject=x">ann at example.org</a><br>'
    f"<i>Tue Mar  4 14:22:01 CET 2014</i><p>{_OTHER}<hr>"
    f"<pre>{_BODY}-- \nAnn Lee, maker of kettles</pre><hr>{_OTHER}"
)
_MHONARC = (
    "<hr><ul><li><em>To</em>: kettle@example.org</li><li><em>From</em>: Ann Lee &lt;<a href=mailto:ann@example.org>"
    "ann@example.org</a>&gt;</li><li><em>Date</em>: Tue, 4 Mar 2014 15:22:01 +0100</li></ul><hr>"
    f"<pre>{_BODY}</pre><hr>{_OTHER}"
)
_HYPERMAIL = (
    "<div class=mail><address><span><dfn>From</dfn>: Ann Lee &lt;<a href=mailto:a@example.org>a@example.org</a>&gt;"
    "<br></span><span><dfn>Date</dfn>: Tue, 04 Mar 2014 15:22:01 +0100<br></span></address>"
    f"<pre id=body>{_BODY}</pre></div>"
)
_INNER_HEADER = (
    "<pre>[<a href=1>prev in list</a>] [<a href=2>next in list</a>] \n\n<b>List:       <a href=3>kettle</a>\n"
    "Subject:    <a href=4>The name</a>\nFrom:       <a href=5>Ann Lee &lt;ann () example ! org&gt;</a>\n"
    "Date:       <a href=6>2014-03-04 14:22:01</a></b>\n[Download RAW <a href=7>message</a>]\n\n"
    f"{_BODY}\n[<a href=1>prev in list</a>]\n</pre>"
)


@pytest.mark.parametrize("mail", [_PIPERMAIL, _MHONARC, _HYPERMAIL, _INNER_HEADER])
def test_the_mail_of_an_archive_is_a_post_with_quotations_lists_and_code(mail: str) -> None:
    document = reader.read(page(f"<title>The name</title><body><h1>The name</h1>{mail}</body>"))
    [post] = document.discussion
    assert (post.author, str(post.published)[:16]) == ("Ann Lee", "2014-03-04 14:22")
    assert document.author == "Ann Lee"
    assert document.markdown.partition("### #1 · Ann Lee · ")[2].partition("\n\n")[2] == _TEXT_OF_BODY.format("  ")
    assert post.quoted.startswith("We could call") and "We could call" not in post.text


def test_a_patch_in_a_mail_is_code() -> None:
    patch = (
        "---\n kettle.c | 2 +-\n\ndiff --git a/kettle.c b/kettle.c\n--- a/kettle.c\n+++ b/kettle.c\n-int a;\n+long a;"
    )
    mail = _PIPERMAIL.replace("Regards", f"{patch}\nRegards")
    markdown = reader.read(page(f"<title>x</title><body><h1>The name</h1>{mail}</body>")).markdown
    assert f"```diff\n{patch}\nRegards" in markdown


def test_code_in_an_article_with_the_address_of_its_author_stays_code() -> None:
    text = "<p>First, download the archive from the server and unpack it in a folder of your choice.</p>" * 3
    html = f"<h1>Install</h1><p>From: Ann &lt;a@example.org&gt;</p><p>Date: May 4, 2014</p><pre>{_BODY}</pre>{text}"
    document = reader.read(page(f"<body><main>{html}</main></body>"))
    assert document.discussion == () and "```\nBob wrote" in document.markdown


def test_time_grows_linearly_with_the_lines_of_a_mail() -> None:
    def archived(size: int) -> str:
        return _PIPERMAIL.replace("Regards", f"{'&gt;' * 30}x\n---\n a  a\n" * size)

    assert_linear(lambda html: reader.read(page(html)), archived, 3_000)


def test_time_grows_linearly_with_the_lines_of_an_unfinished_header() -> None:
    fields = "From: a\nDate: b\nTo: c"
    assert_linear(lambda html: reader.read(page(html)), lambda size: f"<pre>{fields}{_FOLDED * size}\nx</pre>", 20_000)


def test_time_grows_linearly_with_the_empty_lines_of_a_mail() -> None:
    fields = "From: a &lt;a@example.org&gt;\nDate: 4 May 2014\nTo: c\n\ntext"
    blank = "\n"
    assert_linear(lambda html: reader.read(page(html)), lambda size: f"<pre>{fields}{blank * size}x</pre>", 50_000)

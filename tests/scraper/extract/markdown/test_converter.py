from __future__ import annotations

import pytest

from tests.growth import Hostile, hostile_inputs
from tests.scraper.extract.conversion import converted, markdown_of
from tests.scraper.extract.snapshots import URL, read


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("<p>a\n  b\t c</p>", "a b c"),
        ("<p>a<br>b<br><br>c</p>", "a  \nb\n\nc"),
        ("<p><b>Note:</b>text, <b>\u6ce8\u610f\uff1a</b>\u8bf7</p>", "**Note**:text, **\u6ce8\u610f**\uff1a\u8bf7"),
        ("<p>Tent<b>. Budget:</b> <i>x</i>, a<b>!</b>b</p>", "Tent. **Budget:** *x*, a!b"),
        ("<b><h2>Title</h2><p>x</p></b>", "## Title\n\nx"),
        ("<h2>Title <em>it</em></h2><p>x</p>", "## Title *it*\n\nx"),
        ("<h2>Title<a class=headerlink href=#t>¶</a></h2><p>x</p>", "## Title\n\nx"),
        ("<h2><a href=#t>#</a> Title</h2><p>x</p>", "## Title\n\nx"),
        ("<p>a <b>b</b><i> c</i>, <del>d</del></p>", "a **b** *c*, ~~d~~"),
        ("<b><p>one</p><p>two</p></b>", "one\n\ntwo"),
        ("<p>snake_case, _edge_ and 2*3</p>", "snake_case, \\_edge\\_ and 2\\*3"),
        ("<p># not a heading</p>", "\\# not a heading"),
        ("<div># of items: 5</div>", "\\# of items: 5"),
        ("<p>#hashtag</p>", "#hashtag"),
        ("<p>C<b> # or F</b></p>", "C **\\# or F**"),
        ("<table><tr><th>#<th>Name<tr><td>1<td>x</table>", "| # | Name |\n| --- | --- |\n| 1 | x |"),
        ("<p><b>a</b><strong>b <i>c</i></strong> d</p>", "**ab *c*** d"),
        ("<p><b>a</b> <b>b</b></p>", "**a** **b**"),
        ("<p><b><i>a</i></b><b>b<i>c</i></b><b><i>d</i>e</b>f</p>", "***a*b*cd*e**f"),
        ("<p><em>a <i>b</i> c</em> <b>x <strong>y</strong></b></p>", "*a b c* **x y**"),
        ("<h2>F #</h2><h3>C#</h3><p>x</p>", "## F \\#\n\n### C#\n\nx"),
        ("<p><ruby>東京<rt>とうきょう</rt></ruby>と</p>", "東京(とうきょう)と"),
        ("<p><ruby>東<rt><b>とう</b></rt></ruby>と</p>", "東(**とう**)と"),
        ("<p><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rt>きょう</rt></ruby></p>", "東(とう)京(きょう)"),
        ("<p><ruby>文<rp>（</rp><rt>ぶん</rt><rp>）</rp></ruby>と</p>", "文（ぶん）と"),
        ("<p>the <tt>open_file</tt> call</p>", "the `open_file` call"),
        ("<p>``` no fence</p>", "\\`\\`\\` no fence"),
        ("<hr><p>x</p>", "***\n\nx"),
        ("<blockquote><p>a</p><p>b</p></blockquote><p>c</p>", "> a\n>\n> b\n\nc"),
        ("<ul><li>a</li><li><p>b</p></li></ul>", "- a\n- b"),
        ("<ul><li>a<ul><li>b</li></ul></li></ul>", "- a\n  - b"),
        ("<ol start=9><li>a</li><li>b<p>c</p></li></ol>", "9. a\n10. b\n\n    c"),
        ("<ol><li>a<li value=5>b<li>c</ol>", "1. a\n5. b\n6. c"),
        ("<dl><dt>Term</dt><dd>Meaning</dd></dl>", "Term\n:   Meaning"),
        ("<details><summary>More</summary><p>Hidden until asked for.</p></details>", "More\n\nHidden until asked for."),
        (
            "<figure><img src=/i.png alt=A><figcaption>Cap</figcaption></figure>",
            "![A](https://example.com/i.png)\n\nCap",
        ),
        ("<p>a <button>Copy</button></p>", "a"),
        ("<p>Size: <select><option>S<option>M</select></p>", "Size: S / M"),
        ("<p>Country: <select>" + "<option>x" * 200 + "</select></p>", "Country:"),
        ("<p>Embed:</p><textarea>code to copy</textarea>", "Embed:\n\ncode to copy"),
        ("<my-card><p>x</p></my-card><p>on <my-time>Monday</my-time> again</p>", "x\n\non Monday again"),
        ("<a href=/x><h3>Card</h3><p>text</p></a>", "### [Card](https://example.com/x)\n\ntext"),
    ],
)
def test_elements_become_markdown(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>sweets <em>and\xa0</em>features</p>", "sweets *and* features"),
        ("<p>one<b>\u2003two</b></p>", "one **two**"),
        ("<p>one<i>\xa0two</i></p>", "one *two*"),
        ("<p>see <a href=/x>this\xa0</a>page</p>", "see [this](https://example.com/x) page"),
        ("<p>see<a href=/x>&nbsp;<i>this</i></a></p>", "see [*this*](https://example.com/x)"),
        ("<p><b>Weight:<br></b>two pounds</p>", "**Weight:**  \ntwo pounds"),
        ("<p>Weight<b><br>two</b> pounds</p>", "Weight  \n**two** pounds"),
        ("<p><a href=/x>Weight<br></a>two</p>", "[Weight](https://example.com/x)  \ntwo"),
        ("<p>one <b>\xa0two\xa0</b> three</p>", "one **two** three"),
        ("<p><span><b>Weight\xa0</b></span><br>two</p>", "**Weight**  \ntwo"),
        ("<h2><b>Weight<br></b>two</h2>", "## **Weight** two"),
        ("<table><tr><th>A<th>B<tr><td><b>x<br></b>y<td>z</table>", "| A | B |\n| --- | --- |\n| **x** y | z |"),
    ],
)
def test_white_space_at_the_edge_of_emphasis_is_kept(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("/a/b", "https://example.com/a/b"),
        ("c?d=e", "https://example.com/dir/c?d=e"),
        ("../up", "https://example.com/up"),
        ("//cdn.example.org/x", "https://cdn.example.org/x"),
        ("#part", "https://example.com/dir/page#part"),
        ("https://example.org/a b(c", "https://example.org/a%20b%28c"),
        ("https://example.org/a_(b)", "https://example.org/a_(b)"),
        ("mailto:a@example.com", "mailto:a@example.com"),
        ("https://example.org/\u202egnp", "https://example.org/%E2%80%AEgnp"),
    ],
)
def test_links_are_absolute_and_safe_in_markdown(href: str, target: str) -> None:
    assert markdown_of(f'<p>a <a href="{href}">label</a></p>') == f"a [label]({target})"


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "JavaScript:x", "data:text/html,x", "vbscript:x", "", "http://[x"]
)
def test_links_with_unusable_urls_become_text(href: str) -> None:
    assert markdown_of(f'<p>a <a href="{href}">label</a></p>') == "a label"


def test_relative_urls_are_resolved_against_the_base_element() -> None:
    html = "<head><base href='/other/'></head><main><p><a href=x>l</a> <img src=i.png alt=A></p></main>"
    document = read(html)
    assert document.markdown == "[l](https://example.com/other/x) ![A](https://example.com/other/i.png)"


def test_a_base_of_another_scheme_is_ignored() -> None:
    document = read("<head><base href='javascript:x'></head><main><p><a href=x>l</a></p></main>")
    assert document.markdown == "[l](https://example.com/dir/x)"


def test_a_url_that_is_its_own_label_is_written_once() -> None:
    assert markdown_of("<p><a href='https://example.org/'>https://example.org/</a></p>") == "<https://example.org/>"


def test_links_and_images_are_listed_once_each_with_plain_text() -> None:
    document = converted(
        "<main><p><a href=/a>A <b>bold</b> one</a> <a href=/a>again</a> "
        "<a href=/b><img src=/i.png alt='An image'></a></p></main>"
    )
    assert [(link.url, link.text) for link in document.links] == [
        ("https://example.com/a", "A bold one"),
        ("https://example.com/b", ""),
    ]
    assert [(image.url, image.alt) for image in document.images] == [("https://example.com/i.png", "An image")]


@pytest.mark.parametrize(
    ("attributes", "shown"),
    [
        ("src=/i.png alt=A", "![A](https://example.com/i.png)"),
        ("src=/i.png", ""),
        ("src=/i.png alt=''", ""),
        ("src=data:image/gif;base64,xx data-src=/late.png alt=A", "![A](https://example.com/late.png)"),
        ("src=/lazy-placeholder.gif srcset='/s.png 100w, /l.png 900w' alt=A", "![A](https://example.com/l.png)"),
        ("src=data:image/gif;base64,xx alt=A", "(image: A)"),
        ("alt=A", ""),
        ("src=/emoji.png class=emoji alt='a grinning face'", "![a grinning face](https://example.com/emoji.png)"),
        ("src=/i.png alt='Counter' width=1 height=1", ""),
        ("src=/i.png alt='Counter' width=1px height=0", ""),
        ("src=/i.png alt=A width=1 height=40", "![A](https://example.com/i.png)"),
        ("src=/blank.gif data-src=/i.png alt=A width=1 height=1", "![A](https://example.com/i.png)"),
        ("src=/i.png alt='of &lt;em&gt;all&lt;/em&gt; a &lt; b'", "![of all a < b](https://example.com/i.png)"),
        ("src=/i.png alt='a [b]' title=never", "![a \\[b\\]](https://example.com/i.png)"),
    ],
)
def test_described_images_have_their_real_url(attributes: str, shown: str) -> None:
    assert markdown_of(f"<p>x</p><p><img {attributes}></p>") == f"x\n\n{shown}".strip()


def test_alternative_text_is_one_line_of_at_most_200_characters() -> None:
    markdown = markdown_of(f"<p><img src=/i.png alt='first\n{'long ' * 5_000}'></p>")
    assert len(markdown) < 260
    assert markdown.startswith("![first long") and "\n" not in markdown


def test_code_keeps_its_text_and_names_its_language() -> None:
    html = "<pre><code class='hljs language-python'>def f():\n\n\n\n    return '*_`'\n</code></pre>"
    assert markdown_of(html) == "```python\ndef f():\n\n\n\n    return '*_`'\n```"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<div class='highlight-source-js'><pre>x = 1</pre></div>", "js"),
        ("<div class='highlight python'><pre>x = 1</pre></div>", "python"),
        ("<pre data-lang=rust>x = 1</pre>", "rust"),
        ("<pre class='brush: sql'>x = 1</pre>", "sql"),
        ("<pre class=prettyprint>x = 1</pre>", ""),
        ("<div class=highlight-default><pre>x = 1</pre></div>", ""),
        ("<pre><code class=language-shell>x = 1</code></pre>", "bash"),
    ],
)
def test_the_language_of_code_is_found_in_the_markup_of_highlighters(html: str, language: str) -> None:
    assert markdown_of(html) == f"```{language}\nx = 1\n```"


def test_several_blocks_do_not_share_the_language_of_their_wrapper() -> None:
    html = "<div class='language-js'><pre>a</pre><pre>b</pre><pre>c</pre></div>"
    assert markdown_of(html) == "```\na\n```\n\n```\nb\n```\n\n```\nc\n```"


def test_line_numbers_and_copy_buttons_are_removed_from_code() -> None:
    numbers = "<td class=linenos><pre>1\n2</pre></td>"
    table = f"<table class=highlighttable><tr>{numbers}<td><pre>a\nb</pre></td></tr></table>"
    assert markdown_of(table) == "```\na\nb\n```"
    inline = "<pre><button>Copy</button><span class=lineno>1</span>a\n<span class=lineno>2</span>b</pre>"
    assert markdown_of(inline) == "```\na\nb\n```"


def test_a_fence_is_longer_than_any_in_the_code() -> None:
    assert markdown_of("<pre>```\n````\n</pre>") == "`````\n```\n````\n`````"


def test_code_in_lists_and_quotations_is_indented_line_by_line() -> None:
    html = "<ul><li>run<pre>a\n\n  b</pre></li></ul><blockquote><pre>c\nd</pre></blockquote>"
    assert markdown_of(html) == "- run\n\n  ```\n  a\n  \n    b\n  ```\n\n> ```\n> c\n> d\n> ```"


def test_tables_become_rows_between_pipes() -> None:
    html = (
        "<table><caption>Cap</caption><tr><th>a<th>b | c</tr><tr><td rowspan=2>1<td><p>2</p><p>3</p></tr>"
        "<tr><td><code>x</code></tr><tr><td colspan=2>wide</tr></table>"
    )
    assert markdown_of(html) == ("Cap\n\n| a | b \\| c |\n| --- | --- |\n| 1 | 2 3 |\n| 1 | `x` |\n| wide |  |")


def test_layout_tables_are_converted_cell_by_cell() -> None:
    inner = "<table><tr><th>h<th>i</tr><tr><td>1<td>2</tr></table>"
    html = f"<table><tr><td><p>left</p></td><td>{inner}</td></tr></table>"
    assert markdown_of(html) == "left\n\n| h | i |\n| --- | --- |\n| 1 | 2 |"


def test_plain_text_has_a_line_for_each_block() -> None:
    document = converted(
        "<main><h1>Title<a class=headerlink href=#x>¶</a></h1><p>a <b>b</b>\n c</p>"
        "<ul><li>d</li><li>e</li></ul>"
        "<pre>if x:\n    y</pre><table><tr><td>1</td><td>2</td></tr></table></main>"
    )
    assert document.text == "Title\na b c\nd\ne\nif x:\n    y\n1\n2"


def test_deeply_nested_lists_stop_indenting() -> None:
    depth = 60
    markdown = markdown_of("<ul><li>x" * depth + "</ul>" * depth)
    assert markdown.count("x") == depth
    assert max(len(line) - len(line.lstrip()) for line in markdown.split("\n")) < 30


def test_the_outline_has_the_offsets_of_headings() -> None:
    document = read(
        "<main><h1>One</h1><p>x</p><pre># no heading</pre><h3>Two <a href=/y>linked</a> `t`</h3><p># text</p></main>"
    )
    assert [(heading.level, heading.text) for heading in document.outline] == [(1, "One"), (3, "Two linked t")]
    for heading in document.outline:
        assert document.markdown[heading.start :].startswith("#" * heading.level + " ")


def test_the_url_of_the_document_is_the_final_one() -> None:
    assert read("<main><p>x</p></main>").url == URL


def test_powers_become_superscript_characters() -> None:
    html = "<p>10<sup>6</sup> m<sup>2</sup>, 5<sup>-3</sup>, x<sup>n</sup>, 1<sup>st</sup>, Co<sup>TM</sup></p>"
    assert markdown_of(html) == "10\u2076 m\u00b2, 5\u207b\u00b3, x\u207f, 1st, CoTM"


def test_removed_elements_leave_no_gap() -> None:
    assert markdown_of("<p>a</p><table><tr><td></td></tr></table><div></div><p>b</p>") == "a\n\nb"


@hostile_inputs({"pieces of bold": (100_000, lambda n: "<p>" + f"<b>{'y' * 40}</b>" * n + "</p>")})
def test_many_adjacent_bold_elements_are_merged(hostile: Hostile[str]) -> None:
    assert hostile.run(markdown_of, limit_s=20) == f"**{'y' * 40 * hostile.size}**"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("10<sup>12</sup> and x<sup>1234567</sup>", "10¹² and x^1234567"),
        ("2<sup>1/2</sup> m", "2^(1/2) m"),
        ("$19<sup>99</sup> or <sup>€</sup>5<sup>49</sup>", "$19.99 or €5.49"),
        ("2<span class=sr-only>+</span><span>1</span>⁄<span>2</span> m", "2 1⁄2 m"),
        ("<span>(a)</span><span>on paper</span>", "(a) on paper"),
        ("call <span>f</span><span>(a)</span><span>on</span>", "call f(a)on"),
        ("log<sub>2</sub>8 and H<sub>2</sub>O", "log₂8 and H₂O"),
        ("v<sub>max</sub> and a<sub>i+1</sub>", "v_max and a_(i+1)"),
        ("the 1<sup>st</sup>, M<sup>me</sup> and Foo<sup>TM</sup>", "the 1st, Mme and FooTM"),
        ("e<sup>-x</sup> and x<sup>y</sup>", "e^(-x) and x^y"),
        ("2004<sup>[1]</sup>", "2004[1]"),
        ("2004<sup>a</sup>, 310<sup>b</sup> and 19<sup>e</sup>", "2004^a, 310^b and 19e"),
    ],
)
def test_raised_and_lowered_text_keeps_its_value(html: str, markdown: str) -> None:
    assert markdown_of(f"<p>{html}</p>") == markdown


def test_an_emoji_image_becomes_a_character() -> None:
    assert markdown_of("<p>Well <img class=emoji alt=😀 src=/e.png></p>") == "Well 😀"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p><kbd>Ctrl</kbd><kbd>C</kbd></p>", "`Ctrl` `C`"),
        ("<p><kbd>A</kbd>+<kbd>B</kbd></p>", "`A`+`B`"),
        ("<p><code>a</code><samp>b</samp><code>c</code>d</p>", "`a` `b` `c`d"),
        ("<pre><code>a</code><code>b</code></pre>", "```\na\nb\n```"),
    ],
)
def test_adjacent_keys_and_code_stay_separate(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


@pytest.mark.parametrize("tag", ["text", "element", "tree", "children", "custom", "hn", "soup"])
def test_an_unknown_element_is_not_taken_for_a_rule(tag: str) -> None:
    assert markdown_of(f"<p>before <{tag}>inside</{tag}> after</p>") == "before inside after"

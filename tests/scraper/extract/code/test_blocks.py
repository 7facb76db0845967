"""Code blocks in the markup of many highlighters: exact text, right language."""

from __future__ import annotations

import pytest

from tests.scraper.extract.conversion import converted, markdown_of


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<pre><code>\n a\n  b\n\n</code></pre>", "```\n a\n  b\n```"),
        ("<pre>\n    <code>a\nb</code>\n  </pre>", "```\na\nb\n```"),
        ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"),
        ("<pre>a<br>b</pre>", "```\na\nb\n```"),
        ("<pre><a href=#L1>1</a> a {\n<a href=#L2>2</a>   b\n</pre>", "```\na {\n  b\n```"),
        ("<pre>see <a href=x>12</a></pre>", "```\nsee 12\n```"),
        ("<div class='highlight-myst-ansi'><pre>1</pre></div>", "```\n1\n```"),
        ("<pre><code>a</code><code>b</code></pre>", "```\na\nb\n```"),
        ("<pre><code>a</code>\n<code>b</code></pre>", "```\na\nb\n```"),
        ("<pre>x = <code>f</code> (<code>g</code>)\n</pre>", "```\nx = f (g)\n```"),
        (
            "<pre><code>&gt; </code><b><code>1\n</code></b><code>&gt; </code><b><code>2</code></b></pre>",
            "```\n> 1\n> 2\n```",
        ),
        (
            "<pre><code><span style='display:grid'>a</span><span style='display:grid'>b</span></code></pre>",
            "```\na\nb\n```",
        ),
        ("<pre><span style='user-select:none'>$ </span>ls</pre>", "```\nls\n```"),
        ("<pre>x<span class=twoslash-popup-container>number</span> = 1</pre>", "```\nx = 1\n```"),
        ("<pre>a&nbsp;=&nbsp;1   \n</pre>", "```\na = 1\n```"),
        (
            "<pre class=language-js><code>a()\n<span class=gatsby-highlight-code-line>// b</span>"
            "<span class=gatsby-highlight-code-line>c()</span>d()</code></pre>",
            "```js\na()\n// b\nc()\nd()\n```",
        ),
        ("<pre>a<span class=code-line>b</span>\n<span class=code-line>c</span></pre>", "```\na\nb\nc\n```"),
        ("<pre><span class=line>a</span><span class=line>b</span></pre>", "```\na\nb\n```"),
        ("<pre><span class=line>a</span><br><span class=line>b</span></pre>", "```\na\nb\n```"),
        ("<pre><span class=line>a\n</span><span class=line>b</span></pre>", "```\na\nb\n```"),
        ("<pre><span class=line>1</span> a</pre>", "```\n1 a\n```"),
        (
            "<figure class='highlight js'><table><tr><td class=gutter><pre>1\n2</pre></td>"
            "<td class=code><pre>a<br>b</pre></td></tr></table></figure>",
            "```js\na\nb\n```",
        ),
    ],
)
def test_the_text_of_a_block_is_exact(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<pre><div class=bar><span>bash</span><button>Copy</button></div><code>ls\npwd</code></pre>", "bash"),
        ("<pre><div class=bar><span>C++</span><button>Copy</button></div><code>x = 1</code></pre>", "cpp"),
    ],
)
def test_the_bar_in_a_block_names_its_language_and_goes(html: str, markdown: str) -> None:
    found = markdown_of(html)
    assert found.startswith(f"```{markdown}\n")
    assert "Copy" not in found


@pytest.mark.parametrize("above", ["<p>Python</p>", "<div class=title>main.py</div>", "<h3>Go</h3>", "python "])
def test_words_over_a_block_stay(above: str) -> None:
    assert not markdown_of(f"<div>{above}<pre>x = 1</pre></div>").startswith("```")


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>x</p><code>a\n  b</code><p>y</p>", "x\n\n```\na\n  b\n```\n\ny"),
        ("<div><code>\n    a\n      b\n    </code></div>", "```\na\n  b\n```"),
        ("<code>a<br>b</code>", "```\na\nb\n```"),
        ("<div><code class='hl lean block'>def m : Nat</code></div>", "```lean\ndef m : Nat\n```"),
        ("<p>wrapped <code>a\nb</code></p>", "wrapped `a b`"),
        ("<p><code>a\nb</code> <b>c</b></p>", "`a b` **c**"),
        ("<p><code>one line</code></p>", "`one line`"),
        (
            "<div><code class=block>#check a</code>\n<pre>a : Nat</pre>\n<code class=block>b\n\n</code>"
            "<code class=block>c</code></div>",
            "```\n#check a\na : Nat\nb\n\nc\n```",
        ),
        ("<pre>a</pre><pre>b</pre>", "```\na\n```\n\n```\nb\n```"),
        ("<div class=code-block data-lang=http>GET /\n\nX: y</div>", "```http\nGET /\n\nX: y\n```"),
        ("<div data-lang=en><p>Not code.</p></div>", "Not code."),
        (
            "<div><div><code>int</code> <code>a;</code></div>\n"
            "<div><code>    </code><code>a</code><code>++;</code></div>\n<div><code>}</code></div></div>",
            "```\nint a;\n    a++;\n}\n```",
        ),
        ("<div><code>a</code> and <code>b</code></div><div><code>c</code></div>", "`a` and `b`\n\n`c`"),
    ],
)
def test_code_without_pre_is_a_block_where_it_stands_as_one(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


def test_lines_of_code_in_a_cell_are_separated() -> None:
    assert markdown_of("<table><tr><th>a<th>b</tr><tr><td><pre>x\ny</pre><td>1</tr></table>").endswith(
        "| `x`<br>`y` | 1 |"
    )


def test_the_plain_text_keeps_the_lines_of_code() -> None:
    assert converted("<p>a</p><pre>if x:\n    y</pre>").text == "a\nif x:\n    y"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<div class='highlight highlight-source-rust'><pre>x = 1</pre></div>", "rust"),
        ("<div class='highlight highlight-text-html-basic'><pre>x = 1</pre></div>", "html"),
        ("<div class='highlight highlight-source-css-scss'><pre>x = 1</pre></div>", "scss"),
        ("<div class='highlight-python notranslate'><pre>x = 1</pre></div>", "python"),
        ("<pre lang=go><code>x = 1</code></pre>", "go"),
        ("<pre language=python><code>x = 1</code></pre>", "python"),
        ("<pre data-enlighter-language=php>x = 1</pre>", "php"),
        ("<div class='mw-highlight mw-highlight-lang-cpp mw-content-ltr'><pre>x = 1</pre></div>", "cpp"),
        ("<div class='cpp source-cpp'><pre class=de1>x = 1</pre></div>", "cpp"),
        (
            "<div class='syntaxhighlighter jscript'><table><tr><td class=gutter>1<td class=code>x = 1</table></div>",
            "javascript",
        ),
        ("<div class='site go'><pre>x = 1</pre></div>", ""),
        ("<pre lang=en><code>x = 1</code></pre>", ""),
    ],
)
def test_the_language_that_a_site_notes_on_its_blocks(html: str, language: str) -> None:
    assert markdown_of(html) == f"```{language}\nx = 1\n```"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "<pre><div><div>python</div><div><button>Copy code</button></div><div><code>x = 1</code></div></div></pre>",
            "```python\nx = 1\n```",
        ),
        (
            "<pre><code>a\nb</code></pre><div class=line-numbers-wrapper><span>1</span><br><span>2</span></div>",
            "```\na\nb\n```",
        ),
        (
            "<div class='ltx_lst_language_Python ltx_lstlisting ltx_listing'><div class=ltx_listing_data>"
            "<a href=x>⬇</a></div><div class=ltx_listingline><span class=ltx_tag>1</span><span>if</span>"
            "<span> </span><span>a:</span></div><div class=ltx_listingline><span>    b</span></div></div>",
            "```python\nif a:\n    b\n```",
        ),
        ("<textarea>def f():\n    g()\n</textarea><textarea>x</textarea>", "```\ndef f():\n    g()\n```\n\nx"),
        ("<pre>1\n2</pre><pre>a\nb\nc</pre>", "```\n1\n2\n```\n\n```\na\nb\nc\n```"),
        ("<p class=lineno>One line</p><pre>a</pre>", "One line\n\n```\na\n```"),
        (
            "<div class=fragment><div class=line><span class=lineno>1</span>int a;</div>"
            "<div class=line><span class=lineno>2</span>int b;</div></div>",
            "```\nint a;\nint b;\n```",
        ),
        (
            "<div class=fragment><div class=line>int a;</div>\n<div class=foldopen>\n"
            "<div class=line>int f() {</div>\n<div class=line>}</div>\n</div>\n"
            "<div class=ttc><div class=ttname>f</div></div>\n</div>",
            "```\nint a;\nint f() {\n}\n```",
        ),
        ("<div class=fragment><div class=line>A poem</div><p>and more</p></div>", "A poem\n\nand more"),
        ("<table><tr><td class=blob-num>1<td>a<tr><td class=blob-num>2<td>  b</table>", "```\na\n  b\n```"),
        ("<div class='highlight hl-ipython3'><pre>x</pre></div>", "```python\nx\n```"),
        ("<pre data-syntaxhighlighter-params='brush: java; gutter: false'>x</pre>", "```java\nx\n```"),
        ("<pre>struct A<div>where\n  A: B,</div>{}</pre>", "```\nstruct A\nwhere\n  A: B,\n{}\n```"),
        (
            "<table><tr><td class=crayon-nums><div class=crayon-num>1</div></td>"
            "<td><div><div>a</div><div>b</div></div></table>",
            "```\na\nb\n```",
        ),
        (
            "<pre><code><span class=token-line><span class=codeLineNumber_Tfdd>1</span><span>a = 1</span></span>"
            "<span class=token-line><span class=codeLineNumber_Tfdd>2</span><span>b = 2</span></span></code></pre>",
            "```\na = 1\nb = 2\n```",
        ),
    ],
)
def test_line_numbers_and_buttons_around_code_are_removed(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


def test_a_fence_is_longer_than_any_in_the_code() -> None:
    assert markdown_of("<pre>````\nx\n````</pre>") == "`````\n````\nx\n````\n`````"


def test_a_wrapper_of_several_blocks_gives_none_of_them_its_language() -> None:
    html = "<div class=language-js><pre>a</pre><p>x</p><pre>b</pre><p>y</p><pre>c</pre></div>"
    assert "js" not in markdown_of(html)


def test_a_box_that_notes_a_language_of_people_is_no_code() -> None:
    assert markdown_of("<div data-lang=en><span>Some words.</span></div>") == "Some words."


@pytest.mark.parametrize(
    "html",
    [
        "<pre>for i in 1..3\n  puts i\nend</pre>It prints:<pre>1\n2\n3</pre>",
        "<pre>print(1)</pre>\n<pre>1</pre>",
        "<pre>1</pre>\n<pre>print(1)</pre>",
        "<pre><span>1</span>\n<span>2</span>\n<span>3</span></pre><pre>print(1)</pre>",
        "<pre>seq 3</pre><pre><span>1</span> a\n<span>2</span> b\n<span>4</span> c</pre>",
    ],
)
def test_numbers_that_a_program_prints_are_no_numbers_of_lines(html: str) -> None:
    markdown = markdown_of(f"<div>{html}</div>")
    assert markdown.count("```") == 4
    assert "1" in markdown

from __future__ import annotations

import pytest

from tests.scraper.extract.conversion import markdown_of


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><span>(1)</span><span>A director must act.</span></p>", "(1) A director must act."),
        ("<h2><span>172</span><span>Duty</span></h2>", "## 172 Duty"),
        ("<p><span>T</span><span>he story</span></p>", "The story"),
        ("<p><span class=feature>final</span><span class=feature>inherited</span></p>", "final inherited"),
        ("<p><span>1</span><span>st</span></p>", "1st"),
        ("<p>In <span>2020</span><span>Europe</span></p>", "In 2020 Europe"),
        ("<div><span>HOKA</span><span>Clifton 10</span></div>", "HOKA Clifton 10"),
        ("<div><span><b>Low</b></span><a><i>Shoes</i> for men</a></div>", "**Low** *Shoes* for men"),
        ("<div><span>1994</span><span>2h 22m</span><span>R</span></div>", "1994 2h 22m R"),
        ("<div><span>Shelf unit</span><span>802.758</span></div>", "Shelf unit 802.758"),
        ("<div><span>Item x</span><span>1</span></div>", "Item x1"),
        ("<div><span>1</span><span>2</span></div>", "12"),
        ("<div><span>1</span><span>999</span></div>", "1999"),
        ("<div><span>12</span><span>3</span></div>", "123"),
        (
            "<div><span>Fat: <span>5</span><span>g</span></span><span>Protein: <span>9</span>g</span></div>",
            "Fat: 5g Protein: 9g",
        ),
        ("<div><span>USB</span><span>3.2</span></div>", "USB3.2"),
        ("<div><span>Q:</span><span>Does it boil?</span></div>", "Q: Does it boil?"),
        ("<p><b>Weight:</b><i>2 kg</i></p>", "**Weight:** *2 kg*"),
        ("<p>At <span>localhost:</span><span>8080</span>, <b>10:</b><b>30</b></p>", "At localhost:8080, **10:30**"),
        ("<div><b>R</b><b>egister</b> now</div>", "**Register** now"),
        ("<div><span>I</span><span>Phone</span></div>", "IPhone"),
        ("<div><span>chil</span><span>dren</span></div>", "children"),
        ("<div><span>東京</span><span>Tower</span></div>", "東京Tower"),
        ("<div><span>Old </span><span>Town</span></div>", "Old Town"),
        ("<div><span>Old</span>-<span>Town</span></div>", "Old-Town"),
        ("<div><span>Old-</span><span>Town</span></div>", "Old-Town"),
        ("<div>H<sub>2</sub><span>O</span></div>", "H₂O"),
        ("<div><code><span>get</span><span>Name</span></code></div>", "`getName`"),
        ("<pre><div><span>1</span><span>Go()</span></div></pre>", "```\n1Go()\n```"),
        ("<p><label>First</label><input><label>Last</label><input></p>", "First Last"),
        ("<p><label>Yes</label><label>No</label></p>", "Yes No"),
        ("<blockquote><cite>bob wrote:</cite>Hello.</blockquote>", "> bob wrote:\n>\n> Hello."),
        ("<blockquote>Hello, <cite>Bob</cite> said.</blockquote>", "> Hello, Bob said."),
    ],
)
def test_words_separated_by_layout_get_a_space(html: str, expected: str) -> None:
    assert markdown_of(html).removeprefix("- ") == expected

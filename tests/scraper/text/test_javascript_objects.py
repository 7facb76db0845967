"""Object literals of JavaScript."""

from __future__ import annotations

import pytest

from scraper.facts.syntaxes.jsonld import iterate_javascript_objects

SAMPLE = (
    "var a = {name: 'O\\'Hara', \"b\": [1, -2.5, .5, 0x1F, 017, 0b11, true, null, NaN], // one\n"
    "c: function(x) { return `${x}`; }, /* two */ d: undefined, e: /re[/]x/g, f: x => x + '}', "
    'g: "\\u00e9\\\\"}; /* three */ [{h: 1e5}] // four'
)


@pytest.mark.parametrize("end", range(1, len(SAMPLE) + 1))
def test_no_text_that_breaks_off_is_read_behind_its_end(end: int) -> None:
    text = SAMPLE[:end]
    # Characters behind the text come from freed memory; chompjs alone returned them or stopped behind the end.
    freed = [f"{text[:-1]}X secret: 1}} ]" * 3 for _ in range(20)]
    del freed
    assert "secret" not in str(list(iterate_javascript_objects(text)))


def test_objects_of_scripts_are_read() -> None:
    text = "x = {a: 1, 'b': [.5, 0x10], c: undefined,}"
    assert list(iterate_javascript_objects(text)) == [{"a": 1, "b": [0.5, 16], "c": "undefined"}]
    assert list(iterate_javascript_objects("{a: 1} {broken: /* [2]")) == [{"a": 1}]
    assert list(iterate_javascript_objects("{a: 1} [2] // end")) == [{"a": 1}, [2]]

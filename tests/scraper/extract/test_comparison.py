"""A page laid open: what was read, what a person sees, what was left out."""

from __future__ import annotations

from browsers.model import Snapshot
from scraper.extract.comparison import sides_of

PROSE = "The ferry leaves at nine from the western quay and returns at noon with the post. " * 4
PAGE = f"""<!doctype html><title>Ferries</title>
<nav><ul><li><a href=/a>Timetables of all lines</a><li><a href=/b>Lost and found</a></ul></nav>
<main><h1>Ferries</h1><p>{PROSE}</p><p>{PROSE.replace("nine", "ten")}</p>
<p style="display:none">A line that nobody sees.</p></main>
<footer>Imprint of the harbour</footer><script>document.title = 1</script>"""


def snapshot(html: str, media_type: str = "text/html") -> Snapshot:
    """A page as served."""
    url = "http://site.example/"
    return Snapshot(url, url, 200, media_type=media_type, body=html.encode(), html=html)


def test_what_was_left_out_is_what_a_person_sees_and_an_agent_does_not() -> None:
    sides = sides_of(snapshot(PAGE))
    assert sides.title == "Ferries"
    assert "western quay" in sides.markdown
    assert "western quay" in sides.seen
    assert {"Timetables of all lines", "Imprint of the harbour"} <= set(sides.dropped)
    assert not any("ferry" in line for line in sides.dropped)
    assert all(line in sides.seen for line in sides.dropped)
    assert "nobody sees" not in sides.seen + sides.markdown
    assert "document.title" not in sides.seen


def test_a_text_has_one_side() -> None:
    sides = sides_of(snapshot("one\ntwo\n", "text/plain"))
    assert "one" in sides.seen
    assert sides.dropped == ()
